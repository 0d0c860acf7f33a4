// The library's host code beneath a made-up CUDA runtime: devices, errors, memory, threads, forks.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <thread>

#include "library/made_up_cuda.hpp"
#include "library/taken.hpp"
#include "library/testing.hpp"
#include "runtime/stream.hpp"

namespace warpladder::library_tests {
namespace {

runtime::Machine a100() {
  runtime::Machine m;
  m.capability = 80;
  m.multiprocessors = 108;
  return m;
}

class HostPath : public testing::Test {
 protected:
  void SetUp() override {
    made_up::set_devices({made_up::Device{}, made_up::Device{a100()}});
    made_up::count_calls(true);
    made_up::reset_counts();
  }
  void TearDown() override { made_up::set_devices({made_up::Device{}}); }
};

struct Operands {
  DeviceArray<float> memory{std::vector<float>(3 * 64 * 64, 1.0f)};
  DeviceArray<std::int32_t> offsets{{0, 1, 2}}, columns{{0, 1}};
  float* a = memory.data();
  float* b = a + 64 * 64;
  float* c = b + 64 * 64;
  warpladder_csr csr() const {
    warpladder_csr matrix{};
    matrix.rows = matrix.columns = matrix.nnz = 2;
    matrix.offset_type = WARPLADDER_INDEX_32;
    matrix.row_offsets = offsets.data();
    matrix.column_indices = columns.data();
    matrix.values = a;
    return matrix;
  }
};

warpladder_status product(warpladder_handle handle, const Operands& x, std::int64_t n,
                          warpladder_stream stream = nullptr, std::int64_t k = 64) {
  return warpladder_sgemm(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N, n, n, k,
                          1, x.a, k, x.b, n, 0, x.c, n, stream);
}

// One call of each operator; all on one stream.
std::vector<std::function<warpladder_status(warpladder_handle, const Operands&, warpladder_stream)>>
every_call() {
  return {
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return product(h, x, 64, s);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return product(h, x, 1, s, 2048);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return warpladder_sgemv(h, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, 64, 64, 1, x.a, 64, x.b,
                                1, 0, x.c, 1, s);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return warpladder_transpose(h, 64, 64, x.a, 64, 0, x.b, 64, 0, 1, s);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return warpladder_reduce(h, WARPLADDER_SUM, 4096, x.a, x.c, s);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return warpladder_reduce_axis(h, WARPLADDER_MAX, 0, 64, 64, x.a, 64, x.c, s);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        return warpladder_vector_add(h, 64, x.a, x.b, x.c, s);
      },
      [](warpladder_handle h, const Operands& x, warpladder_stream s) {
        const warpladder_csr matrix = x.csr();
        return warpladder_spmv(h, &matrix, 1, x.b, 0, x.c, s);
      },
  };
}

TEST_F(HostPath, SaysWhatIsMissing) {
  warpladder_handle handle = nullptr;
  made_up::set_devices({});
  EXPECT_EQ(warpladder_create(&handle), WARPLADDER_NO_DEVICE);
  EXPECT_EQ(handle, nullptr);
  made_up::set_devices({made_up::Device{}});
  made_up::fail_next("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  EXPECT_EQ(warpladder_create(&handle), WARPLADDER_NO_DEVICE);
  made_up::Device old{a100(), cudaErrorNoKernelImageForDevice};
  old.machine.capability = 61;
  made_up::set_devices({old});
  EXPECT_EQ(warpladder_create(&handle), WARPLADDER_UNSUPPORTED_DEVICE);
  EXPECT_NE(std::string(warpladder_last_error()).find("6.1"), std::string::npos)
      << warpladder_last_error();
  for (const char* function :
       {"cudaMemPoolCreate", "cudaMemPoolSetAttribute", "cudaDeviceGetAttribute"}) {
    made_up::set_devices({made_up::Device{}});
    made_up::fail_next(function, cudaErrorMemoryAllocation);
    EXPECT_EQ(warpladder_create(&handle), WARPLADDER_OUT_OF_MEMORY) << function;
  }
  EXPECT_SUCCEEDS(warpladder_create(&handle));
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

// A Hopper GPU that runs PTX for 7.5 multiplies no pairs of halves.
TEST_F(HostPath, PlansForTheCodeThatRuns) {
  made_up::set_devices({made_up::Device{}, made_up::Device{runtime::Machine{}, 0, 75}});
  std::size_t bytes[2] = {};
  for (const int device : {0, 1}) {
    require(cudaSetDevice(device), "cudaSetDevice");
    warpladder_handle handle = nullptr;
    ASSERT_SUCCEEDS(warpladder_create(&handle));
    EXPECT_SUCCEEDS(warpladder_sgemm_workspace_bytes(handle, 1024, 1024, 4096, &bytes[device]));
    EXPECT_SUCCEEDS(warpladder_destroy(handle));
  }
  EXPECT_GT(bytes[0], bytes[1]);
}

// The sizes tell the most for any layout and transposes. Nothing runs, so no operand need exist.
TEST_F(HostPath, NeedsNoMoreWorkspaceThanTheSizesSay) {
  constexpr std::int64_t kSizes[] = {1, 3, 4, 10, 33, 64, 129, 300, 777, 1024, 4098};
  const auto at = [](std::uintptr_t number) { return reinterpret_cast<float*>(number << 40); };
  const float *const a = at(1), *const b = at(2);
  float* const c = at(3);
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  const auto call = [&](warpladder_layout layout, bool trans_a, bool trans_b, std::int64_t m,
                        std::int64_t n, std::int64_t k) {
    const bool by_rows = layout == WARPLADDER_ROW_MAJOR;
    return warpladder_sgemm(handle, layout, trans_a ? WARPLADDER_OP_T : WARPLADDER_OP_N,
                            trans_b ? WARPLADDER_OP_T : WARPLADDER_OP_N, m, n, k, 1, a,
                            by_rows != trans_a ? k : m, b, by_rows != trans_b ? n : k, 0, c,
                            by_rows ? n : m, nullptr);
  };
  for (const auto arithmetic : {WARPLADDER_ARITHMETIC_ACCURATE, WARPLADDER_ARITHMETIC_CUDA_CORES,
                                WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED}) {
    ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle, arithmetic));
    for (const std::int64_t m : kSizes) {
      for (const std::int64_t n : kSizes) {
        for (const std::int64_t k : kSizes) {
          SCOPED_TRACE(testing::Message() << m << 'x' << n << 'x' << k << ", " << arithmetic);
          std::size_t bytes = 0;
          ASSERT_SUCCEEDS(warpladder_sgemm_workspace_bytes(handle, m, n, k, &bytes));
          ASSERT_SUCCEEDS(warpladder_set_workspace(handle, nullptr, at(4), bytes));
          for (const auto layout : {WARPLADDER_ROW_MAJOR, WARPLADDER_COLUMN_MAJOR}) {
            for (const int transposes : {0, 1, 2, 3}) {
              ASSERT_SUCCEEDS(call(layout, transposes & 1, transposes & 2, m, n, k));
            }
          }
        }
      }
    }
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

TEST_F(HostPath, MakesNoHeapMemoryAndTakesNoLockAndWaitsForNothingInAWarmCall) {
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const Operands x;
    for (const auto& call : every_call()) EXPECT_SUCCEEDS(call(handle, x, nullptr));
    made_up::reset_counts();
    const std::size_t device_bytes = made_up::live_bytes();
    for (const auto& call : every_call()) EXPECT_SUCCEEDS(call(handle, x, nullptr));
    EXPECT_EQ(made_up::counts().of("cudaStreamSynchronize"), 0);
    EXPECT_EQ(made_up::counts().of("cudaDeviceSynchronize"), 0);
    EXPECT_EQ(made_up::counts().of("cudaFuncSetAttribute"), 0) << "attributes are set once";
    EXPECT_EQ(made_up::counts().of("cudaDeviceGetAttribute"), 0);
    EXPECT_EQ(made_up::counts().of("cudaMemsetAsync"), 0) << "flags are kept";
    EXPECT_EQ(made_up::live_bytes(), device_bytes);
    // The made-up runtime's own bookkeeping allocates where it counts or hands out memory.
    std::size_t bytes = 0;
    ASSERT_SUCCEEDS(warpladder_sgemm_workspace_bytes(handle, 1, 1, 2048, &bytes));
    const DeviceArray<unsigned char> memory(std::vector<unsigned char>((1 << 20) + 512, 0));
    auto* const aligned = reinterpret_cast<void*>(
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256);
    ASSERT_SUCCEEDS(warpladder_set_workspace(handle, nullptr, aligned, 1 << 20));
    made_up::count_calls(false);
    const auto calls = every_call();
    const long before = taken::heap_allocations, locks = taken::locks;
    for (const auto& call : calls) EXPECT_SUCCEEDS(call(handle, x, nullptr));
    EXPECT_EQ(taken::heap_allocations, before);
    EXPECT_EQ(taken::locks, locks) << "a lock that is not taken is not contended";
    made_up::live_bytes();
    EXPECT_EQ(taken::locks, locks + 1) << "the counter sees a lock that is taken";
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

// Long lines that are not contiguous are split by clusters of more than 8 blocks, which a kernel
// must be allowed to have. No kernel runs here, so the addresses lead nowhere.
TEST_F(HostPath, AsksForWhatLongLinesNeed) {
  warpladder_handle handle = nullptr;
  made_up::set_devices({made_up::Device{}});
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<float*>(address); };
  for (const std::int64_t k : {1024, 5000, 9000, 20000, 100000}) {
    for (const auto op : {WARPLADDER_OP_N, WARPLADDER_OP_T}) {
      EXPECT_SUCCEEDS(warpladder_sgemm(handle, WARPLADDER_ROW_MAJOR, op, op, 1024, 1024, k, 1,
                                       at(1LL << 40), 100000, at(1LL << 41), 100000, 0,
                                       at(1LL << 42), 1024, nullptr))
          << k;
    }
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

// A launch in large clusters that wants less shared memory than the kernel has had takes none away.
TEST_F(HostPath, KeepsWhatAKernelWasAllowed) {
  const runtime::Machine machine;
  runtime::StreamView view{.target = runtime::Target::gpu, .machine = &machine};
  const int kernel = 0;
  for (const auto& [kilobytes, cluster] : {std::pair{76, 6u}, {70, 12u}, {76, 6u}, {60, 12u}}) {
    runtime::LaunchConfig config;
    config.grid = {12 * cluster};
    config.block = {256};
    config.dynamic_shared_bytes = static_cast<std::size_t>(kilobytes) << 10;
    config.cluster = cluster;
    runtime::gpu_launch(view, &kernel, config, nullptr);
    EXPECT_EQ(view.error, 0) << kilobytes << " KB in clusters of " << cluster;
  }
}

// What B costs a call with a prepared B: nothing but its product.
TEST_F(HostPath, SplitsAPreparedMatrixOnce) {
  constexpr std::int64_t kM = 128, kN = 2048, kK = 1024;
  runtime::Machine small;  // on which pairs pay for few rows and columns
  small.multiprocessors = 4;
  made_up::set_devices({made_up::Device{small}});
  warpladder_handle handle = nullptr;
  const std::size_t none = made_up::live_bytes();
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const DeviceArray<float> a(std::vector<float>(kM * kK)), b(std::vector<float>(kK * kN)),
        c(std::vector<float>(kM * kN));
    const std::size_t before = made_up::live_bytes();
    made_up::reset_counts();
    warpladder_prepared prepared = nullptr;
    ASSERT_SUCCEEDS(warpladder_sgemm_prepare(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, kN, kK,
                                             b.data(), kN, &prepared, nullptr));
    EXPECT_EQ(made_up::counts().launches, 3) << "two passes, and the loss";
    EXPECT_EQ(made_up::counts().of("cudaMallocFromPoolAsync"), 1);
    EXPECT_EQ(made_up::counts().of("cudaMemcpy2DAsync"), 1);
    const long long blocks_of_b = made_up::counts().blocks;
    const std::size_t held = made_up::live_bytes() - before;
    EXPECT_GE(held, std::size_t{16 * kK * kN});
    EXPECT_LE(held, std::size_t{16 * kK * kN + 32 * kN + 8192}) << "as the header says";

    const auto multiply = [&] {
      return warpladder_sgemm_prepared(handle, WARPLADDER_OP_N, kM, 1, a.data(), kK, prepared, 0,
                                       c.data(), kN, nullptr);
    };
    EXPECT_SUCCEEDS(multiply());
    made_up::reset_counts();
    EXPECT_SUCCEEDS(multiply());
    EXPECT_EQ(made_up::counts().launches, 2) << "a pass over A, and the product";
    EXPECT_LE(made_up::counts().blocks, kM / 8 + 4) << "and no pass over B";
    EXPECT_GT(blocks_of_b, 4 * (kM / 8 + 4));
    EXPECT_EQ(made_up::counts().of("cudaMemcpy2DAsync"), 0);
    EXPECT_EQ(made_up::counts().of("cudaStreamSynchronize"), 0);
    EXPECT_EQ(made_up::counts().of("cudaDeviceSynchronize"), 0);
    EXPECT_EQ(made_up::counts().of("cudaFuncSetAttribute"), 0);
    EXPECT_EQ(made_up::live_bytes() - before, held);
    std::size_t bytes = 0;
    ASSERT_SUCCEEDS(warpladder_sgemm_prepared_workspace_bytes(handle, kM, prepared, &bytes));
    EXPECT_LE(bytes, std::size_t{8 * kM * kK + 32 * kM + 8192}) << "of A alone";
    const DeviceArray<unsigned char> memory(std::vector<unsigned char>(bytes + 512, 0));
    auto* const aligned = reinterpret_cast<void*>(
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256);
    ASSERT_SUCCEEDS(warpladder_set_workspace(handle, nullptr, aligned, bytes));
    made_up::count_calls(false);
    const long heap = taken::heap_allocations;
    EXPECT_SUCCEEDS(multiply());
    EXPECT_EQ(taken::heap_allocations, heap) << "heap memory in a warm call";
    made_up::count_calls(true);
    ASSERT_SUCCEEDS(warpladder_set_workspace(handle, nullptr, nullptr, 0));
    EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle, prepared, nullptr));

    for (const char* function :
         {"cudaMallocFromPoolAsync", "cudaMemcpy2DAsync", "cudaLaunchKernelExC"}) {
      made_up::fail_next(function, cudaErrorMemoryAllocation);
      EXPECT_EQ(warpladder_sgemm_prepare(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, kN, kK,
                                         b.data(), kN, &prepared, nullptr),
                WARPLADDER_OUT_OF_MEMORY)
          << function;
      EXPECT_EQ(prepared, nullptr);
    }
    // On CUDA cores pairs are of no use: B is copied and no more.
    ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle, WARPLADDER_ARITHMETIC_CUDA_CORES));
    const std::size_t with_nothing = made_up::live_bytes();
    ASSERT_SUCCEEDS(warpladder_sgemm_prepare(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, kN, kK,
                                             b.data(), kN, &prepared, nullptr));
    EXPECT_LE(made_up::live_bytes() - with_nothing, std::size_t{4 * kK * kN + 256});
    EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle, prepared, nullptr));
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
  EXPECT_EQ(made_up::live_bytes(), none);
}

