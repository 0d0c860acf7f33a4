#pragma once
// GPUs and their published ceilings.

#include <string>
#include <vector>

#include "lab/occupancy.hpp"
#include "runtime/machine.hpp"

namespace warpladder::lab {

struct Gpu {
  const char* key;   // what --gpu is given
  const char* name;  // with its form, which decides the clock
  const char* driver_name;
  runtime::Machine machine;
  double clock_hz;           // the boost clock
  double sm_fmas_per_cycle;  // FP32 lanes of an SM
  double dram_bytes_per_s;   // published or, where it was measured, of a copy
  bool is_dram_measured;
  int memory_mib, bus_bits;  // published; that of the H100 SXM is what CUDA says
  Sm sm;

  static constexpr double l1_bytes_per_cycle = 128;  // of an SM
  double fp32_flops_per_s() const {
    return machine.multiprocessors * clock_hz * sm_fmas_per_cycle * 2;
  }
  double l1_bytes_per_s() const { return machine.multiprocessors * clock_hz * l1_bytes_per_cycle; }
};

const std::vector<Gpu>& gpus();
const Gpu& default_gpu();  // an H200
// By its key. Throws Error(bad_input), which names the known keys.
const Gpu& find_gpu(const std::string& key);

}  // namespace warpladder::lab
