#pragma once
// A new folder for temporary files: below TMPDIR, or /tmp without it.

#include <filesystem>

namespace warpladder {

// The folder is removed with the object. Throws Error(resource) if it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace warpladder
