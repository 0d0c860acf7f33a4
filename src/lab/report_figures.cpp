#include "lab/report_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string_view>

#include "lab/plot.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

constexpr double kWidth = 900;
constexpr std::size_t kMostProblems = 16, kLeastRungs = 3;

// What a file may hold, and no axis.
bool is_drawable(double value) { return value > 1e-30 && value < 1e30; }  // NaN is not

// ---- climbs

std::uint64_t sectors_of(const BenchRow& row) {
  return row.counts ? row.counts->global_load_sectors + row.counts->global_store_sectors : 0;
}

double bar_of(const BenchRow& row, bool on_gpu) {
  return on_gpu ? rate_of(row) : static_cast<double>(sectors_of(row));
}

std::string problem_text(const BenchRow& row) {
  return row.shape.empty() ? row.variant : shape_text(row.shape);
}

Figure climb_of(std::span<const BenchRow> group, const ReportedBench& bench) {
  constexpr double kLeft = 210, kRight = 240, kPitch = 26, kTop = 14;
  std::vector<const BenchRow*> bars;
  double most = 0;
  for (const bool rival : {false, true}) {
    for (const BenchRow& row : group) {
      if (row.rival != rival || !(bar_of(row, bench.on_gpu) > 0)) continue;
      bars.push_back(&row);
      most = std::max(most, bar_of(row, bench.on_gpu));
    }
  }
  // In the ladder's order, the rivals behind them as bench has them.
  std::ranges::stable_sort(bars, {}, [](const BenchRow* row) {
    return std::pair(row->rival, row->rival ? std::string_view() : std::string_view(row->rung));
  });
  const double height = kTop + kPitch * static_cast<double>(bars.size()) + 8;
  std::string out = opened(kWidth, height, "climb");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const BenchRow& row = *bars[i];
    const double value = bar_of(row, bench.on_gpu), y = kTop + kPitch * static_cast<double>(i);
    const double length = (kWidth - kLeft - kRight) * value / most;
    std::string told = bench.on_gpu ? rate_text(row) : fmt::format("{:.4g} sectors", value);
    const double speedup = speedup_of(row, bench.report);
    if (row.less_accurate) told += ", fewer bits";
    if (bench.on_gpu && !row.rival && speedup > 0) told += fmt::format(", {:.2f}× rival", speedup);
    out += text_at(kLeft - 10, y + 13, row.rung, row.rival ? "faint" : "ink", 13, "end");
    out += rectangle(kLeft, y, std::max(1.0, length), kPitch - 9, row.rival ? "c1" : "c0");
    out += text_at(kLeft + length + 8, y + 13, told, row.rival ? "faint" : "ink", 13);
  }
  const BenchRow& first = group.front();
  std::string caption = fmt::format("{}: {} {} at {}. ", label_of(bench.recording), first.op,
                                    first.variant, problem_text(first));
  if (!bench.on_gpu) {
    caption += "Bars are the 32-byte sectors that the executor counted: fewer is better.";
  } else {
    caption += fmt::format("{}; rivals in the second colour.",
                           first.measure == ops::Measure::flops ? "Hot caches" : "Cold caches");
  }
  return {out + "</svg>", caption};
}

std::size_t rungs_in(std::span<const BenchRow> group, bool on_gpu) {
  return static_cast<std::size_t>(std::ranges::count_if(
      group, [&](const BenchRow& row) { return !row.rival && bar_of(row, on_gpu) > 0; }));
}

void add_climbs(const ReportedBench& bench, std::vector<Choice>& choices) {
  using Group = std::span<const BenchRow>;
  std::map<std::pair<std::string, std::string>, std::vector<Group>> climbs;
  const std::vector<BenchRow>& rows = bench.report.rows;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end =
        std::find_if(begin, rows.end(), [&](const BenchRow& r) { return r.group != begin->group; });
    const bool is_matrix = begin->shape.empty();
    if (rungs_in(Group(begin, end), bench.on_gpu) >= kLeastRungs) {
      climbs[{begin->op, is_matrix ? "" : begin->variant}].emplace_back(begin, end);
    }
    begin = end;
  }
  for (auto& [key, groups] : climbs) {
    const auto size = [](const Group& group) { return std::pair(group[0].flops, group[0].bytes); };
    std::ranges::stable_sort(groups,
                             [&](const Group& a, const Group& b) { return size(a) > size(b); });
    Choice& choice = choices.emplace_back();
    choice.title = fmt::format("{}: {} {}", label_of(bench.recording), key.first, key.second);
    for (const Group& group : groups) {
      if (choice.figures.size() == kMostProblems) break;
      choice.names.push_back(problem_text(group.front()));
      choice.figures.push_back(climb_of(group, bench));
    }
    if (groups.size() > kMostProblems) {
      choice.title += fmt::format(" (the largest {} of {} problems; the rows hold the rest)",
                                  kMostProblems, groups.size());
    }
  }
}

