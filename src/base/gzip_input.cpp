#include "base/gzip_input.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace warpladder {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr std::byte kMagic[] = {std::byte{0x1f}, std::byte{0x8b}};

}  // namespace

struct GzipInput::Inflater {
  Inflater() {
    constexpr int kGzipOnly = 16;
    if (::inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream); }

  z_stream stream = {};
  bool is_between_members = false;
};

GzipInput::GzipInput(ReadBytes source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), buffer_(kBufferBytes) {}

GzipInput::~GzipInput() = default;

bool GzipInput::refill() {
  waiting_ = std::span(buffer_).first(source_(buffer_));
  return !waiting_.empty();
}

std::size_t GzipInput::read(std::span<std::byte> out) {
  if (!is_started_) {
    is_started_ = true;
    // A pipe may give its first bytes one by one.
    std::size_t got = 0;
    do {
      const std::size_t more = source_(std::span(buffer_).subspan(got));
      if (more == 0) break;
      got += more;
    } while (got < std::size(kMagic));
    waiting_ = std::span(buffer_).first(got);
    if (got >= std::size(kMagic) && std::ranges::equal(waiting_.first(std::size(kMagic)), kMagic)) {
      inflater_ = std::make_unique<Inflater>();
    }
  }
  if (out.empty()) return 0;
  return inflater_ ? read_compressed(out) : read_plain(out);
}

std::size_t GzipInput::read_plain(std::span<std::byte> out) {
  if (waiting_.empty()) return source_(out);
  const auto piece = waiting_.first(std::min(waiting_.size(), out.size()));
  std::ranges::copy(piece, out.begin());
  waiting_ = waiting_.subspan(piece.size());
  return piece.size();
}

std::size_t GzipInput::read_compressed(std::span<std::byte> out) {
  if (!fault_.empty()) throw_bad_input(fault_);
  z_stream& stream = inflater_->stream;
  out = out.first(std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  while (stream.avail_out > 0) {
    if (inflater_->is_between_members) {
      // Tapes and some tools fill the last block with zeros.
      while (!waiting_.empty() && waiting_.front() == std::byte{0}) waiting_ = waiting_.subspan(1);
      if (waiting_.empty() && refill()) continue;
      if (waiting_.empty()) break;
      inflater_->is_between_members = false;
      ::inflateReset(&stream);
    }
    // At the end of the file zlib may still hold text that found no room before.
    if (waiting_.empty()) refill();
    stream.next_in = reinterpret_cast<Bytef*>(waiting_.data());
    stream.avail_in = static_cast<uInt>(waiting_.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    waiting_ = waiting_.last(stream.avail_in);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) {
      inflater_->is_between_members = true;
    } else if (status == Z_BUF_ERROR) {
      fault_ = name_ + " is a truncated gzip file: it ends inside the compressed data";
      break;
    } else if (status != Z_OK) {
      fault_ = name_ + " is a corrupt gzip file: " +
               (stream.msg != nullptr ? stream.msg : "its data make no sense");
      break;
    }
  }
  const std::size_t got = out.size() - stream.avail_out;
  if (got == 0 && !fault_.empty()) throw_bad_input(fault_);
  return got;
}

}  // namespace warpladder
