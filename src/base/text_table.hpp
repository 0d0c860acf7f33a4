#pragma once
// Tables: boxes on a terminal, GitHub Markdown in a file. The caller fills the cells; this file
// lays out columns.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpladder {

enum class Style { boxed, markdown };
enum class Align { left, right };
enum class Emphasis { none, good, bad, dim };

struct Column {
  std::string header;
  Align align = Align::left;
};

struct Cell {
  Cell(std::string cell_text, Emphasis cell_emphasis = Emphasis::none)
      : text(std::move(cell_text)), emphasis(cell_emphasis) {}
  Cell(const char* cell_text) : text(cell_text) {}

  std::string text;  // UTF-8; '\n' begins a new line inside the cell
  Emphasis emphasis = Emphasis::none;
};

struct TableFormat {
  Style style = Style::markdown;
  bool colour = false;          // boxed only
  std::size_t max_width = 100;  // boxed only
};

// Boxed on a terminal, with colour unless NO_COLOR is set and not empty (no-color.org) or the
// terminal is dumb.
TableFormat choose_table_format(bool is_terminal, const char* no_color, const char* term);
// The same for a descriptor, by its terminal's width and the environment.
TableFormat table_format_for(int file_descriptor);

// One column per code point: right for Latin, Greek and box drawing, not for CJK.
std::size_t display_width(std::string_view utf8);

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns);

  // One cell per column; otherwise throws std::logic_error.
  void add_row(std::vector<Cell> cells);
  // A line between the rows before and after; Markdown has none and shows none.
  void add_rule();

  // Every line ends in '\n'. A box that is too wide wraps left-aligned cells and headers at spaces,
  // then splits long words, then drops the blanks beside its lines. Right-aligned cells are numbers
  // and stay whole, even beyond the width.
  std::string render(const TableFormat& format) const;

 private:
  using Row = std::vector<Cell>;

  std::string render_boxed(const TableFormat& format) const;
  std::string render_markdown() const;
  std::vector<std::size_t> boxed_widths(std::size_t max_width) const;

  std::vector<Column> columns_;
  Row headers_;
  std::vector<Row> rows_;  // an empty row is a rule
};

}  // namespace warpladder
