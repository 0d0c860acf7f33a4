#include "ladder/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "device/device.hpp"
#include "runtime/nvrtc.hpp"

namespace warpladder::ladder {
namespace {

// Filled during static initialisation, read afterwards.
std::map<std::pair<std::string, std::string>, AnyRung>& declared() {
  static std::map<std::pair<std::string, std::string>, AnyRung> rungs;
  return rungs;
}

}  // namespace

void AnyCall::throw_wrong_type() {
  throw std::logic_error("a rung was handed a call of another operator");
}

bool declare(AnyRung rung) {
  const std::pair<std::string, std::string> name{rung.op, rung.id};
  if (declared().emplace(name, std::move(rung)).second) return true;
  std::fprintf(stderr, "two rungs are named %s/%s\n", name.first.c_str(), name.second.c_str());
  std::abort();
}

const std::vector<AnyRung>& all_rungs() {
  static const std::vector<AnyRung> rungs = [] {
    std::vector<AnyRung> list;
    for (const auto& [key, rung] : declared()) list.push_back(rung);
    return list;
  }();
  return rungs;
}

std::vector<const AnyRung*> rungs_of(std::string_view op) {
  std::vector<const AnyRung*> rungs;
  for (const AnyRung& rung : all_rungs()) {
    if (rung.op == op) rungs.push_back(&rung);
  }
  return rungs;
}

const AnyRung& find_rung(std::string_view op, std::string_view id) {
  std::vector<std::string> names;
  for (const AnyRung* rung : rungs_of(op)) {
    if (rung->id == id) return *rung;
    names.push_back(rung->id);
  }
  const std::string close = did_you_mean(id, names);
  const std::string all =
      fmt::format("; 'warpladder list {}' shows the {} that there are", op, names.size());
  throw_bad_input(fmt::format("unknown rung {}{}",
                              in_quotes(fmt::format("{}/{}", op, id), kShownBytes),
                              close.empty() ? all : close));
}

bool has_gpu_flavour() {
  return std::ranges::any_of(all_rungs(), [](const AnyRung& rung) {
    return static_cast<bool>(rung.launcher(runtime::Flavour::gpu));
  });
}

std::string why_not(const AnyRung& rung, const runtime::Machine& machine) {
  const auto capability = [](int c) { return fmt::format("{}.{}", c / 10, c % 10); };
  const std::string code =
      fmt::format("this GPU runs code for compute capability {}", capability(machine.capability));
  if (rung.is_hopper && machine.capability == 90 && !machine.hopper_code) {
    return "its machine code, for compute capability 9.0a, does not run here";
  }
  if (rung.is_hopper && !machine.is_hopper()) {
    return fmt::format("it runs on compute capability 9.0 alone; {}", code);
  }
  if (machine.capability < rung.needs.capability) {
    return fmt::format("it needs compute capability {}; {}", capability(rung.needs.capability),
                       code);
  }
  if (rung.needs.met_by(machine)) return "";
  return fmt::format("its blocks need {} KB of shared memory; this GPU has {}",
                     (rung.needs.shared_bytes + 1023) / 1024,
                     machine.shared_bytes_per_block / 1024);
}

std::string why_not(const AnyRung& rung, runtime::Flavour flavour) {
  if (rung.launcher(flavour)) {
    if (flavour != runtime::Flavour::gpu) return "";
    const std::string reason = why_not(rung, device::machine(runtime::Target::gpu));
    if (!reason.empty() || !rung.needs.compiler || runtime::nvrtc().found()) return reason;
    return fmt::format("it is compiled at run time, and {}", runtime::nvrtc().why_not());
  }
  if (rung.on_host) return "a host function; it has no GPU form and nothing to count";
  if (flavour == runtime::Flavour::gpu && rung.is_hopper && has_gpu_flavour()) {
    return "this program was built without code for 9.0a";
  }
  if (flavour == runtime::Flavour::gpu) return "this program was built without the CUDA toolkit";
  return "a GPU kernel only";
}

std::string why_not(const AnyRung& rung, AnyCall call) {
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

Totals totals_of(const std::vector<executor::KernelCounts>& launches) {
  Totals t;
  for (const executor::KernelCounts& launch : launches) {
    for (const executor::AccessCounts& a : launch.accesses) {
      const bool load = a.kind == executor::AccessKind::load;
      if (a.space == executor::MemorySpace::global) {
        (load ? t.global_load_requests : t.global_store_requests) += a.requests;
        (load ? t.global_load_sectors : t.global_store_sectors) += a.sectors;
      } else {
        (load ? t.shared_load_requests : t.shared_store_requests) += a.requests;
        (load ? t.shared_load_wavefronts : t.shared_store_wavefronts) += a.wavefronts;
      }
    }
    for (const executor::EventCounts& e : launch.events) {
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
