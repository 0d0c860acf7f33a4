// Products through the C interface beside sums in float64.

#include <algorithm>
#include <cmath>
#include <tuple>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

struct Product {
  std::int64_t m, n, k;
  warpladder_layout layout = WARPLADDER_ROW_MAJOR;
  bool trans_a = false, trans_b = false;
  float alpha = 1.0f, beta = 0.0f;
  std::int64_t gap = 0;  // between a line's end and the next line

  std::int64_t ld(std::int64_t rows, std::int64_t columns) const {
    return std::max<std::int64_t>(1, layout == WARPLADDER_ROW_MAJOR ? columns : rows) + gap;
  }
  std::int64_t lines(std::int64_t rows, std::int64_t columns) const {
    return layout == WARPLADDER_ROW_MAJOR ? rows : columns;
  }
  std::int64_t lda() const { return trans_a ? ld(k, m) : ld(m, k); }
  std::int64_t ldb() const { return trans_b ? ld(n, k) : ld(k, n); }
  std::int64_t ldc() const { return ld(m, n); }
  std::size_t a_size() const {
    return static_cast<std::size_t>(lda() * (trans_a ? lines(k, m) : lines(m, k)));
  }
  std::size_t b_size() const {
    return static_cast<std::size_t>(ldb() * (trans_b ? lines(n, k) : lines(k, n)));
  }
  std::size_t c_size() const { return static_cast<std::size_t>(ldc() * lines(m, n)); }
  std::size_t at(std::int64_t i, std::int64_t j, std::int64_t leading) const {
    return static_cast<std::size_t>(layout == WARPLADDER_ROW_MAJOR ? i * leading + j
                                                                   : i + j * leading);
  }
  warpladder_op op_a() const { return trans_a ? WARPLADDER_OP_T : WARPLADDER_OP_N; }
  warpladder_op op_b() const { return trans_b ? WARPLADDER_OP_T : WARPLADDER_OP_N; }
};

// Fails unless every element of C lies within FP32's error of the sum in float64, and gaps are
// kept.
void expect_product(const Product& p, const float* a, const float* b, const float* old_c,
                    const float* c) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0, magnitude = 0;
      for (std::int64_t x = 0; x < p.k && p.alpha != 0; ++x) {
        const double term = double{p.trans_a ? a[p.at(x, i, p.lda())] : a[p.at(i, x, p.lda())]} *
                            (p.trans_b ? b[p.at(j, x, p.ldb())] : b[p.at(x, j, p.ldb())]);
        sum += term;
        magnitude += std::abs(term);
      }
      const std::size_t place = p.at(i, j, p.ldc());
      const double old = p.beta == 0 ? 0.0 : p.beta * double{old_c[place]};
      const double expected = p.alpha * sum + old;
      const double bound =
          0x1p-24 * ((static_cast<double>(p.k) + 3) * std::abs(p.alpha) * magnitude +
                     3 * std::abs(old) + std::abs(expected));
      ASSERT_TRUE(std::abs(c[place] - expected) <= bound)
          << "C(" << i << "," << j << ") is " << c[place] << ", not " << expected;
    }
  }
}

class Sgemm : public WithHandle {
 protected:
  void multiply_and_judge(const Product& p, warpladder_stream stream = nullptr) {
    const auto a = random_floats(p.a_size(), 1), b = random_floats(p.b_size(), 2);
    auto c = random_floats(p.c_size(), 3);
    if (p.beta == 0) std::fill(c.begin(), c.end(), NAN);
    const DeviceArray<float> a_there(a), b_there(b), c_there(c);
    ASSERT_SUCCEEDS(warpladder_sgemm(handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, p.alpha,
                                     a_there.data(), p.lda(), b_there.data(), p.ldb(), p.beta,
                                     c_there.data(), p.ldc(), stream));
    const std::vector<float> result = c_there.download();
    expect_product(p, a.data(), b.data(), c.data(), result.data());
    for (std::size_t i = 0; i < c.size(); ++i) {
      const auto in_line = static_cast<std::int64_t>(i) % p.ldc();
      const std::int64_t length = p.layout == WARPLADDER_ROW_MAJOR ? p.n : p.m;
      if (in_line < length) continue;
      ASSERT_TRUE(result[i] == c[i] || (std::isnan(result[i]) && std::isnan(c[i]))) << "gap " << i;
    }
  }
};

