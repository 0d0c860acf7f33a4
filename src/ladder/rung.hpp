#pragma once
// What a rung declares of itself. Rungs' translation units include this (through their operator's
// rung.hpp), so it holds no containers: nothing here may become machine code that a flavour shares.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/stream.hpp"

namespace warpladder::ladder {

// In a prediction: this total depends on more than the header can say in a number.
constexpr std::uint64_t kNotPredicted = ~std::uint64_t{0};

// What a launch asks of the machine, in all. The units are those of executor/counts.hpp.
struct Totals {
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0;
  std::uint64_t fmas = 0, barriers = 0, shuffles = 0;
  std::uint64_t bulk_bytes = 0, tensor_fmas = 0;

  bool operator==(const Totals&) const = default;
};

// The units that multiply; a Machine has the rate of each.
enum class Unit { cuda_cores, tf32_tensor_cores, f16_tensor_cores };

// What a rung's results and speed are measured against.
struct Arithmetic {
  Unit unit = Unit::cuda_cores;
  // What its products leave out, in units of 2^-24 of the sum of the terms' magnitudes, beyond the
  // error that FP32 arithmetic may make.
  double extra_roundings = 0;

  constexpr bool tensor_cores() const { return unit != Unit::cuda_cores; }
  constexpr double flops_per_s(const runtime::Machine& machine) const {
    return unit == Unit::f16_tensor_cores    ? machine.f16_tensor_flops_per_s
           : unit == Unit::tf32_tensor_cores ? machine.tf32_tensor_flops_per_s
                                             : machine.fp32_flops_per_s;
  }
};

// What of a GPU a rung cannot do without; and the rungs of *.sm90a.cu run on 9.0 alone, which the
// build knows.
struct Needs {
  int capability = 75;           // compute capability, 10 · major + minor, or a later one
  std::size_t shared_bytes = 0;  // that a block may ask for; 48 KB it always may
  bool compiler = false;         // NVRTC, because the kernel is compiled when it is launched

  constexpr bool met_by(const runtime::Machine& machine) const {
    return machine.capability >= capability &&
           static_cast<std::size_t>(machine.shared_bytes_per_block) >= shared_bytes;
  }
};

// What a rung takes that does not say: every call, unless the Call names a condition as its member
// `takes_by_default`.
template <class Call>
constexpr bool (*kTakesByDefault)(const Call&) = [] {
  if constexpr (requires { Call::takes_by_default; }) return &Call::takes_by_default;
  return static_cast<bool (*)(const Call&)>(nullptr);
}();

// One flavour of a rung, for an operator whose calls are of type Call. Its id is the stem of its
// file. A function that belongs to another operator does not compile here.
template <class Call_>
struct Rung {
  using Call = Call_;

  const char* idea;     // half a sentence
  const char* accepts;  // half a sentence
  void (*launch)(const Call&, runtime::StreamView&);
  // The header's prediction as a function of the call's problem; null: no prediction.
  Totals (*predict)(const Call&, const runtime::Machine&) = nullptr;
  // Whether the rung takes this call, as `accepts` says in words; null: it takes every call.
  bool (*takes)(const Call&) = kTakesByDefault<Call>;
  // Of the call's workspace, where the rung needs more than the operator gives every call.
  std::size_t (*workspace_bytes)(const Call&, const runtime::Machine&) = nullptr;
  // To be launched once before `launch`, for a call whose operator says what may then change.
  void (*prepare)(const Call&, runtime::StreamView&) = nullptr;
  Arithmetic arithmetic = {};
  Needs needs = {};
  bool on_host = false;  // a plain host function: only the plain flavour launches it
};

// Calls predict(problem), or predict(problem, machine) where the prediction depends on the machine.
template <auto predict, class Problem>
Totals predicted(const Problem& problem, const runtime::Machine& machine) {
  if constexpr (std::is_invocable_v<decltype(predict), const Problem&, const runtime::Machine&>) {
    return predict(problem, machine);
  } else {
    return predict(problem);
  }
}

}  // namespace warpladder::ladder

// Defines the rung of a file, in the namespace of its operator: WARPLADDER_RUNG(07_by_shape) = {…}.
// A stem that is not the file's fails at link, for the build lists rungs by their files.
#define WARPLADDER_RUNG(stem)                                \
  inline namespace WARPLADDER_FLAVOUR {                      \
  extern const ::warpladder::ladder::Rung<Call> rung_##stem; \
  }                                                          \
  constinit const ::warpladder::ladder::Rung<Call> WARPLADDER_FLAVOUR::rung_##stem
