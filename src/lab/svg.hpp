#pragma once
// Parts of the pictures that verbs draw. Styles are classes, which each picture defines.

#include <string>
#include <string_view>

namespace warpladder::lab {

// The picture's styles: font, paper, ink and grid, for light and dark pages, each followed by the
// picture's own.
std::string style_of(std::string_view light, std::string_view dark);

// Of the classes c0 to c7, a colour each.
constexpr std::size_t kColours = 8;
constexpr std::string_view kLightColours =
    R"(.c0 { stroke: #1f6feb; fill: #1f6feb; } .c1 { stroke: #b3541e; fill: #b3541e; }
.c2 { stroke: #1a7f37; fill: #1a7f37; } .c3 { stroke: #8250df; fill: #8250df; }
.c4 { stroke: #bf3989; fill: #bf3989; } .c5 { stroke: #7d6600; fill: #7d6600; }
.c6 { stroke: #0b7285; fill: #0b7285; } .c7 { stroke: #cf222e; fill: #cf222e; }
)";
constexpr std::string_view kDarkColours =
    R"(.c0 { stroke: #58a6ff; fill: #58a6ff; } .c1 { stroke: #e08b52; fill: #e08b52; }
.c2 { stroke: #3fb950; fill: #3fb950; } .c3 { stroke: #bc8cff; fill: #bc8cff; }
.c4 { stroke: #f778ba; fill: #f778ba; } .c5 { stroke: #d9b83c; fill: #d9b83c; }
.c6 { stroke: #4cc3d9; fill: #4cc3d9; } .c7 { stroke: #ff7b72; fill: #ff7b72; }
)";

// A text, with any bytes, as valid XML.
std::string xml_text(const std::string& text);

std::string text_at(double x, double y, const std::string& content, std::string_view style,
                    int size = 12, std::string_view anchor = "start", std::string_view more = "");
std::string rectangle(double x, double y, double width, double height, std::string_view style,
                      std::string_view more = "");
std::string line_from(double x1, double y1, double x2, double y2, std::string_view style);

}  // namespace warpladder::lab
