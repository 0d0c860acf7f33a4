#include "programs/site_lines.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "programs/process.hpp"

namespace warpladder::programs {
namespace {

constexpr std::string_view kSection = "warpladder_kernels";

struct Event {
  enum Kind { function, site, fma, division, call } kind;
  std::uint64_t address;
  std::string what;  // a function's name, a site's kind, the called function
  unsigned count = 0;
};

std::uint64_t from_hex(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

template <class Use>
void for_each_row(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    use(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

// What the table calls a call of this function; empty for one that the table leaves out.
std::string site_of(std::string_view called) {
  for (const std::string_view prefix : {"__tsan_unaligned_", "__tsan_volatile_", "__tsan_"}) {
    if (!called.starts_with(prefix)) continue;
    const std::string_view what = called.substr(prefix.size());
    const bool known =
        what.starts_with("read") || what.starts_with("write") || what == "vptr_update";
    return known ? std::string(what) : std::string();
  }
  if (called == "__sanitizer_cov_trace_pc") return "block";
  if (called.starts_with("simt_")) {
    static const std::set<std::string_view> queries{
        "cp_async_commit", "cp_async_wait", "cluster_rank", "shared_address", "wgmma_commit"};
    const std::string_view what = called.substr(5);
    return queries.contains(what) ? std::string() : std::string(what);
  }
  if (called == "program_thread_rank") return {};
  return called.starts_with("cuda") || called.starts_with("program_") ? "place" : "";
}

// "vfmadd213ss" multiplies and adds one number of a lane, its packed forms several.
unsigned fmas_of(std::string_view operation, std::string_view operands) {
  if (!operation.starts_with("vfm") && !operation.starts_with("vfnm")) return 0;
  if (operation.size() < 4 || operation.find("sub") == operation.npos) {
    if (operation.find("add") == operation.npos) return 0;
  }
  if (operation[operation.size() - 2] == 's') return 1;
  const unsigned bytes = operands.find("%ymm") != operands.npos ? 32 : 16;
  return bytes / (operation.ends_with('d') ? 8 : 4);
}

// A GPU divides by multiply-adds, from an estimate of the reciprocal on: so many are in nvcc's
// code.
unsigned fmas_of_division(std::string_view operation, std::string_view operands) {
  if (!operation.starts_with("vdiv") || operation.size() != 6) return 0;
  const bool is_double = operation.ends_with('d');
  const unsigned bytes = operands.find("%ymm") != operands.npos ? 32 : 16;
  const unsigned numbers = operation[4] == 's' ? 1 : bytes / (is_double ? 8 : 4);
  return numbers * (is_double ? 8 : 5);
}

// Calls of kernels, and calls through pointers, are places in a program whose kernels may be called
// like functions (program_enter_kernel). All other calls of the program's own functions are none.
constexpr std::string_view kThroughPointer = "*";
void keep_calls_of_kernels(std::vector<Event>& events, const std::set<std::string>& guarded) {
  std::erase_if(events, [&](const Event& e) {
    if (e.kind != Event::call) return false;
    return guarded.empty() || (e.what != kThroughPointer && !guarded.contains(e.what));
  });
  for (Event& e : events) {
    if (e.kind == Event::call) e = {Event::site, e.address, "place"};
  }
}

std::vector<Event> disassemble(const std::string& program) {
  const FinishedProcess listing =
      run_tool({"objdump", "-d", "-C", "--no-show-raw-insn", "-j", std::string(kSection), program});
  std::vector<Event> events;
  std::set<std::string> guarded;
  std::string function, pending, pending_call;
  for_each_row(listing.output, [&](std::string_view row) {
    if (row.ends_with(">:")) {
      const std::size_t open = row.find(" <");
      function = row.substr(open + 2, row.size() - open - 4);
      events.push_back({Event::function, from_hex(row.substr(0, open)), function});
      return;
    }
    const std::size_t colon = row.find(":\t");
    if (colon == row.npos) return;
    const std::size_t first = row.find_first_not_of(' ');
    const std::uint64_t address = from_hex(row.substr(first, colon - first));
    if (!pending.empty()) {  // a call's return address is the address of what follows it
      events.push_back({Event::site, address, std::exchange(pending, {})});
    }
    if (!pending_call.empty()) {
      events.push_back({Event::call, address, std::exchange(pending_call, {})});
    }
    const std::string_view code = row.substr(colon + 2);
    const std::size_t space = code.find(' ');
    const std::string_view operation = code.substr(0, space);
    const std::string_view operands = space == code.npos ? std::string_view() : code.substr(space);
    if (operation == "call") {
      const std::size_t open = operands.find('<');
      if (open == operands.npos) {
        pending_call = std::string(kThroughPointer);
        return;
      }
      const std::size_t end = operands.find_first_of(">@+", open);
      const std::string_view called = operands.substr(open + 1, end - open - 1);
      pending = site_of(called);
      if (called == "program_enter_kernel") guarded.insert(function);
      if (pending.empty()) pending_call = operands.substr(open + 1, operands.rfind('>') - open - 1);
    } else if (const unsigned count = fmas_of(operation, operands)) {
      events.push_back({Event::fma, address, {}, count});
    } else if (const unsigned times = fmas_of_division(operation, operands)) {
      events.push_back({Event::division, address, {}, times});
    }
  });
  keep_calls_of_kernels(events, guarded);
  return events;
}

struct Range {
  std::uint64_t begin, bytes;
};
Range section_range(const std::string& program) {
  std::optional<Range> found;
  for_each_row(run_tool({"objdump", "-h", "-w", program}).output, [&](std::string_view row) {
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; (at = row.find_first_not_of(' ', at)) != row.npos;) {
      const std::size_t end = std::min(row.find(' ', at), row.size());
      fields.push_back(row.substr(at, end - at));
      at = end;
    }
    if (fields.size() > 3 && fields[1] == kSection)
      found = {from_hex(fields[3]), from_hex(fields[2])};
  });
  if (!found) throw_resource("the linked program has no section " + std::string(kSection));
  return *found;
}

using Line = std::pair<std::string, int>;

// Where an address is in the program's own source, and whether our headers have it there.
struct Place {
  Line line;
  bool is_ours = false;
};

// Of "FILE:LINE (discriminator N)".
Line file_and_line(std::string_view place) {
  place = place.substr(0, place.find(" (discriminator"));
  const std::size_t colon = place.rfind(':');
  int line = 0;
  std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
  std::string file = std::filesystem::path(place.substr(0, colon)).lexically_normal().string();
  for (char& c : file) {
    if (c == ' ') c = '_';
  }
  return {file, line};
}

// The first of the library's folders is the one of our headers.
std::map<std::uint64_t, Place> source_lines(const std::string& program, const std::string& scratch,
                                            const std::set<std::uint64_t>& addresses,
                                            const std::vector<std::string>& library_folders) {
  std::map<std::uint64_t, Place> lines;
  if (addresses.empty()) return lines;
  const std::string asked = scratch + "/addresses";
  {
    std::ofstream file(asked);
    for (const std::uint64_t address : addresses) file << fmt::format("{:#x}\n", address);
  }
  const auto in_library = [&](std::string_view frame) {
    for (const std::string& folder : library_folders) {
      if (frame.starts_with(folder)) return true;
    }
    return frame.starts_with("??");
  };
  const FinishedProcess answer = run_tool({"addr2line", "-a", "-i", "-e", program, "@" + asked});
  std::vector<std::string_view> frames;
  std::uint64_t current = 0;
  const auto finish = [&] {
    if (frames.empty()) return;
    std::string_view place = frames.front();
    for (const std::string_view frame : frames) {
      if (in_library(frame)) continue;
      place = frame;
      break;
    }
    lines[current] = {file_and_line(place), frames.front().starts_with(library_folders.front())};
    frames.clear();
  };
  for_each_row(answer.output, [&](std::string_view row) {
    if (row.starts_with("0x")) {
      finish();
      current = from_hex(row.substr(2));
    } else {
      frames.push_back(row);
    }
  });
  finish();
  return lines;
}

// The table's text; a basic block's FMAs stand right behind its site.
std::string table_of(const std::vector<Event>& events, const Range& section,
                     const std::map<std::uint64_t, Place>& lines) {
  std::map<Line, std::size_t> numbers;
  std::string line_rows, rows, pending;
  std::map<std::size_t, unsigned> fmas, divisions;
  bool in_block = false;
  const auto number_of = [&](std::uint64_t address) {
    const auto found = lines.find(address);
    const Line line = found == lines.end() ? Line{"unknown", 0} : found->second.line;
    const auto [at, is_new] = numbers.emplace(line, numbers.size() + 1);
    if (is_new) line_rows += fmt::format("line {} {}\n", line.first, line.second);
    return at->second;
  };
  // Our headers divide for functions like rsqrtf, which is one instruction on a GPU.
  const auto is_ours = [&](std::uint64_t address) {
    const auto found = lines.find(address);
    return found != lines.end() && found->second.is_ours;
  };
  const auto flush = [&] {
    for (const auto& [line, count] : fmas) rows += fmt::format("fma {} {}\n", line, count);
    for (const auto& [line, count] : divisions)
      rows += fmt::format("division {} {}\n", line, count);
    rows += std::exchange(pending, {});
    fmas.clear();
    divisions.clear();
  };
  for (const Event& e : events) {
    const std::uint64_t offset = e.address - section.begin;
    if (e.kind == Event::function) {
      flush();
      in_block = false;
      rows += fmt::format("kernel {} {}\n", offset, e.what);
    } else if (e.kind == Event::site && e.what == "block") {
      flush();
      in_block = true;
      rows += fmt::format("site {} block {}\n", offset, number_of(e.address - 1));
    } else if (e.kind == Event::site) {
      pending += fmt::format("site {} {} {}\n", offset, e.what, number_of(e.address - 1));
    } else if (in_block && e.kind == Event::fma) {
      fmas[number_of(e.address)] += e.count;
    } else if (in_block && e.kind == Event::division && !is_ours(e.address)) {
      divisions[number_of(e.address)] += e.count;
    }
  }
  flush();
  return fmt::format("text {}\n", section.bytes) + line_rows + rows;
}

}  // namespace

void embed_sites(const std::string& program, const std::string& scratch,
                 const std::vector<std::string>& library_folders) {
  const Range section = section_range(program);
  const std::vector<Event> events = disassemble(program);
  std::set<std::uint64_t> asked;
  for (const Event& e : events) {
    if (e.kind == Event::site) asked.insert(e.address - 1);
    if (e.kind == Event::fma || e.kind == Event::division) asked.insert(e.address);
  }
  const std::string table = scratch + "/sites";
  std::ofstream(table) << table_of(events, section,
                                   source_lines(program, scratch, asked, library_folders));
  const FinishedProcess done =
      run_tool({"objcopy", "--add-section", ".warpladder_sites=" + table, program});
  if (done.exit_code != 0) {
    throw_resource("objcopy cannot put the table of lines in: " + done.errors);
  }
}

}  // namespace warpladder::programs
