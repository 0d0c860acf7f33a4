// CUB's DeviceSegmentedReduce, of rows. It has no mean: that is a sum of quotients. A NaN may get
// lost in its minima and maxima, which compare. Its places come as pairs, whose values people who
// want places alone would not ask for: they are left out.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/functional>
#include <limits>

#include "ops/lab/cub.hpp"
#include "ops/lab/rival.hpp"
#include "ops/reduce_axis/problem.hpp"

namespace warpladder::reduce_axis {
namespace {

// Where a row begins, and, with the columns added, where it ends.
struct RowAt {
  std::int64_t ld, added;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * ld + added; }
};
struct DivideBy {
  float n;
  __host__ __device__ float operator()(float x) const { return x / n; }
};

cudaError_t reduce(void* temporary, std::size_t& bytes, const Call& call, cudaStream_t stream) {
  const Problem& p = call.problem;
  const auto at = [&](std::int64_t added) {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                           RowAt{p.ld, added});
  };
  const auto begins = at(0), ends = at(p.columns);
  using cub::DeviceSegmentedReduce;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (p.function) {
    case Function::sum:
      return DeviceSegmentedReduce::Sum(temporary, bytes, call.in, call.values, p.rows, begins,
                                        ends, stream);
    case Function::mean: {
      const auto quotients =
          thrust::make_transform_iterator(call.in, DivideBy{static_cast<float>(p.columns)});
      return DeviceSegmentedReduce::Sum(temporary, bytes, quotients, call.values, p.rows, begins,
                                        ends, stream);
    }
    // Min and Max begin at the greatest finite value, so that nothing but infinities would be that.
    case Function::min:
      return DeviceSegmentedReduce::Reduce(temporary, bytes, call.in, call.values, p.rows, begins,
                                           ends, cuda::minimum<>{}, kInfinity, stream);
    case Function::max:
      return DeviceSegmentedReduce::Reduce(temporary, bytes, call.in, call.values, p.rows, begins,
                                           ends, cuda::maximum<>{}, -kInfinity, stream);
    case Function::argmin:
    case Function::argmax:
      break;
  }
  return cudaErrorInvalidValue;
}

void launch(const Call& call, runtime::StreamView& stream) {
  ops::run_cub("CUB's DeviceSegmentedReduce", stream,
               [&](void* temporary, std::size_t& bytes, cudaStream_t native) {
                 return reduce(temporary, bytes, call, native);
               });
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return p.lines == Lines::rows && p.rows > 0 && p.columns > 0 && !is_place(p.function);
}

const bool declared =
    ops::declare_rival({"reduce_axis", "cub", "cub::DeviceSegmentedReduce", "CUB",
                        runtime::Target::gpu, launch, ops::cub_version, nullptr, false, takes});

}  // namespace
}  // namespace warpladder::reduce_axis
