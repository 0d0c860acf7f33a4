// CUB's DeviceReduce. It has no mean: that is a sum of quotients. A NaN may get lost in its minima
// and maxima, which compare.

#include <cub/device/device_reduce.cuh>
#include <cuda/functional>
#include <limits>

#include "ops/lab/cub.hpp"
#include "ops/lab/rival.hpp"
#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {
namespace {

struct DivideBy {
  float n;
  __host__ __device__ float operator()(float x) const { return x / n; }
};
struct Add {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Count>
cudaError_t reduce(void* temporary, std::size_t& bytes, const Call& call, cudaStream_t stream) {
  const auto n = static_cast<Count>(call.problem.n);
  using cub::DeviceReduce;
  switch (call.problem.function) {
    case Function::sum:
      return DeviceReduce::Sum(temporary, bytes, call.in, call.value, n, stream);
    case Function::mean:
      return DeviceReduce::TransformReduce(temporary, bytes, call.in, call.value, n, Add{},
                                           DivideBy{static_cast<float>(n)}, 0.0f, stream);
    // Min and Max begin at the greatest finite value, so that nothing but infinities would be that.
    case Function::min:
      return DeviceReduce::Reduce(temporary, bytes, call.in, call.value, n, cuda::minimum<>{},
                                  std::numeric_limits<float>::infinity(), stream);
    case Function::max:
      return DeviceReduce::Reduce(temporary, bytes, call.in, call.value, n, cuda::maximum<>{},
                                  -std::numeric_limits<float>::infinity(), stream);
    case Function::argmin:
    case Function::argmax: {
      // The value comes too, and somewhere it has to go.
      auto* value = reinterpret_cast<float*>(call.scratch);
      return call.problem.function == Function::argmin
                 ? DeviceReduce::ArgMin(temporary, bytes, call.in, value, call.place, n, stream)
                 : DeviceReduce::ArgMax(temporary, bytes, call.in, value, call.place, n, stream);
    }
  }
  return cudaErrorInvalidValue;
}

cudaError_t reduce_any(void* temporary, std::size_t& bytes, const Call& call, cudaStream_t stream) {
  // Its places are 64-bit anyway; else a narrow count is what its callers use.
  const bool narrow = call.problem.n <= std::numeric_limits<int>::max();
  return narrow && !is_place(call.problem.function)
             ? reduce<int>(temporary, bytes, call, stream)
             : reduce<std::int64_t>(temporary, bytes, call, stream);
}

void launch(const Call& call, runtime::StreamView& stream) {
  ops::run_cub("CUB's DeviceReduce", stream,
               [&](void* temporary, std::size_t& bytes, cudaStream_t native) {
                 return reduce_any(temporary, bytes, call, native);
               });
}

// Of nothing it has other things to say.
bool takes(const Call& call) { return call.problem.n > 0; }

const bool declared =
    ops::declare_rival({"reduce", "cub", "cub::DeviceReduce", "CUB", runtime::Target::gpu, launch,
                        ops::cub_version, nullptr, false, takes});

}  // namespace
}  // namespace warpladder::reduce
