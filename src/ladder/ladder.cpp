#include "ladder/ladder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/error.hpp"

namespace warpladder::ladder {
namespace {

// Filled during static initialisation, read afterwards.
std::map<std::pair<std::string, std::string>, Rung>& declared() {
  static std::map<std::pair<std::string, std::string>, Rung> rungs;
  return rungs;
}

}  // namespace

bool declare(const Declaration& d) {
  std::string id = std::filesystem::path(d.file).stem().string();
  if (id.ends_with(".sm90a")) id.resize(id.size() - 6);
  Rung& rung = declared()[{d.op, id}];
  Launcher& slot = rung.launch[static_cast<int>(d.flavour)];
  if (slot) {
    std::fprintf(stderr, "two rungs are named %s/%s\n", d.op, id.c_str());
    std::abort();
  }
  slot = d.launch;
  rung.op = d.op;
  rung.id = id;
  rung.idea = d.idea;
  rung.accepts = d.accepts;
  rung.on_host = d.on_host;
  rung.predict = d.predict;
  rung.takes = d.takes;
  rung.arithmetic = d.arithmetic;
  rung.prepare[static_cast<int>(d.flavour)] = d.prepare;
  return true;
}

const std::vector<Rung>& all_rungs() {
  static const std::vector<Rung> rungs = [] {
    std::vector<Rung> list;
    for (const auto& [key, rung] : declared()) list.push_back(rung);
    return list;
  }();
  return rungs;
}

std::vector<const Rung*> rungs_of(std::string_view op) {
  std::vector<const Rung*> rungs;
  for (const Rung& rung : all_rungs()) {
    if (rung.op == op) rungs.push_back(&rung);
  }
  return rungs;
}

const Rung& find_rung(std::string_view op, std::string_view id) {
  std::vector<std::string> names;
  for (const Rung* rung : rungs_of(op)) {
    if (rung->id == id) return *rung;
    names.push_back(rung->id);
  }
  throw_bad_input(
      fmt::format("unknown rung '{}/{}'; the rungs are: {}", op, id, fmt::join(names, ", ")));
}

std::string why_not(const Rung& rung, device::Flavour flavour) {
  if (rung.launcher(flavour)) return "";
  if (rung.on_host) return "a host function; it has no GPU form and nothing to count";
  if (flavour == device::Flavour::gpu) return "this program was built without the CUDA toolkit";
  return "a GPU kernel only";
}

std::string why_not(const Rung& rung, const void* call) {
  return !rung.takes || rung.takes(call) ? "" : "it accepts only " + rung.accepts;
}

bool agrees(const Totals& counted, const Totals& predicted) {
  const auto same = [&](std::uint64_t Totals::*total) {
    return predicted.*total == kNotPredicted || predicted.*total == counted.*total;
  };
  return same(&Totals::global_load_requests) && same(&Totals::global_load_sectors) &&
         same(&Totals::global_store_requests) && same(&Totals::global_store_sectors) &&
         same(&Totals::shared_load_requests) && same(&Totals::shared_load_wavefronts) &&
         same(&Totals::shared_store_requests) && same(&Totals::shared_store_wavefronts) &&
         same(&Totals::fmas) && same(&Totals::barriers) && same(&Totals::shuffles) &&
         same(&Totals::bulk_bytes) && same(&Totals::tensor_fmas);
}

Totals totals_of(const std::vector<device::KernelCounts>& launches) {
  Totals t;
  for (const device::KernelCounts& launch : launches) {
    for (const device::AccessCounts& a : launch.accesses) {
      const bool load = a.kind == device::AccessKind::load;
      if (a.space == device::MemorySpace::global) {
        (load ? t.global_load_requests : t.global_store_requests) += a.requests;
        (load ? t.global_load_sectors : t.global_store_sectors) += a.sectors;
      } else {
        (load ? t.shared_load_requests : t.shared_store_requests) += a.requests;
        (load ? t.shared_load_wavefronts : t.shared_store_wavefronts) += a.wavefronts;
      }
    }
    for (const device::EventCounts& e : launch.events) {
      t.fmas += e.fmas;
      t.barriers += e.barriers;
      t.shuffles += e.shuffles;
      t.bulk_bytes += e.bulk_bytes;
      t.tensor_fmas += e.tensor_fmas;
    }
  }
  return t;
}

}  // namespace warpladder::ladder