TEST_F(HostPath, HoldsNoMoreMemoryAfterAMillionCalls) {
  warpladder_handle handle = nullptr;
  made_up::count_calls(false);
  const std::size_t none = made_up::live_bytes();
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const Operands x;
    std::size_t device_bytes = 0;
    long heap = 0;
    const auto calls = every_call();
    for (int call = 0; call < 1000000; ++call) {
      if (call == 1000) device_bytes = made_up::live_bytes(), heap = taken::heap_allocations;
      const auto n = 1 + call % 64;
      const warpladder_status status =
          call % 8 ? calls[static_cast<std::size_t>(call % 8)](handle, x, nullptr)
                   : product(handle, x, n, nullptr, 1 + call % 40);
      if (status != WARPLADDER_SUCCESS) FAIL() << warpladder_last_error();
    }
    EXPECT_EQ(made_up::live_bytes(), device_bytes);
    // Workspaces from the pool are entries in the made-up runtime's table, freed with the call.
    EXPECT_LT(taken::heap_allocations - heap, 2 * 1000000);
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
  EXPECT_EQ(made_up::live_bytes(), none);
}

TEST_F(HostPath, APromisedDeviceIsNotAskedFor) {
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  const Operands x;
  const auto questions = [&] {
    made_up::reset_counts();
    EXPECT_SUCCEEDS(product(handle, x, 64, stream));
    const auto counts = made_up::counts();
    EXPECT_EQ(counts.launches, 1);
    return std::array{counts.of("cudaGetDevice"), counts.of("cudaStreamIsCapturing"),
                      counts.of("cudaStreamGetDevice"), counts.of("cudaLaunchKernelExC")};
  };
  EXPECT_EQ(questions(), (std::array{1, 1, 1, 1}));
  ASSERT_SUCCEEDS(warpladder_promise_current_device(handle, 1));
  EXPECT_EQ(questions(), (std::array{0, 0, 0, 0}));
  EXPECT_EQ(made_up::counts().of("cuLaunchKernelEx"), 1);
  ASSERT_SUCCEEDS(warpladder_promise_current_device(handle, 0));
  EXPECT_EQ(questions(), (std::array{1, 1, 1, 1}));
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

// A thread that has not used CUDA yet has no context: CUDA's runtime makes one, at any launch.
TEST_F(HostPath, APromisedDeviceWithoutAContextIsLaunchedOnAllTheSame) {
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  ASSERT_SUCCEEDS(warpladder_promise_current_device(handle, 1));
  const Operands x;
  made_up::reset_counts();
  made_up::fail_next("cuLaunchKernelEx", cudaErrorDeviceUninitialized);
  EXPECT_SUCCEEDS(product(handle, x, 64));
  EXPECT_EQ(made_up::counts().of("cudaLaunchKernelExC"), 1);
  EXPECT_EQ(made_up::counts().launches, 1);
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

TEST_F(HostPath, KeepsDevicesApart) {
  runtime::Machine turing = a100();
  turing.capability = 75;
  made_up::set_devices({made_up::Device{}, made_up::Device{turing}});
  warpladder_handle first = nullptr, second = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&first));
  require(cudaSetDevice(1), "cudaSetDevice");
  ASSERT_SUCCEEDS(warpladder_create(&second));
  cudaStream_t of_second;
  require(cudaStreamCreateWithFlags(&of_second, cudaStreamNonBlocking), "stream");
  {
    const Operands x;
    require(cudaSetDevice(0), "cudaSetDevice");
    EXPECT_SUCCEEDS(product(second, x, 64, of_second)) << "whichever device is current";
    int device = -1;
    require(cudaGetDevice(&device), "cudaGetDevice");
    EXPECT_EQ(device, 0) << "and it stays current";
    made_up::reset_counts();
    EXPECT_EQ(product(first, x, 64, of_second), WARPLADDER_WRONG_DEVICE);
    EXPECT_NE(std::string(warpladder_last_error()).find("device 1"), std::string::npos)
        << warpladder_last_error();
    EXPECT_EQ(made_up::counts().launches, 0);
    // Plans differ: compute capability 7.5 multiplies no pairs of halves.
    std::size_t hopper = 0, other = 0;
    EXPECT_SUCCEEDS(warpladder_sgemm_workspace_bytes(first, 1024, 1024, 4096, &hopper));
    EXPECT_SUCCEEDS(warpladder_sgemm_workspace_bytes(second, 1024, 1024, 4096, &other));
    EXPECT_GT(hopper, other);
    // An error of one handle's call leaves the other alone.
    made_up::fail_next("cudaLaunchKernelExC", cudaErrorInvalidConfiguration);
    EXPECT_EQ(product(first, x, 64), WARPLADDER_CUDA_ERROR);
    EXPECT_SUCCEEDS(product(second, x, 64, of_second));
    EXPECT_SUCCEEDS(product(first, x, 64));
    // What one handle has prepared or planned, the other refuses.
    warpladder_prepared prepared = nullptr;
    ASSERT_SUCCEEDS(warpladder_sgemm_prepare(first, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, 8, 8,
                                             x.b, 8, &prepared, nullptr));
    EXPECT_EQ(warpladder_sgemm_prepared(second, WARPLADDER_OP_N, 8, 1, x.a, 8, prepared, 0, x.c, 8,
                                        of_second),
              WARPLADDER_INVALID_ARGUMENT);
    EXPECT_SUCCEEDS(warpladder_prepared_destroy(first, prepared, nullptr));
  }
  cudaStreamDestroy(of_second);
  EXPECT_SUCCEEDS(warpladder_destroy(second));
  EXPECT_SUCCEEDS(warpladder_destroy(first));
}

