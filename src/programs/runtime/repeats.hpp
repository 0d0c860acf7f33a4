#pragma once
// Launches that need not be run again. A benchmark launches the same kernel hundreds of times. If a
// launch left all memory as it was, the same launch at the same memory would leave it so again.

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace warpladder::programs {

// A kernel has written to the terminal or launched another: no launch is like it.
void note_effect();

class Repeats {
 public:
  // True if this launch would change nothing. `key`: kernel, shape and arguments.
  bool may_skip(const std::string& key) const;
  // Around a launch that is run.
  void begin(const std::string& key);
  void end(const std::string& key, double seconds);
  // The program has changed memory in another way.
  void forget() { settled_.clear(); }

 private:
  struct Known {
    double seconds = 0;  // of the last run
    int changed = 0;     // runs in a row that were looked at and changed memory
  };
  bool is_worth_it(const std::string& key) const;

  std::map<std::string, Known> known_;
  std::set<std::string> settled_;  // change nothing at the present memory
  std::uint64_t host_state_ = 0;   // of what the host can change unnoticed, when they settled
  std::uint64_t before_ = 0;
  bool looks_ = false;
};

}  // namespace warpladder::programs
