#include "lab/explain_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/with_commas.hpp"
#include "lab/explain_figures.hpp"
#include "lab/explain_words.hpp"
#include "lab/html.hpp"
#include "lab/kernel_name.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::MemorySpace;

constexpr std::size_t kMostMaps = 24;  // of each kind
constexpr std::size_t kShortFile = 200;
constexpr int kContext = 6;  // lines around a counted one, of a longer file

std::string paragraph(const std::string& text, std::string_view style = "") {
  if (text.empty()) return "";
  return fmt::format("<p class=\"{}\">{}</p>\n", style, xml_text(text));
}

std::string per_request(std::uint64_t sum, std::uint64_t requests) {
  return requests ? fmt::format("{:.3g}", static_cast<double>(sum) / static_cast<double>(requests))
                  : "";
}

// ---- the source

// An access of a line, and the map that shows its worst request.
struct MapPlace {
  std::string choice;  // empty: it has none
  std::size_t index = 0;
};
using MapPlaces = std::map<const AccessCounts*, MapPlace>;

std::string access_row(const AccessCounts& a, const MapPlaces& places) {
  const bool global = a.space == MemorySpace::global;
  std::string what = xml_text(access_text(a));
  if (const auto at = places.find(&a); at != places.end()) {
    what = fmt::format("<a href=\"#{0}\" data-choice=\"{0}\" data-index=\"{1}\">{2}</a>",
                       at->second.choice, at->second.index, what);
  }
  const std::uint64_t actual = global ? a.sectors : a.wavefronts;
  const std::uint64_t ideal = global ? a.ideal_sectors : a.ideal_wavefronts;
  return fmt::format("<div>{} × {}: <span class=\"{}\">{}</span> {} of {}</div>",
                     with_commas(a.requests), what, actual > ideal ? "bad" : "good",
                     per_request(actual, a.requests), global ? "sectors" : "wavefronts",
                     per_request(ideal, a.requests));
}

std::string margin_of(const LineCounts& line, const MapPlaces& places) {
  std::string out;
  for (const AccessCounts& a : line.accesses) out += access_row(a, places);
  const auto event = [&](const char* what, std::uint64_t times) {
    if (times) out += fmt::format("<div>{} {}</div>", with_commas(times), what);
  };
  event("FMAs", line.fmas);
  event("barriers", line.barriers);
  event("shuffles", line.shuffles);
  event("copy engine bytes", line.bulk_bytes);
  event("tensor core FMAs", line.tensor_fmas);
  return out;
}

std::string source_row(int number, const std::string& code, const LineCounts* line, bool is_blamed,
                       const Explanation& e, const MapPlaces& places) {
  const double share = line && e.cost()
                           ? 100 * static_cast<double>(line->cost()) / static_cast<double>(e.cost())
                           : 0;
  const std::string bar =
      share > 0 ? fmt::format(" style=\"--share:{:.1f}%\" title=\"{:.1f} % of the L1 cycles\"",
                              share, share)
                : "";
  return fmt::format(
      "<tr{}><td class=\"number\">{}</td><td class=\"counts\"{}>{}</td><td><code>{}</code></td>"
      "</tr>\n",
      is_blamed ? " class=\"blamed\"" : "", number, bar, line ? margin_of(*line, places) : "",
      xml_text(code));
}

// Of a short file all lines, of a longer one those around the counted ones.
std::set<int> shown_lines(std::size_t count, const std::map<int, const LineCounts*>& counted) {
  std::set<int> shown;
  const int last = static_cast<int>(count);
  for (int i = 1; i <= last && count <= kShortFile; ++i) shown.insert(i);
  for (const auto& [number, line] : counted) {
    const int end = count ? std::min(last, number + kContext) : number;
    for (int i = count ? std::max(1, number - kContext) : number; i <= end; ++i) shown.insert(i);
  }
  return shown;
}

std::string source_of(const std::string& file, const Explanation& e, const MapPlaces& places) {
  std::map<int, const LineCounts*> counted;
  for (const LineCounts& line : e.lines) {
    if (line.file == file) counted[line.line] = &line;
  }
  const std::vector<std::string> text = source_lines(file);
  std::string rows;
  int before = 0;
  for (const int number : shown_lines(text.size(), counted)) {
    if (number > before + 1) rows += "<tr class=\"gap\"><td colspan=\"3\">⋯</td></tr>\n";
    before = number;
    const auto at = counted.find(number);
    const LineCounts* const line = at == counted.end() ? nullptr : at->second;
    const auto index = static_cast<std::size_t>(number) - 1;
    const bool is_blamed = e.to_blame && line == &e.lines[e.to_blame->line];
    rows += source_row(number, index < text.size() ? text[index] : "", line, is_blamed, e, places);
  }
  return fmt::format(
      "<h3>{}</h3>\n{}<div class=\"wide\"><table class=\"source\">{}</table></div>\n",
      xml_text(file), text.empty() ? paragraph("The file is not to be found here.", "dim") : "",
      rows);
}

