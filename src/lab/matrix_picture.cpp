#include "lab/matrix_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text_table.hpp"
#include "base/with_commas.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

constexpr double kShadeStep = 4;

// The system's font is unknown, so widths assume a wide one.
constexpr double kTitleCharacter = 13, kSmallCharacter = 7.5;

constexpr std::string_view kLight = R"( .axis { stroke: #59636e; fill: none; }
.rows { fill: #7fa6d6; } .nonzeros { fill: #b3541e; }
.s1 { fill: #cfe0f5; } .s2 { fill: #9dc0ea; } .s3 { fill: #6a9bd8; } .s4 { fill: #3a70b8; }
.s5 { fill: #16407a; }
)";
constexpr std::string_view kDark = R"( .axis { stroke: #9198a1; }
.rows { fill: #4f83c2; } .nonzeros { fill: #e08b52; }
.s1 { fill: #1b3658; } .s2 { fill: #27548a; } .s3 { fill: #3a76bd; } .s4 { fill: #6aa5ea; }
.s5 { fill: #c2deff; }
)";

constexpr double kPad = 20, kTop = 118;
constexpr double kCellsLeft = 56, kCellsSide = 400, kThinnest = 16;
constexpr double kBarsLeft = 620, kBarsWidth = 230, kRow = 30, kBar = 11;
constexpr double kWidth = 940;

// The last `most` characters of a text, because a path's end matters most.
std::string tail(const std::string& text, std::size_t most) {
  if (display_width(text) <= most) return text;
  std::size_t at = text.size();
  for (std::size_t left = most - 1; left > 0; --left) {
    do {
      --at;
    } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return "…" + text.substr(at);
}

struct Size {
  double width, height;
};

// Of the cells on paper: the longer side is kCellsSide.
Size size_of(const spmv::DensityGrid& grid) {
  const auto rows = static_cast<double>(grid.matrix_rows);
  const auto columns = static_cast<double>(grid.matrix_columns);
  const double scale = kCellsSide / std::max({rows, columns, 1.0});
  return {std::max(kThinnest, columns * scale), std::max(kThinnest, rows * scale)};
}

// One path a shade, in units of cells; neighbours in a row are one stroke.
std::string cells_of(const spmv::DensityGrid& grid) {
  const Shading shading(grid);
  std::string paths[kShades + 1];
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t first = 0, end = 0; first < grid.columns; first = end) {
      const int shade = shading.at(row, first);
      for (end = first + 1; end < grid.columns && shading.at(row, end) == shade;) ++end;
      if (shade > 0)
        paths[shade] += fmt::format("M{} {}h{}v1h-{}z", first, row, end - first, end - first);
    }
  }
  const Size size = size_of(grid);
  std::string out = fmt::format(
      R"g(<g transform="translate({:.2f} {:.2f}) scale({:.6f} {:.6f})" shape-rendering="crispEdges">)g"
      "\n",
      kCellsLeft, kTop, size.width / static_cast<double>(std::max<std::int64_t>(grid.columns, 1)),
      size.height / static_cast<double>(std::max<std::int64_t>(grid.rows, 1)));
  for (int shade = 1; shade <= kShades; ++shade) {
    if (!paths[shade].empty())
      out += fmt::format("<path class=\"s{}\" d=\"{}\"/>\n", shade, paths[shade]);
  }
  return out + "</g>\n";
}

// Names and ends of both axes, and what the shades mean. Returns where it ends in `bottom`.
std::string cells_panel(const spmv::DensityGrid& grid, double& bottom) {
  const Size size = size_of(grid);
  const double right = kCellsLeft + size.width, below = kTop + size.height;
  std::string out = text_at(kCellsLeft, kTop - 32, "Where the nonzeros lie", "ink", 13, "start",
                            " font-weight=\"600\"");
  out += cells_of(grid);
  out += rectangle(kCellsLeft, kTop, size.width, size.height, "axis");
  const auto last = [](std::int64_t count) {
    return with_commas(static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0)));
  };
  const auto rotated = [](double x, double y) {
    return fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", x, y);
  };
  const std::string last_row = last(grid.matrix_rows), last_column = last(grid.matrix_columns);
  const bool is_wide = size.width > 200, is_high = size.height > 200;
  // On a thin side there is room for the axis' name alone.
  const double x = kCellsLeft - 8, y = below + 16;
  if (is_high) {
    out += text_at(x, kTop, "0", "faint", 11, "end", rotated(x, kTop));
    out += text_at(x, below, last_row, "faint", 11, "start", rotated(x, below));
  }
  const double middle = kTop + size.height / 2;
  out += text_at(x, is_high ? middle : middle + 4, "row", "faint", 11, is_high ? "middle" : "end",
                 is_high ? rotated(x, middle) : "");
  if (is_wide) {
    out += text_at(kCellsLeft, y, "0", "faint", 11);
    out += text_at(right, y, last_column, "faint", 11, "end");
  }
  out += text_at(is_wide ? kCellsLeft + size.width / 2 : kCellsLeft, y, "column", "faint", 11,
                 is_wide ? "middle" : "start");

  double legend = y + 18;
  for (int shade = kShades; shade > 0; --shade) {
    out +=
        rectangle(kCellsLeft + (kShades - shade) * 16, legend, 14, 10, fmt::format("s{}", shade));
  }
  const double x_text = kCellsLeft + kShades * 16 + 6;
  out += text_at(
      x_text, legend + 9.5,
      fmt::format("share of places that hold a nonzero: up to {:.3g},", Shading(grid).densest()),
      "faint", 11);
  out += text_at(x_text, legend + 24, "each next shade up to a quarter of the one before", "faint",
                 11);
  bottom = legend + 28;
  return out;
}

std::string bars_panel(const spmv::RowStatistics& s, double& bottom) {
  const double below = kTop + kRow * static_cast<double>(s.histogram.size());
  std::string out = text_at(kBarsLeft, kTop - 32, "How long the rows are", "ink", 13, "start",
                            " font-weight=\"600\"");
  out += text_at(kBarsLeft - 10, kTop - 12, "entries in a row", "faint", 11, "end");
  out += rectangle(kBarsLeft, kTop - 21, 10, 10, "rows");
  out += text_at(kBarsLeft + 15, kTop - 12, "of all rows", "faint", 11);
  out += rectangle(kBarsLeft + 100, kTop - 21, 10, 10, "nonzeros");
  out += text_at(kBarsLeft + 115, kTop - 12, "of all nonzeros", "faint", 11);
  for (int percent = 0; percent <= 100; percent += 25) {
    const double x = kBarsLeft + kBarsWidth * percent / 100;
    out += line_from(x, kTop, x, below, percent == 0 ? "axis" : "grid");
    out += text_at(x, below + 16, fmt::format("{} %", percent), "faint", 11, "middle");
  }
  double y = kTop;
  for (const spmv::LengthBin& bin : s.histogram) {
    out += text_at(kBarsLeft - 10, y + kRow / 2 + 4, label(bin), "ink", 12, "end");
    const auto bar = [&](std::int64_t part, std::int64_t whole, double top,
                         std::string_view style) {
      if (part == 0) return;
      const double share = static_cast<double>(part) / static_cast<double>(whole);
      const double width = std::max(0.5, share * kBarsWidth);
      out += rectangle(kBarsLeft, top, width, kBar, style);
      out += text_at(kBarsLeft + width + 5, top + 9.5, share_text(part, whole), "ink", 11);
    };
    bar(bin.rows, s.rows, y + 3, "rows");
    bar(bin.nnz, s.nnz, y + 4 + kBar, "nonzeros");
    y += kRow;
  }
  bottom = below + 24;
  return out;
}

}  // namespace

