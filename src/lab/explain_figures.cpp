#include "lab/explain_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/with_commas.hpp"
#include "executor/bank_groups.hpp"
#include "lab/explain_words.hpp"
#include "lab/plot.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::LaneAddress;
using executor::MemorySpace;
using executor::Request;

constexpr unsigned kBanks = 32, kLanes = 32, kWordBytes = 4;
constexpr std::uint64_t kSectorBytes = 32, kLineBytes = 128;

std::string per_request(std::uint64_t sum, const AccessCounts& a) {
  return fmt::format("{:.3g}", static_cast<double>(sum) / static_cast<double>(a.requests));
}

// "The worst of 4,096 requests: 32 wavefronts. On average 31.2; 1 would do."
std::string caption_of(const AccessCounts& a) {
  const bool shared = a.space == MemorySpace::shared;
  const char* const unit = shared ? "wavefront" : "sector";
  return fmt::format("The worst of {} {}: {} {}{}. On average {}; {} would do.",
                     with_commas(a.requests), a.requests == 1 ? "request" : "requests", a.worst,
                     unit, a.worst == 1 ? "" : "s",
                     per_request(shared ? a.wavefronts : a.sectors, a),
                     per_request(shared ? a.ideal_wavefronts : a.ideal_sectors, a));
}

unsigned words_of(const AccessCounts& a) {
  return std::max(1u, static_cast<unsigned>(a.bytes) / kWordBytes);
}

unsigned group_lanes_of(const AccessCounts& a, const Request& request) {
  std::vector<std::uint64_t> address;
  std::vector<std::uint8_t> lane;
  for (const LaneAddress& at : request) {
    address.push_back(at.offset);
    lane.push_back(static_cast<std::uint8_t>(at.lane));
  }
  return executor::lanes_at_once(address.data(), lane.data(), static_cast<int>(request.size()),
                                 static_cast<unsigned>(a.bytes),
                                 a.kind == executor::AccessKind::load);
}

// The words that the lanes of each group ask each bank for: a group is what is served at once.
using BankWords = std::map<std::pair<unsigned, unsigned>, std::set<std::uint64_t>>;

BankWords bank_words(const Request& request, unsigned words, unsigned group_lanes) {
  BankWords asked;
  for (const LaneAddress& at : request) {
    for (unsigned k = 0; k < words; ++k) {
      const std::uint64_t word = at.offset / kWordBytes + k;
      asked[{at.lane / group_lanes, word % kBanks}].insert(word);
    }
  }
  return asked;
}

// Numbers along an edge of a map: the first, each eighth, the last.
bool is_labelled(unsigned i, unsigned count) { return i % 8 == 0 || i + 1 == count; }

}  // namespace

Figure bank_map(const AccessCounts& access, const Request& request) {
  constexpr double kCell = 14, kLeft = 44, kTop = 36;
  const unsigned words = words_of(access);
  const unsigned group_lanes = group_lanes_of(access, request);
  const BankWords asked = bank_words(request, words, group_lanes);
  const double width = kLeft + kCell * kBanks + 10, height = kTop + kCell * kLanes + 8;
  std::string out = opened(width, height, "lanes and banks");
  out += text_at(kLeft + kCell * kBanks / 2, 12, "bank", "faint", 12, "middle");
  out += text_at(4, kTop - 6, "lane", "faint", 12);
  std::string cells;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double y = kTop + kCell * lane;
    if (is_labelled(lane, kLanes)) {
      out += text_at(kLeft - 6, y + 11, std::to_string(lane), "faint", 10, "end");
    }
    for (unsigned bank = 0; bank < kBanks; ++bank) {
      cells += fmt::format("M{} {}h12v12h-12z", kLeft + kCell * bank, y);
    }
  }
  for (unsigned bank = 0; bank < kBanks; ++bank) {
    if (!is_labelled(bank, kBanks)) continue;
    out += text_at(kLeft + kCell * bank + 6, kTop - 6, std::to_string(bank), "faint", 10, "middle");
  }
  out += fmt::format("<path class=\"cell\" d=\"{}\"/>\n", cells);
  for (const LaneAddress& at : request) {
    for (unsigned k = 0; k < words; ++k) {
      const std::uint64_t word = at.offset / kWordBytes + k;
      const auto bank = static_cast<unsigned>(word % kBanks);
      const std::size_t rivals = asked.at({at.lane / group_lanes, bank}).size();
      out += with_title(fmt::format("lane {}: word {} of bank {}{}", at.lane, word / kBanks, bank,
                                    rivals == 1 ? "" : fmt::format(", one of {} words", rivals)),
                        rectangle(kLeft + kCell * bank, kTop + kCell * at.lane, 12, 12,
                                  rivals == 1 ? "c0" : "c7"));
    }
  }
  return {out + "</svg>",
          caption_of(access) + " Red: the bank is asked for several words, one a wavefront."};
}

