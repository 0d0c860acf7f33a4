#include "lab/svg.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace warpladder::lab {

std::string style_of(std::string_view light, std::string_view dark) {
  constexpr std::string_view font =
      "text { font-family: system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, "
      "sans-serif; }";
  return fmt::format(R"(<style>
{}
.paper {{ fill: #ffffff; stroke: #d0d7de; }} .ink {{ fill: #1f2328; }} .faint {{ fill: #59636e; }}
.grid {{ stroke: #eaeef2; }}{}@media (prefers-color-scheme: dark) {{
.paper {{ fill: #0d1117; stroke: #30363d; }} .ink {{ fill: #e6edf3; }} .faint {{ fill: #9198a1; }}
.grid {{ stroke: #21262d; }}{}}}
</style>
)",
                     font, light, dark);
}

std::string xml_text(const std::string& text) {
  using nlohmann::json;
  // Bytes that are no UTF-8 come back replaced.
  const json valid = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  std::string out;
  for (const char c : valid.get<std::string>()) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::string text_at(double x, double y, const std::string& content, std::string_view style,
                    int size, std::string_view anchor, std::string_view more) {
  return fmt::format(
      R"(<text x="{:.2f}" y="{:.2f}" class="{}" font-size="{}" text-anchor="{}"{}>{}</text>)"
      "\n",
      x, y, style, size, anchor, more, xml_text(content));
}

std::string rectangle(double x, double y, double width, double height, std::string_view style,
                      std::string_view more) {
  return fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" class="{}"{}/>)"
                     "\n",
                     x, y, width, height, style, more);
}

std::string line_from(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" class="{}"/>)"
                     "\n",
                     x1, y1, x2, y2, style);
}

}  // namespace warpladder::lab
