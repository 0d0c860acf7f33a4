#include "programs/runtime/repeats.hpp"

#include <atomic>
#include <cmath>

#include "programs/runtime/memory.hpp"

namespace warpladder::programs {
namespace {

std::atomic<bool> had_effect{false};

}  // namespace

void note_effect() { had_effect = true; }

Repeats& repeats() {
  static Repeats& instance = *new Repeats;  // never destroyed: it is used at exit
  return instance;
}

bool Repeats::may_skip(const std::string& key) {
  if (!settled_.contains(key) || host_state_ != memory_state(Part::host_accessible)) return false;
  if (const auto known = known_.find(key); known != known_.end()) {
    known->second.spent_s += known->second.seconds;
  }
  return true;
}

void Repeats::settle(const std::string& key) {
  const std::uint64_t now = memory_state(Part::host_accessible);
  if (now != host_state_) settled_.clear();
  host_state_ = now;
  settled_.insert(key);
}

// Two looks at all memory may cost a quarter of what the launch has cost since the last look. For a
// kernel that builds on its own results that share halves after each look in vain.
bool Repeats::is_worth_it(const std::string& key) const {
  constexpr double kBytesPerSecond = 4e9, kShare = 0.25;
  const auto known = known_.find(key);
  if (known == known_.end()) return false;
  const double cost = 2 * static_cast<double>(memory_bytes(Part::all)) / kBytesPerSecond;
  return cost < kShare * std::ldexp(known->second.spent_s, -known->second.changed);
}

void Repeats::begin(const std::string& key) {
  looks_ = is_worth_it(key);
  had_effect = false;
  if (looks_) before_ = memory_state(Part::all);
}

void Repeats::end(const std::string& key, double seconds) {
  Known& known = known_[key];
  known.seconds = seconds;
  known.spent_s += seconds;
  if (!looks_) return settled_.clear();
  known.spent_s = 0;
  if (had_effect || memory_state(Part::all) != before_) {
    ++known.changed;
    return settled_.clear();
  }
  known.changed = 0;
  settle(key);
}

}  // namespace warpladder::programs
