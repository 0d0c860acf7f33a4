#include "lab/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lab/report_style.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

// Longer tables begin folded.
constexpr std::size_t kLongTable = 40;

std::string html_of(const HtmlCell& cell) {
  std::string out = "<td";
  if (!cell.style.empty()) out += fmt::format(" class=\"{}\"", cell.style);
  if (!cell.sort_value.empty()) out += fmt::format(" data-v=\"{}\"", xml_text(cell.sort_value));
  return out + fmt::format(">{}</td>", xml_text(cell.text));
}

}  // namespace

HtmlCell text_cell(const std::string& text, std::string_view style) { return {text, "", style}; }
HtmlCell number_cell(double value, const std::string& text, std::string_view style) {
  return {text, std::isfinite(value) ? fmt::format("{:.9g}", value) : "", style};
}

HtmlTable::HtmlTable(std::string id, const std::vector<std::string>& heads,
                     const std::vector<bool>& numbers)
    : id_(std::move(id)), heads_(heads), numbers_(numbers) {}

void HtmlTable::add(const std::vector<HtmlCell>& cells, std::string_view style) {
  rows_.push_back({cells, std::string(style)});
}

std::string HtmlTable::html(const std::string& summary) const {
  std::string heads, rows;
  std::vector<bool> is_shown;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    is_shown.push_back(
        std::ranges::any_of(rows_, [&](const Row& row) { return !row.cells[i].text.empty(); }));
    if (!is_shown[i]) continue;
    heads += fmt::format("<th{}>{}</th>", numbers_[i] ? " class=\"n\"" : "", xml_text(heads_[i]));
  }
  for (const Row& row : rows_) {
    rows += fmt::format("<tr class=\"{}\">", row.style);
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      if (is_shown[i]) rows += html_of(row.cells[i]);
    }
    rows += "</tr>\n";
  }
  const std::string table = fmt::format(
      "<div class=\"wide\"><table class=\"sortable\" "
      "id=\"{}\"><thead><tr>{}</tr></thead>\n<tbody>\n"
      "{}</tbody></table></div>\n",
      id_, heads, rows);
  if (summary.empty()) return table;
  const std::string filter = fmt::format(
      "<input class=\"filter\" data-table=\"{}\" placeholder=\"filter rows\" "
      "aria-label=\"filter rows\">\n",
      id_);
  return fmt::format("<details{}><summary>{}, {} rows</summary>\n{}{}</details>\n",
                     rows_.size() > kLongTable ? "" : " open", xml_text(summary), rows_.size(),
                     filter, table);
}

std::string section(const std::string& id, const std::string& title, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, xml_text(title),
                     content);
}

std::string html_of(const Figure& figure, bool hidden) {
  return fmt::format("<figure{}>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                     hidden ? " hidden" : "", figure.svg, xml_text(figure.caption));
}

std::string html_of(const Choice& choice, const std::string& id) {
  std::string out = fmt::format("<h3>{}</h3>\n", xml_text(choice.title));
  if (choice.figures.size() > 1) {
    out +=
        fmt::format("<select class=\"choice\" data-figures=\"{}\" aria-label=\"which one\">", id);
    for (const std::string& name : choice.names) {
      out += fmt::format("<option>{}</option>", xml_text(name));
    }
    out += "</select>\n";
  }
  out += fmt::format("<div id=\"{}\">\n", id);
  for (const Figure& figure : choice.figures) {
    out += html_of(figure, &figure != &choice.figures.front());
  }
  return out + "</div>\n";
}

std::string page_of(const std::string& title, const std::string& body) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>",
      xml_text(title));
  // The colours of all figures, and of the pictures that bring styles of their own.
  page += fmt::format("{}\n{}@media (prefers-color-scheme: dark) {{\n{}}}\n</style>\n</head>\n",
                      kReportStyle, kLightColours, kDarkColours);
  page += fmt::format("<body>\n<h1>{}</h1>\n{}", xml_text(title), body);
  page += fmt::format("<script>{}</script>\n</body>\n</html>\n", kReportScript);
  return page;
}

}  // namespace warpladder::lab