// ---- the roofline

struct RooflinePoint {
  const BenchRow* row;
  std::size_t recording;
};

struct Chip {
  device::Ceilings ceilings;
  std::vector<RooflinePoint> points;
};

double roofline_time(const BenchRow& row) {
  return statistics(row.cold_samples_s.empty() ? row.samples_s : row.cold_samples_s).median;
}

// One operator: a colour for each of its fastest rungs; several: for each operator. The last colour
// is for the rest.
std::vector<std::string> names_of(const Chip& chip, bool& by_rung) {
  std::map<std::string, double> ops, rungs;  // the highest rate of each
  for (const RooflinePoint& point : chip.points) {
    const double rate = point.row->flops / roofline_time(*point.row);
    ops[point.row->op] = std::max(ops[point.row->op], rate);
    if (!point.row->rival) rungs[point.row->rung] = std::max(rungs[point.row->rung], rate);
  }
  by_rung = ops.size() == 1;
  const auto& rates = by_rung ? rungs : ops;
  std::vector<std::string> names;
  for (const auto& [name, rate] : rates) names.push_back(name);
  std::ranges::stable_sort(names, std::greater(), [&](const auto& name) { return rates.at(name); });
  if (names.size() > kColours) {
    names.resize(kColours - 1);
    names.push_back("others");
  }
  return names;
}

std::string tflops_text(double flops) {
  const double value = flops * 1e-12;
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// The ceilings and their names, above the dots.
std::string roofs_of(const device::Ceilings& most, const LogAxis& x, const LogAxis& y) {
  const double top = std::max(most.fp32_flops_per_s, most.tensor_flops_per_s);
  std::string out;
  const auto ceiling = [&](double flops, const char* what) {
    if (!(flops > 0)) return;
    const double ridge = std::clamp(flops / most.memory_bytes_per_s, x.low, x.high);
    out += line_from(x.at(ridge), y.at(flops), x.end, y.at(flops), "roof");
    out += text_at(x.end - 4, y.at(flops) - 7,
                   fmt::format("{}: {} TFLOP/s", what, tflops_text(flops)), "ink halo", 12, "end");
  };
  const double start = std::max(x.low, y.low / most.memory_bytes_per_s),
               ridge = top / most.memory_bytes_per_s;
  const double x1 = x.at(start), y1 = y.at(start * most.memory_bytes_per_s), x2 = x.at(ridge),
               y2 = y.at(top);
  out += line_from(x1, y1, x2, y2, "roof");
  ceiling(most.fp32_flops_per_s, "FP32");
  ceiling(most.tensor_flops_per_s, "FP16 tensor cores");
  constexpr double kPi = 3.14159265358979, kAlong = 0.1;
  const double at_x = x1 + kAlong * (x2 - x1), at_y = y1 + kAlong * (y2 - y1) - 8;
  return out + text_at(at_x, at_y,
                       fmt::format("memory: {:.0f} GB/s", most.memory_bytes_per_s * 1e-9),
                       "ink halo", 12, "start",
                       fmt::format(" transform=\"rotate({:.2f} {:.2f} {:.2f})\"",
                                   std::atan2(y2 - y1, x2 - x1) * 180 / kPi, at_x, at_y));
}

Figure roofline_of(const std::string& name, const Chip& chip) {
  const device::Ceilings& most = chip.ceilings;
  const double top = std::max(most.fp32_flops_per_s, most.tensor_flops_per_s);
  LogAxis x{.begin = 80, .end = kWidth - 30}, y{.begin = 420, .end = 40};
  for (const RooflinePoint& point : chip.points) {
    x.include(point.row->flops / point.row->bytes);
    y.include(point.row->flops / roofline_time(*point.row));
  }
  x.include(top / most.memory_bytes_per_s);
  y.include(top);
  x.close();
  y.close();
  bool by_rung = false;
  const std::vector<std::string> names = names_of(chip, by_rung);
  const double below = 484, rows = std::ceil(static_cast<double>(names.size()) / 4);
  std::string out = opened(kWidth, below + 20 * rows, "roofline of " + name) +
                    grid(x, y, "operations for each byte that must move", "TFLOP/s", 1e-12);
  for (const RooflinePoint& point : chip.points) {
    const BenchRow& row = *point.row;
    const auto found = std::ranges::find(names, by_rung ? row.rung : row.op);
    const std::size_t last = names.empty() ? 0 : names.size() - 1;
    const auto colour = std::min(static_cast<std::size_t>(found - names.begin()), last);
    const double rate = row.flops / roofline_time(row);
    const std::string told =
        fmt::format("{}: {}/{} {} {}, {:.3g} TFLOP/s", label_of(point.recording), row.op, row.rung,
                    row.variant, shape_text(row.shape), rate * 1e-12);
    out += with_title(told, dot(x.at(row.flops / row.bytes), y.at(rate), colour, !row.rival));
  }
  out += roofs_of(chip.ceilings, x, y);
  out += legend(names, below);
  return {out + "</svg>",
          name +
              ". Filled: rungs; outlines: rivals. Times are cold where they were taken; bytes are "
              "the fewest that the problem moves."};
}

// ---- accuracy

struct ErrorLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // the last size, the error
};

