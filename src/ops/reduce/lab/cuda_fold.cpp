// `run reduce --op EXPRESSION` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/lab/run.hpp"

namespace warpladder::reduce {

float reduce_with_library(const std::string& expression, float identity, const NpyArray& x,
                          double* time_s) {
  const warpladder_handle handle = ops::library_handle();
  warpladder_binary_op op = nullptr;
  ops::require_success(warpladder_binary_op_create(handle, expression.c_str(), identity, &op));
  constexpr auto kGpu = runtime::Target::gpu;
  const device::Buffer<float> in(kGpu, x.data), result(kGpu, 1);
  device::Stream stream(kGpu);
  device::Timer timer(stream);
  timer.start();
  ops::require_success(warpladder_reduce_with(handle, op, static_cast<std::int64_t>(x.data.size()),
                                              in.data(), result.data(),
                                              ops::library_stream(stream)));
  timer.stop();
  stream.synchronize();
  *time_s = timer.seconds();
  ops::require_success(warpladder_binary_op_destroy(handle, op));
  return result.download().front();
}

}  // namespace warpladder::reduce
