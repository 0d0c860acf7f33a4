// Calls captured into CUDA graphs, on a GPU.

#include <algorithm>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

class Graphs : public WithHandle {
 protected:
  void SetUp() override {
    WithHandle::SetUp();
    if (handle_) require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }
  void TearDown() override {
    if (stream_) cudaStreamDestroy(stream_);
    WithHandle::TearDown();
  }
  // The graph of what `work` puts on the stream.
  template <class Work>
  cudaGraphExec_t capture(const Work& work) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "begin capture");
    work();
    require(cudaStreamEndCapture(stream_, &graph), "end capture");
    require(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
    require(cudaGraphDestroy(graph), "destroy");
    return executable;
  }
  cudaStream_t stream_ = nullptr;
};

// A chain of all operators between copies of the caller's own, replayed with fresh inputs.
TEST_F(Graphs, ReplayEveryOperatorAThousandTimes) {
  constexpr std::int64_t kN = 130;
  constexpr std::size_t kArea = kN * kN;
  const DeviceArray<float> source(random_floats(kArea, 1)), a(std::vector<float>(kArea, 0)),
      b(random_floats(kArea, 2)), c(std::vector<float>(kArea, 0)), t(std::vector<float>(kArea, 0)),
      y(std::vector<float>(kN, 0)), sums(std::vector<float>(kN, 0)), total({0.0f});
  const DeviceArray<std::int64_t> most({-1});
  const auto chain = [&] {
    require(cudaMemcpyAsync(a.data(), source.data(), kArea * sizeof(float),
                            cudaMemcpyDeviceToDevice, stream_),
            "a copy of the caller's");
    EXPECT_SUCCEEDS(warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N,
                                     WARPLADDER_OP_N, kN, kN, kN, 1, a.data(), kN, b.data(), kN, 0,
                                     c.data(), kN, stream_));
    EXPECT_SUCCEEDS(
        warpladder_transpose(handle_, kN, kN, c.data(), kN, 0, t.data(), kN, 0, 1, stream_));
    EXPECT_SUCCEEDS(warpladder_sgemv(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_T, kN, kN, 1,
                                     t.data(), kN, a.data(), 1, 0, y.data(), 1, stream_));
    EXPECT_SUCCEEDS(warpladder_reduce_axis(handle_, WARPLADDER_SUM, 0, kN, kN, t.data(), kN,
                                           sums.data(), stream_));
    EXPECT_SUCCEEDS(warpladder_vector_add(handle_, kN, y.data(), sums.data(), y.data(), stream_));
    EXPECT_SUCCEEDS(
        warpladder_reduce(handle_, WARPLADDER_SUM, kArea, t.data(), total.data(), stream_));
    EXPECT_SUCCEEDS(
        warpladder_reduce(handle_, WARPLADDER_ARGMAX, kArea, t.data(), most.data(), stream_));
  };
  chain();
  const auto y_once = y.download(), total_once = total.download(), t_once = t.download();
  const auto most_once = most.download();
  const cudaGraphExec_t graph = capture(chain);
  for (int replay = 0; replay < 1000; ++replay) require(cudaGraphLaunch(graph, stream_), "replay");
  EXPECT_EQ(t.download(), t_once);
  EXPECT_EQ(y.download(), y_once);
  EXPECT_EQ(total.download(), total_once);
  EXPECT_EQ(most.download(), most_once);
  require(cudaMemset(source.data(), 0, kArea * sizeof(float)), "cudaMemset");
  require(cudaDeviceSynchronize(), "cudaMemset");
  require(cudaGraphLaunch(graph, stream_), "replay");
  EXPECT_EQ(t.download(), std::vector<float>(kArea, 0.0f)) << "the graph reads its inputs anew";
  cudaGraphExecDestroy(graph);
}

