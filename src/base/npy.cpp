#include "base/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/in_quotes.hpp"
#include "base/npy_header.hpp"

namespace warpladder {
namespace {

static_assert(std::endian::native == std::endian::little);  // numbers are copied as they are

// What is believed of a pipe's claims before its bytes arrive.
constexpr std::size_t kFirstChunkBytes = std::size_t{1} << 20;

// A file, a pipe or memory, read from its start to its end.
class Source {
 public:
  // Fills the span from where the last call stopped; fewer bytes mean the end.
  using Read = std::function<std::size_t(std::span<std::byte>)>;

  Source(Read read, std::optional<std::uint64_t> size) : read_(std::move(read)), size_(size) {}

  // What is left; unknown for a pipe.
  std::optional<std::uint64_t> left() const {
    return size_ ? std::optional(*size_ - consumed_) : std::nullopt;
  }
  std::uint64_t consumed() const { return consumed_; }

  // `count` elements, fewer if the end comes first. The memory asked for is bounded by what is
  // left, or grows with what arrives: a claim alone never gets any.
  template <typename Container>
  Container read(std::uint64_t count) {
    constexpr std::size_t kBytes = sizeof(typename Container::value_type);
    if (size_) count = std::min(count, *left() / kBytes);
    const std::uint64_t first = consumed_;
    Container elements;
    do {
      const std::size_t old_size = elements.size();
      const auto chunk = std::max<std::uint64_t>(2 * old_size, kFirstChunkBytes / kBytes);
      elements.resize(size_ ? count : std::min(count, chunk));
      const auto fresh = std::span(elements).subspan(old_size);
      consumed_ += read_(std::as_writable_bytes(fresh));
    } while (elements.size() < count && consumed_ - first == elements.size() * kBytes);
    elements.resize((consumed_ - first) / kBytes);
    return elements;
  }

 private:
  Read read_;
  std::optional<std::uint64_t> size_;
  std::uint64_t consumed_ = 0;
};

std::string read_header_text(Source& source, const std::string& name) {
  const auto require = [&](bool condition, const std::string& otherwise) {
    if (!condition) throw_bad_input(name + otherwise);
  };
  const std::string truncated = " has a truncated header: the file ends inside it";

  const auto magic = source.read<std::string>(kNpyMagic.size());
  require(!magic.empty(), " is empty (0 bytes), so it is no .npy file");
  require(kNpyMagic.starts_with(magic), " is no .npy file: it does not begin with \\x93NUMPY");

  const auto version = source.read<std::vector<std::uint8_t>>(2);
  require(version.size() == 2, truncated);
  const int major = version[0];
  const int minor = version[1];
  require(major >= 1 && major <= 3 && minor == 0,
          " has the .npy format version " + std::to_string(major) + "." + std::to_string(minor) +
              ", but only 1.0, 2.0 and 3.0 are known");

  const auto length_bytes = source.read<std::vector<std::uint8_t>>(major == 1 ? 2 : 4);
  require(length_bytes.size() == (major == 1 ? 2 : 4), truncated);
  std::uint32_t length = 0;
  std::memcpy(&length, length_bytes.data(), length_bytes.size());
  auto text = source.read<std::string>(length);
  require(text.size() == length, " has a truncated header: it says " + std::to_string(length) +
                                     " bytes, but only " + std::to_string(text.size()) +
                                     " are there");
  return text;
}

NpyArray load(Source source, const std::string& name) {
  NpyHeader header = parse_npy_header(read_header_text(source, name), name);
  const auto count = static_cast<std::uint64_t>(npy_element_count(header.shape, name));
  const std::uint64_t wanted = count * sizeof(float);
  const auto require = [&](bool condition, const char* quantity, std::uint64_t held) {
    if (condition) return;
    throw_bad_input(name + " has the shape " +
                    in_quotes(format_npy_shape(header.shape), kShownBytes) + ", which takes " +
                    std::to_string(wanted) + " bytes of data, but holds " + quantity +
                    std::to_string(held));
  };
  if (const auto left = source.left()) {
    require(*left >= wanted, "only ", *left);
    require(*left <= wanted, "", *left);
  }
  const std::uint64_t data_begin = source.consumed();
  auto data = source.read<std::vector<float>>(count);
  const std::uint64_t held = source.consumed() - data_begin;
  require(held == wanted, "only ", held);  // a pipe, or a file that shrank meanwhile
  require(source.read<std::string>(1).empty(), "at least ", wanted + 1);
  return {std::move(header.shape), header.fortran_order, std::move(data)};
}

std::size_t read_fully(int descriptor, std::span<std::byte> out, const std::string& name) {
  std::size_t total = 0;
  while (total < out.size()) {
    const ssize_t got = ::read(descriptor, out.data() + total, out.size() - total);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw_resource("cannot read " + name + ": " + std::generic_category().message(errno));
    }
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

}  // namespace

NpyArray parse_npy(std::span<const std::byte> bytes, std::string_view name) {
  const auto read = [&bytes](std::span<std::byte> out) {
    const auto piece = bytes.first(std::min(out.size(), bytes.size()));
    std::ranges::copy(piece, out.begin());
    bytes = bytes.subspan(piece.size());
    return piece.size();
  };
  return load({read, bytes.size()}, std::string(name));
}

NpyArray read_npy(const std::string& path, std::string_view argument) {
  const std::string name = file_subject(path, argument);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
    throw_bad_input("cannot open " + name + ": " + std::generic_category().message(errno));
  }
  if (S_ISDIR(status.st_mode)) throw_bad_input(name + " is a directory, not a .npy file");
  const auto read = [&](std::span<std::byte> out) { return read_fully(file.get(), out, name); };
  std::optional<std::uint64_t> size;
  if (S_ISREG(status.st_mode)) size = static_cast<std::uint64_t>(status.st_size);
  try {
    return load({read, size}, name);
  } catch (const std::bad_alloc&) {
    throw_resource(name + " does not fit into the memory of this machine");
  }
}

namespace {

void write(const std::string& path, const NpyHeader& header, std::size_t elements,
           std::span<const std::byte> bytes, std::string_view argument) {
  const std::string name = file_subject(path, argument);
  const std::int64_t count = npy_element_count(header.shape, name);
  if (static_cast<std::uint64_t>(count) != elements) {
    throw_bad_input("cannot write " + name + ": the shape " +
                    in_quotes(format_npy_shape(header.shape), kShownBytes) + " has " +
                    std::to_string(count) + " elements, but " + std::to_string(elements) +
                    " were given");
  }
  AtomicFile file(path, argument);
  file.write(format_npy_header(header));
  file.write(bytes);
  file.commit();
}

}  // namespace

void write_npy(const std::string& path, std::span<const std::int64_t> shape,
               std::span<const float> data, bool fortran_order, std::string_view argument) {
  write(path, {{shape.begin(), shape.end()}, fortran_order}, data.size(), std::as_bytes(data),
        argument);
}

void write_npy_places(const std::string& path, std::span<const std::int64_t> shape,
                      std::span<const std::int64_t> places, std::string_view argument) {
  write(path, {{shape.begin(), shape.end()}, false, "<i8"}, places.size(), std::as_bytes(places),
        argument);
}

}  // namespace warpladder
