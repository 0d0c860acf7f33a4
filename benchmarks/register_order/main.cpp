// What the order of a register tile's multiply-adds is worth on a GPU: the kernels of orders.cu,
// which differ in nothing else. Usage: register_order [--json FILE]
//
// tools/register_banks.py models the same kernels, and tools/generate_tables.py sets the two side
// by side. Kernels take turns, so that a slow spell of the machine meets them all.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/random_fill.hpp"
#include "base/text_table.hpp"
#include "device/device.hpp"
#include "device/timing.hpp"
#include "lab/bench.hpp"
#include "lab/origin.hpp"
#include "orders.hpp"

namespace warpladder::register_order {
namespace {

constexpr std::array<const char*, kOrders> kNames{"rows", "rows_snake", "columns", "columns_snake"};
constexpr int kSamples = 25, kRounds = 4000;
constexpr auto kGpu = runtime::Target::gpu;

using LaunchIssue = decltype(Launchers::issue_only);

Launchers& launchers_of(runtime::Flavour flavour) {
  static std::array<Launchers, runtime::kFlavours> all;
  return all[static_cast<std::size_t>(flavour)];
}

struct Row {
  const char* kernel;
  const char* order;
  double flops;
  std::function<void(device::Stream&)> run;
  std::vector<double> seconds = {};
  device::ClockRange clocks = {};
};

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  fill_uniform(values, seed, -1.0f, 1.0f);
  return values;
}

// Operands of random numbers, and where the product goes.
struct Matrices {
  std::int64_t m, n, k;
  std::vector<float> a, b;
  device::Buffer<float> a_device, b_device, c_device;

  Matrices(std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : m(rows),
        n(columns),
        k(depth),
        a(random_floats(static_cast<std::size_t>(m * k), 1)),
        b(random_floats(static_cast<std::size_t>(k * n), 2)),
        a_device(kGpu, a),
        b_device(kGpu, b),
        c_device(kGpu, static_cast<std::size_t>(m * n)) {}
  Product product() const { return {m, n, k, a_device.data(), b_device.data(), c_device.data()}; }
};

std::vector<float> result_of(Order order, Matrices& on, device::Stream& stream) {
  on.c_device.fill_bytes(0xff);  // NaN
  launchers_of(runtime::Flavour::gpu).multiply(order, on.product(), stream);
  stream.synchronize();
  return on.c_device.download();
}

// Holds every `stride`-th element of C against sums in float64. Each of k roundings is off by at
// most 2^-24 of what the absolute values add up to. So are as many of the sums that they go into.
void judge(Order order, const Matrices& on, const std::vector<float>& c, std::size_t stride) {
  const auto n = static_cast<std::size_t>(on.n), k = static_cast<std::size_t>(on.k);
  for (std::size_t at = 0; at < c.size(); at += stride) {
    double truth = 0, absolute = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const double term = double{on.a[at / n * k + l]} * double{on.b[l * n + at % n]};
      truth += term;
      absolute += std::abs(term);
    }
    const double bound = static_cast<double>(k + 1) * absolute * 0x1p-24;
    if (!(std::abs(double{c[at]} - truth) <= bound)) {
      throw Error(ErrorCode::check_failed,
                  fmt::format("multiply, {}: element {} of {}x{}x{} is {}, should be {} ± {:.2g}",
                              kNames[static_cast<std::size_t>(order)], at, on.m, on.n, on.k, c[at],
                              truth, bound));
    }
  }
}

void same_bits(const char* kernel, Order order, const std::vector<float>& wanted,
               const std::vector<float>& got) {
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (std::memcmp(&wanted[at], &got[at], sizeof(float)) == 0) continue;
    throw Error(ErrorCode::check_failed,
                fmt::format("{}, {}: element {} is {}, which is not {} to the bit", kernel,
                            kNames[static_cast<std::size_t>(order)], at, got[at], wanted[at]));
  }
}

// Each of a thread's sums is its own chain of fused multiply-adds: known to the bit.
void verify_issue(const char* kernel, LaunchIssue launch, const std::vector<float>& values,
                  device::Stream& stream) {
  constexpr int kBlocks = 2, kFewRounds = 3;
  std::vector<float> truth(std::size_t{kBlocks} * kThreads * kSums);
  for (std::size_t at = 0; at < truth.size(); ++at) {
    const float* of_lane = &values[at / kSums % kLanes * kFragmentFloats];
    for (std::size_t step = 0; step < kFewRounds * kStepsOfRound; ++step) {
      const float a = of_lane[step % 2 * 8 + at % kSums / 8];
      const float b = of_lane[16 + step % 2 * 8 + at % 8];
      truth[at] = std::fmaf(a, b, truth[at]);
    }
  }
  const device::Buffer<float> values_device(kGpu, values);
  device::Buffer<float> out(kGpu, truth.size());
  for (int order = 0; order < kOrders; ++order) {
    out.fill_bytes(0xff);
    launch(Order{order}, {kBlocks, kFewRounds, 1.0f, values_device.data(), out.data()}, stream);
    stream.synchronize();
    same_bits(kernel, Order{order}, truth, out.download());
  }
}