Figure errors_figure(const std::vector<ErrorLine>& lines, const std::string& caption) {
  LogAxis x{.begin = 80, .end = kWidth - 30, .base = 2}, y{.begin = 340, .end = 20};
  std::vector<std::string> names;
  for (const ErrorLine& line : lines) {
    names.push_back(line.name);
    for (const auto& [size, error] : line.points) {
      x.include(size);
      y.include(error);
    }
  }
  x.close();
  y.close();
  const double below = 404, rows = std::ceil(static_cast<double>(names.size()) / 4);
  std::string out = opened(kWidth, below + 20 * rows, "error against the last size") +
                    grid(x, y, "the last size (k of a product)", "max |C−R| / (|A||B|)", 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string path;
    for (const auto& [size, error] : lines[i].points) {
      path += fmt::format("{:.2f},{:.2f} ", x.at(size), y.at(error));
      out += with_title(fmt::format("{}: {:.3g} at {}", lines[i].name, error, size),
                        dot(x.at(size), y.at(error), i, i < kColours));
    }
    out += fmt::format("<polyline points=\"{}\" class=\"c{} line{}\"/>\n", path, i % kColours,
                       i < kColours ? "" : " dashed");
  }
  out += legend(names, below);
  return {out + "</svg>", caption};
}

// Of one distribution, the largest error at each last size.
std::vector<ErrorLine> error_lines(const Recording& recording, const std::string& distribution) {
  std::vector<ErrorLine> lines;
  for (const RecordedAccuracy& row : recording.accuracy) {
    std::map<double, double> largest;
    for (const RecordedErrors& point : row.points) {
      if (point.distribution != distribution || point.shape.empty()) continue;
      const double size = static_cast<double>(point.shape.back()), error = point.componentwise;
      if (!is_drawable(size) || !is_drawable(error)) continue;
      double& most = largest[size];
      most = std::max(most, error);
    }
    if (!largest.empty()) lines.push_back({row.rung, {largest.begin(), largest.end()}});
  }
  return lines;
}

}  // namespace

std::vector<Choice> climbs_of(const Report& report) {
  std::vector<Choice> choices;
  for (const ReportedBench& bench : report.benches) add_climbs(bench, choices);
  return choices;
}

std::vector<Figure> rooflines_of(const Report& report) {
  std::map<std::string, Chip> chips;
  for (const ReportedBench& bench : report.benches) {
    const device::Ceilings& most = bench.report.ceilings;
    if (!is_drawable(most.memory_bytes_per_s) || !is_drawable(most.fp32_flops_per_s)) continue;
    Chip& chip = chips[bench.chip];
    chip.ceilings.fp32_flops_per_s = most.fp32_flops_per_s;
    chip.ceilings.memory_bytes_per_s = most.memory_bytes_per_s;
    if (is_drawable(most.tensor_flops_per_s)) {
      chip.ceilings.tensor_flops_per_s = most.tensor_flops_per_s;
    }
    for (const BenchRow& row : bench.report.rows) {
      const bool has_place = !row.probe && !row.samples_s.empty() &&
                             is_drawable(row.flops / row.bytes) &&
                             is_drawable(row.flops / roofline_time(row));
      if (has_place) chip.points.push_back({&row, bench.recording});
    }
  }
  std::vector<Figure> figures;
  for (const auto& [name, chip] : chips) {
    if (!chip.points.empty()) figures.push_back(roofline_of(name, chip));
  }
  return figures;
}

std::vector<Choice> accuracy_of(const Report& report) {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    const Recording& recording = report.recordings[i];
    std::vector<std::string> distributions;
    for (const RecordedAccuracy& row : recording.accuracy) {
      for (const RecordedErrors& point : row.points) {
        if (std::ranges::find(distributions, point.distribution) == distributions.end()) {
          distributions.push_back(point.distribution);
        }
      }
    }
    Choice choice{fmt::format("{}: {}", label_of(i), recording.text({"op"})), {}, {}};
    for (const std::string& distribution : distributions) {
      const std::vector<ErrorLine> lines = error_lines(recording, distribution);
      if (lines.empty()) continue;
      choice.names.push_back(distribution);
      choice.figures.push_back(
          errors_figure(lines, fmt::format("{}, {} operands: the largest error at each size.",
                                           label_of(i), distribution)));
    }
    if (!choice.figures.empty()) choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace warpladder::lab
