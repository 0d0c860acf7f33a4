#pragma once
// Joins a warp's requests to neighbouring words into wider requests, as a compiler does that knows
// the addresses to be neighbours.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace warpladder::executor {

class RequestMerger {
 public:
  // address[i] is what lane[i] asks for, `bytes` wide; n in 1 … 32. `widths` is the sum of those
  // that a request may have. Requests of one `kind` are joined; `site` comes back with those that
  // this one becomes part of, unless another was there before it. Calls emit(site, addresses,
  // lanes, n, bytes).
  template <class Emit>
  void add(std::uint32_t kind, std::uint32_t site, const std::uint64_t* address,
           const std::uint8_t* lane, int n, unsigned bytes, unsigned widths, const Emit& emit) {
    const unsigned unit = unit_of(address, n);
    if (unit <= bytes) return emit(site, address, lane, n, bytes);
    const unsigned offset = address[0] % unit;
    const std::uint32_t pieces = ((1u << bytes) - 1) << offset;
    for (std::size_t at = 0; at < open_.size(); ++at) {
      Open& o = open_[at];
      if (o.kind != kind || o.unit != unit || !same_units(o, address, lane, n)) continue;
      if (!(o.pieces & pieces) && o.bytes == bytes) {
        o.pieces |= pieces;
        o.widths |= widths;
        return;
      }
      close(o, emit);  // asked for again
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    }
    if (open_.size() == kMostOpen) {
      close(open_.front(), emit);
      open_.erase(open_.begin());
    }
    Open& o = open_.emplace_back();
    o.kind = kind;
    o.site = site;
    o.bytes = bytes;
    o.unit = unit;
    o.widths = widths;
    o.pieces = pieces;
    o.n = n;
    for (int i = 0; i < n; ++i) {
      o.base[i] = address[i] - offset;
      o.lane[i] = lane[i];
    }
  }

  // Nothing of what was added so far is joined with what comes later.
  template <class Emit>
  void flush(const Emit& emit) {
    for (Open& o : open_) close(o, emit);
    open_.clear();
  }

 private:
  static constexpr unsigned kWidest = 16;
  static constexpr std::size_t kMostOpen = 64;

  // Requests to the same `unit` bytes of each lane that may still become wider.
  struct Open {
    std::uint32_t kind = 0, site = 0;
    unsigned bytes = 0, unit = 0, widths = 0;
    std::uint32_t pieces = 0;  // a bit for each byte of the unit
    int n = 0;
    std::uint64_t base[32];
    std::uint8_t lane[32];
  };

  // The widest that all lanes can become at once: as far as they are equally aligned.
  static unsigned unit_of(const std::uint64_t* address, int n) {
    std::uint64_t differ = 0;
    for (int i = 1; i < n; ++i) differ |= address[i] ^ address[0];
    unsigned unit = kWidest;
    while (differ & (unit - 1)) unit /= 2;
    return unit;
  }

  static bool same_units(const Open& o, const std::uint64_t* address, const std::uint8_t* lane,
                         int n) {
    if (o.n != n || !std::equal(lane, lane + n, o.lane)) return false;
    for (int i = 0; i < n; ++i) {
      if (address[i] / o.unit != o.base[i] / o.unit) return false;
    }
    return true;
  }

  // The widest requests first, each aligned to its width.
  template <class Emit>
  static void close(Open& o, const Emit& emit) {
    for (unsigned width = o.unit; width >= o.bytes && o.pieces; width /= 2) {
      if (width > o.bytes && !(o.widths & width)) continue;
      const std::uint32_t whole = (1u << width) - 1;
      for (unsigned offset = 0; offset < o.unit; offset += width) {
        if ((o.pieces >> offset & whole) != whole) continue;
        o.pieces &= ~(whole << offset);
        std::uint64_t address[32];
        for (int i = 0; i < o.n; ++i) address[i] = o.base[i] + offset;
        emit(o.site, address, o.lane, o.n, width);
      }
    }
  }

  std::vector<Open> open_;
};

}  // namespace warpladder::executor
