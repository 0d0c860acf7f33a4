// What compiling a product for its sizes gains, what fusing an epilogue gains, and what compiling
// costs. Needs a GPU and NVRTC, and nothing of the lab.
//
//   run_time_compilation --json FILE

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "../gpu_program.hpp"
#include "base/atomic_file.hpp"
#include "base/provenance.hpp"
#include "base/scratch_folder.hpp"
#include "ops/sgemm/compiled_text.hpp"
#include "ops/sgemm/gemm.hpp"
#include "ops/sgemm/plan.hpp"
#include "runtime/compile.hpp"
#include "runtime/compiled_kernel.hpp"
#include "runtime/expression.hpp"
#include "warpladder/warpladder.hpp"

namespace warpladder::sgemm::gpu {
WARPLADDER_USES_RUNG(row_07_register_parity);
WARPLADDER_USES_RUNG(row_21_constant_sizes);
}  // namespace warpladder::sgemm::gpu

namespace warpladder::run_time_compilation {
namespace {

using nlohmann::json;
using warpladder::require;
using Clock = std::chrono::steady_clock;

void require(const runtime::Status& status) {
  if (!status.ok()) throw_resource(status.sentence);
}
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Gpu : GpuTimer {
  Gpu() {
    int error = 0;
    machine = runtime::machine_of(0, runtime::device_code(), &error);
    require(static_cast<cudaError_t>(error), "the device");
    handle.set_arithmetic(Arithmetic::cuda_cores);
  }
  runtime::StreamView view() const { return {.native = stream, .machine = &machine}; }

  Handle handle, accurate;
  runtime::Machine machine;
};

class Floats {
 public:
  Floats(std::size_t count, unsigned seed) : count_(count) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(generator);
    require(cudaMalloc(&data_, bytes()), "device memory");
    require(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "a copy");
    require(cudaDeviceSynchronize(), "a copy");  // the streams here do not wait for it
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { cudaFree(data_); }
  float* data() const { return static_cast<float*>(data_); }
  std::vector<float> download() const {
    std::vector<float> values(count_);
    require(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), "a copy");
    return values;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(float); }
  std::size_t count_;
  void* data_ = nullptr;
};

struct Contestant {
  std::string name;
  std::function<void()> launch;
  json facts = json::object();
};

// Turns of all contestants, until each has its samples. A sample is so many launches in a row that
// they take about a millisecond.
void race(const Gpu& gpu, const std::vector<Contestant>& contestants, json row, json* rows) {
  constexpr int kSamples = 15;
  constexpr double kSample_s = 1e-3;
  const auto sample = [&](const Contestant& contestant, int launches) {
    return gpu.seconds(launches, contestant.launch);
  };
  std::vector<int> launches;
  for (const Contestant& contestant : contestants) {
    sample(contestant, 2);
    const double time_s = std::max(sample(contestant, 5), 1e-7);
    launches.push_back(std::clamp(static_cast<int>(kSample_s / time_s), 1, 500));
  }
  std::vector<std::vector<double>> samples(contestants.size());
  for (int turn = 0; turn < kSamples; ++turn) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      samples[i].push_back(sample(contestants[i], launches[i]));
    }
  }
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    json entry = contestants[i].facts;
    entry.update({{"name", contestants[i].name},
                  {"samples_s", samples[i]},
                  {"median_s", median(samples[i])}});
    fmt::print("  {:<40} {:10.2f} µs\n", contestants[i].name, median(samples[i]) * 1e6);
    row["contestants"].push_back(std::move(entry));
  }
  rows->push_back(std::move(row));
}

struct Shape {
  std::int64_t m, n, k;
};

// Throws if the product differs from the first contestant's by more than roundings.
void compare(const std::vector<float>& got, const std::vector<float>& wanted, std::int64_t k,
             const std::string& name) {
  const float bound = 1e-5f * std::sqrt(static_cast<float>(k)) + 1e-5f;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::fabs(got[i] - wanted[i]) <= bound)) {
      throw Error(ErrorCode::check_failed,
                  fmt::format("{}: element {} is {}, not {}", name, i, got[i], wanted[i]));
    }
  }
}