Shading::Shading(const spmv::DensityGrid& grid) : grid_(grid) {
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      densest_ = std::max(densest_, grid.density_at(row, column));
    }
  }
}

int Shading::at(std::int64_t row, std::int64_t column) const {
  if (grid_.nnz_at(row, column) == 0) return 0;
  int shade = kShades;
  const double density = grid_.density_at(row, column);
  for (double least = densest_ / kShadeStep; shade > 1 && density <= least; least /= kShadeStep) {
    --shade;
  }
  return shade;
}

std::string label(const spmv::LengthBin& bin) {
  std::string shortest = with_commas(static_cast<std::uint64_t>(bin.shortest));
  if (bin.shortest == bin.longest) return shortest;
  return fmt::format("{}–{}", shortest, with_commas(static_cast<std::uint64_t>(bin.longest)));
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  if (part == whole) return "100 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.1) return "< 0.1 %";
  return percent > 99.9 ? "> 99.9 %" : fmt::format("{:.1f} %", percent);
}

std::string svg(const Inspection& inspection) {
  const spmv::RowStatistics& s = inspection.rows;
  const auto number = [](std::int64_t n) { return with_commas(static_cast<std::uint64_t>(n)); };
  const std::string title =
      tail(inspection.name, static_cast<std::size_t>((kWidth - 2 * kPad) / kTitleCharacter));
  const std::string sizes = fmt::format(
      "{} × {} · {} nonzeros · rows of {} to {}, {:.4g} on average · {} empty · bandwidth {}",
      number(s.rows), number(s.columns), number(s.nnz), number(s.shortest), number(s.longest),
      s.mean, number(s.empty_rows), number(inspection.bandwidth));
  double cells_bottom = 0, bars_bottom = 0;
  const std::string cells = cells_panel(inspection.fine, cells_bottom);
  const std::string bars = bars_panel(s, bars_bottom);
  const double width =
      std::max(kWidth, 2 * kPad + kSmallCharacter * static_cast<double>(display_width(sizes)));
  const double height = std::max(cells_bottom, bars_bottom) + kPad;
  std::string out =
      fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
                  R"(viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="title description">)"
                  "\n",
                  width, height);
  out += fmt::format("<title id=\"title\">{}</title>\n", xml_text(inspection.name));
  out += fmt::format("<desc id=\"description\">{}</desc>\n", xml_text(sizes));
  out += style_of(kLight, kDark);
  out += rectangle(0.5, 0.5, width - 1, height - 1, "paper", " rx=\"8\"");
  out += text_at(kPad, 34, title, "ink", 18, "start", " font-weight=\"600\"");
  out += text_at(kPad, 53, sizes, "faint");
  return out + cells + bars + "</svg>\n";
}

}  // namespace warpladder::lab
