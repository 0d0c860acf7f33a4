#pragma once
// A file of JSON lines that a long run writes as it goes. An interrupted run loses nothing that it
// has finished, and a later one goes on from there. The first line says what must be the same for
// lines to belong together.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"

namespace warpladder::lab {

class Journal {
 public:
  // Hears of each line behind the first. True: what the file holds up to here is complete.
  using ReadLine = std::function<bool(const nlohmann::json& line, const std::string& where)>;

  // The first line: `fields`, the kind of journal ("bench journal"), and of origin() all that tells
  // one program and machine from others.
  static nlohmann::json head(const char* kind, const nlohmann::json& fields,
                             const nlohmann::json& origin);

  // Begins a new file.
  static Journal begin(const std::string& path, const nlohmann::json& head);
  // Goes on with a file that has the same first line, behind its last complete line. Throws
  // Error(bad_input) for a file of another run, which stays as it was.
  static Journal resume(const std::string& path, const nlohmann::json& head, const ReadLine& read);

  // One line each, written at once.
  void add(const std::vector<nlohmann::json>& lines);
  // The report holds all of it.
  void remove();

 private:
  Journal(std::string path, int flags);
  void write(std::string_view text);

  std::string path_;
  FileDescriptor file_;
};

// A number of a line that was read. Throws Error(bad_input).
std::size_t number_in(const nlohmann::json& line, const char* key, const std::string& where);

}  // namespace warpladder::lab
