#include "lab/shapes_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

constexpr std::string_view kLight = R"( .unit { stroke: #1f2328; stroke-width: 1.4; }
.hot { fill-opacity: 0.8; } .cold { stroke-width: 1.3; }
)";
constexpr std::string_view kDark = R"( .unit { stroke: #e6edf3; }
)";
// Behind the colours, of which it takes some back.
constexpr std::string_view kMarks = R"(.hot { stroke: none; } .cold { fill: none; }
)";

constexpr double kPad = 20, kPlotWidth = 720, kPlotHeight = 400, kLeft = 70, kRight = 30,
                 kLegendTop = 78, kLegendWidth = 200, kLegendPitch = 20;
constexpr double kWidth = kPad + kLeft + kPlotWidth + kRight;

// Whole powers of 2 that hold all values, and 1 where `holds_one`.
struct Scale {
  int low = 0, high = 1;

  template <class Values>
  static Scale of(const Values& values, bool holds_one) {
    double least = holds_one ? 1 : HUGE_VAL, most = holds_one ? 1 : 0;
    for (const double value : values) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    Scale s{static_cast<int>(std::floor(std::log2(least))),
            static_cast<int>(std::ceil(std::log2(most)))};
    s.high = std::max(s.high, s.low + 1);
    return s;
  }
  // From 0 to 1.
  double place(double value) const { return (std::log2(value) - low) / (high - low); }
};

struct Plot {
  Scale x_scale, y_scale;
  double top;

  double x(double intensity) const { return kPad + kLeft + kPlotWidth * x_scale.place(intensity); }
  double y(double speedup) const { return top + kPlotHeight * (1 - y_scale.place(speedup)); }
};

std::string power_text(int power) {
  return power < 0 ? fmt::format("1/{}", 1ull << -power) : fmt::format("{}", 1ull << power);
}

std::string axes(const Plot& plot) {
  std::string out;
  const double left = kPad + kLeft, right = left + kPlotWidth, bottom = plot.top + kPlotHeight;
  const int x_step = (plot.x_scale.high - plot.x_scale.low) / 12 + 1;
  for (int power = plot.x_scale.low; power <= plot.x_scale.high; power += x_step) {
    const double x = plot.x(std::exp2(power));
    out += line_from(x, plot.top, x, bottom, "grid");
    out += text_at(x, bottom + 17, power_text(power), "faint", 12, "middle");
  }
  for (int power = plot.y_scale.low; power <= plot.y_scale.high; ++power) {
    const double y = plot.y(std::exp2(power));
    out += line_from(left, y, right, y, power == 0 ? "unit" : "grid");
    out += text_at(left - 8, y + 4, power_text(power) + "×", "faint", 12, "end");
  }
  out += text_at((left + right) / 2, bottom + 38,
                 "floating-point operations for each byte that must move", "ink", 13, "middle");
  const double middle = plot.top + kPlotHeight / 2;
  return out + text_at(kPad + 12, middle, "speed-up over the rival", "ink", 13, "middle",
                       fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", kPad + 12, middle));
}

// A class has a colour; where there are more classes than colours, squares follow circles.
std::string mark(double x, double y, std::size_t of_class, const char* caches) {
  const std::string style = fmt::format("c{} {}", of_class % kColours, caches);
  if (of_class / kColours % 2 == 1) return rectangle(x - 3.1, y - 3.1, 6.2, 6.2, style);
  return fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3.4\" class=\"{}\"/>\n", x, y, style);
}

std::string points(const ContestantView& view, const Plot& plot) {
  std::string out;
  for (const ShapeResult& result : view.shapes) {
    const auto of_class =
        std::ranges::find(view.classes, result.row->shape_class, &ClassSpeedups::name);
    const auto at = static_cast<std::size_t>(of_class - view.classes.begin());
    const double x = plot.x(result.intensity());
    std::string told =
        fmt::format("{}: {} {}, hot {:.2f}×", result.row->shape_class, result.row->variant,
                    fmt::join(result.row->shape, "x"), result.hot);
    std::string dots;
    if (result.cold > 0) {
      told += fmt::format(", cold {:.2f}×", result.cold);
      dots += mark(x, plot.y(result.cold), at, "cold");
    }
    dots += mark(x, plot.y(result.hot), at, "hot");
    out += fmt::format("<g><title>{}</title>\n{}</g>\n", xml_text(told), dots);
  }
  return out;
}

// From `bottom` down, which is moved to its end.
std::string legend(const ContestantView& view, double& bottom) {
  std::string out;
  const auto columns = static_cast<std::size_t>((kWidth - 2 * kPad) / kLegendWidth);
  for (std::size_t i = 0; i < view.classes.size(); ++i) {
    const double x = kPad + kLegendWidth * static_cast<double>(i % columns),
                 y = bottom + kLegendPitch * static_cast<double>(i / columns);
    out += mark(x + 6, y - 4, i, "hot");
    out += text_at(x + 16, y,
                   fmt::format("{} ({})", view.classes[i].name, view.classes[i].speedups.shapes),
                   "ink", 13);
  }
  bottom += kLegendPitch * static_cast<double>((view.classes.size() + columns - 1) / columns);
  return out;
}

std::string mean_text(const Speedups& s) {
  const std::string hot = fmt::format("hot {:.2f}×, the slowest {:.2f}×", s.hot_mean, s.hot_least);
  if (s.cold_mean == 0) return hot;
  return fmt::format("{}; cold {:.2f}×, the slowest {:.2f}×", hot, s.cold_mean, s.cold_least);
}

}  // namespace

std::string svg(const ContestantView& view, const std::string& op, const std::string& id) {
  std::vector<double> intensities, speedups;
  for (const ShapeResult& result : view.shapes) {
    intensities.push_back(result.intensity());
    speedups.push_back(result.hot);
    if (result.cold > 0) speedups.push_back(result.cold);
  }
  const std::string title = fmt::format("{}/{} beside its fastest rival", op, view.rung);
  const std::string below =
      fmt::format("{} shapes, geometric means: {}", view.all.shapes, mean_text(view.all));
  double bottom = kLegendTop;
  const std::string names = legend(view, bottom);
  const Plot plot{Scale::of(intensities, false), Scale::of(speedups, true), bottom + 6};
  const double height = plot.top + kPlotHeight + 38 + kPad;
  std::string out =
      fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
                  R"(viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="title{2} )"
                  R"(description{2}">)"
                  "\n",
                  kWidth, height, id);
  out += fmt::format("<title id=\"title{}\">{}</title>\n", id, xml_text(title));
  out += fmt::format("<desc id=\"description{}\">{}</desc>\n", id, xml_text(below));
  out += style_of(fmt::format("{}{}{}", kLight, kLightColours, kMarks),
                  fmt::format("{}{}{}", kDark, kDarkColours, kMarks));
  out += rectangle(0.5, 0.5, kWidth - 1, height - 1, "paper", " rx=\"8\"");
  out += text_at(kPad, 34, title, "ink", 18, "start", " font-weight=\"600\"");
  const bool has_cold = view.all.cold_mean > 0;
  out += text_at(kPad, 55, below + (has_cold ? "; filled: hot, outlines: cold" : ""), "faint", 13);
  return out + names + axes(plot) + points(view, plot) + "</svg>\n";
}

}  // namespace warpladder::lab
