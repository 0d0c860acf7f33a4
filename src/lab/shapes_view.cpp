#include "lab/shapes_view.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace warpladder::lab {
namespace {

constexpr std::size_t kWorst = 10;

bool is_timed(const BenchRow& row) { return !row.samples_s.empty() && row.invalid.empty(); }

double median_of(const std::vector<double>& samples) {
  return samples.empty() ? 0 : statistics(samples).median;
}

struct Fastest {
  const BenchRow* row = nullptr;  // with hot caches
  double hot = 0, cold = 0;
};
Fastest fastest_of(std::span<const BenchRow> group, bool probe) {
  Fastest fastest;
  for (const BenchRow& row : group) {
    if (!row.rival || row.probe != probe || row.less_accurate || !is_timed(row)) continue;
    const double hot = median_of(row.samples_s), cold = median_of(row.cold_samples_s);
    if (!fastest.row || hot < fastest.hot) {
      fastest.row = &row;
      fastest.hot = hot;
    }
    if (cold > 0 && (fastest.cold == 0 || cold < fastest.cold)) fastest.cold = cold;
  }
  return fastest;
}

ShapeResult result_of(const BenchRow& row, const Fastest& rival, const Fastest& probe,
                      double cache_bytes) {
  const double hot = median_of(row.samples_s), cold = median_of(row.cold_samples_s);
  ShapeResult result{.row = &row, .rival = rival.row, .hot = rival.hot / hot};
  if (cold > 0) result.cold = rival.cold / cold;
  if (probe.row) {
    result.of_probe = probe.hot / hot;
    if (cold > 0) result.of_probe = std::min(result.of_probe, probe.cold / cold);
  }
  result.beyond_cache = row.bytes > cache_bytes;
  return result;
}

template <class Results>
Speedups speedups_of(const Results& results) {
  Speedups s;
  double hot_logs = 0, cold_logs = 0;
  const auto lower = [](double& least, double value) {
    if (value > 0 && (least == 0 || value < least)) least = value;
  };
  for (const ShapeResult& result : results) {
    ++s.shapes;
    hot_logs += std::log(result.hot);
    cold_logs += std::log(result.cold);  // -inf where none is known
    lower(s.hot_least, result.hot);
    lower(s.cold_least, result.cold);
    if (result.beyond_cache) lower(s.of_probe_least, result.of_probe);
  }
  if (s.shapes == 0) return s;
  s.hot_mean = std::exp(hot_logs / static_cast<double>(s.shapes));
  s.cold_mean = std::exp(cold_logs / static_cast<double>(s.shapes));
  return s;
}

void summarise(ContestantView& view) {
  std::vector<std::string> names;
  for (const ShapeResult& result : view.shapes) {
    const std::string& name = result.row->shape_class;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    std::vector<ShapeResult> of_class;
    std::ranges::copy_if(view.shapes, std::back_inserter(of_class),
                         [&](const ShapeResult& r) { return r.row->shape_class == name; });
    view.classes.push_back({name, speedups_of(of_class)});
  }
  view.all = speedups_of(view.shapes);
  view.worst.resize(view.shapes.size());
  std::iota(view.worst.begin(), view.worst.end(), std::size_t{0});
  std::ranges::stable_sort(view.worst, {}, [&](std::size_t i) { return view.shapes[i].slower(); });
  view.worst.resize(std::min(view.worst.size(), kWorst));
}

}  // namespace

std::vector<ContestantView> views_of(const BenchReport& report) {
  std::vector<ContestantView> views;
  const std::vector<BenchRow>& rows = report.rows;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].group == rows[first].group) ++last;
    const std::span<const BenchRow> group(rows.begin() + static_cast<std::ptrdiff_t>(first),
                                          last - first);
    const Fastest rival = fastest_of(group, false), probe = fastest_of(group, true);
    for (const BenchRow& row : group) {
      if (row.rival) continue;
      auto view = std::ranges::find(views, row.rung, &ContestantView::rung);
      if (view == views.end()) {
        view = views.insert(view, ContestantView{});
        view->rung = row.rung;
      }
      if (is_timed(row) && rival.row) {
        view->shapes.push_back(result_of(row, rival, probe, report.cache_bytes));
      } else {
        ++view->not_compared;
      }
    }
    first = last;
  }
  for (ContestantView& view : views) summarise(view);
  return views;
}

}  // namespace warpladder::lab
