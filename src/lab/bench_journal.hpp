#pragma once
// The rows of a bench, one JSON line each, written as soon as their problem is done. So an
// interrupted run loses nothing, and a later run continues.

#include <nlohmann/json.hpp>
#include <string>

#include "base/file_descriptor.hpp"
#include "lab/bench.hpp"

namespace warpladder::lab {

class BenchJournal {
 public:
  // Begins a new file. `origin` says where the rows come from, as origin() does.
  static BenchJournal begin(const std::string& path, const BenchRequest& request,
                            const nlohmann::json& origin);
  // Continues the file of a run with the same problems, rungs, program and machine. Puts its rows
  // into the request, and drops groups with missing rows. Throws Error(bad_input) for a file of
  // another run, and leaves it unchanged.
  static BenchJournal resume(const std::string& path, BenchRequest& request,
                             const nlohmann::json& origin);

  void add(std::size_t group, const FinishedGroup& finished);
  // Removes the file, when the report holds all rows.
  void remove();

 private:
  BenchJournal(std::string path, int flags);
  void write(std::string_view text);

  std::string path_;
  FileDescriptor file_;
};

}  // namespace warpladder::lab
