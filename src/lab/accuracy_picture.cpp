#include "lab/accuracy_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_table.hpp"
#include "lab/axes.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

// Styles before and after the colours.
constexpr std::string_view kLight = R"( .axis { stroke: #59636e; }
.unit { stroke: #59636e; stroke-dasharray: 1 3; }
path { fill: none; stroke-linejoin: round; } .rung { stroke-width: 1.6; }
.rival { stroke: #1f2328; stroke-width: 6; stroke-opacity: 0.22; }
circle.rival { fill: #1f2328; fill-opacity: 0.35; stroke: none; } circle.rung { stroke: none; }
)";
constexpr std::string_view kLightBehind =
    R"(path.rung { fill: none; } .d1 { stroke-dasharray: 7 3; } .d2 { stroke-dasharray: 2 2.5; }
.d3 { stroke-dasharray: 9 3 2 3; }
)";
constexpr std::string_view kDark = R"( .axis { stroke: #9198a1; } .unit { stroke: #9198a1; }
.rival { stroke: #e6edf3; } circle.rival { fill: #e6edf3; }
)";
constexpr std::size_t kDashes = 4;

constexpr double kPad = 20, kLegendTop = 64;
constexpr double kPanelWidth = 380, kPanelHeight = 170, kLeft = 52, kRight = 34, kGap = 64,
                 kPitch = 262;
constexpr double kStrip = 16;  // beyond the logarithmic part, for 0 and for what is infinite
constexpr double kLegendWidth = 290, kLegendPitch = 20, kLegendSample = 30;
constexpr double kUnitRoundoff = 0x1p-24;
constexpr double kTickRoom = 44;  // between the middles of two sizes that are written

double width() { return kPad + kLeft + 2 * kPanelWidth + kGap + kRight; }

// A panel's scales: the decades of all errors that are neither 0 nor infinite.
struct Scales {
  double left, top, first_size, last_size;
  int low, high;  // powers of ten
  bool has_zero, has_infinity;

  double x(double size) const {
    if (first_size == last_size) return left + kPanelWidth / 2;
    return left + kPanelWidth * std::log2(size / first_size) / std::log2(last_size / first_size);
  }
  double y(double error) const {
    const double highest = top + (has_infinity ? kStrip : 0);
    const double lowest = top + kPanelHeight - (has_zero ? kStrip : 0);
    if (error == 0) return top + kPanelHeight;
    if (!std::isfinite(error)) return top;
    return lowest - (lowest - highest) * (std::log10(error) - low) / (high - low);
  }
};

struct Panel {
  const AccuracyReport& report;
  const AccuracyGroup& group;
  const ErrorMeasure& measure;

  double size(std::size_t problem) const {
    return static_cast<double>(report.problems[problem].shape.back());
  }
  // Null if there is none.
  const double* error(const AccuracyRow& row, std::size_t problem) const {
    if (problem >= row.points.size() || !row.points[problem].skipped.empty()) return nullptr;
    return &(row.points[problem].errors.*measure.value);
  }
};

Scales scales_of(const Panel& panel, double left, double top) {
  Scales s{left,
           top,
           panel.size(panel.group.problems.front()),
           panel.size(panel.group.problems.back()),
           0,
           0,
           false,
           false};
  double least = HUGE_VAL, most = 0;
  for (const AccuracyRow& row : panel.report.rows) {
    for (const std::size_t problem : panel.group.problems) {
      const double* error = panel.error(row, problem);
      if (!error) continue;
      s.has_zero |= *error == 0;
      s.has_infinity |= !std::isfinite(*error);
      if (*error == 0 || !std::isfinite(*error)) continue;
      least = std::min(least, *error);
      most = std::max(most, *error);
    }
  }
  if (most == 0) least = most = kUnitRoundoff;
  s.low = static_cast<int>(std::floor(std::log10(least)));
  s.high = std::max(s.low + 1, static_cast<int>(std::ceil(std::log10(most))));
  return s;
}

std::string axes_of(const Panel& panel, const Scales& s, const std::string& size_name) {
  const double right = s.left + kPanelWidth, bottom = s.top + kPanelHeight;
  std::string out;
  const auto level = [&](double error, const std::string& label, std::string_view style) {
    const double y = s.y(error);
    out += line_from(s.left, y, right, y, style);
    out += text_at(s.left - 7, y + 4, label, "faint", 11, "end");
  };
  const int step = (s.high - s.low + 6) / 7;
  for (int power = s.low; power <= s.high; power += step) {
    level(std::pow(10.0, power), fmt::format("1e{}", power), "grid");
  }
  if (s.has_zero) level(0, "0", "grid");
  if (s.has_infinity) level(HUGE_VAL, "∞", "grid");
  if (std::log10(kUnitRoundoff) >= s.low && std::log10(kUnitRoundoff) <= s.high) {
    const double y = s.y(kUnitRoundoff);
    out += line_from(s.left, y, right, y, "unit");
    out += text_at(right, y - 4, "2⁻²⁴", "faint", 10, "end");
  }
  double free_from = -HUGE_VAL;
  for (const std::size_t problem : panel.group.problems) {
    const double x = s.x(panel.size(problem));
    if (x < free_from) continue;
    free_from = x + kTickRoom;
    out += line_from(x, bottom, x, bottom + 4, "axis");
    out += text_at(x, bottom + 17, fmt::format("{}", panel.size(problem)), "faint", 11, "middle");
  }
  out += line_from(s.left, s.top, s.left, bottom, "axis");
  out += line_from(s.left, bottom, right, bottom, "axis");
  out += text_at(s.left + kPanelWidth / 2, bottom + 33, size_name, "faint", 11, "middle");
  return out + text_at(s.left, s.top - 9, panel.measure.formula, "faint", 11);
}

// A drawn line. Rungs that sum in the same order have equal errors, and share a line.
struct Line {
  const AccuracyRow* row;
  std::string label, style;
};

bool are_alike(const AccuracyRow& a, const AccuracyRow& b) {
  const auto same = [](const AccuracyPoint& x, const AccuracyPoint& y) {
    return x.skipped.empty() == y.skipped.empty() && x.errors.frobenius == y.errors.frobenius &&
           x.errors.componentwise == y.errors.componentwise;
  };
  return !a.rival && !b.rival && std::ranges::equal(a.points, b.points, same);
}

// The rival comes first, so that its broad line lies under the others. Lines of one colour differ
// in their dashes.
std::vector<Line> lines_of(const AccuracyReport& report) {
  std::vector<Line> lines;
  for (const AccuracyRow& row : report.rows) {
    if (row.rival && !row.points.empty()) lines.push_back({&row, row.rung, "rival"});
  }
  std::size_t style = 0;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const AccuracyRow& row = report.rows[i];
    const auto is_like = [&](const AccuracyRow& other) { return are_alike(other, row); };
    if (row.rival || row.points.empty()) continue;
    if (std::any_of(report.rows.begin(), report.rows.begin() + static_cast<std::ptrdiff_t>(i),
                    is_like)) {
      continue;
    }
    const auto more = std::ranges::count_if(report.rows, is_like) - 1;
    lines.push_back({&row, more ? fmt::format("{} and {} alike", row.rung, more) : row.rung,
                     fmt::format("rung c{} d{}", style % kColours, style / kColours % kDashes)});
    ++style;
  }
  return lines;
}

