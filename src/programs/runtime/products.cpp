// Matrix products of the small cuBLAS (simt/blas.hpp), on all processors. Each element is the sum
// in the order of k, as a plain loop makes it.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "programs/runtime/memory.hpp"
#include "programs/runtime/repeats.hpp"
#include "programs/runtime/session.hpp"

namespace warpladder::programs {
namespace {

// C = alpha·A·B + beta·C in column-major order; A is m×k, or k×m if it is to be transposed.
template <class T>
struct Product {
  bool transposes_a, transposes_b;
  std::size_t m, n, k;
  T alpha;
  const T* a;
  std::size_t lda;
  const T* b;
  std::size_t ldb;
  T beta;
  T* c;
  std::size_t ldc;
};

// A tile of kRows × kColumns elements is summed in twelve registers, a part of k at a time. The
// part of A that a thread has packed then stays in its cache.
constexpr std::size_t kVectorBytes = 32, kVectors = 2, kColumns = 6;
constexpr std::size_t kPartOfK = 512, kRowsAtOnce = 128;
template <class T>
constexpr std::size_t kLanes = kVectorBytes / sizeof(T);
template <class T>
constexpr std::size_t kRows = kVectors* kLanes<T>;
template <class T>
using Vector [[gnu::vector_size(kVectorBytes), gnu::aligned(sizeof(T)), gnu::may_alias]] = T;

std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

// What the tiles read lies in the order in which they read it; past the edge are zeros.
template <class T>
void pack_rows(const Product<T>& g, std::size_t first, std::size_t rows, std::size_t p0,
               std::size_t p1, T* out) {
  for (std::size_t i0 = 0; i0 < rows; i0 += kRows<T>) {
    for (std::size_t p = p0; p < p1; ++p) {
      for (std::size_t r = 0; r < kRows<T>; ++r) {
        const std::size_t i = first + i0 + r;
        *out++ = i >= g.m ? T{0} : g.transposes_a ? g.a[p + i * g.lda] : g.a[i + p * g.lda];
      }
    }
  }
}
template <class T>
std::vector<T> packed_columns(const Product<T>& g) {
  std::vector<T> packed;
  packed.reserve(rounded_up(g.n, kColumns) * g.k);
  for (std::size_t j0 = 0; j0 < g.n; j0 += kColumns) {
    for (std::size_t p = 0; p < g.k; ++p) {
      for (std::size_t j = j0; j < j0 + kColumns; ++j) {
        packed.push_back(j >= g.n         ? T{0}
                         : g.transposes_b ? g.b[j + p * g.ldb]
                                          : g.b[p + j * g.ldb]);
      }
    }
  }
  return packed;
}

template <class T>
void multiply_tile(std::size_t k, const T* a, const T* b, T* sums) {
  using V = Vector<T>;
  const auto at = [](auto* p) { return reinterpret_cast<V*>(const_cast<T*>(p)); };
  V sum[kColumns][kVectors];
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (std::size_t v = 0; v < kVectors; ++v) sum[c][v] = at(sums)[c * kVectors + v];
  }
  for (std::size_t p = 0; p < k; ++p, a += kRows<T>, b += kColumns) {
    const V part[kVectors] = {at(a)[0], at(a)[1]};
    for (std::size_t c = 0; c < kColumns; ++c) {
      for (std::size_t v = 0; v < kVectors; ++v) sum[c][v] += part[v] * b[c];
    }
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (std::size_t v = 0; v < kVectors; ++v) at(sums)[c * kVectors + v] = sum[c][v];
  }
}

template <class T>
void store_tile(const Product<T>& g, std::size_t i0, std::size_t j0, const T* sums) {
  const std::size_t rows = std::min(kRows<T>, g.m - i0), columns = std::min(kColumns, g.n - j0);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      T& out = g.c[i0 + r + (j0 + c) * g.ldc];
      const T old = g.beta != 0 ? g.beta * out : T{0};
      out = __builtin_fma(g.alpha, sums[c * kRows<T> + r], old);
    }
  }
}

// What a thread needs besides the matrices: a part of A, and the sums of its rows so far.
template <class T>
struct Scratch {
  std::vector<T> packed, sums;
};

