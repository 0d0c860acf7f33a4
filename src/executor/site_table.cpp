#include "executor/site_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "executor/own_elf.hpp"

// The ends of the kernels' machine code: kernel_text.ld gathers it into one section.
extern "C" const char warpladder_kernels_begin[];

namespace warpladder::executor {
namespace {

struct What {
  SiteKind kind;
  std::uint8_t bytes;
};
struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using Meanings = std::unordered_map<std::string, What, Hash, std::equal_to<>>;
// The hook's name, as the table spells it, to what a call of it means.
const Meanings& meanings() {
  static const Meanings instance = [] {
    Meanings m{
        {"block", {SiteKind::block, 0}},          {"sync_block", {SiteKind::sync, 0}},
        {"sync_warp", {SiteKind::exchange, 0}},   {"shuffle", {SiteKind::exchange, 0}},
        {"vote", {SiteKind::exchange, 0}},        {"reduce", {SiteKind::exchange, 0}},
        {"active_mask", {SiteKind::exchange, 0}}, {"atomic4", {SiteKind::atomic, 4}},
        {"atomic8", {SiteKind::atomic, 8}},       {"read_range", {SiteKind::load, 4}},
        {"write_range", {SiteKind::store, 4}},    {"cp_async4", {SiteKind::async_copy, 4}},
        {"cp_async8", {SiteKind::async_copy, 8}}, {"cp_async16", {SiteKind::async_copy, 16}},
        {"tma_load", {SiteKind::bulk_copy, 0}},   {"wgmma", {SiteKind::tensor, 0}},
        {"mma_f64", {SiteKind::tensor, 0}},       {"cluster_barrier", {SiteKind::sync, 0}},
        {"mma", {SiteKind::tensor, 0}},           {"ldmatrix", {SiteKind::load, 16}},
        {"wgmma_words", {SiteKind::tensor, 0}},   {"named_barrier", {SiteKind::sync, 0}},
        {"store_async16", {SiteKind::store, 16}}, {"vptr_update", {SiteKind::store, 8}},
        {"place", {SiteKind::place, 0}},
    };
    for (const char* place : {"mbarrier_init", "mbarrier_arrive", "mbarrier_arrive_at",
                              "mbarrier_wait", "wgmma_wait", "in_block", "cp_async_arrive"}) {
      m[place] = {SiteKind::place, 0};
    }
    for (const int bytes : {1, 2, 4, 8, 16}) {
      m[fmt::format("read{}", bytes)] = {SiteKind::load, static_cast<std::uint8_t>(bytes)};
      m[fmt::format("write{}", bytes)] = {SiteKind::store, static_cast<std::uint8_t>(bytes)};
    }
    return m;
  }();
  return instance;
}

// "void warpladder::op::(anonymous namespace)::f<1>(args)" → "op::f<1>".
std::string short_name(std::string name) {
  for (const std::string_view noise : {"void ", "warpladder::", "(anonymous namespace)::"}) {
    for (std::size_t at; (at = name.find(noise)) != std::string::npos;)
      name.erase(at, noise.size());
  }
  int depth = 0;  // the parameter list begins at the first parenthesis outside of <>
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) {
      name.resize(i);
      break;
    }
  }
  return name;
}

// The first row of a text, which loses it.
std::string_view take_row(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view row = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return row;
}

// A row's fields, one after the other. Streams would take longer to read them than most kernels
// run.
class Fields {
 public:
  explicit Fields(std::string_view row) : rest_(row) {}
  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }
  template <class Number>
  Number number() {
    const std::string_view field = word();
    Number value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    are_good_ &= error == std::errc() && end == field.data() + field.size();
    return value;
  }
  std::string_view rest() const { return rest_; }
  bool are_good() const { return are_good_; }

 private:
  std::string_view rest_;
  bool are_good_ = true;
};

}  // namespace

AccessKind access_kind(const Site& site, MemorySpace space) {
  if (site.kind == SiteKind::atomic) return AccessKind::atomic;
  if (site.kind == SiteKind::store) return AccessKind::store;
  if (site.kind == SiteKind::load) return AccessKind::load;
  return space == MemorySpace::shared ? AccessKind::store : AccessKind::load;
}

const SiteTable& SiteTable::instance() {
  static const SiteTable table = [] {
    const std::string_view text = own_section_contents(".warpladder_sites");
    if (text.empty()) {
      throw_resource(
          "this program carries no table of kernel source lines (it was linked without "
          "tools/embed_sites.py, or stripped)");
    }
    return SiteTable(text);
  }();
  return table;
}

std::uintptr_t SiteTable::text_begin() {
  return reinterpret_cast<std::uintptr_t>(warpladder_kernels_begin);
}