std::string text_of(const sgemm::CompiledTile& tile) {
  return fmt::format("{}x{}", tile.rows, tile.columns);
}

// A kernel of NVRTC, and its launch with these arguments.
template <class... Arguments>
std::function<void()> compiled_launch(const Gpu& gpu, const std::string& source,
                                      const std::string& kernel, unsigned blocks, unsigned threads,
                                      const Arguments&... given) {
  const void* ready = nullptr;
  require(runtime::compiled_kernel(source, kernel, true, &ready));
  return [&gpu, ready, blocks, threads, ... arguments = given]() mutable {
    runtime::StreamView view = gpu.view();
    void* pointers[] = {&arguments...};
    runtime::LaunchConfig config;
    config.grid = {blocks};
    config.block = {threads};
    runtime::gpu_launch(view, ready, config, pointers);
    require(static_cast<cudaError_t>(view.error), "a launch");
  };
}

constexpr auto* kGeneral = &sgemm::gpu::rung_row_07_register_parity;
constexpr auto* kCompiled = &sgemm::gpu::rung_row_21_constant_sizes;
void launch(const Gpu& gpu, const ladder::Rung<sgemm::Call>* rung, const sgemm::Call& call) {
  runtime::StreamView view = gpu.view();
  rung->launch(call, view);
  require(static_cast<cudaError_t>(view.error), "a launch");
}

void race_sizes(const Gpu& gpu, json* rows) {
  const std::string plain =
      std::string(sgemm::kCompiledSource) + "using Function = warpladder::parts::AsItIs;\n";
  for (const auto& [m, n, k] : {Shape{128, 128, 128},
                                {256, 256, 256},
                                {512, 512, 512},
                                {1000, 1000, 1000},
                                {1024, 1024, 1024},
                                {1023, 1025, 513},
                                {2048, 2048, 2048},
                                {4096, 4096, 4096},
                                {4096, 4096, 64},
                                {256, 4096, 4096},
                                {512, 512, 8192},
                                {4096, 512, 512}}) {
    fmt::print("sgemm {}x{}x{}\n", m, n, k);
    const Floats a(static_cast<std::size_t>(m * k), 1), b(static_cast<std::size_t>(k * n), 2),
        c(static_cast<std::size_t>(m * n), 3);
    const sgemm::Problem p = sgemm::compact(m, n, k);
    const sgemm::Call call{p, a.data(), b.data(), c.data()};
    std::vector<Contestant> all;
    all.push_back({"row_07_register_parity", [&gpu, call] { launch(gpu, kGeneral, call); }});
    all.push_back({"row_21_constant_sizes", [&gpu, call] { launch(gpu, kCompiled, call); }});
    all.push_back({"library, CUDA cores", [&gpu, m, n, k, call] {
                     gpu.handle.sgemm(Layout::row_major, m, n, k, 1.0f, {call.a, k}, {call.b, n},
                                      0.0f, {call.c, n}, gpu.stream);
                   }});
    const int vector = sgemm::vector_of(call), chosen = sgemm::compiled_tile(m, n, gpu.machine);
    for (int i = 0; i < static_cast<int>(std::size(sgemm::kCompiledTiles)); ++i) {
      const sgemm::CompiledTile& tile = sgemm::kCompiledTiles[i];
      const auto blocks = static_cast<unsigned>(tile.ctas(m, n)),
                 threads = static_cast<unsigned>(tile.threads());
      json facts = {{"tile", text_of(tile)}, {"chosen", i == chosen}};
      all.push_back(
          {"variables, " + text_of(tile),
           compiled_launch(
               gpu, plain, finished_product(p, vector, tile).text, blocks, threads,
               sgemm::Gemm{m, n, k, 1.0f, 0.0f, call.a, k, call.b, n, call.c, n, nullptr}),
           facts});
      all.push_back(
          {"constants, " + text_of(tile),
           compiled_launch(gpu, sgemm::kCompiledSource, constant_product(p, vector, tile).text,
                           blocks, threads, sgemm::ProductData{call.a, call.b, call.c, 1.0f, 0.0f}),
           facts});
    }
    std::vector<float> wanted;
    for (const Contestant& contestant : all) {
      require(cudaMemset(call.c, 0xff, sizeof(float) * static_cast<std::size_t>(m * n)), "a fill");
      require(cudaDeviceSynchronize(), "a fill");
      contestant.launch();
      require(cudaDeviceSynchronize(), contestant.name.c_str());
      const std::vector<float> got = c.download();
      if (wanted.empty()) wanted = got;
      compare(got, wanted, k, contestant.name);
    }
    race(gpu, all, {{"m", m}, {"n", n}, {"k", k}}, rows);
  }
}

