#pragma once
// Compares two recordings of the same problems: which rungs became faster or slower, and whether
// the samples can tell.

#include <optional>
#include <string>
#include <vector>

#include "base/recording.hpp"
#include "lab/statistics.hpp"

namespace warpladder::lab {

// The ratio's interval against the limits 1 / (1 + threshold) and 1 + threshold.
enum class Change {
  slow,    // all of it above
  unsure,  // it reaches over a limit, or there is none
  fast,    // all of it below
  same,    // all of it between
};
inline constexpr Change kChanges[] = {Change::slow, Change::unsure, Change::fast, Change::same};
const char* name(Change change);
Change change_of(const Ratio& ratio, double threshold);

// One problem, rung and kind of sample that both recordings have.
struct Compared {
  const RecordedRow *old_row = nullptr, *new_row = nullptr;
  const SampleKind* kind = nullptr;
  Ratio ratio;  // new time over old time
  Change change = Change::unsure;
  std::string remark;  // what makes the row doubtful, or empty
};

// A row without a counterpart, or without a time on one side.
struct NotCompared {
  const RecordedRow* row = nullptr;
  std::string reason;
  bool missing = false;  // the old recording has its time, the new one has not
};

// Where the recordings' provenance differs.
struct Difference {
  std::string what, name, old_value, new_value;  // what: machine, clocks, versions, command
};

struct Comparison {
  std::vector<Difference> differences;
  std::vector<std::string> lacks;  // what a recording does not say, a sentence each
  std::vector<Compared> rows;      // the slowest first
  std::vector<NotCompared> not_compared;

  std::size_t count(Change change) const;
  std::size_t missing() const;
  bool differs_in(const std::string& what) const;
};

// Points into the recordings.
Comparison compare(const Recording& old_recording, const Recording& new_recording,
                   double threshold);

// sgemm/row_01_naive row_nn 64x32x16
std::string title_of(const RecordedRow& row);

}  // namespace warpladder::lab
