// A layer's weights, prepared once, times batches of inputs, in C++17. Its CMakeLists.txt:
//
//   find_package(warpladder REQUIRED)
//   add_executable(layer layer.cpp)
//   target_link_libraries(layer PRIVATE warpladder::warpladder)

#include <cstdio>
#include <vector>
#include <warpladder/warpladder.hpp>

int main() try {
  using warpladder::Layout;
  using warpladder::Op;
  const warpladder::Handle handle;
  constexpr std::int64_t kInputs = 64, kOutputs = 32, kBatch = 16;
  const warpladder::DeviceVector weights(handle, std::vector<float>(kOutputs * kInputs, 0.5f)),
      x(handle, std::vector<float>(kBatch * kInputs, 2.0f)),
      y(handle, std::vector<float>(kBatch * kOutputs));

  // Weights are stored outputs×inputs, as frameworks store them; the product reads the transpose.
  const warpladder::PreparedMatrix layer(handle, Layout::row_major, kOutputs, kInputs,
                                         {weights.data(), kInputs, Op::transpose});
  for (int step = 0; step < 3; ++step) {
    layer.multiply(kBatch, 1.0f, {x.data(), kInputs}, 0.0f, {y.data(), kOutputs});
  }
  const std::vector<float> result = y.download();
  std::printf("each output is %g\n", static_cast<double>(result.front()));  // 64
  return result.front() == 64.0f && result.back() == 64.0f ? 0 : 1;
} catch (const warpladder::StatusError& error) {
  std::printf("%s: %s\n", warpladder_status_string(error.status()), error.what());
  return error.status() == WARPLADDER_NO_DEVICE ? 0 : 1;
}
