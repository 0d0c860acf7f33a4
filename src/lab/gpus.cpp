#include "lab/gpus.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"

namespace warpladder::lab {
namespace {

// Rates in units of 10^12 a second, as makers publish them.
struct Sheet {
  double tf32, f16, f64_tensor, dram;
  int memory_mib, bus_bits;
};

Gpu gpu(const char* key, const char* name, const char* driver_name, int capability, int sms,
        double clock_ghz, double sm_fmas_per_cycle, int l2_mib, const Sheet& sheet) {
  const Sm sm = sm_of(capability).value();
  Gpu g{.key = key,
        .name = name,
        .driver_name = driver_name,
        .machine = {.capability = capability,
                    .hopper_code = capability == 90,
                    .multiprocessors = sms,
                    .shared_bytes_per_block = static_cast<int>(sm.block_shared_bytes),
                    .shared_bytes_per_multiprocessor = static_cast<int>(sm.shared_bytes),
                    .l2_bytes = std::int64_t{l2_mib} << 20,
                    .f64_tensor_flops_per_s = sheet.f64_tensor * 1e12,
                    .tf32_tensor_flops_per_s = sheet.tf32 * 1e12,
                    .f16_tensor_flops_per_s = sheet.f16 * 1e12,
                    .memory_bytes_per_s = sheet.dram * 1e12},
        .clock_hz = clock_ghz * 1e9,
        .sm_fmas_per_cycle = sm_fmas_per_cycle,
        .dram_bytes_per_s = sheet.dram * 1e12,
        .is_dram_measured = false,
        .memory_mib = sheet.memory_mib,
        .bus_bits = sheet.bus_bits,
        .sm = sm};
  g.machine.fp32_flops_per_s = g.fp32_flops_per_s();
  return g;
}

}  // namespace

const std::vector<Gpu>& gpus() {
  // The figures were compared with public tables, row by row. Tensor rates are dense and sum in
  // FP32: half of the rates with sparsity. Clocks are those that make the published FP32 rate.
  static const std::vector<Gpu> list = [] {
    std::vector<Gpu> known{
        gpu("h200", "H200 SXM", "NVIDIA H200", 90, 132, 1.98, 128, 60,
            {494.7, 989.4, 66.9, 4.8, 141 << 10, 6144}),
        gpu("h100", "H100 SXM", "NVIDIA H100 80GB HBM3", 90, 132, 1.98, 128, 50,
            {494.7, 989.4, 66.9, 3.35, 81079, 5120}),
        gpu("h100-pcie", "H100 PCIe", "NVIDIA H100 PCIe", 90, 114, 1.755, 128, 50,
            {378, 756, 51.2, 2.0, 80 << 10, 5120}),
        gpu("a100", "A100 SXM 80 GB", "NVIDIA A100-SXM4-80GB", 80, 108, 1.41, 64, 40,
            {156, 312, 19.5, 2.039, 80 << 10, 5120}),
        gpu("a10", "A10", "NVIDIA A10", 86, 72, 1.695, 128, 6, {62.5, 125, 0, 0.6, 24 << 10, 384}),
        gpu("3090", "GeForce RTX 3090", "NVIDIA GeForce RTX 3090", 86, 82, 1.695, 128, 6,
            {35.6, 71, 0, 0.936, 24 << 10, 384}),
        gpu("l4", "L4", "NVIDIA L4", 89, 58, 2.04, 128, 48, {60, 121, 0, 0.3, 24 << 10, 192}),
        gpu("l40s", "L40S", "NVIDIA L40S", 89, 142, 2.52, 128, 96,
            {183, 362, 0, 0.864, 48 << 10, 384}),
        gpu("4090", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090", 89, 128, 2.52, 128, 72,
            {82.6, 165.2, 0, 1.008, 24 << 10, 384}),
        gpu("b200", "B200", "NVIDIA B200", 100, 148, 1.965, 128, 126,
            {1100, 2250, 40, 8.0, 180 << 10, 8192}),
        gpu("5090", "GeForce RTX 5090", "NVIDIA GeForce RTX 5090", 120, 170, 2.407, 128, 96,
            {104.8, 209.5, 0, 1.792, 32 << 10, 512}),
    };
    known.front().dram_bytes_per_s = 4.28e12;  // read + write
    known.front().is_dram_measured = true;
    return known;
  }();
  return list;
}

const Gpu& default_gpu() { return gpus().front(); }

const Gpu& find_gpu(const std::string& key) {
  std::vector<std::string> keys;
  for (const Gpu& gpu : gpus()) {
    if (gpu.key == key) return gpu;
    keys.push_back(gpu.key);
  }
  throw_bad_input(fmt::format("unknown GPU {}; the GPUs are: {}", in_quotes(key, kShownBytes),
                              known_names(key, keys)));
}

}  // namespace warpladder::lab
