#pragma once
// What a rung declares of itself. Rungs' translation units include this (through their operator's
// rung.hpp), so it holds no containers: nothing here may become machine code that a flavour shares.

#include <cstdint>

#include "device/stream.hpp"

namespace warpladder::ladder {

// In a prediction: this total depends on more than the header can say in a number.
constexpr std::uint64_t kNotPredicted = ~std::uint64_t{0};

// What a launch asks of the machine, in all. The units are those of device/counts.hpp.
struct Totals {
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0;
  std::uint64_t fmas = 0, barriers = 0, shuffles = 0;
  std::uint64_t bulk_bytes = 0, tensor_fmas = 0;

  bool operator==(const Totals&) const = default;
};

// `call` points to the operator's own Call: the problem and its operands' device addresses.
using Launcher = void (*)(const void* call, device::Stream& stream);
// The header's prediction as a function of the call's problem.
using Predictor = Totals (*)(const void* call);

// Dense, of one H200 SXM, as its data sheet says: an FMA is two.
constexpr double kF16TensorFlopsPerS = 989.4e12, kTf32TensorFlopsPerS = 494.7e12;

// What a rung's results and speed are measured against, where it is not FP32 arithmetic on CUDA
// cores.
struct Arithmetic {
  double tensor_flops_per_s = 0;  // of tensor cores, for the numbers that they multiply
  bool tensor_cores() const { return tensor_flops_per_s > 0; }
  // What its products leave out, in units of 2^-24 of the sum of the terms' magnitudes, beyond the
  // error that FP32 arithmetic may make.
  double extra_roundings = 0;
};

struct Declaration {
  const char* op;
  const char* file;     // its stem is the rung's id
  const char* idea;     // half a sentence
  const char* accepts;  // half a sentence
  device::Flavour flavour;
  bool on_host;  // a plain host function: only the plain flavour exists
  Launcher launch;
  Predictor predict;  // null: no prediction
  // Whether the rung takes this call, as `accepts` says in words; null: it takes every call.
  bool (*takes)(const void* call) = nullptr;
  // To be launched once before `launch`, for a call whose operator says what may then change.
  Launcher prepare = nullptr;
  Arithmetic arithmetic = {};
};

// Adds one flavour of a rung to the ladder. Called by static initialisation; a second declaration
// of the same rung and flavour is a fault of the build and ends the program.
bool declare(const Declaration& declaration);

}  // namespace warpladder::ladder
