#pragma once
// Pieces of the self-contained pages that verbs write: tables, figures, choices, and the page
// around them. A page needs its script for sorting and choosing alone.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder::lab {

// A figure, and what stands below it.
struct Figure {
  std::string svg, caption;
};
// Figures of which the page shows one at a time.
struct Choice {
  std::string title;
  std::vector<std::string> names;
  std::vector<Figure> figures;
};

struct HtmlCell {
  std::string text;
  std::string sort_value;  // empty: the text
  std::string_view style;  // classes
};
HtmlCell text_cell(const std::string& text, std::string_view style = "");
HtmlCell number_cell(double value, const std::string& text, std::string_view style = "n");

// A table that the page sorts; `numbers` says which columns are right-aligned. A column without any
// text is left out.
class HtmlTable {
 public:
  HtmlTable(std::string id, const std::vector<std::string>& heads,
            const std::vector<bool>& numbers);
  void add(const std::vector<HtmlCell>& cells, std::string_view style = "");
  // With a summary the table can be folded and filtered.
  std::string html(const std::string& summary) const;

 private:
  struct Row {
    std::vector<HtmlCell> cells;
    std::string style;
  };
  std::string id_;
  std::vector<std::string> heads_;
  std::vector<bool> numbers_;
  std::vector<Row> rows_;
};

// Empty where there is no content.
std::string section(const std::string& id, const std::string& title, const std::string& content);
std::string html_of(const Figure& figure, bool hidden = false);
// All of them are in the page; without its script the first of each choice is what it shows.
std::string html_of(const Choice& choice, const std::string& id);
// Complete, without anything from elsewhere.
std::string page_of(const std::string& title, const std::string& body);

}  // namespace warpladder::lab