TEST_F(Graphs, KeepLargeProductsWithTheirWorkspace) {
  constexpr std::int64_t kM = 1100, kN = 1030, kK = 1200;
  const DeviceArray<float> a(random_floats(kM * kK, 1)), b(random_floats(kK * kN, 2)),
      c(std::vector<float>(kM * kN, 0));
  const auto product = [&] {
    EXPECT_SUCCEEDS(warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N,
                                     WARPLADDER_OP_N, kM, kN, kK, 1, a.data(), kK, b.data(), kN, 0,
                                     c.data(), kN, stream_));
  };
  product();
  const auto once = c.download();
  std::size_t bytes = 0;
  ASSERT_SUCCEEDS(warpladder_sgemm_workspace_bytes(handle_, kM, kN, kK, &bytes));
  EXPECT_GT(bytes, 0u) << "a product that takes a workspace";
  void* workspace = nullptr;
  require(cudaMalloc(&workspace, std::max<std::size_t>(bytes, 256)), "cudaMalloc");
  for (const bool own : {false, true}) {
    if (own) {
      ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, stream_, workspace, bytes));
    }
    const cudaGraphExec_t graph = capture(product);
    require(cudaMemset(c.data(), 0xff, kM * kN * sizeof(float)), "cudaMemset");
    require(cudaDeviceSynchronize(), "cudaMemset");
    for (int replay = 0; replay < 10; ++replay) require(cudaGraphLaunch(graph, stream_), "replay");
    EXPECT_EQ(c.download(), once);
    cudaGraphExecDestroy(graph);
  }
  cudaFree(workspace);
}

// B is prepared before the capture, and read by each replay.
TEST_F(Graphs, MultiplyByAPreparedMatrix) {
  constexpr std::int64_t kM = 700, kN = 1030, kK = 1200;
  const DeviceArray<float> a(random_floats(kM * kK, 1)), b(random_floats(kK * kN, 2)),
      c(std::vector<float>(kM * kN, 0));
  warpladder_prepared prepared = nullptr;
  ASSERT_SUCCEEDS(warpladder_sgemm_prepare(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, kN, kK,
                                           b.data(), kN, &prepared, stream_));
  const auto product = [&] {
    EXPECT_SUCCEEDS(warpladder_sgemm_prepared(handle_, WARPLADDER_OP_N, kM, 1, a.data(), kK,
                                              prepared, 0, c.data(), kN, stream_));
  };
  product();
  const auto once = c.download();
  const cudaGraphExec_t graph = capture([&] {
    for (int times = 0; times < 3; ++times) product();
  });
  require(cudaMemset(b.data(), 0xff, kK * kN * sizeof(float)), "cudaMemset");
  require(cudaMemset(c.data(), 0xff, kM * kN * sizeof(float)), "cudaMemset");
  require(cudaDeviceSynchronize(), "cudaMemset");
  for (int replay = 0; replay < 10; ++replay) require(cudaGraphLaunch(graph, stream_), "replay");
  EXPECT_EQ(c.download(), once);
  cudaGraphExecDestroy(graph);
  EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, prepared, stream_));
}

TEST_F(Graphs, RefuseWhatWaits) {
  const DeviceArray<std::int32_t> offsets({0, 1}), columns({0});
  const DeviceArray<float> values({1.0f});
  warpladder_csr matrix{};
  matrix.rows = matrix.columns = matrix.nnz = 1;
  matrix.offset_type = WARPLADDER_INDEX_32;
  matrix.row_offsets = offsets.data();
  matrix.column_indices = columns.data();
  matrix.values = values.data();
  const cudaGraphExec_t graph = capture([&] {
    warpladder_spmv_plan plan = nullptr;
    EXPECT_EQ(warpladder_spmv_plan_create(handle_, &matrix, &plan, stream_), WARPLADDER_CAPTURING);
    warpladder_prepared prepared = nullptr;
    EXPECT_EQ(warpladder_sgemm_prepare(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, 1, 1,
                                       values.data(), 1, &prepared, stream_),
              WARPLADDER_CAPTURING);
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(prepared, nullptr);
  });
  cudaGraphExecDestroy(graph);
}

}  // namespace
}  // namespace warpladder::library_tests
