// parts/csr: where a sequence that grows passes a value, for short and for wide offsets.

#include "kernels/kernel.hpp"
#include "parts/csr.hpp"

namespace warpladder::kernel_tests {
namespace {

// The sequence is 0 at the places before `knee` and grows by `slope` a place from there on. From
// place 0 to `high`, stores index, before and at for each block's target.
template <class Index>
__global__ void find_crossing(const std::int64_t* targets, std::int64_t* found, std::int64_t high,
                              std::int64_t knee, std::int64_t slope) {
  const auto value_at = [=](Index i) {
    return static_cast<Index>(i < knee ? 0 : (i - knee + 1) * slope);
  };
  const auto last = static_cast<Index>(high);
  const auto c = parts::crossing<Index>(0, value_at(0), last, value_at(last),
                                        static_cast<Index>(targets[blockIdx.x]), value_at);
  if (threadIdx.x != 0) return;
  found[3 * blockIdx.x] = c.index;
  found[3 * blockIdx.x + 1] = c.before;
  found[3 * blockIdx.x + 2] = c.at;
}
WARPLADDER_TEST_KERNEL(find_crossing<std::int32_t>);
WARPLADDER_TEST_KERNEL(find_crossing<std::int64_t>);

}  // namespace
}  // namespace warpladder::kernel_tests
