// Every function that is taken, in every spelling; what is passed on; and what the library is told.

#include <thread>

#include "matrices.hpp"

namespace shim_tests {
namespace {

// The functions of one integer type.
#define SPELLINGS(Int, kind, v2, plain)                                                            \
  struct kind {                                                                                    \
    using Integer = Int;                                                                           \
    static constexpr auto sgemm = cublasSgemm##v2;                                                 \
    static constexpr auto sgemm_ex = cublasSgemmEx##plain;                                         \
    static constexpr auto strided = cublasSgemmStridedBatched##plain;                              \
    static constexpr auto batched = cublasSgemmBatched##plain;                                     \
    static constexpr auto sgemv = cublasSgemv##v2;                                                 \
    static cublasStatus_t ex(cublasHandle_t handle, Case& p, cublasComputeType_t compute,          \
                             cublasGemmAlgo_t algorithm, cudaDataType type = CUDA_R_32F) {         \
      return cublasGemmEx##plain(handle, p.op_a, p.op_b, Int(p.m), Int(p.n), Int(p.k), &p.alpha,   \
                                 p.a.data(), type, Int(p.lda), p.b.data(), CUDA_R_32F, Int(p.ldb), \
                                 &p.beta, p.c.data(), CUDA_R_32F, Int(p.ldc), compute, algorithm); \
    }                                                                                              \
    static cublasStatus_t strided_ex(cublasHandle_t handle, Case& p) {                             \
      return cublasGemmStridedBatchedEx##plain(                                                    \
          handle, p.op_a, p.op_b, Int(p.m), Int(p.n), Int(p.k), &p.alpha, p.a.data(), CUDA_R_32F,  \
          Int(p.lda), p.stride_a, p.b.data(), CUDA_R_32F, Int(p.ldb), p.stride_b, &p.beta,         \
          p.c.data(), CUDA_R_32F, Int(p.ldc), p.stride_c, Int(p.batch), CUBLAS_COMPUTE_32F,        \
          CUBLAS_GEMM_DEFAULT);                                                                    \
    }                                                                                              \
    static cublasStatus_t batched_ex(cublasHandle_t handle, Case& p, Pointers& to) {               \
      return cublasGemmBatchedEx##plain(                                                           \
          handle, p.op_a, p.op_b, Int(p.m), Int(p.n), Int(p.k), &p.alpha,                          \
          reinterpret_cast<const void* const*>(to.a.data()), CUDA_R_32F, Int(p.lda),               \
          reinterpret_cast<const void* const*>(to.b.data()), CUDA_R_32F, Int(p.ldb), &p.beta,      \
          reinterpret_cast<void* const*>(to.c.data()), CUDA_R_32F, Int(p.ldc), Int(p.batch),       \
          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);                                                \
    }                                                                                              \
  }
SPELLINGS(int, With32, _v2, );
SPELLINGS(std::int64_t, With64, _v2_64, _64);

template <class Spelling>
class EachSpelling : public Shim {};
using BothSpellings = testing::Types<With32, With64>;
TYPED_TEST_SUITE(EachSpelling, BothSpellings);

constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