TEST_F(HostPath, LosesNothingWhenCudaFails) {
  warpladder_handle handle = nullptr;
  const std::size_t none = made_up::live_bytes();
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const Operands x;
    const std::size_t before = made_up::live_bytes();
    for (const char* function : {"cudaGetDevice", "cudaStreamIsCapturing", "cudaLaunchKernelExC",
                                 "cudaMallocFromPoolAsync", "cudaMemsetAsync"}) {
      for (const auto& call : every_call()) {
        made_up::fail_next(function, cudaErrorMemoryAllocation);
        const warpladder_status status = call(handle, x, nullptr);
        EXPECT_TRUE(status == WARPLADDER_OUT_OF_MEMORY || status == WARPLADDER_SUCCESS) << function;
        made_up::fail_next("none", 0);
        EXPECT_SUCCEEDS(call(handle, x, nullptr)) << "the next good call works";
      }
    }
    const std::size_t kept = made_up::live_bytes() - before;
    EXPECT_LE(kept, 1u << 20) << "the flags of one stream";
    const warpladder_csr matrix = x.csr();
    for (const char* function :
         {"cudaMallocFromPoolAsync", "cudaMemcpy2DAsync", "cudaLaunchKernelExC"}) {
      warpladder_spmv_plan plan = nullptr;
      warpladder_prepared prepared = nullptr;
      made_up::fail_next(function, cudaErrorMemoryAllocation);
      if (warpladder_spmv_plan_create(handle, &matrix, &plan, nullptr) == WARPLADDER_SUCCESS) {
        EXPECT_SUCCEEDS(warpladder_spmv_plan_destroy(handle, plan, nullptr));
      } else {
        EXPECT_EQ(plan, nullptr);
      }
      made_up::fail_next(function, cudaErrorMemoryAllocation);
      if (warpladder_sgemm_prepare(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, 8, 8, x.b, 8,
                                   &prepared, nullptr) == WARPLADDER_SUCCESS) {
        EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle, prepared, nullptr));
      } else {
        EXPECT_EQ(prepared, nullptr);
      }
    }
    EXPECT_EQ(made_up::live_bytes() - before, kept);
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
  EXPECT_EQ(made_up::live_bytes(), none);
}