TEST_F(Sgemm, IsRightInEveryLayout) {
  for (const auto layout : {WARPLADDER_ROW_MAJOR, WARPLADDER_COLUMN_MAJOR}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        multiply_and_judge({37, 21, 53, layout, trans_a, trans_b, 1.5f, 0.0f, 0});
        multiply_and_judge({33, 65, 9, layout, trans_a, trans_b, -1.0f, 0.5f, 3});
      }
    }
  }
}

TEST_F(Sgemm, IsRightInEveryArithmetic) {
  for (const auto arithmetic : {WARPLADDER_ARITHMETIC_ACCURATE, WARPLADDER_ARITHMETIC_CUDA_CORES,
                                WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED}) {
    ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, arithmetic));
    multiply_and_judge({40, 24, 1100});
    multiply_and_judge({5, 130, 31, WARPLADDER_COLUMN_MAJOR, true, false, 2.0f, -1.0f, 1});
  }
}

// C of one row or column is a vector, whose elements may lie a leading dimension apart.
TEST_F(Sgemm, IsRightWhereCIsAVector) {
  for (const auto layout : {WARPLADDER_ROW_MAJOR, WARPLADDER_COLUMN_MAJOR}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        multiply_and_judge({1, 70, 533, layout, trans_a, trans_b, 1.5f, -0.5f, 3});
        multiply_and_judge({70, 1, 533, layout, trans_a, trans_b, 1.5f, 0.0f, 2});
        multiply_and_judge({1, 5, 1, layout, trans_a, trans_b});
        multiply_and_judge({1, 1, 4001, layout, trans_a, trans_b, 1.0f, 2.0f, 1});
      }
    }
  }
  multiply_and_judge({1, 6, 0, WARPLADDER_ROW_MAJOR, false, false, 1.0f, 2.0f});
  multiply_and_judge({6, 1, 7, WARPLADDER_ROW_MAJOR, false, false, 0.0f, 2.0f});
}

TEST_F(Sgemm, FollowsBlasWhereThereIsNothingToDo) {
  multiply_and_judge({0, 5, 5});
  multiply_and_judge({5, 0, 5});
  multiply_and_judge({5, 6, 0});
  multiply_and_judge({5, 6, 0, WARPLADDER_ROW_MAJOR, false, false, 1.0f, 2.0f});
  multiply_and_judge({5, 6, 7, WARPLADDER_ROW_MAJOR, false, false, 0.0f, 2.0f});
  EXPECT_SUCCEEDS(warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N,
                                   0, 5, 5, 1, nullptr, 5, nullptr, 5, 0, nullptr, 5, nullptr));
}

TEST_F(Sgemm, TakesStridedBatchesAndSharedOperands) {
  struct Case {
    Product p;
    std::int64_t batch, stride_a, stride_b;
  };
  const Product small{17, 19, 23}, large{70, 300, 1030},
      columns{17, 19, 23, WARPLADDER_COLUMN_MAJOR, false, false},
      turned{17, 19, 23, WARPLADDER_ROW_MAJOR, true, false};
  for (const auto& [p, batch, stride_a, stride_b] :
       {Case{small, 7, 17 * 23, 23 * 19}, Case{small, 5, 0, 23 * 19},
        Case{small, 3, 17 * 23 + 4, 0}, Case{large, 2, 70 * 1030, 0}, Case{small, 0, 0, 0},
        // The first two are one product each, the others not.
        Case{small, 6, 17 * 23, 0}, Case{columns, 6, 0, 23 * 19}, Case{columns, 6, 17 * 23, 0},
        Case{turned, 6, 17 * 23, 0}}) {
    const auto a = random_floats(p.a_size() + static_cast<std::size_t>(batch * stride_a), 4),
               b = random_floats(p.b_size() + static_cast<std::size_t>(batch * stride_b), 5);
    const std::vector<float> c(p.c_size() * static_cast<std::size_t>(batch), NAN);
    const DeviceArray<float> a_there(a), b_there(b), c_there(c);
    const auto stride_c = static_cast<std::int64_t>(p.c_size());
    ASSERT_SUCCEEDS(warpladder_sgemm_strided_batched(
        handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, 1.0f, a_there.data(), p.lda(),
        stride_a, b_there.data(), p.ldb(), stride_b, 0.0f, c_there.data(), p.ldc(), stride_c, batch,
        nullptr));
    const auto result = c_there.download();
    for (std::int64_t i = 0; i < batch; ++i) {
      expect_product(p, &a[static_cast<std::size_t>(i * stride_a)],
                     &b[static_cast<std::size_t>(i * stride_b)], nullptr,
                     &result[static_cast<std::size_t>(i * stride_c)]);
    }
  }
}

