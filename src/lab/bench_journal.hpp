#pragma once
// The rows of a bench, a line of JSON each, written as soon as their problem is done. What an
// interrupted run has measured is not lost, and a later run goes on from there.

#include <nlohmann/json.hpp>
#include <string>

#include "lab/bench.hpp"
#include "lab/journal.hpp"

namespace warpladder::lab {

class BenchJournal {
 public:
  // Begins a new file. `origin` says where the rows come from, as origin() does.
  static BenchJournal begin(const std::string& path, const BenchRequest& request,
                            const nlohmann::json& origin);
  // Goes on with the file of a run that had the same problems, rungs, program and machine. Puts
  // what the file holds into the request; a group without all its rows is dropped. Throws
  // Error(bad_input) for a file of another run, which stays as it was.
  static BenchJournal resume(const std::string& path, BenchRequest& request,
                             const nlohmann::json& origin);

  void add(std::size_t group, const FinishedGroup& finished);
  // The report holds all of it.
  void remove() { journal_.remove(); }

 private:
  explicit BenchJournal(Journal journal) : journal_(std::move(journal)) {}

  Journal journal_;
};

}  // namespace warpladder::lab
