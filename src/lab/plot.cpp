#include "lab/plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/svg.hpp"

namespace warpladder::lab {

std::string opened(double width, double height, const std::string& title) {
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" )"
                     R"(role="img" aria-label="{}">)"
                     "\n",
                     width, height, xml_text(title));
}

std::string with_title(const std::string& title, const std::string& marks) {
  return fmt::format("<g><title>{}</title>{}</g>\n", xml_text(title), marks);
}

void LogAxis::include(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

void LogAxis::close() {
  low = std::pow(base, std::floor(std::log(low) / std::log(base) + 1e-9));
  high = std::pow(base, std::ceil(std::log(high) / std::log(base) - 1e-9));
  if (!(high > low)) high = low * base;
}

double LogAxis::at(double value) const {
  return begin + (end - begin) * std::log(value / low) / std::log(high / low);
}

std::vector<double> LogAxis::ticks() const {
  const double count = std::round(std::log(high / low) / std::log(base));
  const double step = std::ceil((count + 1) / 14);
  std::vector<double> values;
  for (double i = 0; i <= count; i += step) values.push_back(low * std::pow(base, i));
  return values;
}

namespace {

std::string tick_text(double value) {
  return value >= 0.99 && value < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

std::string grid(const LogAxis& x, const LogAxis& y, const std::string& x_title,
                 const std::string& y_title, double y_scale) {
  std::string out;
  for (const double value : x.ticks()) {
    out += line_from(x.at(value), y.end, x.at(value), y.begin, "grid");
    out += text_at(x.at(value), y.begin + 18, tick_text(value), "faint", 12, "middle");
  }
  for (const double value : y.ticks()) {
    out += line_from(x.begin, y.at(value), x.end, y.at(value), "grid");
    out += text_at(x.begin - 8, y.at(value) + 4, tick_text(value * y_scale), "faint", 12, "end");
  }
  out += text_at((x.begin + x.end) / 2, y.begin + 40, x_title, "ink", 13, "middle");
  const double middle = (y.begin + y.end) / 2;
  return out + text_at(16, middle, y_title, "ink", 13, "middle",
                       fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle));
}

std::string dot(double x, double y, std::size_t colour, bool filled) {
  return fmt::format(R"(<circle cx="{:.2f}" cy="{:.2f}" r="4" class="c{} {}"/>)", x, y,
                     colour % kColours, filled ? "full" : "hollow");
}

std::string legend(const std::vector<std::string>& names, double y) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double x = 70 + 200 * static_cast<double>(i % 4), below = 20 * static_cast<double>(i / 4);
    out += dot(x, y + below - 4, i, i < kColours);
    out += text_at(x + 10, y + below, names[i], "ink", 13);
  }
  return out;
}

}  // namespace warpladder::lab