void verify(Matrices& large, const std::vector<float>& values, device::Stream& stream) {
  const Launchers& gpu = launchers_of(runtime::Flavour::gpu);
  Matrices small(256, 128, 64);
  std::vector<float> first;
  for (int number = 0; number < kOrders; ++number) {
    const Order order{number};
    judge(order, small, result_of(order, small, stream), 1);
    std::vector<float> c = result_of(order, large, stream);
    if (number == 0) {
      judge(order, large, c, 262'147);  // a prime: all over C
      first = std::move(c);
    } else {
      same_bits("multiply", order, first, c);
    }
  }
  verify_issue("issue_only", gpu.issue_only, values, stream);
  verify_issue("issue_tied", gpu.issue_tied, values, stream);
}

int multiprocessors() {
  for (const device::Fact& fact : device::facts(kGpu)) {
    if (fact.name == "multiprocessors") return std::stoi(fact.value);
  }
  throw_resource("the device does not tell how many multiprocessors it has");
}

void sample(std::vector<Row>& rows, device::Stream& stream) {
  device::Stopwatch stopwatch(stream);
  for (int round = -1; round < kSamples; ++round) {  // the first brings the clocks up
    for (Row& row : rows) {
      const device::Sample taken = stopwatch.measure([&] { row.run(stream); });
      if (round < 0) continue;
      row.seconds.push_back(taken.seconds);
      row.clocks.include(taken.sm_clock_mhz);
    }
  }
}

nlohmann::json as_json(const std::vector<Row>& rows, const Matrices& large,
                       const device::Ceilings& ceilings, std::span<const char* const> argv) {
  nlohmann::json report = lab::origin(argv);
  report["program"] = "register_order";
  report["ceilings"] = {{"fp32_flops_per_s", ceilings.fp32_flops_per_s},
                        {"memory_bytes_per_s", ceilings.memory_bytes_per_s}};
  report["orders"] = kNames;  // by the number that the kernels' symbols have
  report["shape"] = {large.m, large.n, large.k};
  for (const Row& row : rows) {
    report["rows"].push_back({{"kernel", row.kernel},
                              {"order", row.order},
                              {"flops", row.flops},
                              {"samples_s", row.seconds},
                              {"median_s", lab::statistics(row.seconds).median}});
    if (row.clocks.most_mhz == 0) continue;
    report["rows"].back()["sm_clock_mhz"] = {{"least", row.clocks.least_mhz},
                                             {"most", row.clocks.most_mhz}};
  }
  return report;
}

int run(int argc, char** argv) {
  const bool json = argc == 3 && std::strcmp(argv[1], "--json") == 0;
  if (argc != 1 && !json) throw_bad_input("usage: register_order [--json FILE]");
  const device::Availability there = device::availability(kGpu);
  const Launchers& gpu = launchers_of(runtime::Flavour::gpu);
  if (!there.available || !gpu.multiply) {
    throw_resource(fmt::format("register_order measures a GPU, and no kernel can run on one: {}",
                               there.available ? "this build has none" : there.why_not));
  }

  device::Stream stream(kGpu);
  Matrices large(4096, 4096, 4096);
  const std::vector<float> values = random_floats(std::size_t{kLanes} * kFragmentFloats, 3);
  verify(large, values, stream);

  const int blocks = 2 * multiprocessors();
  const double threads = double{kThreads} * blocks;
  const device::Buffer<float> values_device(kGpu, values);
  const device::Buffer<float> out(kGpu, static_cast<std::size_t>(threads) * kSums);
  const Issue issue{blocks, kRounds, 1.0f, values_device.data(), out.data()};
  const Product product = large.product();
  std::vector<Row> rows;
  for (int i = 0; i < kOrders; ++i) {
    rows.push_back({"multiply", kNames[static_cast<std::size_t>(i)],
                    2.0 * static_cast<double>(product.m * product.n * product.k),
                    [&, i](device::Stream& s) { gpu.multiply(Order{i}, product, s); }});
  }
  for (const auto& [kernel, launch] :
       {std::pair("issue_only", gpu.issue_only), std::pair("issue_tied", gpu.issue_tied)}) {
    for (int i = 0; i < kOrders; ++i) {
      rows.push_back(
          {kernel, kNames[static_cast<std::size_t>(i)],
           2.0 * threads * kSums * kStepsOfRound * kRounds,
           [&issue, i, launch = launch](device::Stream& s) { launch(Order{i}, issue, s); }});
    }
  }
  sample(rows, stream);

  const device::Ceilings ceilings = device::ceilings(kGpu);
  TextTable table({{"kernel", Align::left},
                   {"order", Align::left},
                   {"ms", Align::right},
                   {"TFLOP/s", Align::right},
                   {"of FP32", Align::right}});
  for (const Row& row : rows) {
    const double time_s = lab::statistics(row.seconds).median, rate = row.flops / time_s;
    table.add_row({row.kernel, row.order, fmt::format("{:.3f}", time_s * 1e3),
                   fmt::format("{:.2f}", rate * 1e-12),
                   fmt::format("{:.1f} %", 100 * rate / ceilings.fp32_flops_per_s)});
  }
  fmt::print("{}", table.render(table_format_for(1)));
  fmt::print("Medians of {} samples in turn; multiply at {}x{}x{}.\n", kSamples, product.m,
             product.n, product.k);
  if (json) {
    const std::span<const char* const> words{argv, static_cast<std::size_t>(argc)};
    write_file(argv[2], as_json(rows, large, ceilings, words).dump(1) + "\n");
  }
  return 0;
}

}  // namespace

bool declare(runtime::Flavour flavour, const Launchers& launchers) {
  launchers_of(flavour) = launchers;
  return true;
}

}  // namespace warpladder::register_order

int main(int argc, char** argv) {
  try {
    return warpladder::register_order::run(argc, argv);
  } catch (const warpladder::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
