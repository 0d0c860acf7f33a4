#pragma once
// SHA-256 (FIPS 180-4): names of cache entries, and proof that an entry is whole.

#include <initializer_list>
#include <string>
#include <string_view>

namespace warpladder::runtime {

// In 64 hexadecimal digits. The text is the parts one after the other, each behind its length: no
// two lists of parts have the same text.
std::string sha256_of_parts(std::initializer_list<std::string_view> parts);
std::string sha256(std::string_view text);

}  // namespace warpladder::runtime
