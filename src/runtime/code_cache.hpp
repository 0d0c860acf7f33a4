#pragma once
// Compiled code on disk, by the hash of all that it was made from. Any number of threads and
// processes may use one folder. The cache never fails a call: what cannot be read is compiled, what
// cannot be written is compiled again next time.

#include <cstdint>
#include <string>
#include <string_view>

namespace warpladder::runtime {

// The folder that WARPLADDER_CACHE names; without it "warpladder" below XDG_CACHE_HOME or ~/.cache.
// Empty where WARPLADDER_CACHE is "off", or no folder is known.
std::string cache_folder();

class CodeCache {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

  // Entries of at most so many bytes together. No folder: the cache is off.
  explicit CodeCache(std::string folder, std::uint64_t most_bytes = kMostBytes);

  // A key is 64 hexadecimal digits. False where there is no entry that is whole, of this key, and
  // the user's own (or root's). A found entry counts as used now.
  bool load(const std::string& key, std::string* code) const;
  // Puts the entry in place at once, then removes those that were used longest ago if there is too
  // much.
  void store(const std::string& key, std::string_view code) const;

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  void trim() const;

  std::string folder_;
  std::uint64_t most_bytes_;
};

}  // namespace warpladder::runtime
