#include "lab/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/recording.hpp"
#include "base/whole_file.hpp"

namespace warpladder::lab {
namespace {

using nlohmann::json;

constexpr std::size_t kMostJournalBytes = std::size_t{256} << 20;

// Names may come from the user, and JSON holds UTF-8 only.
std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// `kind` is "bench journal", for example.
void throw_no_journal(const std::string& subject, const json& kind) {
  const std::string text = kind.get<std::string>();
  throw_bad_input(fmt::format("{} is no journal of {}", subject, text.substr(0, text.find(' '))));
}

void require_same(const json& head, const json& wanted, const std::string& subject) {
  if (!head.is_object() || head.value("verb", json()) != wanted["verb"]) {
    throw_no_journal(subject, wanted["verb"]);
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

// The bytes up to the last complete line.
std::size_t read_lines(std::string_view text, const json& wanted, const std::string& subject,
                       const Journal::ReadLine& read) {
  std::size_t kept = 0, number = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    const std::string where = fmt::format("{}, line {}", subject, ++number);
    const json line = parse_json(text.substr(begin, end - begin), where);
    if (number == 1) {
      require_same(line, wanted, subject);
      kept = end + 1;
    } else if (read(line, where)) {
      kept = end + 1;
    }
  }
  if (kept == 0) throw_no_journal(subject, wanted["verb"]);
  return kept;
}

}  // namespace

std::size_t number_in(const json& line, const char* key, const std::string& where) {
  const auto found = line.is_object() ? line.find(key) : line.end();
  if (!line.is_object() || found == line.end() || !found->is_number_unsigned()) {
    throw_bad_input(fmt::format("{} has no number {}", where, key));
  }
  return found->get<std::size_t>();
}

json Journal::head(const char* kind, const json& fields, const json& origin) {
  json head = fields;
  head["verb"] = kind;
  for (const char* field :
       {"schema_version", "commit", "build_type", "compiler", "cpu", "cores", "device"}) {
    if (origin.contains(field)) head[field] = origin[field];
  }
  return head;
}

Journal::Journal(std::string path, int flags)
    : path_(std::move(path)), file_(::open(path_.c_str(), flags | O_CLOEXEC | O_APPEND, 0666)) {
  if (!file_.is_open()) {
    throw_bad_input(fmt::format("{} cannot be written: {}", in_quotes(path_),
                                std::generic_category().message(errno)));
  }
}

Journal Journal::begin(const std::string& path, const json& head) {
  Journal journal(path, O_WRONLY | O_CREAT | O_TRUNC);
  journal.write(line_of(head));
  return journal;
}

Journal Journal::resume(const std::string& path, const json& head, const ReadLine& read) {
  const std::string subject = file_subject(path, "--resume");
  const std::string text = read_whole_file(path, subject, kMostJournalBytes);
  // As the head looks when it is read back.
  const std::size_t kept = read_lines(text, json::parse(line_of(head)), subject, read);
  Journal journal(path, O_WRONLY);
  if (::ftruncate(journal.file_.get(), static_cast<off_t>(kept)) != 0) {
    throw_resource(
        fmt::format("{} cannot be shortened: {}", subject, std::generic_category().message(errno)));
  }
  return journal;
}

void Journal::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      throw_resource(fmt::format("{} cannot be written: {}", in_quotes(path_),
                                 std::generic_category().message(errno)));
    }
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Journal::add(const std::vector<json>& lines) {
  std::string text;
  for (const json& line : lines) text += line_of(line);
  write(text);
}

void Journal::remove() { ::unlink(path_.c_str()); }

}  // namespace warpladder::lab
