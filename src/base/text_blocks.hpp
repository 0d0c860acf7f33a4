#pragma once
// A text cut into blocks of whole lines, so that threads can parse them side by side.

#include <cstddef>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

#include "base/read_bytes.hpp"

namespace warpladder {

// The lines of `text` all end with '\n', unless `is_cut`: one line has no end within a block.
struct TextBlock {
  std::vector<char> storage;
  std::string_view text;
  bool is_cut = false;
};

class TextBlocks {
 public:
  // No line may be longer than `block_bytes`, its end included.
  TextBlocks(ReadBytes read, std::size_t block_bytes);

  // The next whole lines; the last line of the text gets an end where it has none. False: there
  // are no more. What the reading throws, this throws after the whole lines before it.
  bool next(TextBlock& block);

  // Gives back the last lines of the latest block.
  void put_back(std::string_view lines) {
    carry_.insert(carry_.begin(), lines.begin(), lines.end());
  }

  // Whether all of the text has been read; what was put back may still be due.
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
