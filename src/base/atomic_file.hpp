#pragma once
// Writes a file whole or not at all: a reader of the path sees the old contents or the new ones.

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

// What holds the bytes before commit(): a file without a name, where the file system has such
// files, or one with a name in the target's directory.
enum class Temporary { unnamed, named };

// Opening finds out early whether the target can be written; nothing is visible before commit().
// A pipe, a device or one of our own descriptors (/dev/stdout, /dev/fd/N) cannot be replaced:
// it is written as the bytes come. A symbolic link stays, and its target is replaced.
// Every failure throws one sentence that names `argument` (may be empty) and the path.
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

// The file that a path names, whether it exists or not: absolute, without links. Two paths of one
// file give the same.
std::filesystem::path file_behind(const std::string& path);

}  // namespace warpladder