std::string sources(const Explanation& e, const MapPlaces& places) {
  std::vector<std::string> files;  // the costliest line's first
  for (const LineCounts& line : e.lines) {
    if (std::ranges::find(files, line.file) == files.end()) files.push_back(line.file);
  }
  std::string out;
  for (const std::string& file : files) out += source_of(file, e, places);
  return out;
}

// ---- the maps

struct Mapped {
  const LineCounts* line;
  const AccessCounts* access;
  const executor::Request* request;
};

std::vector<Mapped> mapped_accesses(const Explanation& e, MemorySpace space) {
  std::vector<Mapped> list;
  for (const LineCounts& line : e.lines) {
    for (std::size_t i = 0; i < line.accesses.size(); ++i) {
      if (line.accesses[i].space != space || i >= line.worst_requests.size()) continue;
      if (line.worst_requests[i].empty()) continue;
      list.push_back({&line, &line.accesses[i], &line.worst_requests[i]});
    }
  }
  std::ranges::stable_sort(list, std::greater<>(),
                           [](const Mapped& m) { return l1_cycles(*m.access); });
  if (list.size() > kMostMaps) list.resize(kMostMaps);
  return list;
}

std::string maps(const Explanation& e, const std::string& id, MapPlaces& places) {
  std::string out;
  for (const MemorySpace space : {MemorySpace::shared, MemorySpace::global}) {
    const bool shared = space == MemorySpace::shared;
    const std::string place = id + (shared ? "-banks" : "-sectors");
    Choice choice{shared ? "Bank map: which lane asks which bank of shared memory"
                         : "Sector map: which bytes of global memory a request moves",
                  {},
                  {}};
    for (const Mapped& m : mapped_accesses(e, space)) {
      places[m.access] = {place, choice.figures.size()};
      choice.names.push_back(fmt::format("{}: {}", place_of(*m.line), access_text(*m.access)));
      Figure figure = shared ? bank_map(*m.access, *m.request) : sector_map(*m.access, *m.request);
      figure.caption = choice.names.back() + ". " + figure.caption;
      choice.figures.push_back(std::move(figure));
    }
    if (!choice.figures.empty()) {
      out += fmt::format("<div class=\"map\">\n{}</div>\n", html_of(choice, place));
    }
  }
  return out.empty() ? "" : fmt::format("<div class=\"maps\">\n{}</div>\n", out);
}

// ---- occupancy and roofs

std::string occupancies(const ExplainPage& page, const Explanation& e, const std::string& id) {
  std::vector<const Gpu*> shown = page.gpus;
  if (shown.empty()) {
    for (const Gpu& gpu : gpus()) shown.push_back(&gpu);
  }
  HtmlTable table(id + "-occupancy",
                  {"kernel", "threads", "GPU", "registers", "blocks an SM", "warps", "of", "share",
                   "limited by"},
                  {false, true, false, true, true, true, true, true, false});
  std::string out;
  for (const executor::KernelCounts* const launch : distinct_launches(e)) {
    const executor::KernelCounts& k = *launch;
    out += paragraph(occupancy_sentence(k, e));
    for (const Gpu* gpu : shown) {
      const Occupancy o = occupancy_of(k, e, *gpu);
      const CompiledResources* const compiled = e.compiled_of(k.kernel, *gpu);
      table.add({text_cell(short_kernel_name(k.kernel), "long"),
                 number_cell(static_cast<double>(k.block.count()), with_commas(k.block.count())),
                 text_cell(gpu->name),
                 compiled ? number_cell(compiled->registers, std::to_string(compiled->registers))
                          : text_cell("unknown", "n"),
                 number_cell(o.blocks, std::to_string(o.blocks)),
                 number_cell(o.warps, std::to_string(o.warps)),
                 number_cell(o.most_warps, std::to_string(o.most_warps)),
                 number_cell(o.share(), fmt::format("{:.0f} %", 100 * o.share())),
                 text_cell(o.blocks ? name(o.limiter) : kRefusedBlock, o.blocks ? "" : "bad")});
    }
  }
  return out.empty() ? "" : out + table.html("");
}