Figure sector_map(const AccessCounts& access, const Request& request) {
  constexpr double kWord = 18, kRow = 16, kLeft = 96, kTop = 32;
  constexpr double kByte = kWord / kWordBytes;
  std::set<std::uint64_t> sectors, lines;
  for (const LaneAddress& at : request) {
    const std::uint64_t last = at.offset + static_cast<std::uint64_t>(access.bytes) - 1;
    for (std::uint64_t s = at.offset / kSectorBytes; s <= last / kSectorBytes; ++s) {
      sectors.insert(s);
      lines.insert(s * kSectorBytes / kLineBytes);
    }
  }
  const auto row_of = [&](std::uint64_t line) {
    return kTop + kRow * static_cast<double>(std::distance(lines.begin(), lines.find(line)));
  };
  const double width = kLeft + kLineBytes * kByte + 10;
  std::string out =
      opened(width, kTop + kRow * static_cast<double>(lines.size()) + 6, "lanes and sectors");
  out += text_at(4, 12, "bytes from the", "faint", 12) + text_at(4, 26, "first line", "faint", 12);
  for (unsigned s = 0; s < kLineBytes / kSectorBytes; ++s) {
    out += text_at(kLeft + kByte * kSectorBytes * (s + 0.5), 26, fmt::format("sector {}", s),
                   "faint", 12, "middle");
  }
  for (const std::uint64_t line : lines) {
    out += text_at(kLeft - 8, row_of(line) + 12, fmt::format("+{}", with_commas(line * kLineBytes)),
                   "faint", 12, "end");
  }
  for (const std::uint64_t sector : sectors) {
    const std::uint64_t byte = sector * kSectorBytes;
    out += rectangle(kLeft + static_cast<double>(byte % kLineBytes) * kByte + 1,
                     row_of(byte / kLineBytes), kSectorBytes * kByte - 2, kRow - 3, "moved");
  }
  for (const LaneAddress& at : request) {
    const double x = kLeft + static_cast<double>(at.offset % kLineBytes) * kByte;
    out += with_title(fmt::format("lane {}: {} bytes at +{}", at.lane, access.bytes, at.offset),
                      rectangle(x + 2, row_of(at.offset / kLineBytes) + 1, access.bytes * kByte - 4,
                                kRow - 5, "c0"));
  }
  return {out + "</svg>",
          caption_of(access) +
              " Outlines: sectors that move, 32 bytes each. Filled: what a lane asked for."};
}

Figure roofline(const std::vector<const Explanation*>& explanations) {
  constexpr double kWidth = 900;
  struct Point {
    std::string name, roof;
    double intensity, flops_per_s;
    std::size_t colour;
  };
  std::vector<Point> points;
  std::vector<std::string> names;
  for (const Explanation* e : explanations) {
    if (e->flops <= 0) continue;
    for (const Roof& roof : e->roofs()) {
      if (roof.bytes <= 0) continue;
      points.push_back({e->rung, roof.name, e->flops / roof.bytes, e->ceiling(roof), names.size()});
    }
    names.push_back(e->rung);
  }
  if (points.empty()) return {};
  const Gpu& gpu = *explanations.front()->gpu;
  const double top = gpu.fp32_flops_per_s();
  LogAxis x{.begin = 80, .end = kWidth - 30}, y{.begin = 380, .end = 30};
  y.include(top);
  for (const double rate : {gpu.dram_bytes_per_s, gpu.l1_bytes_per_s()}) x.include(top / rate);
  for (const Point& p : points) {
    x.include(p.intensity);
    y.include(p.flops_per_s);
  }
  x.close();
  y.close();
  std::string out = opened(kWidth, 460 + 20 * static_cast<double>(names.size() / 4), "roofline") +
                    grid(x, y, "FLOP for each byte", kRoofSpeed, 1e-12);
  const auto slope = [&](double rate, const char* name) {
    const double from = std::max(x.low, y.low / rate), to = std::clamp(top / rate, x.low, x.high);
    out +=
        line_from(x.at(from), y.at(from * rate), x.at(to), y.at(std::min(top, to * rate)), "roof");
    const double middle = std::sqrt(from * to);  // what stands right of it is below the line
    out += text_at(x.at(middle) + 14, y.at(middle * rate) + 4,
                   fmt::format("{} {:.3g} TB/s", name, rate * 1e-12), "ink", 12);
  };
  slope(gpu.dram_bytes_per_s, "DRAM");
  slope(gpu.l1_bytes_per_s(), "L1");
  out += line_from(x.at(std::clamp(top / gpu.l1_bytes_per_s(), x.low, x.high)), y.at(top), x.end,
                   y.at(top), "roof");
  out += text_at(x.end - 4, y.at(top) - 6, fmt::format("FP32 {:.3g} TFLOP/s", top * 1e-12), "ink",
                 12, "end");
  for (const Point& p : points) {
    out += with_title(fmt::format("{}: {}, {:.3g} FLOP/byte, {:.3g} {}", p.name, p.roof,
                                  p.intensity, p.flops_per_s * 1e-12, kRoofSpeed),
                      dot(x.at(p.intensity), y.at(p.flops_per_s), p.colour, true));
  }
  out += legend(names, 444);
  return {out + "</svg>",
          fmt::format("{}. A dot for each roof: the bytes that come through it, and "
                      "the speed it leaves. The lowest dot binds. Nothing is timed.",
                      gpu.name)};
}

}  // namespace warpladder::lab
