#include "lab/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "bench_tables.hpp"
#include "exchange.hpp"
#include "lab/axes.hpp"
#include "lab/bench_journal.hpp"
#include "lab/bench_rows.hpp"
#include "lab/explain.hpp"
#include "lab/origin.hpp"
#include "lab/shapes.hpp"
#include "lab/shapes_picture.hpp"
#include "lab/shapes_view.hpp"
#include "shapes_tables.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::BenchReport;
using lab::BenchRow;
using lab::Statistics;

struct BenchFlags {
  std::vector<std::string> names, axes, matrices;
  std::optional<std::string> shape, variant, shapes, at_least, budget;
  std::string csv, md, svg;
  bool resume = false;
  DeviceFlags device;
  JsonFlag json;
};

// The printed tables, remarks and notes.
struct Pages {
  std::vector<Section> sections;
  std::vector<std::string> remarks;
  std::string notes;
};

std::string markdown(const Pages& pages) {
  std::string text;
  for (const Section& section : pages.sections) {
    if (!section.title.empty()) text += fmt::format("## {}\n\n", section.title);
    if (!section.remark.empty()) text += wrapped(section.remark, kFileWidth) + "\n\n";
    text += section.table.render({.style = Style::markdown}) + "\n";
    for (const std::string& line : section.lines_below) text += wrapped(line, kFileWidth) + "\n";
    if (!section.lines_below.empty()) text += "\n";
  }
  for (const std::string& remark : pages.remarks) text += wrapped(remark, kFileWidth) + "\n";
  return text + wrapped(pages.notes, kFileWidth) + "\n";
}

std::string csv(const std::vector<BenchRow>& rows) {
  std::string text =
      "op,variant,rung,rival,shape,verified,worst_error_over_bound,why_not_timed,global_sectors,"
      "shared_wavefronts,fmas,flops,bytes,samples,median_s,q1_s,q3_s,cold_samples,cold_median_s,"
      "cold_q1_s,cold_q3_s,invalid,preparation_samples,preparation_median_s,preparation_q1_s,"
      "preparation_q3_s,class\n";
  const auto times = [](const std::vector<double>& samples) -> std::string {
    if (samples.empty()) return ",0,,,";
    const Statistics s = lab::statistics(samples);
    return fmt::format(",{},{:.6g},{:.6g},{:.6g}", samples.size(), s.median, s.q1, s.q3);
  };
  for (const BenchRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{:.6g},{},", row.op, csv_field(row.variant), row.rung,
                        row.rival, shape_text(row), row.verified, row.worst_error_over_bound,
                        csv_field(row.skipped.empty() ? row.failure : row.skipped));
    if (row.counts) {
      text += fmt::format("{},{},{}", global_sectors(*row.counts), shared_wavefronts(*row.counts),
                          row.counts->fmas);
    } else {
      text += ",,";
    }
    text += fmt::format(",{:.17g},{:.17g}{}{},{}{},{}\n", row.flops, row.bytes,
                        times(row.samples_s), times(row.cold_samples_s), csv_field(row.invalid),
                        times(row.preparation_samples_s), csv_field(row.shape_class));
  }
  return text;
}

nlohmann::json as_json(const lab::Speedups& s) {
  // Unknown values are null.
  const auto known = [](double value) { return value > 0 ? nlohmann::json(value) : nullptr; };
  return {{"shapes", s.shapes},
          {"hot_mean", known(s.hot_mean)},
          {"hot_slowest", known(s.hot_least)},
          {"cold_mean", known(s.cold_mean)},
          {"cold_slowest", known(s.cold_least)},
          {"of_probe_least", known(s.of_probe_least)}};
}

nlohmann::json as_json(const lab::ContestantView& view) {
  nlohmann::json object{{"rung", view.rung},
                        {"not_compared", view.not_compared},
                        {"all", as_json(view.all)},
                        {"classes", nlohmann::json::array()},
                        {"slowest_shapes", nlohmann::json::array()}};
  for (const lab::ClassSpeedups& of_class : view.classes) {
    nlohmann::json speedups = as_json(of_class.speedups);
    speedups["class"] = of_class.name;
    object["classes"].push_back(std::move(speedups));
  }
  for (const std::size_t i : view.worst) {
    const lab::ShapeResult& result = view.shapes[i];
    object["slowest_shapes"].push_back({{"class", result.row->shape_class},
                                        {"variant", result.row->variant},
                                        {"shape", result.row->shape},
                                        {"hot", result.hot},
                                        {"cold", result.cold},
                                        {"rival", result.rival->rung}});
  }
  return object;
}