// Where S lies of its own, and where it is one line for all.
TEST_F(Sgemm, AddsAnotherMatrixOrALine) {
  for (const Product& p : {Product{37, 21, 53, WARPLADDER_ROW_MAJOR, false, false, 1.5f, -0.5f, 3},
                           Product{37, 24, 53, WARPLADDER_COLUMN_MAJOR, true, false, 1.0f, 1.0f},
                           Product{5, 300, 700, WARPLADDER_ROW_MAJOR, false, true, 1.0f, 1.0f},
                           Product{1, 70, 533, WARPLADDER_ROW_MAJOR, false, false, 1.0f, 2.0f},
                           Product{6, 8, 0, WARPLADDER_COLUMN_MAJOR, false, false, 1.0f, 2.0f, 1},
                           Product{6, 8, 9, WARPLADDER_ROW_MAJOR, false, false, 0.0f, 2.0f},
                           Product{6, 8, 9, WARPLADDER_ROW_MAJOR, false, false, 1.0f, 0.0f}}) {
    for (const bool one_line : {false, true}) {
      const auto a = random_floats(p.a_size(), 21), b = random_floats(p.b_size(), 22);
      auto s = random_floats(p.c_size(), 23);
      const DeviceArray<float> a_there(a), b_there(b), s_there(s),
          c_there(std::vector<float>(p.c_size(), NAN));
      const bool reads = p.beta != 0.0f;
      ASSERT_SUCCEEDS(warpladder_sgemm_add(
          handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, p.alpha, a_there.data(), p.lda(),
          b_there.data(), p.ldb(), p.beta, reads ? s_there.data() : nullptr, one_line ? 0 : p.ldc(),
          c_there.data(), p.ldc(), nullptr));
      EXPECT_EQ(s_there.download(), s) << "S was written";
      const auto ldc = static_cast<std::size_t>(p.ldc());
      for (std::size_t i = ldc; one_line && i < s.size(); ++i) s[i] = s[i - ldc];
      expect_product(p, a.data(), b.data(), s.data(), c_there.download().data());
    }
  }
}

TEST_F(Sgemm, AddsCItselfWhereItIsGivenTwice) {
  const Product p{33, 40, 70, WARPLADDER_ROW_MAJOR, false, false, 1.0f, 2.0f, 1};
  const auto a = random_floats(p.a_size(), 24), b = random_floats(p.b_size(), 25),
             c = random_floats(p.c_size(), 26);
  const DeviceArray<float> a_there(a), b_there(b), c_there(c);
  ASSERT_SUCCEEDS(warpladder_sgemm_add(handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, 1.0f,
                                       a_there.data(), p.lda(), b_there.data(), p.ldb(), p.beta,
                                       c_there.data(), p.ldc(), c_there.data(), p.ldc(), nullptr));
  expect_product(p, a.data(), b.data(), c.data(), c_there.download().data());
}

// The heads of an attention layer lie side by side in each row: matrices interleave.
TEST_F(Sgemm, TakesInterleavedBatches) {
  const std::int64_t tokens = 20, width = 16, heads = 4, row = width * heads;
  const Product p{tokens, width, width, WARPLADDER_ROW_MAJOR, false,
                  false,  1.0f,  0.0f,  row - width};
  const auto a = random_floats(static_cast<std::size_t>(tokens * row), 6),
             b = random_floats(static_cast<std::size_t>(width * row), 7);
  const DeviceArray<float> a_there(a), b_there(b), c_there(std::vector<float>(a.size(), NAN));
  ASSERT_SUCCEEDS(warpladder_sgemm_strided_batched(
      handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, 1.0f, a_there.data(), row, width,
      b_there.data(), row, width, 0.0f, c_there.data(), row, width, heads, nullptr));
  const auto result = c_there.download();
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto first = static_cast<std::size_t>(head * width);
    expect_product(p, &a[first], &b[first], nullptr, &result[first]);
  }
}

