#include "base/text_blocks.hpp"

#include <algorithm>
#include <utility>

namespace warpladder {

TextBlocks::TextBlocks(ReadBytes read, std::size_t block_bytes)
    : read_(std::move(read)), block_bytes_(block_bytes) {}

std::size_t TextBlocks::fill(std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size() && !is_read_) {
    try {
      const std::size_t got = read_(std::as_writable_bytes(out.subspan(filled)));
      filled += got;
      is_read_ = got == 0;
    } catch (...) {
      failure_ = std::current_exception();
      is_read_ = true;
    }
  }
  return filled;
}

bool TextBlocks::next(TextBlock& block) {
  block.storage.resize(block_bytes_ + 1);  // room for the end that the last line may lack
  std::ranges::copy(carry_, block.storage.begin());
  std::size_t size = carry_.size();
  carry_.clear();
  size += fill(std::span(block.storage).first(block_bytes_).subspan(size));

  std::string_view text(block.storage.data(), size);
  std::size_t whole = text.rfind('\n') + 1;  // 0: no line ends
  block.is_cut = whole == 0 && size == block_bytes_;
  if (block.is_cut) {
    whole = size;
  } else if (is_read_ && !failure_ && whole < size) {
    block.storage[size++] = '\n';
    whole = size;
  }
  text = {block.storage.data(), size};
  if (!(is_read_ && failure_)) carry_.assign(text.begin() + whole, text.end());
  block.text = text.substr(0, whole);
  if (whole == 0 && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return whole > 0;
}

}  // namespace warpladder
