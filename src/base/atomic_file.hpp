#pragma once
// Writes a whole file or none: a reader of the path sees the old contents or the new ones.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/temporary_name.hpp"

namespace warpladder {

// Until commit() the bytes are in a file without a name. Where the file system has no such files,
// it is a named one in the target's directory.
enum class Temporary { unnamed, named };

// The constructor fails early if the target cannot be written; nothing is visible before commit().
// Pipes, devices and our own descriptors (/dev/stdout, /dev/fd/N) cannot be replaced, so they are
// written at once. A symbolic link stays, and its target is replaced. Every failure throws one
// sentence that names `argument` (may be empty) and the path.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, std::string_view argument = {},
                      Temporary wish = Temporary::unnamed);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit() the target stays as it was.
  ~AtomicFile() = default;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  struct Existing {
    mode_t mode;
    uid_t owner;
    gid_t group;
  };

  mode_t new_mode() const;
  bool open_unnamed();
  void open_named();
  void name_temporary();
  void link_unnamed();
  void keep_owner_and_mode();
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(const std::string& reason, int error) const;

  std::string subject_;
  std::filesystem::path target_;
  bool is_direct_ = false;                  // written as the bytes come
  std::optional<TemporaryName> temporary_;  // empty: written directly, or unnamed
  std::optional<Existing> existing_;
  FileDescriptor file_;
};

void write_file(const std::string& path, std::string_view contents, std::string_view argument = {});

// A path's file as an absolute path without links, whether it exists or not. Two paths of one file
// give the same text.
std::filesystem::path file_behind(const std::string& path);

}  // namespace warpladder