template <class T>
void multiply_rows(const Product<T>& g, std::size_t first, std::size_t rows,
                   const std::vector<T>& columns, Scratch<T>& scratch) {
  constexpr std::size_t kTile = kColumns * kRows<T>;
  const std::size_t tiles = rounded_up(rows, kRows<T>) / kRows<T>;
  scratch.packed.resize(tiles * kRows<T> * kPartOfK);
  scratch.sums.assign(rounded_up(g.n, kColumns) * tiles * kRows<T>, T{0});
  for (std::size_t p0 = 0; p0 < g.k; p0 += kPartOfK) {
    const std::size_t part = std::min(kPartOfK, g.k - p0);
    pack_rows(g, first, rows, p0, p0 + part, scratch.packed.data());
    T* sums = scratch.sums.data();
    for (std::size_t j0 = 0; j0 < g.n; j0 += kColumns) {
      for (std::size_t t = 0; t < tiles; ++t, sums += kTile) {
        multiply_tile(part, scratch.packed.data() + t * kRows<T> * part,
                      columns.data() + j0 * g.k + p0 * kColumns, sums);
      }
    }
  }
  const T* sums = scratch.sums.data();
  for (std::size_t j0 = 0; j0 < g.n; j0 += kColumns) {
    for (std::size_t t = 0; t < tiles; ++t, sums += kTile) {
      store_tile(g, first + t * kRows<T>, j0, sums);
    }
  }
}

template <class T>
void multiply_all(const Product<T>& g) {
  const std::vector<T> columns = packed_columns(g);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Scratch<T> scratch;
    for (std::size_t first; (first = next.fetch_add(kRowsAtOnce)) < g.m;) {
      multiply_rows(g, first, std::min(kRowsAtOnce, g.m - first), columns, scratch);
    }
  };
  constexpr double kWorthAThread = 4e6;  // multiply-adds, a millisecond
  const double all = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const unsigned most = settings().threads ? settings().threads : host_threads();
  run_on_threads(static_cast<unsigned>(std::clamp(all / kWorthAThread, 1.0, double{1} * most)),
                 work);
}

// Names a product that gives the same if it is done again; empty for one that builds on C.
template <class T>
std::string key_of(const Product<T>& g) {
  const T* const c_end = g.c + g.n * g.ldc;
  const auto is_apart = [&](const T* p, std::size_t columns, std::size_t ld) {
    return p + columns * ld <= g.c || c_end <= p;
  };
  const double work =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const bool is_repeatable = g.beta == 0 && is_apart(g.a, g.transposes_a ? g.m : g.k, g.lda) &&
                             is_apart(g.b, g.transposes_b ? g.k : g.n, g.ldb);
  // To look at what the host may have changed must not cost more than to multiply.
  if (!is_repeatable || work < static_cast<double>(memory_bytes(Part::host_accessible))) return {};
  return fmt::format("product {} {} {} {} {} {} {} {} {} {} {} {} {}", sizeof(T), g.transposes_a,
                     g.transposes_b, g.m, g.n, g.k, g.alpha, fmt::ptr(g.a), g.lda, fmt::ptr(g.b),
                     g.ldb, fmt::ptr(g.c), g.ldc);
}

template <class T>
void multiply(const Product<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  const std::string key = key_of(g);
  if (!key.empty() && repeats().may_skip(key)) return;
  multiply_all(g);
  note_all_written();
  repeats().forget();
  if (!key.empty()) repeats().settle(key);
}

template <class T>
Product<T> product_of(int ta, int tb, int m, int n, int k, T alpha, const T* a, std::size_t lda,
                      const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc) {
  const auto size = [](int given) { return static_cast<std::size_t>(std::max(given, 0)); };
  return {ta != 0, tb != 0, size(m), size(n), size(k), alpha, a, lda, b, ldb, beta, c, ldc};
}

}  // namespace
}  // namespace warpladder::programs

using namespace warpladder::programs;

extern "C" {
void program_multiply_floats(int ta, int tb, int m, int n, int k, float alpha, const float* a,
                             std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
                             std::size_t ldc) {
  multiply(product_of(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}
void program_multiply_doubles(int ta, int tb, int m, int n, int k, double alpha, const double* a,
                              std::size_t lda, const double* b, std::size_t ldb, double beta,
                              double* c, std::size_t ldc) {
  multiply(product_of(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}
void program_memory_changed() {
  repeats().forget();
  note_all_written();
}
}