// A product and a leaky ReLU: in one kernel, and as two.
void race_epilogues(const Gpu& gpu, json* rows) {
  const char* const expression = "x > 0 ? x : 0.1f*x";
  const Epilogue fused(gpu.handle, expression), behind(gpu.accurate, expression);
  const std::string map = "#include \"parts/element_map.hpp\"\n" +
                          runtime::function_object("const float x", expression);
  for (const std::int64_t n : {std::int64_t{1024}, std::int64_t{2048}, std::int64_t{4096}}) {
    fmt::print("epilogue {}x{}x{}\n", n, n, n);
    const auto elements = static_cast<std::size_t>(n * n);
    const Floats a(elements, 1), b(elements, 2), c(elements, 3);
    const auto product = [&, n](const Handle& handle) {
      handle.sgemm(Layout::row_major, n, n, n, 1.0f, {a.data(), n}, {b.data(), n}, 0.0f,
                   {c.data(), n}, gpu.stream);
    };
    const auto with = [&, n](const Epilogue& epilogue) {
      epilogue.sgemm(Layout::row_major, n, n, n, 1.0f, {a.data(), n}, {b.data(), n}, 0.0f,
                     {c.data(), n}, gpu.stream);
    };
    const auto pass = compiled_launch(gpu, map, "warpladder::parts::map_elements<Function, 4>",
                                      16 * static_cast<unsigned>(gpu.machine.multiprocessors), 256,
                                      c.data(), n, n, n);
    race(gpu,
         {{"CUDA cores: sgemm", [&] { product(gpu.handle); }},
          {"CUDA cores: sgemm, then a pass",
           [&] {
             product(gpu.handle);
             pass();
           }},
          {"CUDA cores: sgemm_epilogue", [&] { with(fused); }},
          {"accurate: sgemm", [&] { product(gpu.accurate); }},
          {"accurate: sgemm_epilogue", [&] { with(behind); }}},
         {{"m", n}, {"n", n}, {"k", n}, {"expression", expression}}, rows);
  }
}

void race_reductions(const Gpu& gpu, json* rows) {
  const BinaryOp greatest(gpu.handle, "a > b ? a : b", -INFINITY);
  for (const std::int64_t n : {std::int64_t{1} << 16, std::int64_t{1} << 20, std::int64_t{1} << 24,
                               std::int64_t{1} << 27}) {
    fmt::print("reduce {}\n", n);
    const Floats x(static_cast<std::size_t>(n), 1), result(2, 2);
    race(gpu,
         {{"reduce, max",
           [&] { gpu.handle.reduce(Reduction::max, n, x.data(), result.data(), gpu.stream); }},
          {"reduce_with, a > b ? a : b",
           [&] { greatest.reduce(n, x.data(), result.data() + 1, gpu.stream); }}},
         {{"n", n}}, rows);
    const std::vector<float> got = result.download();
    if (got[0] != got[1]) {
      throw Error(ErrorCode::check_failed, fmt::format("max: {} and {}", got[0], got[1]));
    }
  }
}

