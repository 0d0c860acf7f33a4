// Every bad call gets a status and a sentence that names the argument. It launches nothing, leaves
// the output alone, and the next good call works.

#include <limits>
#include <memory>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 2;

// A product of 4×4 matrices, of which each test spoils one argument.
struct Sgemm {
  warpladder_layout layout = WARPLADDER_ROW_MAJOR;
  warpladder_op op_a = WARPLADDER_OP_N, op_b = WARPLADDER_OP_N;
  std::int64_t m = 4, n = 4, k = 4;
  const float* a = nullptr;
  std::int64_t lda = 4;
  const float* b = nullptr;
  std::int64_t ldb = 4;
  float* c = nullptr;
  std::int64_t ldc = 4;
  float alpha = 1.0f;
};

class BadCalls : public WithHandle {
 protected:
  void SetUp() override {
    WithHandle::SetUp();
    if (!handle_) return;
    memory_ = std::make_unique<DeviceArray<float>>(std::vector<float>(256, 3.0f));
    good_ = {.a = memory_->data(), .b = memory_->data() + 64, .c = memory_->data() + 128};
  }
  void TearDown() override {
    memory_.reset();
    WithHandle::TearDown();
  }
  warpladder_status sgemm(const Sgemm& s) const {
    return warpladder_sgemm(handle_, s.layout, s.op_a, s.op_b, s.m, s.n, s.k, s.alpha, s.a, s.lda,
                            s.b, s.ldb, 0.0f, s.c, s.ldc, nullptr);
  }
  // The call is refused with a sentence that holds each of these words, and memory is as it was.
  void expect_refused(warpladder_status got, warpladder_status expected,
                      const std::vector<std::string>& words) const {
    EXPECT_EQ(got, expected) << warpladder_last_error();
    const std::string sentence = warpladder_last_error();
    for (const std::string& word : words) {
      EXPECT_NE(sentence.find(word), std::string::npos) << sentence << " lacks " << word;
    }
    EXPECT_EQ(memory_->download(), std::vector<float>(256, 3.0f)) << "after: " << sentence;
  }
  void expect_invalid(warpladder_status got, const std::vector<std::string>& words) const {
    expect_refused(got, WARPLADDER_INVALID_ARGUMENT, words);
  }

  std::unique_ptr<DeviceArray<float>> memory_;
  Sgemm good_;
};

TEST_F(BadCalls, OfTheAddedMatrix) {
  const auto add = [&](const float* s, std::int64_t lds) {
    return warpladder_sgemm_add(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N, 4,
                                4, 4, 1.0f, good_.a, 4, good_.b, 4, 1.0f, s, lds, good_.c, 4,
                                nullptr);
  };
  const float* const apart = good_.c + 64;
  expect_invalid(add(nullptr, 4), {"sgemm_add", "s is null"});
  expect_invalid(add(apart, 3), {"lds", "3", "4"});
  expect_invalid(add(apart, -4), {"lds", "-4"});
  expect_invalid(add(apart, kHuge), {"lds", std::to_string(kHuge)});
  expect_invalid(add(good_.c + 1, 4), {"c at", "overlaps s"});
  expect_invalid(add(good_.c, 0), {"c at", "overlaps s"});
  EXPECT_SUCCEEDS(add(apart, 4));
}

TEST_F(BadCalls, OfSgemm) {
  const auto spoiled = [&](auto spoil) {
    Sgemm s = good_;
    spoil(s);
    return sgemm(s);
  };
  using S = Sgemm;
  expect_invalid(spoiled([](S& s) { s.m = -1; }), {"sgemm", "m ", "-1"});
  expect_invalid(spoiled([](S& s) { s.n = -2; }), {"n ", "-2"});
  expect_invalid(spoiled([](S& s) { s.k = -3; }), {"k ", "-3"});
  expect_invalid(spoiled([](S& s) { s.lda = 3; }), {"lda", "3", "4"});
  expect_invalid(spoiled([](S& s) { s.ldb = 0; }), {"ldb", "0"});
  expect_invalid(spoiled([](S& s) { s.ldc = -4; }), {"ldc", "-4"});
  expect_invalid(spoiled([](S& s) { s.lda = kHuge; }), {"A", std::to_string(kHuge)});
  expect_invalid(spoiled([](S& s) { s.a = nullptr; }), {"a is null"});
  expect_invalid(spoiled([](S& s) { s.b = nullptr; }), {"b is null"});
  expect_invalid(spoiled([](S& s) { s.c = nullptr; }), {"c is null"});
  expect_invalid(spoiled([](S& s) {
                   s.a = reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(s.a) + 2);
                 }),
                 {"a is", "multiple of 4"});
  expect_invalid(spoiled([](S& s) { s.c = const_cast<float*>(s.a) + 3; }), {"c at", "overlaps a"});
  expect_invalid(spoiled([](S& s) { s.c = const_cast<float*>(s.b) - 15; }), {"overlaps b"});
  expect_invalid(spoiled([](S& s) { s.layout = static_cast<warpladder_layout>(7); }),
                 {"layout", "7"});
  expect_invalid(spoiled([](S& s) { s.op_a = static_cast<warpladder_op>(8); }), {"op_a", "8"});
  expect_invalid(spoiled([](S& s) { s.op_b = static_cast<warpladder_op>(9); }), {"op_b", "9"});
  EXPECT_SUCCEEDS(spoiled([](S&) {}));
}

