#pragma once
// Numbers and shapes as users type them. The whole text must match; anything else throws one
// sentence that begins with `argument_name` and shows the text.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warpladder {

// Decimal digits only.
std::int64_t parse_size(std::string_view text, std::string_view argument_name);

// `expected_count` sizes, as in 512x256x64; X and ',' separate as well as x.
std::vector<std::int64_t> parse_shape(std::string_view text, std::size_t expected_count,
                                      std::string_view argument_name);

// Decimal or scientific. inf and nan are legal; numbers beyond fp32's range are not.
float parse_float(std::string_view text, std::string_view argument_name);

// Seconds of 90, 60s, 5m or 1.5h: above 0, and at most a year.
double parse_duration(std::string_view text, std::string_view argument_name);

}  // namespace warpladder
