#include "lab/inspect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/with_commas.hpp"
#include "lab/matrix_picture.hpp"
#include "ops/spmv/lab/generators.hpp"
#include "ops/spmv/lab/matrix_source.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::Inspection;

constexpr double kBarCharacters = 12;

struct InspectFlags {
  std::string matrix, svg;
  JsonFlag json;
};

// What pictures are made of: blocks on a terminal, ASCII in a file.
struct Glyphs {
  std::string_view shades[lab::kShades + 1];
  std::string_view eighths[9];  // of a character, as the end of a bar
  std::string_view across, down, corners[4];
};

constexpr Glyphs kBlocks{{" ", "·", "░", "▒", "▓", "█"},
                         {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
                         "─",
                         "│",
                         {"┌", "┐", "└", "┘"}};
constexpr Glyphs kAscii{{" ", ".", ":", "+", "*", "#"},
                        {"", "", "", "", "#", "#", "#", "#", "#"},
                        "-",
                        "|",
                        {"+", "+", "+", "+"}};

bool is_boxed() { return table_format_for(STDOUT_FILENO).style == Style::boxed; }

std::string number(std::int64_t value) { return with_commas(static_cast<std::uint64_t>(value)); }

std::string repeat(std::string_view text, std::int64_t count) {
  std::string out;
  for (; count > 0; --count) out += text;
  return out;
}

std::string bar(std::int64_t part, std::int64_t whole, const Glyphs& glyphs) {
  if (part == 0) return "";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  const auto eighths = std::max<std::int64_t>(1, std::llround(8 * kBarCharacters * share));
  return repeat(glyphs.eighths[8], eighths / 8) + std::string(glyphs.eighths[eighths % 8]);
}

void print_numbers(const Inspection& inspection, std::int64_t duplicates) {
  const spmv::RowStatistics& s = inspection.rows;
  std::string line =
      fmt::format("{}: {}, {}, {}", in_quotes(inspection.name), count_of(s.rows, "row"),
                  count_of(s.columns, "column"), count_of(s.nnz, "nonzero"));
  if (inspection.stored_zeros > 0) {
    line += fmt::format(", of which {} stored with the value 0", number(inspection.stored_zeros));
  }
  if (duplicates > 0) {
    line += fmt::format("; {} of the file added to an earlier one of the same place",
                        duplicates == 1 ? "1 entry" : number(duplicates) + " entries");
  }
  print_line(line);
  print_line("");
  TextTable table(
      {{"entries in a row"}, {"", Align::right}, {"of the matrix"}, {"", Align::right}});
  table.add_row(
      {"shortest", number(s.shortest), "empty rows",
       fmt::format("{} ({})", number(s.empty_rows), lab::share_text(s.empty_rows, s.rows))});
  table.add_row({"median", fmt::format("{}", s.median), "bandwidth", number(inspection.bandwidth)});
  table.add_row({"mean", fmt::format("{:.4g}", s.mean), "standard deviation of the rows",
                 fmt::format("{:.4g}", s.standard_deviation)});
  table.add_row({"90 % of rows have at most", number(s.percentile_90), "coefficient of variation",
                 fmt::format("{:.3g}", s.coefficient_of_variation)});
  table.add_row({"99 % of rows have at most", number(s.percentile_99), "", ""});
  table.add_row({"longest", number(s.longest), "", ""});
  print(table);
  print_line("");
}

void print_lengths(const spmv::RowStatistics& s, const Glyphs& glyphs) {
  TextTable table({{"entries in a row", Align::right},
                   {"rows", Align::right},
                   {"of all", Align::right},
                   {""},
                   {"nonzeros", Align::right},
                   {"of all", Align::right},
                   {""}});
  for (const spmv::LengthBin& bin : s.histogram) {
    table.add_row({lab::label(bin), number(bin.rows), lab::share_text(bin.rows, s.rows),
                   bar(bin.rows, s.rows, glyphs), number(bin.nnz), lab::share_text(bin.nnz, s.nnz),
                   bar(bin.nnz, s.nnz, glyphs)});
  }
  print(table);
  print_line("");
}

void print_picture(const spmv::DensityGrid& grid, const Glyphs& glyphs) {
  if (grid.nnz.empty()) return print_line("Where the nonzeros lie: there is no place for one.");
  const lab::Shading shading(grid);
  // An element that has a cell of its own may as well be square.
  const bool is_exact = grid.rows == grid.matrix_rows && grid.columns == grid.matrix_columns;
  const std::int64_t width = is_exact && grid.columns <= 36 ? 2 : 1;
  print_line(fmt::format("Where the nonzeros lie, rows 0 to {}, columns 0 to {}:",
                         number(grid.matrix_rows - 1), number(grid.matrix_columns - 1)));
  const bool is_markdown = &glyphs == &kAscii;
  std::string text = is_markdown ? "```text\n" : "";
  const auto edge = [&](int corner) {
    text += glyphs.corners[corner];
    text += repeat(glyphs.across, grid.columns * width);
    text += glyphs.corners[corner + 1];
    text += '\n';
  };
  edge(0);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    text += glyphs.down;
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      text += repeat(glyphs.shades[shading.at(row, column)], width);
    }
    text += glyphs.down;
    text += '\n';
  }
  edge(2);
  print_text(text + (is_markdown ? "```" : ""));
  if (is_exact) return;
  std::string lighter;
  for (int shade = lab::kShades - 1; shade > 0; --shade) lighter += glyphs.shades[shade];
  print_line(
      fmt::format("'{}': up to {:.3g} of a cell's places hold a nonzero; then '{}', each up "
                  "to a quarter of that",
                  glyphs.shades[lab::kShades], shading.densest(), lighter));
}

