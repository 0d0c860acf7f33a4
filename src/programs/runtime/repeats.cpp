#include "programs/runtime/repeats.hpp"

#include <atomic>

#include "programs/runtime/memory.hpp"

namespace warpladder::programs {
namespace {

std::atomic<bool> had_effect{false};

}  // namespace

void note_effect() { had_effect = true; }

bool Repeats::may_skip(const std::string& key) const {
  return settled_.contains(key) && host_state_ == memory_state(Part::host_accessible);
}

// Two looks at all memory must cost little beside the launch; a kernel that builds on its own
// results is looked at a few times only.
bool Repeats::is_worth_it(const std::string& key) const {
  constexpr int kTries = 3;
  constexpr double kBytesPerSecond = 4e9, kShare = 0.25;
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.changed >= kTries) return false;
  return 2 * static_cast<double>(memory_bytes()) / kBytesPerSecond < kShare * known->second.seconds;
}

void Repeats::begin(const std::string& key) {
  looks_ = is_worth_it(key);
  had_effect = false;
  if (looks_) before_ = memory_state(Part::all);
}

void Repeats::end(const std::string& key, double seconds) {
  Known& known = known_[key];
  known.seconds = seconds;
  if (looks_ && !had_effect && memory_state(Part::all) == before_) {
    known.changed = 0;
    settled_.insert(key);
    host_state_ = memory_state(Part::host_accessible);
  } else {
    known.changed += looks_;
    settled_.clear();
  }
}

}  // namespace warpladder::programs
