#include "base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"

namespace warpladder {

std::string read_whole_file(const std::string& path, const std::string& subject,
                            std::size_t most_bytes) {
  const auto fail = [&] {
    throw_bad_input(
        fmt::format("{} cannot be read: {}", subject, std::generic_category().message(errno)));
  };
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail();
  std::string bytes;
  for (std::size_t filled = 0;;) {
    if (filled > most_bytes) {
      throw_bad_input(fmt::format("{} has more than {} MiB", subject, most_bytes >> 20));
    }
    bytes.resize(filled + (std::size_t{1} << 20));
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    filled += static_cast<std::size_t>(count);
    if (count > 0) continue;
    bytes.resize(filled);
    return bytes;
  }
}

}  // namespace warpladder
