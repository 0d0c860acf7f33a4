#pragma once
// The name of a file that must not outlive the program, even where a signal ends it.

#include <cstddef>
#include <string>

namespace warpladder {

class TemporaryName {
 public:
  // Makes no file: the caller does, after this.
  explicit TemporaryName(std::string path);
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName();  // removes the file, unless it has been renamed

  // The file of this name is somebody else's: it stays.
  void disown() noexcept;

  const std::string& path() const { return path_; }

  // Removes the files of all names. Safe in a signal's handler, which must then end the program.
  static void remove_all() noexcept;

 private:
  static constexpr std::size_t kNoSlot = ~std::size_t{0};

  std::string path_;
  std::size_t slot_ = kNoSlot;  // where remove_all() finds the name
};

}  // namespace warpladder