std::string curve(const Panel& panel, const Scales& s, const Line& line) {
  const AccuracyRow& row = *line.row;
  std::string path, dots;
  bool is_drawing = false;
  for (const std::size_t problem : panel.group.problems) {
    const double* error = panel.error(row, problem);
    if (error) {
      const double x = s.x(panel.size(problem)), y = s.y(*error);
      path += fmt::format("{}{:.2f} {:.2f}", is_drawing ? "L" : "M", x, y);
      dots += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" class=\"{}\"/>\n", x, y,
                          row.rival ? 4.5 : 2.2, line.style);
    }
    is_drawing = error != nullptr;
  }
  if (path.empty()) return "";
  return fmt::format("<g><title>{}</title>\n<path d=\"{}\" class=\"{}\"/>\n{}</g>\n",
                     xml_text(line.label), path, line.style, dots);
}

std::string panels(const AccuracyReport& report, const std::vector<AccuracyGroup>& groups,
                   const std::vector<Line>& lines, double& bottom) {
  const std::vector<std::string> sizes = size_names(ops::find_operator(report.op).shape_form());
  std::string out;
  double top = bottom + 46;
  for (const AccuracyGroup& group : groups) {
    std::string heading = group.distribution->name;
    for (std::size_t i = 0; i < group.other_sizes.size(); ++i) {
      heading += fmt::format("{}{} = {}", i ? ", " : " · ", sizes[i], group.other_sizes[i]);
    }
    out += text_at(kPad + kLeft, top - 27, heading, "ink", 13, "start", " font-weight=\"600\"");
    double left = kPad + kLeft;
    for (const ErrorMeasure& measure : kErrorMeasures) {
      const Panel panel{report, group, measure};
      const Scales scales = scales_of(panel, left, top);
      out += axes_of(panel, scales, sizes.back());
      for (const Line& line : lines) out += curve(panel, scales, line);
      left += kPanelWidth + kGap;
    }
    top += kPitch;
  }
  bottom = top - kPitch + kPanelHeight + 44;
  return out;
}

