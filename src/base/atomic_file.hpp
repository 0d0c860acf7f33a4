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

namespace warpladder {

// Opening finds out early whether the target can be written; nothing is visible before commit().
// A pipe, a device or one of our own descriptors (/dev/stdout, /dev/fd/N) cannot be replaced:
// it is written as the bytes come. A symbolic link stays, and its target is replaced.
// Every failure throws one sentence that names `argument` (may be empty) and the path.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, std::string_view argument = {});
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // without commit(): the temporary goes, the target stays as it was

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  struct Existing {
    mode_t mode;
    uid_t owner;
    gid_t group;
  };

  void open_temporary();
  void keep_owner_and_mode();
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(const std::string& reason, int error) const;

  std::string subject_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty: written directly, or renamed already
  std::optional<Existing> existing_;
  FileDescriptor file_;
};

void write_file(const std::string& path, std::string_view contents, std::string_view argument = {});

}  // namespace warpladder