TEST_F(BadCalls, OfBatches) {
  const auto batched = [&](std::int64_t stride_a, std::int64_t stride_c, std::int64_t batch) {
    return warpladder_sgemm_strided_batched(
        handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N, 4, 4, 4, 1.0f, good_.a, 4,
        stride_a, good_.b, 4, 16, 0.0f, good_.c, 4, stride_c, batch, nullptr);
  };
  expect_invalid(batched(16, 16, -1), {"batch", "-1"});
  expect_invalid(batched(-16, 16, 2), {"stride_a", "-16"});
  expect_invalid(batched(16, 15, 2), {"stride_c", "15"});
  expect_invalid(batched(16, kHuge, 5), {"stride_c"});
  expect_invalid(batched(16, 0, 2), {"stride_c", "0"});
  expect_invalid(
      warpladder_sgemm_batched(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N, 4,
                               4, 4, 1.0f, nullptr, 4, nullptr, 4, 0.0f, nullptr, 4, 3, nullptr),
      {"sgemm_batched", "null", "3"});
}

TEST_F(BadCalls, OfOtherOperators) {
  float* const x = memory_->data();
  const auto sgemv = [&](std::int64_t m, std::int64_t lda, std::int64_t incx, float* y) {
    return warpladder_sgemv(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, m, 4, 1.0f, x, lda,
                            x + 64, incx, 0.0f, y, 1, nullptr);
  };
  expect_invalid(sgemv(-1, 4, 1, x + 128), {"sgemv", "m", "-1"});
  expect_invalid(sgemv(4, 2, 1, x + 128), {"lda", "2"});
  expect_invalid(sgemv(4, 4, 0, x + 128), {"incx", "0"});
  expect_invalid(sgemv(4, 4, std::numeric_limits<std::int64_t>::min(), x + 128), {"incx"});
  expect_invalid(sgemv(4, 4, 1, x + 65), {"overlaps x"});
  expect_invalid(sgemv(4, 4, 1, nullptr), {"y is null"});

  expect_invalid(warpladder_transpose(handle_, 4, -4, x, 4, 0, x + 64, 4, 0, 1, nullptr),
                 {"transpose", "columns", "-4"});
  expect_invalid(warpladder_transpose(handle_, 4, 4, x, 3, 0, x + 64, 4, 0, 1, nullptr),
                 {"ld_in", "3"});
  expect_invalid(warpladder_transpose(handle_, 4, 4, x, 4, 0, x + 8, 4, 0, 1, nullptr),
                 {"out", "overlaps in"});
  expect_invalid(warpladder_transpose(handle_, 4, 8, x, 8, 0, x, 8, 0, 1, nullptr),
                 {"in place", "4", "8"});

  expect_invalid(warpladder_reduce(handle_, WARPLADDER_SUM, -1, x, x + 64, nullptr), {"n is -1"});
  expect_invalid(
      warpladder_reduce(handle_, static_cast<warpladder_reduction>(77), 4, x, x + 64, nullptr),
      {"function", "77"});
  expect_invalid(warpladder_reduce(handle_, WARPLADDER_SUM, 4, nullptr, x, nullptr), {"x is null"});
  expect_invalid(warpladder_reduce(handle_, WARPLADDER_SUM, 4, x, nullptr, nullptr),
                 {"result is null"});
  expect_invalid(warpladder_reduce(handle_, WARPLADDER_SUM, 4, x, x + 2, nullptr), {"overlaps x"});
  expect_invalid(warpladder_reduce_axis(handle_, WARPLADDER_SUM, 2, 4, 4, x, 4, x + 64, nullptr),
                 {"axis", "2"});
  expect_invalid(warpladder_reduce_axis(handle_, WARPLADDER_SUM, 1, 4, 4, x, 2, x + 64, nullptr),
                 {"ld is 2"});

  expect_invalid(warpladder_vector_add(handle_, -5, x, x, x, nullptr), {"n", "-5"});
  expect_invalid(warpladder_vector_add(handle_, 5, x, nullptr, x, nullptr), {"b is null"});
  expect_invalid(warpladder_vector_add(handle_, 5, x, x, x + 1, nullptr), {"c at", "overlaps"});
}