// Lines of the table: "text BYTES SITES FMAS" (SITES and FMAS may be missing), and "line FILE
// NUMBER" (numbered from 1). "part OFFSET BYTES" is of the text behind it, which is a part's rows.
// Rows: "kernel OFFSET NAME", "site OFFSET WHAT LINE", "fma LINE COUNT" and "division LINE COUNT"
// (of the block site before). Those that belong to no part are read at once.
SiteTable::SiteTable(std::string_view text) : sites_(1) {
  const auto make_room = [&](std::size_t sites, std::size_t fmas) {
    sites_ = ZeroedArray<Site>(1 + sites);
    sites_[0].kind = SiteKind::block;
    fmas_.reserve(fmas);
  };
  make_room(0, 0);
  lines_.push_back({"unknown", 0});
  while (!text.empty()) {
    const std::string_view row = take_row(text);
    Fields fields(row);
    const std::string_view tag = fields.word();
    if (tag == "text") {
      site_of_ = ZeroedArray<std::uint32_t>(fields.number<std::size_t>() / 4 + 1);
      if (fields.rest().empty()) {
        const auto rows = static_cast<std::size_t>(std::ranges::count(text, '\n'));
        make_room(rows, rows);
      } else {
        const auto sites = fields.number<std::size_t>();
        make_room(sites, fields.number<std::size_t>());
      }
    } else if (tag == "line") {
      SourceLine& line = lines_.emplace_back();
      line.file = fields.word();
      line.line = fields.number<int>();
    } else if (tag == "part") {
      const auto offset = fields.number<std::uint32_t>();
      const std::size_t bytes = std::min(fields.number<std::size_t>(), text.size());
      parts_.push_back({offset, text.substr(0, bytes)});
      text.remove_prefix(bytes);
    } else {
      read(row);
    }
  }
  show_found();
  std::ranges::sort(parts_, {}, &Part::offset);
}

std::uint32_t SiteTable::learn(std::uint32_t offset) const {
  const std::lock_guard lock(learning_);
  if (const auto after = std::ranges::upper_bound(parts_, offset, {}, &Part::offset);
      after != parts_.begin()) {
    std::string_view rows = std::exchange(std::prev(after)->rows, {});
    while (!rows.empty()) read(take_row(rows));
    show_found();
  }
  return offset / 4 < site_of_.size() ? site_of_[offset / 4] : 0;
}

// From now on other threads may find these sites, which are whole.
void SiteTable::show_found() const {
  for (const auto& [offset, site] : found_) {
    __atomic_store_n(&site_of_[offset / 4], site, __ATOMIC_RELEASE);
  }
  found_.clear();
}

void SiteTable::read(std::string_view row) const {
  Fields fields(row);
  const std::string_view tag = fields.word();
  const auto malformed = [&] {
    throw_resource("malformed table of kernel source lines: " + std::string(row));
  };
  if (tag == "site") {
    const auto offset = fields.number<std::uint32_t>();
    const auto meaning = meanings().find(fields.word());
    Site site;
    site.source_line = fields.number<std::uint32_t>();
    if (!fields.are_good() || meaning == meanings().end() || offset / 4 >= site_of_.size() ||
        site.source_line >= lines_.size() || last_site_ + 1 >= sites_.size()) {
      malformed();
    }
    site.kind = meaning->second.kind;
    site.bytes = meaning->second.bytes;
    site.first_fma = static_cast<std::uint32_t>(fmas_.size());
    sites_[++last_site_] = site;
    found_.emplace_back(offset, last_site_);
  } else if (tag == "fma" || tag == "division") {
    if (fmas_.size() == fmas_.capacity()) malformed();
    BlockFma& fma = fmas_.emplace_back();
    fma.source_line = fields.number<std::uint32_t>();
    fma.per_lane = fields.number<std::uint32_t>();
    fma.divides = tag == "division";
    ++sites_[last_site_].fma_count;
  } else if (tag == "kernel") {
    const auto offset = fields.number<std::uint32_t>();
    kernels_[offset] = short_name(std::string(fields.rest()));
  }
}

std::uint32_t SiteTable::site_near(std::uint32_t offset) const {
  constexpr std::uint32_t kStep = 4;  // sites are found by offset / 4
  constexpr std::uint32_t kCall = 5;  // a call's length: its site is behind it
  learn(offset);
  std::uint32_t begin = 0, end = ~std::uint32_t{0};  // of the function
  {
    const std::lock_guard lock(learning_);
    const auto after = kernels_.upper_bound(offset);
    if (after != kernels_.begin()) begin = std::prev(after)->first;
    if (after != kernels_.end()) end = after->first;
  }
  if (offset + kCall < end && site_of(offset + kCall) != 0) return offset + kCall;
  for (std::uint32_t at = offset; at >= begin + kStep; at -= kStep) {
    if (site_of(at) != 0) return at;
  }
  return 0;
}

std::string SiteTable::kernel_name(std::uint32_t entry_offset) const {
  learn(entry_offset);
  const std::lock_guard lock(learning_);
  const auto after = kernels_.upper_bound(entry_offset);
  return after == kernels_.begin() ? "unknown kernel" : std::prev(after)->second;
}

}  // namespace warpladder::executor
