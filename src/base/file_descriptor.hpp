#pragma once
// A POSIX file descriptor that is closed once.

#include <unistd.h>

#include <utility>

namespace warpladder {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(FileDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return value_; }
  bool is_open() const { return value_ >= 0; }

  // False, with errno set, when the file system reports a late write error.
  bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_ = -1;
};

}  // namespace warpladder