// Drawn below `bottom`, which is moved to the legend's end.
std::string legend(const std::vector<Line>& lines, double& bottom) {
  std::string out;
  const auto columns = static_cast<std::size_t>((width() - 2 * kPad) / kLegendWidth);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const double x = kPad + kLegendWidth * static_cast<double>(at % columns);
    const double y = bottom + kLegendPitch * static_cast<double>(at / columns) + 12;
    out += fmt::format("<path d=\"M{:.2f} {:.2f}h{}\" class=\"{}\"/>\n", x, y, kLegendSample,
                       lines[at].style);
    out += text_at(x + kLegendSample + 8, y + 4, lines[at].label, "ink", 12);
  }
  bottom += kLegendPitch * static_cast<double>((lines.size() + columns - 1) / columns) + 4;
  return out;
}

}  // namespace

std::string svg(const AccuracyReport& report) {
  const std::vector<AccuracyGroup> groups = groups_of(report);
  const std::vector<Line> lines = lines_of(report);
  const std::string title = fmt::format("How near {} comes to the exact result", report.op);
  const std::string below =
      "errors of C beside a truth R in twice float64's precision; dotted: 2⁻²⁴, fp32's unit "
      "roundoff";
  double bottom = kLegendTop;
  const std::string names = legend(lines, bottom);
  const std::string plots = panels(report, groups, lines, bottom);
  const double height = bottom + kPad;
  std::string out =
      fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
                  R"(viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="title description">)"
                  "\n",
                  width(), height);
  out += fmt::format("<title id=\"title\">{}</title>\n", xml_text(title));
  std::string told = "Errors against the last size, on";
  for (const ops::Distribution& d : report.distributions) told += " " + d.name;
  out += fmt::format("<desc id=\"description\">{}</desc>\n", xml_text(told));
  out += style_of(fmt::format("{}{}{}", kLight, kLightColours, kLightBehind),
                  fmt::format("{}{}", kDark, kDarkColours));
  out += rectangle(0.5, 0.5, width() - 1, height - 1, "paper", " rx=\"8\"");
  out += text_at(kPad, 34, title, "ink", 18, "start", " font-weight=\"600\"");
  out += text_at(kPad, 53, below, "faint");
  return out + names + plots + "</svg>\n";
}

}  // namespace warpladder::lab