std::string roof_table(const Explanation& e, const std::string& id) {
  std::vector<std::string> header{"roof, " + std::string(e.gpu->name), "bytes", "time by counts"};
  if (e.flops > 0) header.insert(header.end(), {"FLOP/byte", kRoofSpeed});
  std::vector<bool> is_number(header.size(), true);
  is_number[0] = false;
  HtmlTable table(id + "-roofs", header, is_number);
  const auto number = [](double value) { return number_cell(value, fmt::format("{:.3g}", value)); };
  const auto time = [](double seconds) {
    return number_cell(seconds, fmt::format("{:.3g} µs", seconds * 1e6));
  };
  const std::vector<Roof> roofs = e.roofs();
  for (const Roof& roof : roofs) {
    if (roof.bytes <= 0) continue;
    std::vector cells{text_cell(roof.name),
                      number_cell(roof.bytes, with_commas(static_cast<std::uint64_t>(roof.bytes))),
                      time(roof.bytes / roof.bytes_per_s)};
    if (e.flops > 0) {
      cells.push_back(number(e.flops / roof.bytes));
      cells.push_back(number(e.ceiling(roof) * 1e-12));
    }
    table.add(cells);
  }
  if (e.flops > 0) {
    const Peak peak = e.peak();
    table.add({text_cell(peak.name), text_cell("", "n"), time(e.flops / peak.flops_per_s),
               text_cell("", "n"), number(peak.flops_per_s * 1e-12)});
  }
  return table.html("") + paragraph(roof_sentence(e, roofs));
}

// ---- the page

std::string part(const ExplainPage& page, const Explanation& e, const std::string& id) {
  MapPlaces places;
  const std::string pictures = maps(e, id, places);
  std::string out = paragraph(e.idea, "dim");
  out += paragraph(blame_sentence(e), "verdict") + paragraph(ideal_sentence(e));
  out += paragraph(intensity_sentence(e));
  out += sources(e, places);
  out += paragraph(
      "In the margin: warp-level requests × what they do: sectors of 32 bytes (global) or "
      "wavefronts (shared) for each, of how many would do. The bar is the line's share of the L1 "
      "cycles.",
      "dim");
  out += pictures;
  if (const std::string rows = occupancies(page, e, id); !rows.empty()) {
    out += "<h3>Occupancy</h3>\n" + rows;
  }
  out += "<h3>Roofs</h3>\n";
  if (const Figure figure = roofline({&e}); !figure.svg.empty()) out += html_of(figure);
  return out + roof_table(e, id);
}

std::string side_by_side(const Explanation& a, const Explanation& b, const std::string& id) {
  HtmlTable table(id, {"in all", a.rung, b.rung, "second ÷ first"}, {false, true, true, true});
  const auto add = [&](const char* what, std::uint64_t of_a, std::uint64_t of_b) {
    if (of_a == 0 && of_b == 0) return;
    const double ratio = of_a ? static_cast<double>(of_b) / static_cast<double>(of_a) : 0;
    const char* const style = of_b > of_a ? "n bad" : of_b < of_a ? "n good" : "n";
    table.add(
        {text_cell(what), number_cell(static_cast<double>(of_a), with_commas(of_a)),
         number_cell(static_cast<double>(of_b), with_commas(of_b)),
         of_a ? number_cell(ratio, fmt::format("{:.3g}", ratio), style) : text_cell("", "n")});
  };
  for (const TotalField& field : total_fields()) {
    add(field.name, a.totals.*field.value, b.totals.*field.value);
  }
  add("L1 cycles", a.cost(), b.cost());
  const Figure figure = roofline({&a, &b});
  return table.html("") + (figure.svg.empty() ? "" : html_of(figure)) +
         paragraph(what_changed(a, b), "verdict");
}

std::string heading_of(const Explanation& e) {
  std::string text = e.op.empty() ? short_kernel_name(e.rung) : e.full_name();
  if (!e.variant.empty()) text += " " + e.variant;
  if (!e.shape.empty()) text += fmt::format(" at {}", fmt::join(e.shape, "×"));
  return text;
}

}  // namespace

std::string html(const ExplainPage& page) {
  std::string links, sections;
  const auto add = [&](const std::string& id, const std::string& title,
                       const std::string& content) {
    links += fmt::format("<a href=\"#{}\">{}</a>", id, xml_text(title));
    sections += section(id, title, content);
  };
  for (std::size_t i = 0; i < page.versions.size(); ++i) {
    const auto& [a, b] = page.versions[i];
    add(fmt::format("versions{}", i), fmt::format("{} → {}", a->rung, b->rung),
        side_by_side(*a, *b, fmt::format("v{}", i)));
  }
  for (std::size_t i = 0; i < page.parts.size(); ++i) {
    const std::string id = fmt::format("part{}", i);
    add(id, heading_of(*page.parts[i]), part(page, *page.parts[i], id));
  }
  return page_of("What the source asks of the machine",
                 "<p class=\"dim\">Counted on a CPU by warpladder explain; nothing is timed.</p>\n"
                 "<nav>" +
                     links + "</nav>\n" + sections);
}

}  // namespace warpladder::lab