TEST_F(HostPath, GivesACapturedCallFlagsOfItsOwn) {
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const Operands x;
    const auto sum = [&] {
      return warpladder_reduce(handle, WARPLADDER_SUM, 4096, x.a, x.c, nullptr);
    };
    EXPECT_SUCCEEDS(sum());
    made_up::set_capturing(nullptr, true);
    made_up::reset_counts();
    EXPECT_SUCCEEDS(sum());
    EXPECT_EQ(made_up::counts().of("cudaMallocFromPoolAsync"), 1);
    EXPECT_EQ(made_up::counts().of("cudaMemsetAsync"), 1);
    EXPECT_EQ(made_up::counts().of("cudaFreeAsync"), 1);
    const warpladder_csr matrix = x.csr();
    warpladder_spmv_plan plan = nullptr;
    EXPECT_EQ(warpladder_spmv_plan_create(handle, &matrix, &plan, nullptr), WARPLADDER_CAPTURING);
    made_up::set_capturing(nullptr, false);
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

TEST_F(HostPath, TellsForkedChildrenApart) {
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const Operands x;
    const pid_t child = fork();
    if (child == 0) _exit(product(handle, x, 8) == WARPLADDER_FORKED ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_SUCCEEDS(product(handle, x, 8)) << "the parent goes on";
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

TEST_F(HostPath, ServesManyThreadsStreamsAndHandles) {
  warpladder_handle handle = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&handle));
  {
    const Operands x;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        const auto calls = every_call();
        for (int round = 0; round < 50; ++round) {
          cudaStream_t stream;
          cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
          for (const auto& call : calls) wrong += call(handle, x, stream) != WARPLADDER_SUCCESS;
          warpladder_handle own = nullptr;
          wrong += warpladder_create(&own) != WARPLADDER_SUCCESS;
          wrong += calls[static_cast<std::size_t>(t)](own, x, stream) != WARPLADDER_SUCCESS;
          wrong += warpladder_destroy(own) != WARPLADDER_SUCCESS;
          wrong += calls[0](own, x, stream) != WARPLADDER_INVALID_HANDLE;
          cudaStreamDestroy(stream);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_SUCCEEDS(warpladder_destroy(handle));
}

}  // namespace
}  // namespace warpladder::library_tests
