#include "base/text_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "base/terminal.hpp"

namespace warpladder {
namespace {

// A word is cut only where its column has come down to this.
constexpr std::size_t kNarrowColumn = 12;

bool begins_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The bytes of the first `width` code points.
std::size_t prefix_bytes(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_code_point(text[at]) && width-- == 0) break;
  }
  return at;
}

// Lines of at most `width`, broken at spaces, or inside a word that is longer than a line.
std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : split(text, '\n')) {
    lines.emplace_back();
    if (display_width(paragraph) <= width) {
      lines.back() = paragraph;
      continue;
    }
    for (std::string_view word : split(paragraph, ' ')) {
      if (word.empty()) continue;
      if (!lines.back().empty()) {
        if (display_width(lines.back()) + 1 + display_width(word) <= width) {
          lines.back() += ' ';
        } else {
          lines.emplace_back();
        }
      }
      for (; display_width(word) > width; lines.emplace_back()) {
        const std::size_t cut = prefix_bytes(word, width);
        lines.back() = word.substr(0, cut);
        word.remove_prefix(cut);
      }
      lines.back() += word;
    }
  }
  return lines;
}

std::size_t widest_part(std::string_view text, char separator) {
  std::size_t widest = 0;
  for (const auto part : split(text, separator)) widest = std::max(widest, display_width(part));
  return widest;
}
std::size_t widest_line(std::string_view text) { return widest_part(text, '\n'); }
std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  for (const auto line : split(text, '\n')) widest = std::max(widest, widest_part(line, ' '));
  return widest;
}

std::string repeat(std::string_view text, std::size_t count) {
  std::string out;
  for (; count > 0; --count) out += text;
  return out;
}

std::string with_emphasis(const std::string& text, Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::good:
      return "\x1b[32m" + text + "\x1b[0m";
    case Emphasis::bad:
      return "\x1b[31m" + text + "\x1b[0m";
    case Emphasis::dim:
      return "\x1b[2m" + text + "\x1b[0m";
    case Emphasis::none:
      break;
  }
  return text;
}

std::string pad(const std::string& text, std::size_t shown, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, shown), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

// Takes from the widest column that is above its floor until the excess is gone.
void shrink(std::vector<std::size_t>& widths, const std::vector<std::size_t>& floors,
            std::size_t total) {
  for (std::size_t sum = std::reduce(widths.begin(), widths.end()); sum > total; --sum) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > floors[i] && (!widest || widths[i] > *widest)) widest = &widths[i];
    }
    if (!widest) return;
    --*widest;
  }
}

// "┌──┬──┐" and its like.
std::string rule(const std::vector<std::size_t>& widths, std::size_t padding, std::string_view left,
                 std::string_view middle, std::string_view right) {
  std::string line;
  for (const std::size_t width : widths) {
    line += line.empty() ? left : middle;
    line += repeat("─", width + 2 * padding);
  }
  return line.append(right) + '\n';
}

// Of a box's lines and the blanks beside them.
std::size_t frame_width(std::size_t columns, std::size_t padding) {
  return (1 + 2 * padding) * columns + 1;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "<br>";
    } else {
      if (c == '|') out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace

TableFormat choose_table_format(bool is_terminal, const char* no_color, const char* term) {
  if (!is_terminal) return {};
  const bool wants_colour = no_color == nullptr || *no_color == '\0';
  return {.style = Style::boxed, .colour = wants_colour && !is_dumb_terminal(term)};
}

TableFormat table_format_for(int file_descriptor) {
  TableFormat format = choose_table_format(::isatty(file_descriptor) == 1, std::getenv("NO_COLOR"),
                                           std::getenv("TERM"));
  format.max_width = columns_of(file_descriptor);
  return format;
}

std::size_t display_width(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, begins_code_point));
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (columns_.empty()) throw std::logic_error("a table needs a column");
  for (const Column& column : columns_) headers_.emplace_back(column.header);
}

void TextTable::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a row needs a cell per column");
  rows_.push_back(std::move(cells));
}

void TextTable::add_rule() {
  if (!rows_.empty() && !rows_.back().empty()) rows_.emplace_back();
}

std::string TextTable::render(const TableFormat& format) const {
  return format.style == Style::boxed ? render_boxed(format) : render_markdown();
}

// The columns' widths, together at most `max_width` if they can be.
std::vector<std::size_t> TextTable::boxed_widths(std::size_t max_width) const {
  const std::size_t count = columns_.size();
  std::vector<std::size_t> widths(count), whole_words(count), cut_words(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool wraps = columns_[i].align == Align::left;
    widths[i] = widest_line(columns_[i].header);
    whole_words[i] = widest_word(columns_[i].header);
    for (const Row& row : rows_) {
      if (row.empty()) continue;
      widths[i] = std::max(widths[i], widest_line(row[i].text));
      whole_words[i] =
          std::max(whole_words[i], wraps ? widest_word(row[i].text) : widest_line(row[i].text));
    }
    cut_words[i] = wraps ? std::min(whole_words[i], kNarrowColumn) : whole_words[i];
  }
  shrink(widths, whole_words, max_width);
  shrink(widths, cut_words, max_width);
  return widths;
}

std::string TextTable::render_boxed(const TableFormat& format) const {
  std::vector<std::size_t> widths;
  std::size_t padding = 2, all = format.max_width + 1;
  while (padding > 0 && all > format.max_width) {
    const std::size_t frame = frame_width(columns_.size(), --padding);
    widths = boxed_widths(format.max_width - std::min(format.max_width, frame));
    all = frame + std::reduce(widths.begin(), widths.end());
  }
  const std::string blank(padding, ' ');
  std::string out;
  const auto draw = [&](const Row& row) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      lines.push_back(wrap(row[i].text, widths[i]));
      height = std::max(height, lines.back().size());
    }
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string text = y < lines[i].size() ? lines[i][y] : "";
        const bool is_plain = !format.colour || text.empty();
        out += "│" + blank;
        out += pad(is_plain ? text : with_emphasis(text, row[i].emphasis), display_width(text),
                   widths[i], columns_[i].align);
        out += blank;
      }
      out += "│\n";
    }
  };
  out += rule(widths, padding, "┌", "┬", "┐");
  draw(headers_);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const bool is_last_rule = rows_[r].empty() && r + 1 == rows_.size();
    if (r == 0 || (rows_[r].empty() && !is_last_rule)) out += rule(widths, padding, "├", "┼", "┤");
    draw(rows_[r]);
  }
  return out + rule(widths, padding, "└", "┴", "┘");
}

std::string TextTable::render_markdown() const {
  constexpr std::size_t kNarrowestRule = 3;
  std::vector<std::size_t> widths(columns_.size(), kNarrowestRule);
  const auto widen = [&](const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(markdown_text(row[i].text)));
    }
  };
  widen(headers_);
  std::ranges::for_each(rows_, widen);

  std::string out;
  const auto draw = [&](const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = markdown_text(row[i].text);
      out += "| " + pad(text, display_width(text), widths[i], columns_[i].align) + ' ';
    }
    if (!row.empty()) out += "|\n";
  };
  draw(headers_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_left = columns_[i].align == Align::left;
    out += "| " + std::string(widths[i] - 1, '-') + (is_left ? "- " : ": ");
  }
  out += "|\n";
  std::ranges::for_each(rows_, draw);
  return out;
}

}  // namespace warpladder
