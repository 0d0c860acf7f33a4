#include "runtime/code_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <vector>

#include "runtime/sha256.hpp"

namespace warpladder::runtime {
namespace {

namespace fs = std::filesystem;

// A file: this line, the key, the hash of the code, each with a newline, and the code.
constexpr std::string_view kMagic = "warpladder code 1\n";
constexpr std::string_view kEnding = ".code", kTemporary = ".tmp";
constexpr std::size_t kDigits = 64;
constexpr std::time_t kStale_s = 3600;  // a temporary file that is older belongs to nobody

std::string head_of(const std::string& key, std::string_view code) {
  return std::string(kMagic) + key + "\n" + sha256(code) + "\n";
}

bool is_entry(std::string_view name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() == kDigits + kEnding.size() && name.ends_with(kEnding) &&
         std::ranges::all_of(name.substr(0, kDigits), is_digit);
}

// Whatever the file holds; false where it cannot be read, or is somebody else's.
bool read_own(const std::string& path, std::string* text) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  struct stat s {};
  const bool mine =
      ::fstat(file, &s) == 0 && S_ISREG(s.st_mode) && (s.st_uid == ::geteuid() || s.st_uid == 0);
  text->clear();
  ssize_t got = mine ? 1 : -1;
  char piece[1 << 16];
  while (got > 0) {
    got = ::read(file, piece, sizeof piece);
    if (got > 0) text->append(piece, static_cast<std::size_t>(got));
  }
  if (got == 0) ::futimens(file, nullptr);  // used now
  ::close(file);
  return got == 0;
}

bool write_new(const std::string& path, std::string_view head, std::string_view code) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool good = true;
  for (std::string_view part : {head, code}) {
    while (good && !part.empty()) {
      const ssize_t written = ::write(file, part.data(), part.size());
      good = written > 0;
      if (good) part.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return (::close(file) == 0) && good;
}

}  // namespace

std::string cache_folder() {
  if (const char* own = std::getenv("WARPLADDER_CACHE"); own && *own) {
    return std::string_view(own) == "off" ? "" : own;
  }
  // An empty or relative path there means nothing (XDG Base Directory Specification).
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') {
    return std::string(xdg) + "/warpladder";
  }
  if (const char* home = std::getenv("HOME"); home && *home == '/') {
    return std::string(home) + "/.cache/warpladder";
  }
  return "";
}

CodeCache::CodeCache(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

bool CodeCache::load(const std::string& key, std::string* code) const {
  if (folder_.empty() || !read_own(path_of(key + std::string(kEnding)), code)) return false;
  const std::size_t head = kMagic.size() + 2 * (kDigits + 1);
  if (code->size() < head) return false;
  const std::string_view body = std::string_view(*code).substr(head);
  if (std::string_view(*code).substr(0, head) != head_of(key, body)) return false;
  code->erase(0, head);
  return true;
}

void CodeCache::store(const std::string& key, std::string_view code) const {
  const std::string head = head_of(key, code);
  if (folder_.empty() || head.size() + code.size() > most_bytes_) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  static std::atomic<unsigned> number{0};
  const std::string temporary = path_of(key + "." + std::to_string(::getpid()) + "." +
                                        std::to_string(number++) + std::string(kTemporary));
  const bool written = write_new(temporary, head, code);
  // A crash may leave an entry without its end: its hash then says so.
  if (!written || ::rename(temporary.c_str(), path_of(key + std::string(kEnding)).c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  trim();
}

void CodeCache::trim() const {
  struct Entry {
    std::string path;
    std::uint64_t bytes;
    timespec used;
  };
  std::vector<Entry> entries;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string(), path = at->path().string();
    struct stat s {};
    if (::lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (name.ends_with(kTemporary) && name.size() > kDigits &&
        is_entry(name.substr(0, kDigits) + std::string(kEnding)) &&
        s.st_mtim.tv_sec + kStale_s < std::time(nullptr)) {
      ::unlink(path.c_str());
    } else if (is_entry(name)) {
      entries.push_back({path, static_cast<std::uint64_t>(s.st_size), s.st_mtim});
      bytes += entries.back().bytes;
    }
  }
  if (bytes <= most_bytes_) return;
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_) return;
    ::unlink(entry.path.c_str());  // another process may have done so
    bytes -= entry.bytes;
  }
}

}  // namespace warpladder::runtime