nlohmann::json as_json(const BenchReport& report, runtime::Target target, unsigned threads,
                       const std::vector<std::string>& left_out) {
  nlohmann::json object{{"verb", "bench"},
                        {"target", device::name(target)},
                        {"threads", threads},
                        {"libraries", report.libraries},
                        {"left_out", left_out},
                        {"baselines", nlohmann::json::array()},
                        {"rows", nlohmann::json::array()}};
  if (report.ceilings.fp32_flops_per_s > 0) {
    object["ceilings"] = {{"fp32_flops_per_s", report.ceilings.fp32_flops_per_s},
                          {"tensor_flops_per_s", report.ceilings.tensor_flops_per_s},
                          {"memory_bytes_per_s", report.ceilings.memory_bytes_per_s}};
  }
  for (const lab::Baseline& baseline : report.baselines) {
    object["baselines"].push_back({{"op", baseline.op},
                                   {"rung", baseline.rung},
                                   {"shape", baseline.shape},
                                   {"flops", baseline.flops},
                                   {"samples_s", baseline.samples_s},
                                   {"median_s", lab::statistics(baseline.samples_s).median}});
  }
  for (const BenchRow& row : report.rows) object["rows"].push_back(lab::as_json(row));
  return object;
}

// The named rungs of one operator, in order, each once.
std::vector<lab::BenchGroup> rungs_by_operator(const std::vector<std::string>& names) {
  std::vector<lab::BenchGroup> groups;
  for (const lab::Selected& selected : lab::select(names)) {
    auto group = std::ranges::find(groups, selected.op, &lab::BenchGroup::op);
    if (group == groups.end()) group = groups.insert(group, {selected.op, {}, {}, {}, {}});
    if (std::ranges::find(group->rungs, selected.rung) == group->rungs.end()) {
      group->rungs.push_back(selected.rung);
    }
  }
  return groups;
}

// --variant: one, several, or all of them.
std::vector<std::string> variants_of(const ops::Operator& op,
                                     const std::optional<std::string>& text) {
  if (!text) return op.bench_variants();
  return *text == "all" ? op.variants() : lab::parse_list(*text);
}

// A group for each line of the file.
std::vector<lab::BenchGroup> groups_of_file(const BenchFlags& flags) {
  require_alone("--shapes", {{"--shape", flags.shape.has_value()},
                             {"-a", !flags.axes.empty()},
                             {"--matrix", !flags.matrices.empty()},
                             {"--variant", flags.variant.has_value()}});
  const std::vector<lab::BenchGroup> of_operators = rungs_by_operator(flags.names);
  if (of_operators.size() > 1) {
    throw_bad_input(fmt::format("--shapes is for one operator at a time, not {} and {}",
                                of_operators[0].op->name(), of_operators[1].op->name()));
  }
  std::vector<lab::BenchGroup> groups;
  for (const lab::ShapeLine& line :
       lab::read_shapes(*of_operators[0].op, *flags.shapes, "--shapes")) {
    lab::BenchGroup& group = groups.emplace_back(of_operators[0]);
    group.shape = line.shape;
    group.variant = line.variant;
    group.shape_class = line.shape_class;
  }
  return groups;
}

std::vector<lab::BenchGroup> groups_of(const BenchFlags& flags) {
  if (flags.shapes) return groups_of_file(flags);
  if (!flags.matrices.empty()) {
    require_alone("--matrix", {{"--shape", flags.shape.has_value()},
                               {"-a", !flags.axes.empty()},
                               {"--variant", flags.variant.has_value()}});
  }
  std::vector<lab::BenchGroup> groups;
  const bool by_shape = flags.shape || !flags.axes.empty();
  for (lab::BenchGroup group : rungs_by_operator(flags.names)) {
    for (const std::string& matrix : flags.matrices) require_takes_matrix(*group.op, matrix);
    if (const ops::MatrixCapability* matrices = group.op->matrices(); matrices && !by_shape) {
      for (const std::string& matrix :
           flags.matrices.empty() ? matrices->bench_matrices() : flags.matrices) {
        group.variant = matrix;
        groups.push_back(group);
      }
      continue;
    }
    const std::vector<std::vector<std::int64_t>> shapes =
        by_shape ? shapes_asked_for(*group.op, flags.shape, flags.axes) : group.op->bench_shapes();
    for (const std::string& variant : variants_of(*group.op, flags.variant)) {
      group.op->require_variant(variant);
      for (const auto& shape : shapes) {
        group.shape = shape;
        group.variant = variant;
        groups.push_back(group);
      }
    }
  }
  return groups;
}

// The default for matrices that users add.
std::vector<std::string> left_out_of(const std::vector<lab::BenchGroup>& groups,
                                     const BenchFlags& flags) {
  const auto takes = [](const lab::BenchGroup& group) { return group.op->matrices() != nullptr; };
  const auto group = std::ranges::find_if(groups, takes);
  if (group == groups.end() || !flags.matrices.empty() || !group->shape.empty()) return {};
  return group->op->matrices()->left_out();
}

