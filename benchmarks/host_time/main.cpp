// What one call costs the host: warpladder_sgemm beside cublasSgemm in the same process, handles
// warm, no waiting between calls. Usage: host_time [--json FILE]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "../gpu_program.hpp"
#include "base/atomic_file.hpp"
#include "base/random_fill.hpp"
#include "base/text_table.hpp"
#include "device/device.hpp"
#include "lab/bench.hpp"
#include "lab/origin.hpp"
#include "ops/lab/cublas.hpp"
#include "warpladder/warpladder.hpp"

namespace warpladder::host_time {
namespace {

constexpr auto kGpu = runtime::Target::gpu;
constexpr int kSamples = 41, kCalls = 100;  // a sample is so many calls, fewer than the queue holds

struct Row {
  std::string call;
  std::int64_t size;  // m = n = k
  std::function<void()> run;
  std::vector<double> seconds = {};  // of one call
};

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kCalls; ++call) run();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / kCalls;
}

device::Buffer<float> random_square(std::int64_t n, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(n * n));
  fill_uniform(values, seed, -1.0f, 1.0f);
  return {kGpu, values};
}

// Calls take turns, so that a slow spell of the machine meets them all.
void sample(std::vector<Row>& rows, device::Stream& stream) {
  for (int round = -1; round < kSamples; ++round) {  // the first loads kernels
    for (Row& row : rows) {
      const double seconds = seconds_of(row.run);
      stream.synchronize();
      if (round >= 0) row.seconds.push_back(seconds);
    }
  }
}

int run(int argc, char** argv) {
  const bool json = argc == 3 && std::strcmp(argv[1], "--json") == 0;
  if (argc != 1 && !json) throw_bad_input("usage: host_time [--json FILE]");
  if (const auto there = device::availability(kGpu); !there.available) {
    throw_resource("host_time measures calls for a GPU: " + there.why_not);
  }
  if (const std::string why_not = ops::Cublas::why_not(); !why_not.empty()) throw_resource(why_not);
  device::Stream stream(kGpu);
  const auto native = static_cast<warpladder_stream>(stream.native);
  Handle pooled, given;
  const std::size_t bytes = given.sgemm_workspace_bytes(1024, 1024, 1024);
  const device::Memory workspace(kGpu, std::max<std::size_t>(bytes, 256));
  given.set_workspace(native, workspace.data(), workspace.bytes());

  const ops::Cublas& cublas = ops::Cublas::on(stream);
  std::vector<device::Buffer<float>> operands;
  operands.reserve(6);
  std::vector<Row> rows;
  for (const std::int64_t n : {std::int64_t{128}, std::int64_t{1024}}) {
    for (const std::uint64_t seed : {1, 2, 3}) operands.push_back(random_square(n, seed));
    const float* const a = operands[operands.size() - 3].data();
    const float* const b = operands[operands.size() - 2].data();
    float* const c = operands.back().data();
    const auto ours = [=](const Handle& handle) {
      return [=, &handle] {
        handle.sgemm(Layout::row_major, n, n, n, 1.0f, {a, n}, {b, n}, 0.0f, {c, n}, native);
      };
    };
    rows.push_back({"cublasSgemm", n, [=, &cublas] {
                      const float one = 1, zero = 0;
                      ops::check_cublas(cublas.sgemm(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n,
                                                     n, &one, b, n, a, n, &zero, c, n),
                                        "cublasSgemm");
                    }});
    rows.push_back({"warpladder_sgemm", n, ours(pooled)});
    rows.push_back({"warpladder_sgemm, caller's workspace", n, ours(given)});
  }
  sample(rows, stream);

  nlohmann::json report = lab::origin({argv, static_cast<std::size_t>(argc)});
  report["program"] = "host_time";
  report["libraries"] = {{"cuBLAS", ops::Cublas::version()}};
  TextTable table({{"call", Align::left},
                   {"m = n = k", Align::right},
                   {"µs a call", Align::right},
                   {"× cublasSgemm", Align::right}});
  double rival = 0;
  for (const Row& row : rows) {
    const double median = lab::statistics(row.seconds).median;
    if (row.call == "cublasSgemm") rival = median;
    table.add_row({row.call, std::to_string(row.size), fmt::format("{:.2f}", median * 1e6),
                   fmt::format("{:.2f}", median / rival)});
    report["rows"].push_back(
        {{"call", row.call}, {"size", row.size}, {"samples_s", row.seconds}, {"median_s", median}});
  }
  fmt::print("{}", table.render(table_format_for(1)));
  if (json) write_file(argv[2], report.dump() + "\n");
  return 0;
}

}  // namespace
}  // namespace warpladder::host_time

int main(int argc, char** argv) {
  return warpladder::exit_code_of("host_time", warpladder::host_time::run, argc, argv);
}