TEST_F(Sgemm, TakesArraysOfPointers) {
  for (const auto arithmetic :
       {WARPLADDER_ARITHMETIC_ACCURATE, WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED}) {
    ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, arithmetic));
    const Product p{33, 40, 70, WARPLADDER_COLUMN_MAJOR, true, false, 2.0f, -0.5f, 1};
    constexpr std::size_t kBatch = 5;
    const auto a = random_floats(kBatch * p.a_size(), 8), b = random_floats(kBatch * p.b_size(), 9),
               c = random_floats(kBatch * p.c_size(), 10);
    const DeviceArray<float> a_there(a), b_there(b), c_there(c);
    std::vector<const float*> a_at, b_at;
    std::vector<float*> c_at;
    for (std::size_t i = 0; i < kBatch; ++i) {  // in another order than they lie
      a_at.push_back(a_there.data() + (kBatch - 1 - i) * p.a_size());
      b_at.push_back(b_there.data() + i * p.b_size());
      c_at.push_back(c_there.data() + (i + 1) % kBatch * p.c_size());
    }
    const DeviceArray<const float*> a_array(a_at), b_array(b_at);
    const DeviceArray<float*> c_array(c_at);
    ASSERT_SUCCEEDS(warpladder_sgemm_batched(
        handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, p.alpha, a_array.data(), p.lda(),
        b_array.data(), p.ldb(), p.beta, c_array.data(), p.ldc(), kBatch, nullptr));
    const auto result = c_there.download();
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::size_t c_first = (i + 1) % kBatch * p.c_size();
      expect_product(p, &a[(kBatch - 1 - i) * p.a_size()], &b[i * p.b_size()], &c[c_first],
                     &result[c_first]);
    }
  }
}

TEST_F(Sgemm, MultipliesByAPreparedMatrix) {
  for (const Product& p :
       {Product{30, 50, 40}, Product{9, 65, 1500, WARPLADDER_COLUMN_MAJOR, true, true},
        Product{300, 260, 1100, WARPLADDER_ROW_MAJOR, false, true, 1, 1, 3}}) {
    const auto a = random_floats(p.a_size(), 11), b = random_floats(p.b_size(), 12),
               c = random_floats(p.c_size(), 13);
    const DeviceArray<float> a_there(a), b_there(b), c_there(c);
    warpladder_prepared prepared = nullptr;
    ASSERT_SUCCEEDS(warpladder_sgemm_prepare(handle_, p.layout, p.op_b(), p.n, p.k, b_there.data(),
                                             p.ldb(), &prepared, nullptr));
    require(cudaDeviceSynchronize(), "prepare");
    require(cudaMemset(b_there.data(), 0xff, b.size() * sizeof(float)), "cudaMemset");
    std::size_t bytes = 0;
    EXPECT_SUCCEEDS(warpladder_sgemm_prepared_workspace_bytes(handle_, p.m, prepared, &bytes));
    ASSERT_SUCCEEDS(warpladder_sgemm_prepared(handle_, p.op_a(), p.m, p.alpha, a_there.data(),
                                              p.lda(), prepared, p.beta, c_there.data(), p.ldc(),
                                              nullptr));
    expect_product(p, a.data(), b.data(), c.data(), c_there.download().data());

    Product with_line = p;  // one line for all, such as a bias
    with_line.beta = 2.0f;
    auto lines = random_floats(p.c_size(), 14);
    const DeviceArray<float> line_there(lines);
    for (std::size_t i = static_cast<std::size_t>(p.ldc()); i < lines.size(); ++i) {
      lines[i] = lines[i - static_cast<std::size_t>(p.ldc())];
    }
    ASSERT_SUCCEEDS(warpladder_sgemm_prepared_add(
        handle_, p.op_a(), p.m, p.alpha, a_there.data(), p.lda(), prepared, with_line.beta,
        line_there.data(), 0, c_there.data(), p.ldc(), nullptr));
    expect_product(with_line, a.data(), b.data(), lines.data(), c_there.download().data());
    EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, prepared, nullptr));
  }
  EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, nullptr, nullptr));
}