TYPED_TEST(EachSpelling, OfSgemmIsTaken) {
  using Int = typename TypeParam::Integer;
  for (const auto op_a : kOps) {
    for (const auto op_b : kOps) {
      for (const float beta : {0.0f, -0.5f}) {
        Case p;
        p.op_a = op_a;
        p.op_b = op_b;
        p.beta = beta;
        p.make();
        const Counts counts(sizeof(Int) == 4 ? "cublasSgemm_v2" : "cublasSgemm_v2_64");
        EXPECT_EQ(TypeParam::sgemm(this->handle, op_a, op_b, Int(p.m), Int(p.n), Int(p.k), &p.alpha,
                                   p.a.data(), Int(p.lda), p.b.data(), Int(p.ldb), &p.beta,
                                   p.c.data(), Int(p.ldc)),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_TAKEN(counts);
        p.expect_right();
      }
    }
  }
}

TYPED_TEST(EachSpelling, OfSgemmExIsTakenWithFp32Alone) {
  using Int = typename TypeParam::Integer;
  for (const auto type : {CUDA_R_32F, CUDA_R_16F}) {
    Case p;
    p.op_a = CUBLAS_OP_T;
    p.make();
    const Counts counts(sizeof(Int) == 4 ? "cublasSgemmEx" : "cublasSgemmEx_64");
    EXPECT_EQ(TypeParam::sgemm_ex(this->handle, p.op_a, p.op_b, Int(p.m), Int(p.n), Int(p.k),
                                  &p.alpha, p.a.data(), CUDA_R_32F, Int(p.lda), p.b.data(), type,
                                  Int(p.ldb), &p.beta, p.c.data(), CUDA_R_32F, Int(p.ldc)),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(counts.ours(), type == CUDA_R_32F ? 1 : 0);
    EXPECT_EQ(counts.theirs(), type == CUDA_R_32F ? 0 : 1);
    p.expect_right();
  }
}

TYPED_TEST(EachSpelling, OfStridedBatchesIsTaken) {
  using Int = typename TypeParam::Integer;
  for (const bool ex : {false, true}) {
    Case p;
    p.op_b = CUBLAS_OP_T;
    p.batch = 3;
    p.make();
    const Counts counts("none");
    EXPECT_EQ(ex ? TypeParam::strided_ex(this->handle, p)
                 : TypeParam::strided(this->handle, p.op_a, p.op_b, Int(p.m), Int(p.n), Int(p.k),
                                      &p.alpha, p.a.data(), Int(p.lda), p.stride_a, p.b.data(),
                                      Int(p.ldb), p.stride_b, &p.beta, p.c.data(), Int(p.ldc),
                                      p.stride_c, Int(p.batch)),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_TAKEN(counts);
    EXPECT_STREQ(made_up::gpu().last, "sgemm_strided_batched");
    p.expect_right();
  }
}

TYPED_TEST(EachSpelling, OfArraysOfPointersIsTaken) {
  using Int = typename TypeParam::Integer;
  for (const bool ex : {false, true}) {
    Case p;
    p.op_a = CUBLAS_OP_C;
    p.batch = 2;
    p.beta = 0;
    p.make();
    Pointers to(p);
    const Counts counts("none");
    EXPECT_EQ(ex ? TypeParam::batched_ex(this->handle, p, to)
                 : TypeParam::batched(this->handle, p.op_a, p.op_b, Int(p.m), Int(p.n), Int(p.k),
                                      &p.alpha, to.a.data(), Int(p.lda), to.b.data(), Int(p.ldb),
                                      &p.beta, to.c.data(), Int(p.ldc), Int(p.batch)),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_TAKEN(counts);
    p.expect_right();
  }
}

TYPED_TEST(EachSpelling, OfGemmExIsTakenWithFp32ArithmeticAlone) {
  using Int = typename TypeParam::Integer;
  const struct {
    cublasComputeType_t compute;
    cublasGemmAlgo_t algorithm;
    cudaDataType type;
    bool is_taken;
  } cases[] = {
      {CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT, CUDA_R_32F, true},
      {CUBLAS_COMPUTE_32F, CUBLAS_GEMM_ALGO23, CUDA_R_32F, true},
      {CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT, CUDA_R_32F, true},
      {CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT, CUDA_R_16F, false},
      {CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT, CUDA_R_32F, false},
      {CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_GEMM_DEFAULT, CUDA_R_32F, false},
      {static_cast<cublasComputeType_t>(78), CUBLAS_GEMM_DEFAULT, CUDA_R_32F, false},
      {static_cast<cublasComputeType_t>(0), CUBLAS_GEMM_DEFAULT, CUDA_R_32F, false},
      {CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP, CUDA_R_32F, true},
      {CUBLAS_COMPUTE_32F, CUBLAS_GEMM_ALGO3_TENSOR_OP, CUDA_R_32F, true},
      {CUBLAS_COMPUTE_32F, static_cast<cublasGemmAlgo_t>(77), CUDA_R_32F, false},
  };
  for (const auto& [compute, algorithm, type, is_taken] : cases) {
    SCOPED_TRACE(testing::Message() << compute << ' ' << algorithm << ' ' << type);
    Case p;
    p.make();
    const Counts counts(sizeof(Int) == 4 ? "cublasGemmEx" : "cublasGemmEx_64");
    EXPECT_EQ(TypeParam::ex(this->handle, p, compute, algorithm, type), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(counts.ours(), is_taken ? 1 : 0);
    EXPECT_EQ(counts.theirs(), is_taken ? 0 : 1);
    p.expect_right();
    if (is_taken) {
      EXPECT_EQ(made_up::gpu().last_arithmetic, compute == CUBLAS_COMPUTE_32F_PEDANTIC ? 1 : 0);
    }
  }
}

TYPED_TEST(EachSpelling, OfSgemvIsTaken) {
  using Int = typename TypeParam::Integer;
  for (const auto op : kOps) {
    for (const int incx : {1, 3, -2}) {
      for (const int incy : {1, 2, -1}) {
        const int m = 6, n = 4, lda = 7, terms = turns(op) ? m : n, rows = turns(op) ? n : m;
        const auto a = numbers(lda * n, 1), x = numbers(terms * std::abs(incx), 2);
        auto y = numbers(rows * std::abs(incy), 3);
        const auto before = y;
        const float alpha = 2, beta = 0.5f;
        const Counts counts(sizeof(Int) == 4 ? "cublasSgemv_v2" : "cublasSgemv_v2_64");
        EXPECT_EQ(TypeParam::sgemv(this->handle, op, Int(m), Int(n), &alpha, a.data(), Int(lda),
                                   x.data(), Int(incx), &beta, y.data(), Int(incy)),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_TAKEN(counts);
        const auto place = [](int i, int count, int step) {
          return static_cast<std::size_t>(step > 0 ? i * step : (i + 1 - count) * step);
        };
        for (int i = 0; i < rows; ++i) {
          double sum = 0;
          for (int t = 0; t < terms; ++t) {
            const int at = turns(op) ? t + i * lda : i + t * lda;
            sum += double{a[static_cast<std::size_t>(at)]} * x[place(t, terms, incx)];
          }
          const std::size_t at = place(i, rows, incy);
          EXPECT_NEAR(y[at], 2 * sum + 0.5 * before[at], 1e-5);
        }
      }
    }
  }
}

using Modes = Shim;

TEST_F(Modes, TheHandlesStreamIsTheLibrarys) {
  for (const auto stream : {stream_number(7), stream_number(0), stream_number(9)}) {
    cublasSetStream_v2(handle, stream);
    expect_taken();
    EXPECT_EQ(made_up::gpu().last_stream, stream);
  }
}

TEST_F(Modes, OtherMathIsPassedOn) {
  for (const auto mode :
       {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_TENSOR_OP_MATH,
        static_cast<cublasMath_t>(CUBLAS_TF32_TENSOR_OP_MATH | 16), static_cast<cublasMath_t>(4)}) {
    cublasSetMathMode(handle, mode);
    expect_passed_on();
  }
  for (const auto mode :
       {CUBLAS_DEFAULT_MATH, static_cast<cublasMath_t>(16), static_cast<cublasMath_t>(8)}) {
    cublasSetMathMode(handle, mode);
    expect_taken();
    EXPECT_EQ(made_up::gpu().last_arithmetic, 0);
  }
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  expect_taken();
  EXPECT_EQ(made_up::gpu().last_arithmetic, 1);
}

TEST_F(Modes, DeviceScalarsArePassedOn) {
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE);
  expect_passed_on();
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST);
  expect_taken();
}

TEST_F(Modes, ATargetOfMultiprocessorsIsPassedOn) {
  cublasSetSmCountTarget(handle, 16);
  expect_passed_on();
}

TEST_F(Modes, AtomicsMayBeAllowed) {
  std::vector<float> results[2];
  for (const auto mode : {CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED}) {
    ASSERT_EQ(cublasSetAtomicsMode(handle, mode), CUBLAS_STATUS_SUCCESS);
    Case p;
    p.make();
    const Counts counts("cublasSgemm_v2");
    EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
    EXPECT_TAKEN(counts);
    EXPECT_STREQ(made_up::gpu().last, "sgemm");
    EXPECT_EQ(made_up::gpu().last_arithmetic, 0);
    results[mode] = p.c;
    cublasAtomicsMode_t still = CUBLAS_ATOMICS_NOT_ALLOWED;
    EXPECT_EQ(cublasGetAtomicsMode(handle, &still), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(still, mode);
  }
  EXPECT_EQ(results[0], results[1]);
}

// Whose product it is shows in the workspace: cuBLAS's writes there.
TEST_F(Modes, TheWorkspaceOfTheHandleIsNotWritten) {
  const std::vector<unsigned char> untouched(4096, 0x5a);
  std::vector<unsigned char> workspace = untouched;
  const auto set_workspace = [&] {
    return cublasSetWorkspace_v2(handle, workspace.data(), workspace.size());
  };
  ASSERT_EQ(set_workspace(), CUBLAS_STATUS_SUCCESS);
  expect_taken();
  EXPECT_EQ(workspace, untouched);
  const auto stream = stream_number(6);  // a capture needs a workspace, and has one of its own
  cublasSetStream_v2(handle, stream);
  made_up::gpu().captured = stream;
  made_up::gpu().capture = 21;
  made_up::gpu().workspace_needed = 1 << 20;
  ASSERT_EQ(set_workspace(), CUBLAS_STATUS_SUCCESS);
  expect_taken();
  EXPECT_NE(made_up::gpu().last_workspace, nullptr);
  EXPECT_EQ(workspace, untouched);
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  expect_passed_on();
  EXPECT_NE(workspace, untouched);
}

using Corners = Shim;

TEST_F(Corners, BadCallsGetCublasStatus) {
  Case p;
  p.make();
  const float one = 1;
  const auto call = [&](cublasHandle_t with, cublasOperation_t op, int m, const float* alpha) {
    const Counts counts("cublasSgemm_v2");
    const auto status = cublasSgemm_v2(with, op, CUBLAS_OP_N, m, 4, 3, alpha, p.a.data(), 6,
                                       p.b.data(), 5, &one, p.c.data(), 8);
    EXPECT_PASSED_ON(counts);
    return status;
  };
  EXPECT_EQ(call(nullptr, CUBLAS_OP_N, 5, &one), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(call(handle, static_cast<cublasOperation_t>(17), 5, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(handle, CUBLAS_OP_N, -5, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(handle, CUBLAS_OP_N, 5, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(handle, CUBLAS_OP_N, 0, &one), CUBLAS_STATUS_SUCCESS);
}

TEST_F(Corners, ADestroyedHandleIsCublasAffair) {
  cublasHandle_t gone = nullptr;
  cublasCreate_v2(&gone);
  cublasDestroy_v2(gone);
  Case p;
  p.make();
  const Counts counts("cublasSgemm_v2");
  EXPECT_EQ(cublasSgemm_v2(gone, p.op_a, p.op_b, 5, 4, 3, &p.alpha, p.a.data(), 6, p.b.data(), 5,
                           &p.beta, p.c.data(), 8),
            CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_PASSED_ON(counts);
}

TEST_F(Corners, EmptySumsArePassedOn) {
  Case p;
  p.k = 0;
  p.make();
  const Counts counts("cublasSgemm_v2");
  EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_PASSED_ON(counts);
  p.expect_right();
}

TEST_F(Corners, ARefusedCallIsPassedOn) {
  for (const int status : {1, 3, 4, 5, 6, 7, 8, 10}) {
    made_up::gpu().next_status = status;
    expect_passed_on();
  }
  expect_taken();
}

// WARPLADDER_CUDA_ERROR leaves outputs undefined: what was in C is lost.
TEST_F(Corners, AFailureOfCudaIsPassedOnUnlessCIsLost) {
  made_up::gpu().next_status = 9;
  Case p;
  p.beta = 0;
  p.make();
  EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
  p.expect_right();

  made_up::gpu().next_status = 9;
  p.beta = 1;
  const Counts counts("cublasSgemm_v2");
  EXPECT_EQ(product(p), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(counts.theirs(), 0);
}

TEST_F(Corners, WhereCudaCannotBeAskedCublasIs) {
  made_up::gpu().knows_streams = false;
  expect_passed_on();
  Case p;
  p.make();
  p.beta = 1;  // nothing was launched: C is still the caller's
  const Counts counts("cublasSgemm_v2");
  EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(counts.theirs(), 1);
  made_up::gpu().knows_streams = true;
  const std::uint64_t context = made_up::gpu().context;
  made_up::gpu().context = 0;
  expect_passed_on();
  made_up::gpu().context = context;
  expect_taken();
}

using Reentry = Shim;

TEST_F(Reentry, CublasOwnCallsOfLtAreItsOwn) {
  made_up_cublas_use_lt(1);
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  const int lt = made_up_cublaslt_calls();
  expect_passed_on();
  EXPECT_EQ(made_up_cublaslt_calls(), lt + 1);
}

// Inside a function that nobody takes no other guard can know of the call.
TEST_F(Reentry, SoAreThoseInsideFunctionsThatAreNotTaken) {
  const std::vector<double> a(16), b(16), one(1);
  std::vector<double> c(16);
  const Counts counts("cublasDgemm_v2");
  const int lt = made_up_cublaslt_calls();
  EXPECT_EQ(cublasDgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, one.data(), a.data(), 4,
                           b.data(), 4, one.data(), c.data(), 4),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_PASSED_ON(counts);
  EXPECT_EQ(made_up_cublaslt_calls(), lt + 1);
}

// A library that sits between cuBLAS and cublasLt, a tracer for example.
TEST_F(Reentry, SoAreThoseThatComeBackByAnotherLibrary) {
  static cublasHandle_t inner = nullptr;
  cublasCreate_v2(&inner);
  made_up_cublas_call_back([] {
    Case p;
    p.make();
    const Counts counts("cublasSgemm_v2");
    EXPECT_EQ(cublasSgemm_v2(inner, p.op_a, p.op_b, 5, 4, 3, &p.alpha, p.a.data(), 6, p.b.data(), 5,
                             &p.beta, p.c.data(), 8),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_PASSED_ON(counts);
  });
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE);
  Case p;
  p.make();
  const Counts counts("cublasSgemm_v2");
  EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(counts.ours(), 0);
  EXPECT_EQ(counts.theirs(), 2);
  p.expect_right();
  cublasDestroy_v2(inner);
}

using Contexts = Shim;

TEST_F(Contexts, EachHasAHandleOfItsOwn) {
  const std::uint64_t first = made_up::gpu().context;
  expect_taken();
  const int handles = made_up::gpu().handles;
  made_up::gpu().context = first + 100;
  expect_taken();  // the made-up library aborts where the handle is another context's
  EXPECT_EQ(made_up::gpu().handles, handles + 1);
  made_up::gpu().context = first;
  expect_taken();
  EXPECT_EQ(made_up::gpu().handles, handles + 1);
}

// cuBLAS wants the device current for which its handle was made. Where another one is, a call on
// the default stream is the current device's, and a stream shows that the program is wrong.
TEST_F(Contexts, AHandleOfAnotherDeviceIsCublasAffair) {
  made_up::Gpu& gpu = made_up::gpu();
  const std::uint64_t first = gpu.context;
  for (const auto stream : {stream_number(0), stream_number(5)}) {
    cublasSetStream_v2(handle, stream);
    gpu.stream_context = first;
    expect_taken();
    gpu.context = first + 500;
    if (stream) {
      expect_passed_on();  // beta is not 0: C is still what it was
    } else {
      expect_taken();
    }
    gpu.context = first;
    expect_taken();
  }
}

TEST_F(Contexts, OneThatIsNotServedIsNotAskedForAgain) {
  const std::uint64_t first = made_up::gpu().context;
  made_up::gpu().context = first + 200;
  made_up::gpu().create_status = 6;
  expect_passed_on();
  made_up::gpu().create_status = 0;
  expect_passed_on();
  EXPECT_EQ(made_up::gpu().handles, 0);
  made_up::gpu().context = first;
}

TEST_F(Contexts, ThreadsThatComeFirstShareOneHandle) {
  const std::uint64_t first = made_up::gpu().context;
  made_up::gpu().context = first + 300;
  std::vector<std::thread> threads;
  std::vector<cublasStatus_t> statuses(8, CUBLAS_STATUS_NOT_INITIALIZED);
  for (auto& status : statuses) {
    threads.emplace_back([this, &status] {
      Case p;
      p.make();
      status = product(p);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto status : statuses) EXPECT_EQ(status, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(made_up::gpu().handles, 1);
  made_up::gpu().context = first;
}

using Captures = Shim;

TEST_F(Captures, GetAWorkspaceThatTheGraphKeeps) {
  made_up::Gpu& gpu = made_up::gpu();
  expect_taken();  // makes the handle: not in a capture
  gpu.workspace_needed = 5 << 20;
  const auto stream = stream_number(3);
  cublasSetStream_v2(handle, stream);
  gpu.captured = stream;
  gpu.capture = 1;
  expect_taken();
  const void* const first = gpu.last_workspace;
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(gpu.graphs_tied, 1);
  expect_taken();  // the next call of the same capture comes after it
  EXPECT_EQ(gpu.last_workspace, first);
  EXPECT_EQ(gpu.graphs_tied, 1);
  gpu.capture = 2;  // another graph, while the first one lives
  expect_taken();
  EXPECT_NE(gpu.last_workspace, first);
  made_up::end_graphs();
  gpu.capture = 3;
  const std::size_t allocations = gpu.live_allocations;
  expect_taken();
  EXPECT_EQ(gpu.live_allocations, allocations) << "the memory of dead graphs serves again";
  gpu.captured = nullptr;
  expect_taken();
  EXPECT_EQ(gpu.last_workspace, nullptr);
}

TEST_F(Captures, WithoutMemoryOrAHandleArePassedOn) {
  made_up::Gpu& gpu = made_up::gpu();
  const std::uint64_t first = gpu.context;
  const auto stream = stream_number(3);
  cublasSetStream_v2(handle, stream);
  gpu.captured = stream;
  gpu.capture = 11;
  gpu.context = first + 400;
  expect_passed_on();
  gpu.context = first;
  gpu.workspace_needed = std::size_t{900} << 20;
  gpu.has_memory = false;
  expect_passed_on();
}

}  // namespace
}  // namespace shim_tests
