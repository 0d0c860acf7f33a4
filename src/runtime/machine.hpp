#pragma once
// What a plan needs to know of a GPU. A plain value: plans for simulated GPUs are made, and run
// in the executor, where no such GPU is.

#include <cstdint>

#include "runtime/device_code.hpp"

namespace warpladder::runtime {

// The defaults describe one H200 SXM. Rates are those of its data sheet; a fused multiply-add
// counts as two floating-point operations.
struct Machine {
  // Compute capability, 10 · major + minor: of the GPU, or the lower one that the code which it
  // runs was compiled for.
  int capability = 90;
  bool hopper_code = true;                 // 9.0: machine code for sm_90a runs
  int multiprocessors = 132;               // that one process may use
  int shared_bytes_per_block = 227 << 10;  // the most that a block may ask for
  int shared_bytes_per_multiprocessor = 228 << 10;
  std::int64_t l2_bytes = 60 << 20;
  double fp32_flops_per_s = 66.9e12;        // on the CUDA cores
  double f64_tensor_flops_per_s = 66.9e12;  // 0: no tensor cores for float64
  double tf32_tensor_flops_per_s = 494.7e12;
  double f16_tensor_flops_per_s = 989.4e12;
  double memory_bytes_per_s = 4.8e12;

  // Clusters of so many thread blocks that run at the same time with one block on each
  // multiprocessor. A cluster lies within one group of multiprocessors (GPC), and groups do not
  // divide evenly: 132 multiprocessors hold 15 clusters of 8. 0 where there are no clusters.
  constexpr int clusters_of(int blocks) const {
    if (capability < 90) return 0;
    if (blocks <= 2) return multiprocessors / blocks;
    const int groups = (multiprocessors + 17) / 18, spare = (blocks / 2) * groups / 8;
    const int whole = multiprocessors / blocks - (spare + blocks - 1) / blocks;
    return whole > 1 ? whole : 1;
  }
  // Whether the Hopper instructions run there.
  constexpr bool is_hopper() const { return capability == 90 && hopper_code; }

  bool operator==(const Machine&) const = default;
};

// The GPU `device`, as CUDA numbers them, which runs `code`. `error`, where it is not null,
// receives the cudaError_t of the first query that failed, or 0.
Machine machine_of(int device, const DeviceCode& code, int* error) noexcept;

}  // namespace warpladder::runtime
