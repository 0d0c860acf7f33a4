#include "ops/spmv/pattern.hpp"

#include <algorithm>

namespace warpladder::spmv {

double sectors_of_x(const PatternSample& sample) {
  constexpr std::int32_t kFloatsOfSector = 8;
  std::int64_t touched = 0;
  for (std::int64_t run = 0; run < sample.runs; ++run) {
    std::int32_t sectors[PatternSample::kRun];
    std::transform(sample.columns[run], sample.columns[run] + PatternSample::kRun, sectors,
                   [](std::int32_t column) { return column / kFloatsOfSector; });
    std::sort(sectors, sectors + PatternSample::kRun);
    touched += std::unique(sectors, sectors + PatternSample::kRun) - sectors;
  }
  return sample.runs > 0 ? static_cast<double>(touched) / static_cast<double>(sample.runs) : 0;
}

}  // namespace warpladder::spmv