void print_pages(const Pages& pages) {
  for (const Section& section : pages.sections) {
    if (!section.title.empty()) print_line(section.title);
    if (!section.remark.empty()) print_line(section.remark + "\n");
    print(section.table);
    print_line("");
    for (const std::string& line : section.lines_below) print_line(line);
    if (!section.lines_below.empty()) print_line("");
  }
  for (const std::string& remark : pages.remarks) print_line(remark);
  print_line(pages.notes);
}

// The least speed-up that --at-least demands; 0: none.
double at_least_of(const BenchFlags& flags) {
  if (!flags.shapes && (flags.at_least || !flags.svg.empty())) {
    throw_bad_input(
        fmt::format("{} is for --shapes; give both", flags.at_least ? "--at-least" : "--svg"));
  }
  if (!flags.at_least) return 0;
  const float rounded = parse_float(*flags.at_least, "--at-least");
  if (!(std::isfinite(rounded) && rounded > 0)) {
    throw_bad_input(fmt::format("--at-least is {}, but must be a number above 0",
                                in_quotes(*flags.at_least, kShownBytes)));
  }
  return std::strtod(flags.at_least->c_str(), nullptr);  // not the float next to it
}

// A shape that is slower than demanded; null if there is none.
const lab::ShapeResult* too_slow(const std::vector<lab::ContestantView>& views, double at_least) {
  for (const lab::ContestantView& view : views) {
    if (view.shapes.empty()) continue;
    const lab::ShapeResult& slowest = view.shapes[view.worst.front()];
    if (!(slowest.slower() >= at_least)) return &slowest;
  }
  return nullptr;
}

std::string verdict_text(const lab::ShapeResult* slowest, double at_least) {
  if (!slowest) return fmt::format("\nNo shape is slower than {:.4g}× its rival.", at_least);
  return fmt::format("\nSlower than asked for: {} {} of {} runs at {:.3f}× {}, below {:.4g}×.",
                     shape_text(*slowest->row), slowest->row->variant, slowest->row->rung,
                     slowest->slower(), slowest->rival->rung, at_least);
}

Pages pages_of(const BenchReport& report, const std::vector<lab::ContestantView>& views,
               const lab::BenchRequest& request, unsigned threads) {
  if (!request.many_shapes) {
    return {sections_of(report, request.target), remarks_on(report.rows),
            notes_on(report, request.target, threads)};
  }
  return {sections_of(views, request.groups.front().op->name()), remarks_on_shapes(report, views),
          notes_on_shapes(report, request.target)};
}

void write_pictures(const std::vector<lab::ContestantView>& views, const std::string& op,
                    const std::string& path) {
  const auto view = std::ranges::find_if(views, [](const auto& v) { return !v.shapes.empty(); });
  if (view != views.end()) write_output(path, lab::svg(*view, op), "--svg");
}

// What is said of a run that was cut into several, or cut short.
std::string notes_on_parts(const BenchReport& report, const lab::BenchRequest& request) {
  std::string text;
  const std::size_t groups = request.groups.size();
  if (const std::size_t known = request.finished.size()) {
    text += fmt::format("\n- {} of {} problems were measured by an earlier run", known, groups);
  }
  if (report.not_reached.empty()) return text;
  const lab::BenchGroup& first = request.groups[report.not_reached.front()];
  text += fmt::format(
      "\n- --budget did not last for {} of {} problems, from {} {} {} on; --resume "
      "measures them",
      report.not_reached.size(), groups, first.op->name(), first.variant,
      fmt::join(first.shape, "x"));
  return text;
}

void add_parts_done(nlohmann::json& object, const BenchReport& report,
                    const lab::BenchRequest& request) {
  if (!request.finished.empty()) object["problems_of_earlier_runs"] = request.finished.size();
  for (const std::size_t g : report.not_reached) {
    const lab::BenchGroup& group = request.groups[g];
    object["not_reached"].push_back(
        {{"op", group.op->name()}, {"variant", group.variant}, {"shape", group.shape}});
  }
}