nlohmann::json as_json(const Inspection& inspection, std::int64_t duplicates) {
  using nlohmann::json;
  const spmv::RowStatistics& s = inspection.rows;
  json bins = json::array();
  for (const spmv::LengthBin& bin : s.histogram) {
    bins.push_back({{"shortest", bin.shortest},
                    {"longest", bin.longest},
                    {"rows", bin.rows},
                    {"nnz", bin.nnz}});
  }
  json cells = json::array();
  const spmv::DensityGrid& grid = inspection.coarse;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    cells.push_back(json::array());
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      cells.back().push_back(grid.nnz_at(row, column));
    }
  }
  return {{"verb", "inspect"},
          {"matrix", inspection.name},
          {"rows", s.rows},
          {"columns", s.columns},
          {"nnz", s.nnz},
          {"stored_zeros", inspection.stored_zeros},
          {"duplicates", duplicates},
          {"empty_rows", s.empty_rows},
          {"row_lengths",
           {{"shortest", s.shortest},
            {"longest", s.longest},
            {"mean", s.mean},
            {"median", s.median},
            {"percentile_90", s.percentile_90},
            {"percentile_99", s.percentile_99},
            {"standard_deviation", s.standard_deviation},
            {"coefficient_of_variation", s.coefficient_of_variation},
            {"histogram", bins}}},
          {"bandwidth", inspection.bandwidth},
          {"cells_nnz", cells}};
}

void inspect(const InspectFlags& flags, const Context& context) {
  std::int64_t duplicates = 0;
  const Inspection inspection =
      lab::inspect(spmv::load_matrix(flags.matrix, "the matrix", &duplicates), flags.matrix);
  const Glyphs& glyphs = is_boxed() ? kBlocks : kAscii;
  print_numbers(inspection, duplicates);
  print_lengths(inspection.rows, glyphs);
  print_picture(inspection.coarse, glyphs);
  if (!flags.svg.empty()) write_output(flags.svg, lab::svg(inspection), "--svg");
  if (flags.json.asked()) flags.json.write(context, as_json(inspection, duplicates));
}

std::string list_of_generators() {
  std::string text =
      "SPEC is a name, or name:key=value,key=value. The names, with their defaults:\n";
  for (const spmv::Generator& each : spmv::generators()) {
    text += fmt::format("  {}\n      {}\n", each.form(), each.idea);
  }
  return text;
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("inspect", "How a sparse matrix's rows and nonzeros are spread");
  const auto flags = std::make_shared<InspectFlags>();
  verb->add_option("MATRIX", flags->matrix, "A Matrix Market file, M.mtx or M.mtx.gz, or a SPEC")
      ->type_name("")
      ->required();
  add_output_file(*verb, "--svg", flags->svg, "Draw the cells and the row lengths");
  flags->json.add_to(*verb);
  verb->footer(list_of_generators());
  verb->callback([flags, &context] { inspect(*flags, context); });
}

}  // namespace warpladder::app
