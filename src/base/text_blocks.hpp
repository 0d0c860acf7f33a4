#pragma once
// Splits a text into blocks of whole lines, so that threads can parse them in parallel.

#include <cstddef>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

#include "base/read_bytes.hpp"

namespace warpladder {

// All lines of `text` end with '\n'. With `is_cut` the block holds one incomplete line.
struct TextBlock {
  std::vector<char> storage;
  std::string_view text;
  bool is_cut = false;
};

class TextBlocks {
 public:
  // No line may be longer than `block_bytes`, its end included.
  TextBlocks(ReadBytes read, std::size_t block_bytes);

  // Reads the next whole lines, and ends the text's last line if needed. False if there are no
  // more. An exception of the source is thrown after the whole lines before it.
  bool next(TextBlock& block);

  // Gives back the last lines of the latest block.
  void put_back(std::string_view lines) {
    carry_.insert(carry_.begin(), lines.begin(), lines.end());
  }

  // Whether the source has been read to its end; lines that were put back may remain.
  bool is_read() const { return is_read_; }

 private:
  std::size_t fill(std::span<char> out);

  ReadBytes read_;
  std::size_t block_bytes_;
  std::vector<char> carry_;  // what was read and not handed out
  std::exception_ptr failure_;
  bool is_read_ = false;
};

}  // namespace warpladder
