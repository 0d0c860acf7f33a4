#include "ops/sgemm/lab/cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random_fill.hpp"
#include "ops/lab/checked.hpp"
#include "ops/sgemm/lab/details.hpp"

namespace warpladder::sgemm {
namespace {

const char* transposes(const Problem& p) {
  return p.trans_a ? (p.trans_b ? "TT" : "TN") : (p.trans_b ? "NT" : "NN");
}

std::string describe(const Problem& p) {
  std::string text = fmt::format("{}x{}x{}", p.m, p.n, p.k);
  if (p.trans_a || p.trans_b) text += fmt::format(" {}", transposes(p));
  if (p.layout == Layout::column_major) text += " column-major";
  if (p.alpha != 1.0f || p.beta != 0.0f)
    text += fmt::format(" alpha={:g} beta={:g}", p.alpha, p.beta);
  return text;
}

GemmCase plain(const Problem& p) { return {describe(p), p}; }

// Products whose matrices lie `gap` elements apart.
GemmCase batch_of(std::int64_t count, const Problem& p, std::int64_t gap = 0) {
  GemmCase c = plain(p);
  Problem::Footprint f{};
  (void)check(p, &f);
  c.batch = {.count = count,
             .stride_a = f.a_elements + gap,
             .stride_b = f.b_elements + gap,
             .stride_c = f.c_elements + gap};
  c.name = fmt::format("{} of {}", count, c.name);
  if (gap) c.name += fmt::format(", {} elements apart", gap);
  return c;
}

std::int64_t matrices_after_the_first(const Batch& batch) {
  return std::max<std::int64_t>(batch.count, 1) - 1;
}

// Of several products, in strides and in arrays of pointers, with operands that are shared.
std::vector<GemmCase> batch_cases() {
  std::vector<GemmCase> cases;
  const auto add = [&](GemmCase c, const char* remark = "") {
    if (*remark) c.name += fmt::format(", {}", remark);
    cases.push_back(std::move(c));
  };
  const auto in_arrays = [](GemmCase c) {
    c.batch.arrays = true;
    c.name += ", in arrays of pointers";
    return c;
  };
  const Problem ragged = compact(33, 17, 40),
                aligned = compact(64, 64, 64, Layout::row_major, false, true),
                scaled = compact(45, 34, 23, Layout::row_major, true, true, 1.5f, 0.5f),
                by_columns = compact(36, 68, 44, Layout::column_major, true, false, -1.0f, 2.0f);
  add(batch_of(3, ragged));
  add(batch_of(5, aligned, 4));
  add(batch_of(2, scaled, 3));
  add(batch_of(3, by_columns, 1));
  add(batch_of(9, compact(1, 40, 50)));
  add(batch_of(3, compact(1, 132, 260)));
  add(batch_of(4, compact(1, 131, 37, Layout::row_major, true, true, 1.5f, 0.5f), 5));
  add(batch_of(3, compact(200, 1, 72, Layout::row_major, false, false, -0.5f, 2.0f)));
  add(in_arrays(batch_of(5, compact(77, 1, 53, Layout::column_major, true, true), 1)));
  add(in_arrays(batch_of(4, compact(1, 140, 64, Layout::row_major, false, true))));
  add(batch_of(2, compact(129, 130, 66)));
  add(batch_of(3, compact(20, 9, 0, Layout::row_major, false, false, 1.0f, 3.0f)));
  add(batch_of(0, compact(8, 8, 8)));
  add(in_arrays(batch_of(1, ragged)));
  add(in_arrays(batch_of(3, ragged, 1)));
  add(in_arrays(batch_of(4, aligned)));
  add(in_arrays(batch_of(3, scaled)));
  add(in_arrays(batch_of(2, by_columns)));
  add(in_arrays(batch_of(2, compact(130, 70, 33))));
  for (const Problem& p : {ragged, aligned, by_columns}) {
    GemmCase shared = batch_of(3, p);
    shared.batch.stride_a = 0;
    add(shared, "one A");
    add(in_arrays(shared), "one A");
    shared = batch_of(3, p);
    shared.batch.stride_b = 0;
    add(shared, "one B");
    add(in_arrays(shared), "one B");
  }
  GemmCase leading = batch_of(3, compact(30, 20, 10));
  leading.problem.lda += 3;
  leading.problem.ldb += 5;
  leading.problem.ldc += 7;
  leading.batch.stride_a += 90;
  leading.batch.stride_b += 50;
  leading.batch.stride_c += 210;
  leading.misalign_a = leading.misalign_c = 1;
  add(leading, "ld larger than the line, A and C off alignment");
  return cases;
}

// A stride of 0 in a single product is none.
bool is_single(const GemmCase& c) { return c.batch.count == 1 && !c.batch.arrays; }

}  // namespace

GemmCase gemm_case_of_shape(std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string_view variant) {
  const std::size_t end = std::min(variant.find(' '), variant.size());
  const Variant& v = *std::ranges::find(kVariants, variant.substr(0, end), &Variant::name);
  GemmCase c = plain(compact(m, n, k, v.layout, v.trans_a, v.trans_b));
  c.filling = v.filling;
  add_details(c, variant.substr(end));
  return c;
}

Problem::Footprint elements_of(const GemmCase& c) {
  Problem::Footprint f = ops::footprint(c.problem);
  const std::int64_t more = matrices_after_the_first(c.batch);
  f.a_elements += more * c.batch.stride_a;
  f.b_elements += more * c.batch.stride_b;
  f.c_elements += more * c.batch.stride_c;
  return f;
}

Offsets offsets_of(const GemmCase& c, std::int64_t product) {
  const std::int64_t last = c.batch.count - 1;
  const bool arrays = c.batch.arrays;
  const std::int64_t of_a = arrays ? last - product : product,
                     of_b = arrays && product == last ? 0 : product + (arrays ? 1 : 0);
  return {static_cast<std::size_t>(of_a * c.batch.stride_a),
          static_cast<std::size_t>(of_b * c.batch.stride_b),
          static_cast<std::size_t>(product * c.batch.stride_c)};
}

double flops(const GemmCase& c) { return static_cast<double>(c.batch.count) * flops(c.problem); }

double minimal_bytes(const GemmCase& c) {
  const Problem& p = c.problem;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k), count = static_cast<double>(c.batch.count);
  const double of_a = m * k * (c.batch.stride_a ? count : 1),
               of_b = k * n * (c.batch.stride_b ? count : 1),
               of_c = m * n * count * (p.beta == 0.0f ? 1 : 2);
  return is_single(c) ? minimal_bytes(p) : sizeof(float) * (of_a + of_b + of_c);
}

