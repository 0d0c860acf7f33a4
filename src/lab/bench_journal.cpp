#include "lab/bench_journal.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "lab/bench_rows.hpp"

namespace warpladder::lab {
namespace {

using nlohmann::json;

// What must be the same for rows to belong together.
json head_of(const BenchRequest& request, const json& origin) {
  json fields{{"target", device::name(request.target)},
              {"many_shapes", request.many_shapes},
              {"threads", request.executor_threads},
              {"problems", json::array()}};
  for (const BenchGroup& group : request.groups) {
    json rungs = json::array();
    for (const ladder::AnyRung* rung : group.rungs) rungs.push_back(rung->id);
    fields["problems"].push_back({{"op", group.op->name()},
                                  {"variant", group.variant},
                                  {"shape", group.shape},
                                  {"class", group.shape_class},
                                  {"rungs", std::move(rungs)}});
  }
  return Journal::head("bench journal", fields, origin);
}

void read_row(const json& line, FinishedGroup& group, const std::string& where) {
  const auto row = line.find("row");
  if (row == line.end()) throw_bad_input(where + " has no row");
  group.rows.push_back(bench_row_of(parse_bench_row(*row, where)));
  group.rows.back().group = line["group"].get<std::size_t>();
  const auto libraries = line.find("libraries");
  if (libraries == line.end() || !libraries->is_object()) return;
  for (const auto& [name, version] : libraries->items()) {
    if (version.is_string()) group.libraries[name] = version.get<std::string>();
  }
}

}  // namespace

BenchJournal BenchJournal::begin(const std::string& path, const BenchRequest& request,
                                 const json& origin) {
  return BenchJournal(Journal::begin(path, head_of(request, origin)));
}

BenchJournal BenchJournal::resume(const std::string& path, BenchRequest& request,
                                  const json& origin) {
  std::set<std::size_t> complete;
  const auto read = [&](const json& line, const std::string& where) {
    const std::size_t number = number_in(line, "group", where),
                      rows = number_in(line, "rows", where);
    if (number >= request.groups.size()) {
      throw_bad_input(fmt::format("{} has no such group", where));
    }
    FinishedGroup& group = request.finished[number];
    read_row(line, group, where);
    if (group.rows.size() > rows) throw_bad_input(where + " is one row too many");
    if (group.rows.size() < rows) return false;
    complete.insert(number);
    return true;
  };
  Journal journal = Journal::resume(path, head_of(request, origin), read);
  // A run that was killed may have left the rows of one group in part, at the end.
  std::erase_if(request.finished, [&](const auto& item) { return !complete.contains(item.first); });
  return BenchJournal(std::move(journal));
}

void BenchJournal::add(std::size_t group, const FinishedGroup& finished) {
  std::vector<json> lines;
  for (const BenchRow& row : finished.rows) {
    lines.push_back({{"group", group},
                     {"rows", finished.rows.size()},
                     {"libraries", finished.libraries},
                     {"row", as_json(row)}});
  }
  journal_.add(lines);
}

}  // namespace warpladder::lab