void bench(const BenchFlags& flags, Context& context) {
  const std::string journal_path = journal_path_of(flags.json, flags.resume, ".rows.jsonl");
  const double at_least = at_least_of(flags);
  lab::BenchRequest request;
  request.groups = groups_of(flags);
  request.target = flags.device.target();
  request.executor_threads = flags.device.threads;
  request.many_shapes = flags.shapes.has_value();
  request.rule = request.many_shapes ? lab::stopping_rule_for_many(request.target)
                                     : lab::stopping_rule_for(request.target);
  if (flags.budget) request.budget_s = parse_duration(*flags.budget, "--budget");
  std::optional<lab::BenchJournal> journal;
  if (!journal_path.empty()) {
    const nlohmann::json origin = lab::origin(context.argv);
    journal = flags.resume ? lab::BenchJournal::resume(journal_path, request, origin)
                           : lab::BenchJournal::begin(journal_path, request, origin);
  }
  const BenchReport report = lab::bench(request, progress_on_stderr(request.budget_s),
                                        [&](std::size_t group, const lab::FinishedGroup& finished) {
                                          if (journal) journal->add(group, finished);
                                        });
  end_progress();

  const unsigned threads = flags.device.threads ? flags.device.threads
                                                : std::max(1u, std::thread::hardware_concurrency());
  const std::vector<std::string> left_out = left_out_of(request.groups, flags);
  std::vector<lab::ContestantView> views;
  if (request.many_shapes) views = lab::views_of(report);
  Pages pages = pages_of(report, views, request, threads);
  for (const std::string& sentence : left_out) pages.notes += "\n- left out: " + sentence;
  pages.notes += notes_on_parts(report, request);
  const lab::ShapeResult* const slow = at_least > 0 ? too_slow(views, at_least) : nullptr;
  if (at_least > 0) pages.notes += verdict_text(slow, at_least);
  print_pages(pages);
  if (!flags.md.empty()) write_output(flags.md, markdown(pages), "--md");
  if (!flags.csv.empty()) write_output(flags.csv, csv(report.rows), "--csv");
  if (!flags.svg.empty()) write_pictures(views, request.groups.front().op->name(), flags.svg);
  if (flags.json.asked()) {
    nlohmann::json object = as_json(report, request.target, threads, left_out);
    for (const lab::ContestantView& view : views) object["speedups"].push_back(as_json(view));
    if (at_least > 0) object["at_least"] = at_least;
    add_parts_done(object, report, request);
    flags.json.write(context, std::move(object));
    if (journal && report.not_reached.empty()) journal->remove();
  }
  const auto cannot_run = [](const BenchRow& row) { return row.rival || !row.skipped.empty(); };
  if (std::ranges::all_of(report.rows, cannot_run)) {
    throw_resource(fmt::format("nothing was timed: no selected rung can run on the {}",
                               device::name(request.target)));
  }
  const auto is_wrong = [](const BenchRow& row) {
    return !row.failure.empty() || !row.invalid.empty();
  };
  if (slow || std::ranges::any_of(report.rows, is_wrong)) {
    context.exit_code = static_cast<int>(ErrorCode::check_failed);
  }
}

// The details that may follow a variant, by operator.
std::string details_footer() {
  std::string text;
  for (const auto& op : ops::all_operators()) {
    if (op->details().empty()) continue;
    text += fmt::format("Behind a variant of {}, in quotes or in a file of shapes: {}.\n",
                        op->name(), op->details());
  }
  return text;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("bench", "Verify rungs, count what they ask for, and time them");
  const auto flags = std::make_shared<BenchFlags>();
  verb->add_option("OP[/RUNG]", flags->names, "Operators or single rungs")
      ->type_name("")
      ->required();
  add_sizes(*verb, flags->shape, flags->axes);
  verb->add_option("--variant", flags->variant,
                   "Of the operator, as list shows them: one, several with commas, or all")
      ->type_name("NAMES");
  verb->add_option("--shapes", flags->shapes,
                   "Many problems, a line of FILE each: a class, a variant, a shape, perhaps "
                   "details; prints speed-ups over the fastest rival by class")
      ->type_name("FILE");
  verb->add_option("--at-least", flags->at_least,
                   "Exit with 1 if a shape of --shapes is slower than this many times its rival")
      ->type_name("X");
  add_output_file(*verb, "--svg", flags->svg,
                  "Draw the first contestant's speed-ups against operations a byte");
  add_parts(*verb, flags->budget, flags->resume);
  verb->add_option("--matrix", flags->matrices, matrix_help() + "; may be repeated")
      ->type_name("FILE|SPEC")
      ->allow_extra_args(false);
  add_output_file(*verb, "--csv", flags->csv, "Write a line per row as comma-separated values");
  add_output_file(*verb, "--md", flags->md, "Write the tables as Markdown");
  flags->device.add_to(*verb);
  flags->json.add_to(*verb);
  verb->footer(
      details_footer() +
      "With --json FILE each problem's rows are written to FILE.rows.jsonl as soon as it is done.\n"
      "The file goes when FILE holds them all. Without --resume a run begins it afresh.\n" +
      kMatricesFooter);
  verb->callback([flags, &context] { bench(*flags, context); });
}

}  // namespace warpladder::app
