// How fast the executor is. It is the time of a 512×512×512 product under it, as a ratio to the
// plain serial triple loop in the same process. Usage: executor_speed [--json FILE]
//
// Measurements are interleaved round by round, so that a slow spell of the machine meets them all;
// the ratio reported is that of the medians. Each result is compared with the serial loop's.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/provenance.hpp"
#include "base/random_fill.hpp"
#include "base/text_table.hpp"
#include "device/device.hpp"
#include "executor/executor.hpp"
#include "executor_speed/kernels.hpp"
#include "lab/bench.hpp"
#include "ladder/ladder.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::executor_speed {
namespace {

constexpr int kN = 512, kRounds = 7;

struct Row {
  std::string name;
  unsigned threads;
  double bar;  // the ratio it should stay under; 0: no bar
  std::function<void(device::Stream&)> run;
  bool checks = false;  // races and uninitialised reads
  std::vector<double> seconds = {};
};

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000.0;
}

int run(int argc, char** argv) {
  const auto cpu = runtime::Target::cpu;
  std::vector<float> a(kN * kN), b(a.size());
  fill_uniform(a, 1, -1.0f, 1.0f);
  fill_uniform(b, 2, -1.0f, 1.0f);
  device::Buffer<float> a_device(cpu, a), b_device(cpu, b), c_device(cpu, a.size());
  const Square square{kN, a_device.data(), b_device.data(), c_device.data()};
  const sgemm::Call call{sgemm::compact(kN, kN, kN), square.a, square.b, square.c};
  const auto rung = [&](const char* id, runtime::Flavour flavour) {
    return [&call, launch = ladder::find_rung("sgemm", id).launcher(flavour)](device::Stream& s) {
      launch(call, s);
    };
  };
  using runtime::Flavour;
  const auto tiled = [&](device::Stream& s) { plain::tiled_32x32(square, s); };
  const auto counted_tiled = [&](device::Stream& s) { counted::tiled_32x32(square, s); };
  const auto thread_tile = [&](device::Stream& s) { counted::thread_tile_128x128x8(square, s); };
  const unsigned cores = executor::worker_count({});
  std::vector<Row> rows{
      {"serial triple loop", 1, 0, rung("row_00_serial", Flavour::plain)},
      {"plain, naive", 1, 1.0, rung("row_01_naive", Flavour::plain)},
      {"plain, 32x32 tiles", 1, 1.9, tiled},
      {"plain, 128x128x8 thread tile", 1, 0,
       [&](device::Stream& s) { plain::thread_tile_128x128x8(square, s); }},
      {"counted, naive", 1, 8, rung("row_01_naive", Flavour::counted)},
      {"counted, 32x32 tiles", 1, 20, counted_tiled},
      {"counted, 128x128x8 thread tile", 1, 1.8, thread_tile},
      {"counted and checked, 128x128x8 thread tile", 1, 2.8, thread_tile, true},
      {"counted and checked, 32x32 tiles", 1, 0, counted_tiled, true},
      {"plain, naive", cores, 0, rung("row_01_naive", Flavour::plain)},
      {"plain, 32x32 tiles", cores, 0, tiled},
      {"counted, naive", cores, 0, rung("row_01_naive", Flavour::counted)},
      {"counted, 32x32 tiles", cores, 0, counted_tiled},
  };

  std::vector<float> truth;
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) {
      device::Stream stream(cpu);
      stream.executor_threads = row.threads;
      stream.check_shared_memory = row.checks;
      device::Timer timer(stream);
      c_device.fill_bytes(0xff);
      timer.start();
      row.run(stream);
      timer.stop();
      row.seconds.push_back(timer.seconds());
      const std::vector<float> c = c_device.download();
      if (truth.empty()) truth = c;
      for (std::size_t i = 0; i < c.size(); ++i) {
        if (!(std::abs(c[i] - truth[i]) <= 1e-3f)) {
          fmt::print(stderr, "{}: element {} is {}, should be {}\n", row.name, i, c[i], truth[i]);
          return 1;
        }
      }
    }
  }

  const double serial = lab::statistics(rows[0].seconds).median, fmas = double{kN} * kN * kN;
  TextTable table({{"512x512x512", Align::left},
                   {"threads", Align::right},
                   {"ms", Align::right},
                   {"ns per FMA", Align::right},
                   {"x serial", Align::right},
                   {"bar", Align::right}});
  nlohmann::json report = provenance({argv, static_cast<std::size_t>(argc)});
  for (const Row& row : rows) {
    const double time = lab::statistics(row.seconds).median;
    table.add_row({row.name, std::to_string(row.threads), fmt::format("{:.0f}", time * 1e3),
                   fmt::format("{:.2f}", time / fmas * 1e9), fmt::format("{:.2f}", time / serial),
                   row.bar > 0 ? fmt::format("{:g}", row.bar) : std::string()});
    report["rows"].push_back({{"name", row.name},
                              {"threads", row.threads},
                              {"bar", row.bar},
                              {"ratio_to_serial", time / serial},
                              {"samples_s", row.seconds}});
  }
  report["peak_memory_mb"] = peak_memory_mb();
  fmt::print("{}", table.render(table_format_for(1)));
  fmt::print("Medians of {} interleaved rounds; peak memory {:.0f} MB.\n", kRounds,
             peak_memory_mb());
  if (argc == 3 && std::strcmp(argv[1], "--json") == 0) write_file(argv[2], report.dump(1) + "\n");
  return 0;
}

}  // namespace
}  // namespace warpladder::executor_speed

int main(int argc, char** argv) {
  try {
    return warpladder::executor_speed::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