TEST_F(Sgemm, GivesTheSameBitsInAnyStreamAndWorkspace) {
  const Product p{700, 650, 1030};
  const auto a = random_floats(p.a_size(), 14), b = random_floats(p.b_size(), 15);
  const DeviceArray<float> a_there(a), b_there(b);
  const auto product = [&](warpladder_stream stream) {
    const DeviceArray<float> c_there(std::vector<float>(p.c_size(), NAN));
    EXPECT_SUCCEEDS(warpladder_sgemm(handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, 1,
                                     a_there.data(), p.lda(), b_there.data(), p.ldb(), 0,
                                     c_there.data(), p.ldc(), stream));
    return c_there.download();
  };
  const std::vector<float> first = product(nullptr);
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  EXPECT_EQ(product(stream), first);
  std::size_t bytes = 0;
  ASSERT_SUCCEEDS(warpladder_sgemm_workspace_bytes(handle_, p.m, p.n, p.k, &bytes));
  const DeviceArray<unsigned char> workspace(std::vector<unsigned char>(bytes + 512, 0xff));
  auto* aligned =
      workspace.data() + (256 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 256);
  ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, stream, aligned, bytes));
  EXPECT_EQ(product(stream), first);
  if (bytes > 0) {
    ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, stream, aligned, bytes - 1));
    const DeviceArray<float> c_there(std::vector<float>(p.c_size(), 7.0f));
    EXPECT_EQ(
        warpladder_sgemm(handle_, p.layout, p.op_a(), p.op_b(), p.m, p.n, p.k, 1, a_there.data(),
                         p.lda(), b_there.data(), p.ldb(), 0, c_there.data(), p.ldc(), stream),
        WARPLADDER_WORKSPACE_TOO_SMALL);
    EXPECT_NE(std::string(warpladder_last_error()).find(std::to_string(bytes)), std::string::npos);
    EXPECT_EQ(c_there.download(), std::vector<float>(p.c_size(), 7.0f)) << "C was touched";
  }
  ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, stream, nullptr, 0));
  EXPECT_EQ(product(stream), first);
  warpladder_allocator allocator{};
  allocator.state = aligned;
  allocator.allocate = [](void* state, std::size_t, warpladder_stream) { return state; };
  allocator.release = [](void*, void*, std::size_t, warpladder_stream) {};
  ASSERT_SUCCEEDS(warpladder_set_allocator(handle_, &allocator));
  EXPECT_EQ(product(stream), first);
  cudaStreamDestroy(stream);
}

class Sgemv : public WithHandle {};

TEST_F(Sgemv, IsRightInEveryLayoutAndIncrement) {
  struct Shape {
    std::int64_t m, n, incx, incy;
  };
  for (const auto& [m, n, incx, incy] :
       {Shape{5, 7, 1, 1}, Shape{300, 129, -2, 3}, Shape{64, 2000, 1, -1}, Shape{3000, 4, 2, 1}}) {
    for (const auto layout : {WARPLADDER_ROW_MAJOR, WARPLADDER_COLUMN_MAJOR}) {
      for (const bool trans : {false, true}) {
        const bool rows = layout == WARPLADDER_ROW_MAJOR;
        const std::int64_t lda = (rows ? n : m) + 1, outputs = trans ? n : m, terms = trans ? m : n;
        const auto a = random_floats(static_cast<std::size_t>(lda * (rows ? m : n)), 1),
                   x = random_floats(static_cast<std::size_t>((terms - 1) * std::abs(incx) + 1), 2),
                   y = random_floats(static_cast<std::size_t>((outputs - 1) * std::abs(incy) + 1),
                                     3);
        const DeviceArray<float> a_there(a), x_there(x), y_there(y);
        ASSERT_SUCCEEDS(warpladder_sgemv(handle_, layout, trans ? WARPLADDER_OP_T : WARPLADDER_OP_N,
                                         m, n, 1.5f, a_there.data(), lda, x_there.data(), incx,
                                         -0.5f, y_there.data(), incy, nullptr));
        const auto result = y_there.download();
        const auto place = [](std::int64_t i, std::int64_t size, std::int64_t inc) {
          return static_cast<std::size_t>(inc > 0 ? i * inc : (size - 1 - i) * -inc);
        };
        for (std::int64_t i = 0; i < outputs; ++i) {
          double sum = 0, magnitude = 0;
          for (std::int64_t j = 0; j < terms; ++j) {
            const std::int64_t row = trans ? j : i, column = trans ? i : j;
            const double term =
                double{
                    a[static_cast<std::size_t>(rows ? row * lda + column : row + column * lda)]} *
                x[place(j, terms, incx)];
            sum += term;
            magnitude += std::abs(term);
          }
          const double expected = 1.5 * sum - 0.5 * y[place(i, outputs, incy)];
          ASSERT_NEAR(result[place(i, outputs, incy)], expected,
                      0x1p-24 * ((static_cast<double>(terms) + 4) * 1.5 * magnitude + 4));
        }
      }
    }
  }
}