// Seconds to compile, to take from the cache on disk, and to ask for again in the process.
void measure_costs(const Gpu& gpu, json* rows) {
  const std::string map = runtime::function_object("const float x", "x > 0 ? x : 0.1f*x"),
                    fold = runtime::function_object("const float a, const float b", "a + b");
  const sgemm::Problem p = sgemm::compact(1536, 1536, 1536);
  const sgemm::CompiledTile& tile = sgemm::kCompiledTiles[0];
  const struct {
    const char* name;
    runtime::KernelText text;
  } kernels[] = {
      {"product with constant sizes", {sgemm::kCompiledSource, constant_product(p, 4, tile).text}},
      {"product with an epilogue",
       {sgemm::kCompiledSource + map, finished_product(p, 4, tile).text}},
      {"element-wise pass",
       {"#include \"parts/element_map.hpp\"\n" + map,
        "warpladder::parts::map_elements<Function, 4>"}},
      {"reduction", {"#include \"parts/fold.hpp\"\n" + fold, "warpladder::parts::fold<Function>"}}};
  int driver = 0;
  require(cudaDriverGetVersion(&driver), "the driver");
  constexpr int kTimes = 3;
  for (const auto& [name, text] : kernels) {
    std::vector<double> cold, warm, again;
    std::size_t bytes = 0;
    for (int i = 0; i < kTimes; ++i) {
      const ScratchFolder folder;
      const runtime::CodeCache cache(folder.path());
      for (std::vector<double>* seconds : {&cold, &warm}) {
        runtime::CompiledCode code;
        const auto begin = Clock::now();
        require(
            runtime::compile(text, gpu.machine.capability, driver, runtime::nvrtc(), cache, &code));
        seconds->push_back(seconds_since(begin));
        bytes = code.code.size();
      }
    }
    const void* ready = nullptr;
    require(runtime::compiled_kernel(text.source, text.kernel, true, &ready));
    constexpr int kCalls = 10000;
    for (int i = 0; i < kTimes; ++i) {
      const auto begin = Clock::now();
      for (int c = 0; c < kCalls; ++c) {
        require(runtime::compiled_kernel(text.source, text.kernel, true, &ready));
      }
      again.push_back(seconds_since(begin) / kCalls);
    }
    fmt::print("{:<30} cold {:.3f} s, from disk {:.6f} s, again {:.9f} s\n", name, median(cold),
               median(warm), median(again));
    rows->push_back({{"kernel", name},
                     {"code_bytes", bytes},
                     {"cold_s", cold},
                     {"from_disk_s", warm},
                     {"in_process_s", again}});
  }
}

int run(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], "--json") != 0) {
    throw_bad_input("usage: run_time_compilation --json FILE");
  }
  const auto begin = Clock::now();
  const bool found = runtime::nvrtc().found();
  const double load_s = seconds_since(begin);
  if (!found) throw_resource(runtime::nvrtc().why_not());
  const Gpu gpu;
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0), "the device");
  int driver = 0, toolkit = 0;
  require(cudaDriverGetVersion(&driver), "the driver");
  require(cudaRuntimeGetVersion(&toolkit), "the runtime");
  json report = provenance({argv, static_cast<std::size_t>(argc)});
  report.update({{"program", "run_time_compilation"},
                 {"gpu", properties.name},
                 {"cuda_driver", driver},
                 {"cuda_runtime", toolkit},
                 {"nvrtc", runtime::nvrtc().version()},
                 {"nvrtc_load_s", load_s}});
  for (const char* table : {"sizes", "epilogues", "reductions", "costs"}) {
    report[table] = json::array();
  }
  race_sizes(gpu, &report["sizes"]);
  race_epilogues(gpu, &report["epilogues"]);
  race_reductions(gpu, &report["reductions"]);
  measure_costs(gpu, &report["costs"]);
  write_file(argv[2], report.dump() + "\n");
  return 0;
}

}  // namespace
}  // namespace warpladder::run_time_compilation

int main(int argc, char** argv) {
  return warpladder::exit_code_of("run_time_compilation", warpladder::run_time_compilation::run,
                                  argc, argv);
}
