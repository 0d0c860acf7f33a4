// Workspaces from the caller's allocator: what it is asked for, and that it gets everything back.

#include <cstdlib>
#include <set>

#include "library/made_up_cuda.hpp"
#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

// Hands out host memory; no kernel runs here. Remembers what is out.
struct Lender {
  std::set<void*> out;
  int calls = 0;
  warpladder_stream stream = nullptr;
  std::size_t offset = 0;  // of what it hands out from a multiple of 256
  bool empty = false;

  static void* allocate(void* state, std::size_t bytes, warpladder_stream stream) {
    auto* const self = static_cast<Lender*>(state);
    ++self->calls;
    self->stream = stream;
    if (self->empty) return nullptr;
    auto* const memory =
        static_cast<char*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256)) + self->offset;
    self->out.insert(memory);
    return memory;
  }
  static void release(void* state, void* memory, std::size_t, warpladder_stream stream) {
    auto* const self = static_cast<Lender*>(state);
    EXPECT_EQ(self->out.erase(memory), 1u) << "released twice, or never allocated";
    EXPECT_EQ(stream, self->stream);
    std::free(static_cast<char*>(memory) - self->offset);
  }
};

class Allocator : public testing::Test {
 protected:
  void SetUp() override {
    made_up::set_devices({made_up::Device{}});
    made_up::count_calls(true);
    made_up::reset_counts();
    ASSERT_SUCCEEDS(warpladder_create(&handle_));
    const warpladder_allocator allocator{Lender::allocate, Lender::release, &lender_};
    ASSERT_SUCCEEDS(warpladder_set_allocator(handle_, &allocator));
  }
  void TearDown() override {
    EXPECT_SUCCEEDS(warpladder_destroy(handle_));
    EXPECT_TRUE(lender_.out.empty()) << "something was not returned";
  }
  // A product that needs a workspace on the made-up H200.
  warpladder_status product(warpladder_stream stream = nullptr) {
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<float*>(address); };
    return warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N, 1024,
                            1024, 4096, 1, at(1LL << 40), 4096, at(1LL << 41), 1024, 0,
                            at(1LL << 42), 1024, stream);
  }
  warpladder_handle handle_ = nullptr;
  Lender lender_;
};

TEST_F(Allocator, TakesThePoolsPlace) {
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  EXPECT_SUCCEEDS(product(stream));
  EXPECT_EQ(lender_.calls, 1);
  EXPECT_EQ(lender_.stream, stream);
  EXPECT_TRUE(lender_.out.empty());
  EXPECT_EQ(made_up::counts().of("cudaMallocFromPoolAsync"), 0);
  EXPECT_EQ(made_up::counts().of("cudaFreeAsync"), 0);
  ASSERT_SUCCEEDS(warpladder_set_allocator(handle_, nullptr));
  EXPECT_SUCCEEDS(product(stream));
  EXPECT_EQ(lender_.calls, 1) << "the pool serves again";
  EXPECT_EQ(made_up::counts().of("cudaMallocFromPoolAsync"), 1);
  cudaStreamDestroy(stream);
}

TEST_F(Allocator, OfCapturesServesThemAlone) {
  Lender of_captures;
  const warpladder_allocator allocator{Lender::allocate, Lender::release, &of_captures};
  ASSERT_SUCCEEDS(warpladder_set_capture_allocator(handle_, &allocator));
  EXPECT_SUCCEEDS(product());
  EXPECT_EQ(lender_.calls, 1);
  EXPECT_EQ(of_captures.calls, 0);
  made_up::set_capturing(nullptr, true);
  EXPECT_SUCCEEDS(product());
  EXPECT_EQ(of_captures.calls, 1);
  ASSERT_SUCCEEDS(warpladder_promise_current_device(handle_, 1));
  EXPECT_SUCCEEDS(product());
  EXPECT_EQ(of_captures.calls, 2) << "the driver says it, too";
  ASSERT_SUCCEEDS(warpladder_set_capture_allocator(handle_, nullptr));
  EXPECT_SUCCEEDS(product());
  made_up::set_capturing(nullptr, false);
  EXPECT_EQ(lender_.calls, 2);
  EXPECT_EQ(of_captures.calls, 2);
  EXPECT_TRUE(of_captures.out.empty());
}

TEST_F(Allocator, ComesBehindTheStreamsWorkspace) {
  std::size_t bytes = 0;
  ASSERT_SUCCEEDS(warpladder_sgemm_workspace_bytes(handle_, 1024, 1024, 4096, &bytes));
  ASSERT_SUCCEEDS(warpladder_set_workspace(
      handle_, nullptr, reinterpret_cast<void*>(std::uintptr_t{1} << 43), bytes));
  EXPECT_SUCCEEDS(product());
  EXPECT_EQ(lender_.calls, 0);
}

TEST_F(Allocator, SaysThatItHasNoMemory) {
  lender_.empty = true;
  EXPECT_EQ(product(), WARPLADDER_OUT_OF_MEMORY);
  EXPECT_NE(std::string(warpladder_last_error()).find("allocator"), std::string::npos);
  EXPECT_EQ(made_up::counts().launches, 0);
  lender_.empty = false;
  EXPECT_SUCCEEDS(product());
}

TEST_F(Allocator, RefusesMemoryThatIsMisaligned) {
  lender_.offset = 16;
  EXPECT_EQ(product(), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_NE(std::string(warpladder_last_error()).find("256"), std::string::npos);
  EXPECT_EQ(made_up::counts().launches, 0);
}

TEST_F(Allocator, GetsMemoryBackWhereCudaFails) {
  made_up::fail_next("cudaLaunchKernelExC", cudaErrorInvalidConfiguration);
  EXPECT_EQ(product(), WARPLADDER_CUDA_ERROR);
  EXPECT_EQ(lender_.calls, 1);
  EXPECT_TRUE(lender_.out.empty());
  // A captured call clears flags in its workspace.
  made_up::set_capturing(nullptr, true);
  made_up::fail_next("cudaMemsetAsync", cudaErrorInvalidValue);
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<float*>(address); };
  EXPECT_EQ(warpladder_reduce(handle_, WARPLADDER_SUM, 4096, at(1LL << 40), at(1LL << 41), nullptr),
            WARPLADDER_CUDA_ERROR);
  made_up::set_capturing(nullptr, false);
  EXPECT_EQ(lender_.calls, 2);
}

}  // namespace
}  // namespace warpladder::library_tests
