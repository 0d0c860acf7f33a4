#pragma once
// The declaration of a rung. Rungs include this header through their operator's rung.hpp. It holds
// no containers, because their machine code would be shared among flavours.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/stream.hpp"

namespace warpladder::ladder {

// In a prediction: this total has no simple formula.
constexpr std::uint64_t kNotPredicted = ~std::uint64_t{0};

// Totals of a launch, in the units of executor/counts.hpp.
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

// The arithmetic class, which sets the error bound and the speed limit.
struct Arithmetic {
  Unit unit = Unit::cuda_cores;
  // The error of its products beyond FP32 arithmetic's, in units of 2^-24 of the sum of the terms'
  // magnitudes.
  double extra_roundings = 0;

  constexpr bool tensor_cores() const { return unit != Unit::cuda_cores; }
  constexpr double flops_per_s(const runtime::Machine& machine) const {
    return unit == Unit::f16_tensor_cores    ? machine.f16_tensor_flops_per_s
           : unit == Unit::tf32_tensor_cores ? machine.tf32_tensor_flops_per_s
                                             : machine.fp32_flops_per_s;
  }
};

// GPU features that a rung requires. Rungs of *.sm90a.cu need 9.0 as well, which the build knows.
struct Needs {
  int capability = 75;           // compute capability, 10 · major + minor, or a later one
  std::size_t shared_bytes = 0;  // that a block may ask for; 48 KB it always may
  bool compiler = false;         // NVRTC, because the kernel is compiled when it is launched

  constexpr bool met_by(const runtime::Machine& machine) const {
    return machine.capability >= capability &&
           static_cast<std::size_t>(machine.shared_bytes_per_block) >= shared_bytes;
  }
};

// What a rung without `takes` accepts: every call, unless the Call has a condition
// `takes_by_default`.
template <class Call>
constexpr bool (*kTakesByDefault)(const Call&) = [] {
  if constexpr (requires { Call::takes_by_default; }) return &Call::takes_by_default;
  return static_cast<bool (*)(const Call&)>(nullptr);
}();

// One flavour of a rung, for an operator with calls of type Call. Its id is its file's stem.
// Functions of another operator do not compile here.
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
  // Bytes of the call's workspace, if the rung needs more than the operator gives every call.
  std::size_t (*workspace_bytes)(const Call&, const runtime::Machine&) = nullptr;
  // Launched once before `launch`. The operator says what may change afterwards.
  void (*prepare)(const Call&, runtime::StreamView&) = nullptr;
  Arithmetic arithmetic = {};
  Needs needs = {};
  bool on_host = false;  // a plain host function: only the plain flavour launches it
  // What is added to the product may lie elsewhere than the output: the call's `source`.
  bool takes_source = false;
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
// Another stem than the file's fails at link, because the build lists rungs by their files.
#define WARPLADDER_RUNG(stem)                                \
  inline namespace WARPLADDER_FLAVOUR {                      \
  extern const ::warpladder::ladder::Rung<Call> rung_##stem; \
  }                                                          \
  constinit const ::warpladder::ladder::Rung<Call> WARPLADDER_FLAVOUR::rung_##stem
