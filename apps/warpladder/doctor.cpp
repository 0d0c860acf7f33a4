#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/provenance.hpp"
#include "lab/compile_flow.hpp"
#include "lab/verify.hpp"
#include "runtime/nvrtc.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace warpladder::app {
namespace {

using device::Availability;
using device::Fact;
using runtime::Target;

constexpr std::size_t kCopyBytes = std::size_t{64} << 20;  // beyond the caches of most processors
constexpr double kCopyBudgetSeconds = 0.15;

struct Missing {
  std::string what, remedy;
};

struct Diagnosis {
  std::vector<Fact> program, cpu, gpu;
  Availability cpu_availability, gpu_availability;
  std::optional<std::string> executor_fault;  // empty: it works; no value: it cannot be tried
  std::optional<double> copy_bytes_per_s;
  std::vector<Missing> missing;
};

// Bytes read and written per second by one core that copies; the best of what fits the budget.
std::optional<double> measure_copy_bandwidth() try {
  // Filled, so that the pages exist before the clock starts.
  const std::vector<char> from(kCopyBytes, 1);
  std::vector<char> to(kCopyBytes, 2);
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const Clock::time_point first = Clock::now();
  double best_s = std::numeric_limits<double>::infinity();
  do {
    const Clock::time_point begin = Clock::now();
    std::memcpy(to.data(), from.data(), kCopyBytes);
    best_s = std::min(best_s, seconds_since(begin));
  } while (seconds_since(first) < kCopyBudgetSeconds);
  return 2.0 * kCopyBytes / best_s;
} catch (const std::bad_alloc&) {
  return std::nullopt;  // a tight limit on memory is no reason to say nothing of the machine
}

// A kernel through the whole executor, with every access checked.
std::string try_executor() {
  lab::VerifyRequest request;
  request.rungs = {lab::select_one("vector_add/01_one_per_thread")};
  request.checking = lab::Checking::each_access;
  request.shape = {{1024}};
  for (const lab::VerifyRow& row : lab::verify(request)) {
    if (!row.skipped.empty()) return row.skipped;
    if (row.failures()) return row.worst()->failure;
  }
  return "";
}

// "12 of 90 rungs do not run" where code is wanting.
std::string rungs_that_do_not_run() {
  const auto& rungs = ladder::all_rungs();
  const auto hosts = std::ranges::count_if(rungs, &ladder::AnyRung::on_host);
  const auto missing = std::ranges::count_if(rungs, [](const ladder::AnyRung& rung) {
    return !rung.on_host && !ladder::why_not(rung, runtime::Flavour::gpu).empty();
  });
  return fmt::format("{} of {} rungs do not run", missing,
                     static_cast<std::ptrdiff_t>(rungs.size()) - hosts);
}

// No value where there is no nvcc that runs.
std::optional<lab::Toolkit> toolkit() try { return lab::find_toolkit(); } catch (const Error&) {
  return std::nullopt;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ..." → 580.95.05
std::string nvidia_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  bool after_module = false;
  for (std::string word; file >> word; after_module |= word == "Module") {
    if (after_module && word.find_first_of("0123456789") == 0) return word;
  }
  return "";
}

std::vector<Fact> program_facts(const std::optional<lab::Toolkit>& toolkit) {
  const nlohmann::json origin = provenance({});
  const auto text = [&](const char* key) { return origin[key].get<std::string>(); };
  const auto version = [](int v, int major, int minor) {
    return fmt::format("{}.{}.{}", v / major, v % major / minor, v % minor);
  };
  return {
      {"version", kVersion},
      {"commit", text("commit")},
      {"build",
       fmt::format("{}, {} {}", text("build_type"), origin["compiler"]["name"].get<std::string>(),
                   origin["compiler"]["version"].get<std::string>())},
      {"libraries",
       fmt::format("fmt {}, nlohmann-json {}.{}.{}, CLI11 {}", version(FMT_VERSION, 10000, 100),
                   NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                   NLOHMANN_JSON_VERSION_PATCH, CLI11_VERSION)},
      {"GPU flavour", ladder::has_gpu_flavour() ? "built" : "not built"},
      {"NVRTC", runtime::nvrtc().found()
                    ? fmt::format("{}, {}", runtime::nvrtc().version(), runtime::nvrtc().path())
                    : "not found: " + runtime::nvrtc().why_not()},
      {"nvcc", toolkit ? fmt::format("{}, {}", toolkit->version, toolkit->nvcc) : "not found"},
  };
}

std::vector<Missing> what_is_missing(const Availability& gpu, const std::string& driver,
                                     const std::optional<lab::Toolkit>& toolkit) {
  std::vector<Missing> missing;
  if (!ladder::has_gpu_flavour()) {
    missing.push_back({"the GPU flavour of the kernels",
                       toolkit ? "make CUDA=on (nvcc is here; this build left it out)"
                               : "install the CUDA toolkit 13 to build the GPU flavour "
                                 "(developer.nvidia.com/cuda-downloads), then make CUDA=on"});
  }
  if (ladder::has_gpu_flavour() && !runtime::nvrtc().found()) {
    missing.push_back({"NVRTC, which compiles expressions and row_21_constant_sizes at run time",
                       "install the CUDA toolkit, or name libnvrtc.so with WARPLADDER_NVRTC"});
  }
  if (toolkit && toolkit->nvdisasm.empty()) {
    missing.push_back({"nvdisasm, with which build and explain --sass show instructions",
                       "pip install nvidia-cuda-nvdisasm, and put its folder into PATH"});
  }
  if (toolkit && toolkit->cuobjdump.empty()) {
    missing.push_back({"cuobjdump, with which build shows what a fat binary holds",
                       "pip install nvidia-cuda-cuobjdump, and put its folder into PATH"});
  }
  if (driver.empty()) {
    missing.push_back({"the NVIDIA driver",
                       "on a machine with a GPU, install its driver "
                       "(nvidia-smi then lists the GPU)"});
  } else if (ladder::has_gpu_flavour() && !gpu.available) {
    missing.push_back(
        {"a GPU that answers: " + gpu.why_not, "nvidia-smi tells what the driver sees"});
  }
  if (const auto code = device::gpu_code()) {
    if (const auto better = device::better_code(*code)) {
      missing.push_back(
          {fmt::format("{}; {}", better->what, rungs_that_do_not_run()), better->remedy});
    }
  }
  return missing;
}

Diagnosis examine() {
  Diagnosis d;
  const std::optional<lab::Toolkit> cuda = toolkit();
  d.program = program_facts(cuda);
  d.cpu = device::facts(Target::cpu);
  d.cpu_availability = device::availability(Target::cpu);
  d.gpu = device::facts(Target::gpu);
  d.gpu_availability = device::availability(Target::gpu);
  const std::string driver = nvidia_driver();
  if (!driver.empty()) d.gpu.push_back({"NVIDIA driver", driver});
  if (d.cpu_availability.available) d.executor_fault = try_executor();
  d.copy_bytes_per_s = measure_copy_bandwidth();
  d.missing = what_is_missing(d.gpu_availability, driver, cuda);
  return d;
}

void print_report(const Diagnosis& d) {
  TextTable table({{"part"}, {"what"}, {"found"}});
  const auto add_part = [&](const char* part, const std::vector<Fact>& facts) {
    table.add_rule();
    for (const Fact& fact : facts) {
      table.add_row({&fact == facts.data() ? part : "", fact.name, fact.value});
    }
  };
  add_part("program", d.program);

  add_part("cpu", d.cpu);
  table.add_row(
      {"", "memory available",
       fmt::format("{:.1f} GiB", static_cast<double>(available_memory_bytes()) / 0x1p30)});
  if (d.copy_bytes_per_s) {
    table.add_row({"", "copy of 64 MiB by one core",
                   fmt::format("{:.2g} GB/s, read and written", *d.copy_bytes_per_s * 1e-9)});
  }
  if (!d.executor_fault) {
    table.add_row({"", "executor", {d.cpu_availability.why_not, Emphasis::bad}});
  } else if (d.executor_fault->empty()) {
    table.add_row(
        {"", "executor", {"works: 1024 additions right, every access checked", Emphasis::good}});
  } else {
    table.add_row({"", "executor", {*d.executor_fault, Emphasis::bad}});
  }

  add_part("gpu", d.gpu);
  if (!d.gpu_availability.available) {
    table.add_row({d.gpu.empty() ? "gpu" : "",
                   "GPU",
                   {"none: " + d.gpu_availability.why_not, Emphasis::dim}});
  }
  print(table);

  if (d.missing.empty()) return print_line("\nNothing is missing.");
  print_line("\nMissing:");
  for (const Missing& m : d.missing) print_line(fmt::format("- {}: {}", m.what, m.remedy));
}

nlohmann::json as_json(const std::vector<Fact>& facts) {
  nlohmann::json object = nlohmann::json::object();
  for (const Fact& fact : facts) object[fact.name] = fact.value;
  return object;
}

nlohmann::json as_json(const Diagnosis& d) {
  const auto part = [](const Availability& there, const std::vector<Fact>& facts) {
    nlohmann::json object{{"available", there.available}, {"facts", as_json(facts)}};
    if (!there.available) object["why_not"] = there.why_not;
    return object;
  };
  nlohmann::json cpu = part(d.cpu_availability, d.cpu);
  cpu["memory_available_bytes"] = available_memory_bytes();
  cpu["executor_works"] = d.executor_fault && d.executor_fault->empty();
  if (d.copy_bytes_per_s) cpu["copy_bytes_per_s"] = *d.copy_bytes_per_s;
  nlohmann::json missing = nlohmann::json::array();
  for (const Missing& m : d.missing) missing.push_back({{"what", m.what}, {"remedy", m.remedy}});
  return {{"verb", "doctor"},
          {"program", as_json(d.program)},
          {"targets", {{"cpu", cpu}, {"gpu", part(d.gpu_availability, d.gpu)}}},
          {"missing", missing}};
}

void doctor(const JsonFlag& json, const Context& context) {
  const Diagnosis diagnosis = examine();
  print_report(diagnosis);
  if (json.asked()) json.write(context, as_json(diagnosis));
  if (diagnosis.executor_fault && !diagnosis.executor_fault->empty()) {
    throw_resource("the executor does not work here: " + *diagnosis.executor_fault);
  }
  if (!diagnosis.cpu_availability.available && !diagnosis.gpu_availability.available) {
    throw_resource("no kernel can run here: " + diagnosis.cpu_availability.why_not + ", and " +
                   diagnosis.gpu_availability.why_not);
  }
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("doctor", "The machine, and what is missing on it");
  const auto json = std::make_shared<JsonFlag>();
  json->add_to(*verb);
  verb->callback([json, &context] { doctor(*json, context); });
}

}  // namespace warpladder::app
