#pragma once
// Launches and fills that need not be done again. A benchmark launches the same kernel hundreds of
// times. If a launch left all memory as it was, the same launch at the same memory would leave it
// so again.

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace warpladder::programs {

// A kernel has written to the terminal or launched another: no launch is like it.
void note_effect();

class Repeats {
 public:
  // True if this launch, or this fill, would change nothing. `key`: all that it depends on besides
  // memory, such as kernel, shape and arguments.
  bool may_skip(const std::string& key);
  // Around a launch that is run.
  void begin(const std::string& key);
  void end(const std::string& key, double seconds);
  // What `key` names has just been done, and would change nothing if done again.
  void settle(const std::string& key);
  // True if a change of memory would cost anything.
  bool has_settled() const { return !settled_.empty(); }
  // The program has changed memory in another way.
  void forget() { settled_.clear(); }

 private:
  struct Known {
    double seconds = 0;  // of the last run
    double spent_s = 0;  // of all runs since the last look, and of those that were left out
    int changed = 0;     // looks in a row that saw memory change
  };
  bool is_worth_it(const std::string& key) const;

  std::map<std::string, Known> known_;
  std::set<std::string> settled_;  // change nothing at the present memory
  std::uint64_t host_state_ = 0;   // of what the host can change unnoticed, when they settled
  std::uint64_t before_ = 0;
  bool looks_ = false;
};

// The program's.
Repeats& repeats();

}  // namespace warpladder::programs