std::vector<GemmCase> gemm_cases() {
  std::vector<GemmCase> cases;
  const auto add = [&](GemmCase c, const char* remark = "") {
    if (*remark) c.name += fmt::format(", {}", remark);
    cases.push_back(std::move(c));
  };
  const auto add_compact = [&](std::int64_t m, std::int64_t n, std::int64_t k, float alpha = 1.0f,
                               float beta = 0.0f) {
    add(plain(compact(m, n, k, Layout::row_major, false, false, alpha, beta)));
  };

  // Tiny, whole tiles, one more and one less than a tile, thin in every direction.
  for (const std::int64_t size : {1, 2, 15, 16, 17, 31, 32, 33, 64, 128})
    add_compact(size, size, size);
  add_compact(3, 3, 431);
  add_compact(33, 65, 129);
  add_compact(129, 127, 131);
  add_compact(1, 257, 33);
  add_compact(257, 1, 33);
  add_compact(1, 1, 1000);
  add_compact(70, 3, 1);
  add_compact(128, 128, 8);
  add_compact(256, 128, 40);

  // Few rows or few columns, and long k, which rungs part among CTAs; short k.
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      add(plain(compact(6, 200, 1100, Layout::row_major, trans_a, trans_b, 1.5f, 0.5f)));
      add(plain(compact(140, 12, 580, Layout::row_major, trans_a, trans_b)));
      GemmCase thin = plain(compact(12, 133, 525, Layout::column_major, trans_a, trans_b, 1.0f));
      thin.problem.lda += 1;
      thin.problem.ldb += 2;
      thin.problem.ldc += 3;
      add(thin, "ld larger than the line");
      add(plain(compact(40, 260, 4, Layout::row_major, trans_a, trans_b)));
      add(plain(compact(130, 41, 9, Layout::column_major, trans_a, trans_b, 0.5f, 1.0f)));
    }
  }
  add_compact(36, 34, 4100);
  add_compact(20, 36, 5000);  // long enough for clusters of more than eight blocks
  add_compact(1, 300, 1);
  add_compact(300, 40, 1, 1.0f, 2.0f);
  add_compact(70, 260, 35);

  // Nothing to add up, nothing to compute.
  add_compact(17, 19, 0);
  add_compact(17, 19, 0, 1.0f, -0.5f);
  add_compact(0, 5, 7);
  add_compact(5, 0, 7);
  add_compact(0, 0, 0);

  // Scalars.
  for (const auto& [alpha, beta] : {std::pair{2.5f, 0.0f},
                                    {1.0f, 1.0f},
                                    {-0.75f, 2.0f},
                                    {0.0f, 3.0f},
                                    {0.0f, 0.0f},
                                    {1.0f, -1.0f}}) {
    add_compact(50, 37, 29, alpha, beta);
  }

  // All layouts and transposes, compact, and with ld larger than the line it holds.
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        add(plain(compact(45, 34, 23, layout, trans_a, trans_b, 1.5f, 0.5f)));
        add(plain(
            compact(132, 36, 44, layout, trans_a, trans_b, 0.5f, -2.0f)));  // float4 may be used
        GemmCase strided = plain(compact(67, 43, 21, layout, trans_a, trans_b, -1.0f, 0.25f));
        strided.problem.lda += 3;
        strided.problem.ldb += 5;
        strided.problem.ldc += 7;
        add(strided, "ld larger than the line");
      }
    }
  }

  // Addresses that no vector access may assume anything of.
  for (const std::size_t shift : {1, 2, 3}) {
    GemmCase c = plain(compact(65, 68, 36));
    c.misalign_a = shift;
    c.misalign_b = shift % 3 + 1;
    c.misalign_c = (shift + 1) % 3 + 1;
    add(c, fmt::format("operands {}, {} and {} elements off alignment", c.misalign_a, c.misalign_b,
                       c.misalign_c)
               .c_str());
  }
  GemmCase aligned_ld = plain(compact(60, 40, 20));
  aligned_ld.problem.lda += 4;
  aligned_ld.problem.ldb += 8;
  aligned_ld.problem.ldc += 12;
  add(aligned_ld, "ld larger than the line");

  // What BLAS forbids to read, and what IEEE 754 asks for.
  GemmCase unread = plain(compact(40, 40, 40));
  unread.nan_in_unread = true;
  add(unread, "NaN in C with beta = 0");
  GemmCase no_product = plain(compact(40, 40, 40, Layout::row_major, false, false, 0.0f, 2.0f));
  no_product.nan_in_unread = true;
  add(no_product, "NaN in A and B with alpha = 0");
  GemmCase specials = plain(compact(40, 50, 60, Layout::row_major, false, false, 1.0f, 1.0f));
  specials.filling = Filling::specials;
  add(specials, "NaN and infinities among the values");
  GemmCase positive = plain(compact(48, 48, 2000));
  positive.filling = Filling::positive;
  add(positive, "positive values");
  GemmCase wide = plain(compact(150, 140, 300));
  wide.filling = Filling::wide;
  add(wide, "magnitudes from 2^-20 to 2^20");
  for (const GemmCase& batch : batch_cases()) add(batch);
  return cases;
}

std::vector<std::int64_t> judged_rows(const Problem& p) { return judged_rows(GemmCase{"", p}); }

std::vector<std::int64_t> judged_rows(const GemmCase& c) {
  constexpr double kWhole = 5e9;  // multiply-adds: about the square of 1700
  constexpr std::int64_t kBands = 128;
  const Problem& p = c.problem;
  std::vector<std::int64_t> rows;
  if (flops(c) / 2 <= kWhole || p.m <= kBands + 2) {
    for (std::int64_t i = 0; i < p.m; ++i) rows.push_back(i);
    return rows;
  }
  rows.push_back(0);
  for (std::int64_t band = 0; band < kBands; ++band) {
    const std::int64_t first = p.m * band / kBands, end = p.m * (band + 1) / kBands;
    const std::uint32_t draw = random_block(4, static_cast<std::uint64_t>(band)).word[0];
    rows.push_back(first + static_cast<std::int64_t>(draw) % (end - first));
  }
  rows.push_back(p.m - 1);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace warpladder::sgemm
