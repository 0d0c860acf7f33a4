#pragma once
// Input that may be compressed with gzip. The first two bytes tell, not the file's name.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/read_bytes.hpp"

namespace warpladder {

// Passes on the bytes of `source`, decompressed if they are gzip; consecutive members are one text.
// It passes on the bytes before a fault, then throws. `name` begins the sentence.
class GzipInput {
 public:
  GzipInput(ReadBytes source, std::string name);
  GzipInput(const GzipInput&) = delete;
  GzipInput& operator=(const GzipInput&) = delete;
  ~GzipInput();

  std::size_t read(std::span<std::byte> out);

 private:
  struct Inflater;  // keeps zlib.h out of this header

  std::size_t read_plain(std::span<std::byte> out);
  std::size_t read_compressed(std::span<std::byte> out);
  bool refill();  // false at the end

  ReadBytes source_;
  std::string name_;
  std::vector<std::byte> buffer_;
  std::span<std::byte> waiting_;  // bytes of the buffer not used yet
  bool is_started_ = false;
  std::string fault_;                   // thrown by the next call
  std::unique_ptr<Inflater> inflater_;  // none for plain bytes
};

}  // namespace warpladder
