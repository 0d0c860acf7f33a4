#include "lab/bench_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/whole_file.hpp"
#include "lab/bench_rows.hpp"

namespace warpladder::lab {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// Names may come from the user, and JSON holds UTF-8 only.
std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// What must be the same for rows to belong together.
json head_of(const BenchRequest& request, const json& origin) {
  json head{{"verb", "bench journal"},
            {"target", device::name(request.target)},
            {"many_shapes", request.many_shapes},
            {"threads", request.executor_threads},
            {"problems", json::array()}};
  for (const char* field :
       {"schema_version", "commit", "build_type", "compiler", "cpu", "cores", "device"}) {
    if (origin.contains(field)) head[field] = origin[field];
  }
  for (const BenchGroup& group : request.groups) {
    json rungs = json::array();
    for (const ladder::AnyRung* rung : group.rungs) rungs.push_back(rung->id);
    head["problems"].push_back({{"op", group.op->name()},
                                {"variant", group.variant},
                                {"shape", group.shape},
                                {"class", group.shape_class},
                                {"rungs", std::move(rungs)}});
  }
  return head;
}

void require_same(const json& head, const json& wanted, const std::string& subject) {
  if (!head.is_object() || head.value("verb", json()) != "bench journal") {
    throw_bad_input(subject + " is no journal of bench");
  }
  for (const auto& [key, value] : wanted.items()) {
    const auto found = head.find(key);
    if (found != head.end() && *found == value) continue;
    if (key == "problems") {
      throw_bad_input(subject + " was begun with other problems or rungs; give the same command");
    }
    throw_bad_input(fmt::format("{} was begun with another {}", subject, key));
  }
}

// The group of a line, and how many rows the group has.
struct Place {
  std::size_t group, rows;
};
Place place_of(const json& line, std::size_t groups, const std::string& where) {
  const auto number = [&](const char* key) -> std::size_t {
    const auto found = line.is_object() ? line.find(key) : line.end();
    if (!line.is_object() || found == line.end() || !found->is_number_unsigned()) {
      throw_bad_input(fmt::format("{} has no number {}", where, key));
    }
    return found->get<std::size_t>();
  };
  const Place place{number("group"), number("rows")};
  if (place.group >= groups) throw_bad_input(fmt::format("{} has no such group", where));
  return place;
}

void read_line(const json& line, FinishedGroup& group, const std::string& where) {
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

// Puts the groups that have all their rows into the request. The bytes that they and the head take.
std::size_t read_groups(std::string_view text, BenchRequest& request, const json& wanted,
                        const std::string& subject) {
  std::size_t kept = 0, number = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    const std::string where = fmt::format("{}, line {}", subject, ++number);
    const json line = parse_json(text.substr(begin, end - begin), where);
    if (number == 1) {
      require_same(line, wanted, subject);
      kept = end + 1;
      continue;
    }
    const Place place = place_of(line, request.groups.size(), where);
    FinishedGroup& group = request.finished[place.group];
    read_line(line, group, where);
    if (group.rows.size() == place.rows) kept = end + 1;
    if (group.rows.size() > place.rows) throw_bad_input(where + " is one row too many");
  }
  if (kept == 0) throw_bad_input(subject + " is no journal of bench");
  return kept;
}

// A run that was killed may have left the rows of one group in part, at the end.
void drop_incomplete(BenchRequest& request, std::string_view kept) {
  std::set<std::size_t> complete;
  for (std::size_t begin = kept.find('\n') + 1, end; begin < kept.size(); begin = end + 1) {
    end = kept.find('\n', begin);
    complete.insert(json::parse(kept.substr(begin, end - begin))["group"].get<std::size_t>());
  }
  std::erase_if(request.finished, [&](const auto& item) { return !complete.contains(item.first); });
}

}  // namespace

BenchJournal::BenchJournal(std::string path, int flags)
    : path_(std::move(path)), file_(::open(path_.c_str(), flags | O_CLOEXEC | O_APPEND, 0666)) {
  if (!file_.is_open()) {
    throw_bad_input(fmt::format("{} cannot be written: {}", in_quotes(path_),
                                std::generic_category().message(errno)));
  }
}

BenchJournal BenchJournal::begin(const std::string& path, const BenchRequest& request,
                                 const json& origin) {
  BenchJournal journal(path, O_WRONLY | O_CREAT | O_TRUNC);
  journal.write(line_of(head_of(request, origin)));
  return journal;
}

BenchJournal BenchJournal::resume(const std::string& path, BenchRequest& request,
                                  const json& origin) {
  const std::string subject = file_subject(path, "--resume");
  const std::string text = read_whole_file(path, subject, kMostBytes);
  // As the head looks when it is read back.
  const json wanted = json::parse(line_of(head_of(request, origin)));
  const std::size_t kept = read_groups(text, request, wanted, subject);
  drop_incomplete(request, std::string_view(text).substr(0, kept));
  BenchJournal journal(path, O_WRONLY);
  if (::ftruncate(journal.file_.get(), static_cast<off_t>(kept)) != 0) {
    throw_resource(
        fmt::format("{} cannot be shortened: {}", subject, std::generic_category().message(errno)));
  }
  return journal;
}

void BenchJournal::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      throw_resource(fmt::format("{} cannot be written: {}", in_quotes(path_),
                                 std::generic_category().message(errno)));
    }
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void BenchJournal::add(std::size_t group, const FinishedGroup& finished) {
  std::string lines;
  for (const BenchRow& row : finished.rows) {
    lines += line_of({{"group", group},
                      {"rows", finished.rows.size()},
                      {"libraries", finished.libraries},
                      {"row", as_json(row)}});
  }
  write(lines);
}

void BenchJournal::remove() { ::unlink(path_.c_str()); }

}  // namespace warpladder::lab
