#pragma once
// The name of a file that is removed with the program, even when a signal ends it.

#include <cstddef>
#include <string>

namespace warpladder {

class TemporaryName {
 public:
  // Creates no file; the caller does so next.
  explicit TemporaryName(std::string path);
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName();  // removes the file, unless it has been renamed

  // The file of this name is not ours: it stays.
  void disown() noexcept;

  const std::string& path() const { return path_; }

  // Removes the files of all names. Safe in a signal handler, which must then end the program.
  static void remove_all() noexcept;

 private:
  static constexpr std::size_t kNoSlot = ~std::size_t{0};

  std::string path_;
  std::size_t slot_ = kNoSlot;  // where remove_all() finds the name
};

}  // namespace warpladder
