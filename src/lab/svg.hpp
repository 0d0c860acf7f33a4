#pragma once
// Pieces of the pictures that verbs draw. Styles are classes: each picture says what they look
// like.

#include <string>
#include <string_view>

namespace warpladder::lab {

// A text as XML can hold it, whatever bytes it has.
std::string xml_text(const std::string& text);

std::string text_at(double x, double y, const std::string& content, std::string_view style,
                    int size = 12, std::string_view anchor = "start", std::string_view more = "");
std::string rectangle(double x, double y, double width, double height, std::string_view style,
                      std::string_view more = "");
std::string line_from(double x1, double y1, double x2, double y2, std::string_view style);

}  // namespace warpladder::lab
