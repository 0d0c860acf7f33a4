#pragma once
// Where in the source the executor's hooks are called from. tools/embed_sites.py reads the linked
// program's disassembly and debug lines, and puts the table into the program itself. So a binary
// that travels needs neither its sources nor binutils.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/counts.hpp"
#include "executor/zeroed_array.hpp"

namespace warpladder::executor {

enum class SiteKind : std::uint8_t {
  load,
  store,
  atomic,
  async_copy,
  block,
  sync,
  exchange,
  bulk_copy,
  tensor,
  place  // counts nothing; a fault may name it
};

struct SourceLine {
  std::string file;
  int line = 0;
  bool operator==(const SourceLine&) const = default;
};

// One call of a hook in a kernel's machine code.
struct Site {
  SiteKind kind = SiteKind::load;
  std::uint8_t bytes = 0;         // per lane; 0 where the kind has none
  std::uint32_t source_line = 0;  // into SiteTable::lines
  std::uint32_t first_fma = 0;    // blocks: the lines of its FMAs, into SiteTable::fmas
  std::uint32_t fma_count = 0;
};
// What an access at the site is. An asynchronous copy loads from global and stores to shared
// memory.
AccessKind access_kind(const Site& site, MemorySpace space);
struct BlockFma {
  std::uint32_t source_line = 0;
  std::uint32_t per_lane = 0;
  bool divides = false;  // those that nvcc makes of a division
};

// A program has half a million sites, of which a launch meets few hundred. The rows of a part of
// the machine code are read when the first of its sites is asked for, by any thread.
class SiteTable {
 public:
  // The table of the running program. Throws Error(resource) if the program carries none.
  static const SiteTable& instance();
  // For tests: the table's text. Its parts, if it has any, must outlive this.
  explicit SiteTable(std::string_view text);

  // `offset` is a return address less text_begin(). 0 is the site of unknown code.
  std::uint32_t site_of(std::uint32_t offset) const {
    if (offset / 4 >= site_of_.size()) return 0;
    const std::uint32_t site = __atomic_load_n(&site_of_[offset / 4], __ATOMIC_ACQUIRE);
    return __builtin_expect(site != 0, 1) ? site : learn(offset);
  }
  // By what site_of() gave, and as many as the whole table has.
  const ZeroedArray<Site>& sites() const { return sites_; }
  const std::vector<SourceLine>& lines() const { return lines_; }
  const std::vector<BlockFma>& fmas() const { return fmas_; }
  const SourceLine& line_of(std::uint32_t offset) const {
    return lines_[sites_[site_of(offset)].source_line];
  }
  std::string kernel_name(std::uint32_t entry_offset) const;
  // The offset of the site that any place in the machine code calls, else of the last one in front
  // of it in the function. 0 where there is none.
  std::uint32_t site_near(std::uint32_t offset) const;

  static std::uintptr_t text_begin();

 private:
  struct Part {
    std::uint32_t offset;  // in the machine code, of its first byte
    std::string_view rows;
  };
  std::uint32_t learn(std::uint32_t offset) const;
  void read(std::string_view row) const;
  void show_found() const;

  std::vector<SourceLine> lines_;
  mutable std::mutex learning_;
  mutable std::vector<Part> parts_;             // of those that were read, no rows are left
  mutable ZeroedArray<std::uint32_t> site_of_;  // by offset / 4: two calls are never that close
  mutable ZeroedArray<Site> sites_;
  mutable std::uint32_t last_site_ = 0;
  mutable std::vector<BlockFma> fmas_;  // never moves
  mutable std::map<std::uint32_t, std::string> kernels_;
  // Offsets and sites of the part that is being read.
  mutable std::vector<std::pair<std::uint32_t, std::uint32_t>> found_;
};

}  // namespace warpladder::executor