class Spmv : public WithHandle {};

// Rows of 0 to 9 entries, one long row, columns spread by a generator.
struct Csr {
  std::int64_t rows, columns;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices{};
  std::vector<float> values{};
};
Csr random_csr(std::int64_t rows, std::int64_t columns, std::int64_t longest, unsigned seed) {
  Csr a{rows, columns};
  std::mt19937 generator(seed);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto length = row == rows / 2 ? longest : static_cast<std::int64_t>(generator() % 10);
    for (std::int64_t e = 0; e < length; ++e) {
      a.indices.push_back(static_cast<std::int32_t>(generator() % static_cast<unsigned>(columns)));
    }
    a.offsets.push_back(static_cast<std::int64_t>(a.indices.size()));
  }
  a.values = random_floats(a.indices.size(), seed + 1);
  return a;
}

TEST_F(Spmv, IsRightWithAndWithoutAPlan) {
  for (const Csr& a :
       {random_csr(100, 60, 7, 1), random_csr(500, 9000, 3000, 2), random_csr(3, 5, 0, 3)}) {
    for (const bool wide : {false, true}) {
      const auto nnz = static_cast<std::int64_t>(a.indices.size());
      const auto x = random_floats(static_cast<std::size_t>(a.columns), 4),
                 y = random_floats(static_cast<std::size_t>(a.rows), 5);
      const std::vector<std::int32_t> narrow(a.offsets.begin(), a.offsets.end());
      const DeviceArray<std::int64_t> wide_there(a.offsets);
      const DeviceArray<std::int32_t> narrow_there(narrow), indices(a.indices);
      const DeviceArray<float> values(a.values), x_there(x);
      warpladder_csr matrix{};
      matrix.rows = a.rows;
      matrix.columns = a.columns;
      matrix.nnz = nnz;
      matrix.offset_type = wide ? WARPLADDER_INDEX_64 : WARPLADDER_INDEX_32;
      matrix.row_offsets = wide ? static_cast<const void*>(wide_there.data()) : narrow_there.data();
      matrix.column_indices = indices.data();
      matrix.values = values.data();
      warpladder_spmv_plan plan = nullptr;
      ASSERT_SUCCEEDS(warpladder_spmv_plan_create(handle_, &matrix, &plan, nullptr));
      for (const bool planned : {false, true}) {
        const DeviceArray<float> y_there(y);
        if (planned) {
          ASSERT_SUCCEEDS(warpladder_spmv_planned(handle_, plan, &matrix, 2.0f, x_there.data(),
                                                  0.5f, y_there.data(), nullptr));
        } else {
          ASSERT_SUCCEEDS(warpladder_spmv(handle_, &matrix, 2.0f, x_there.data(), 0.5f,
                                          y_there.data(), nullptr));
        }
        const auto result = y_there.download();
        for (std::size_t row = 0; row < y.size(); ++row) {
          double sum = 0, magnitude = 0;
          for (auto e = static_cast<std::size_t>(a.offsets[row]);
               e < static_cast<std::size_t>(a.offsets[row + 1]); ++e) {
            const double term = double{a.values[e]} * x[static_cast<std::size_t>(a.indices[e])];
            sum += term;
            magnitude += std::abs(term);
          }
          const auto length = static_cast<double>(a.offsets[row + 1] - a.offsets[row]);
          ASSERT_NEAR(result[row], 2 * sum + 0.5 * y[row],
                      0x1p-24 * ((length + 4) * 2 * magnitude + 4));
        }
      }
      EXPECT_SUCCEEDS(warpladder_spmv_plan_destroy(handle_, plan, nullptr));
    }
  }
}

}  // namespace
}  // namespace warpladder::library_tests