TEST_F(BadCalls, OfSpmv) {
  float* const x = memory_->data();
  const DeviceArray<std::int32_t> offsets({0, 1, 2}), columns({0, 1});
  const auto spoiled = [&](auto spoil) {
    warpladder_csr a{};
    a.rows = a.columns = a.nnz = 2;
    a.offset_type = WARPLADDER_INDEX_32;
    a.row_offsets = offsets.data();
    a.column_indices = columns.data();
    a.values = x;
    spoil(a);
    return warpladder_spmv(handle_, &a, 1.0f, x + 64, 0.0f, x + 128, nullptr);
  };
  using A = warpladder_csr;
  expect_invalid(spoiled([](A& a) { a.rows = -1; }), {"spmv", "rows", "-1"});
  expect_invalid(spoiled([](A& a) { a.columns = std::int64_t{1} << 40; }), {"columns"});
  expect_invalid(spoiled([](A& a) { a.nnz = std::int64_t{1} << 31; }), {"nnz"});
  expect_invalid(spoiled([](A& a) { a.offset_type = static_cast<warpladder_index>(16); }),
                 {"offset_type", "16"});
  expect_invalid(spoiled([](A& a) { a.row_offsets = nullptr; }), {"row_offsets is null"});
  expect_invalid(spoiled([](A& a) { a.column_indices = nullptr; }), {"column_indices is null"});
  expect_invalid(spoiled([](A& a) { a.values = nullptr; }), {"values is null"});
  expect_invalid(spoiled([&](A& a) { a.values = x + 129; }), {"y at", "values"});
  expect_invalid(spoiled([](A& a) { a.longest_row = -1; }), {"longest_row", "-1"});
  expect_invalid(warpladder_spmv(handle_, nullptr, 1, x, 0, x, nullptr), {"a is null"});
  expect_invalid(warpladder_spmv_planned(handle_, nullptr, nullptr, 1, x, 0, x, nullptr),
                 {"plan is null"});
}

TEST_F(BadCalls, OfHandlesAndWorkspaces) {
  expect_refused(warpladder_reduce(nullptr, WARPLADDER_SUM, 1, nullptr, nullptr, nullptr),
                 WARPLADDER_INVALID_HANDLE, {"handle", "null"});
  warpladder_handle gone = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&gone));
  ASSERT_SUCCEEDS(warpladder_destroy(gone));
  const Sgemm& s = good_;
  expect_refused(warpladder_sgemm(gone, s.layout, s.op_a, s.op_b, 4, 4, 4, 1, s.a, 4, s.b, 4, 0,
                                  s.c, 4, nullptr),
                 WARPLADDER_INVALID_HANDLE, {"destroyed"});
  expect_refused(warpladder_destroy(gone), WARPLADDER_INVALID_HANDLE, {"destroyed"});
  expect_refused(warpladder_destroy(reinterpret_cast<warpladder_handle>(memory_->data())),
                 WARPLADDER_INVALID_HANDLE, {"never created"});
  expect_invalid(warpladder_create(nullptr), {"out is null"});
  expect_invalid(warpladder_set_workspace(handle_, nullptr, nullptr, 8),
                 {"workspace is null", "8"});
  expect_invalid(warpladder_set_workspace(handle_, nullptr, memory_->data() + 1, 8), {"256"});
  warpladder_allocator allocator{};
  expect_invalid(warpladder_set_allocator(handle_, &allocator), {"allocate is null"});
  allocator.allocate = [](void*, std::size_t, warpladder_stream) -> void* { return nullptr; };
  expect_invalid(warpladder_set_allocator(handle_, &allocator), {"release is null"});
  expect_invalid(warpladder_set_capture_allocator(handle_, &allocator), {"release is null"});
  expect_refused(warpladder_set_allocator(gone, nullptr), WARPLADDER_INVALID_HANDLE, {"destroyed"});
  expect_refused(warpladder_promise_current_device(gone, 1), WARPLADDER_INVALID_HANDLE,
                 {"destroyed"});
  expect_invalid(warpladder_set_arithmetic(handle_, static_cast<warpladder_arithmetic>(5)), {"5"});
  expect_invalid(warpladder_sgemm_workspace_bytes(handle_, 1, 1, 1, nullptr), {"bytes is null"});
  std::size_t bytes = 0;
  expect_invalid(warpladder_sgemm_workspace_bytes(handle_, -1, 1, 1, &bytes), {"m", "-1"});
  expect_invalid(warpladder_sgemm_prepare(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, 4, 4,
                                          good_.b, 4, nullptr, nullptr),
                 {"out is null"});
  EXPECT_SUCCEEDS(warpladder_destroy(nullptr));
  EXPECT_SUCCEEDS(sgemm(good_));
}

TEST(Status, HasANameEach) {
  for (int status = WARPLADDER_SUCCESS; status <= WARPLADDER_NO_COMPILER; ++status) {
    EXPECT_EQ(std::string(warpladder_status_string(static_cast<warpladder_status>(status)))
                  .rfind("WARPLADDER_", 0),
              0u);
  }
  EXPECT_NE(warpladder_status_string(static_cast<warpladder_status>(99)), nullptr);
  EXPECT_EQ(warpladder_version(), WARPLADDER_VERSION);
}

}  // namespace
}  // namespace warpladder::library_tests
