#pragma once
// The configurations of a rung among which `tune` looks for the fastest. A space stands in a file
// of its own, src/ops/OP/spaces/RUNG.cu: the library holds none of it. Its translation units
// include this, so it holds no containers.

#include <cstddef>

#include "ladder/rung.hpp"

namespace warpladder::ladder {

// What a configuration asks of a machine, in the launch that does the work. The model that prunes
// reads it.
struct Demand {
  double ctas = 0;
  int threads = 0;               // of a CTA
  int registers = 0;             // that the compiler may give a thread
  std::size_t shared_bytes = 0;  // of a CTA
  // Of one CTA, edges included: floating-point operations on the rung's unit, and the bytes that
  // its main loop reads from the L2 cache.
  double flops = 0, bytes = 0;
};

constexpr int kMostParameters = 6;

template <class Call>
struct Configuration {
  int values[kMostParameters];  // of the space's parameters
  void (*launch)(const Call&, runtime::StreamView&);
  Demand (*demand)(const Call&);
};

// One flavour of a space.
template <class Call_>
struct Space {
  using Call = Call_;

  const char* parameters[kMostParameters];  // names; null behind the last one
  const Configuration<Call>* configurations;
  int count;
  // The place of the configuration that the rung itself takes, and of the one that it takes where
  // none was found by an earlier search.
  int (*today)(const Call&, const runtime::Machine&);
  int (*own)(const Call&, const runtime::Machine&);
  const char* accepts;  // half a sentence
  bool (*takes)(const Call&);
};

}  // namespace warpladder::ladder

// Defines the space of a rung, as WARPLADDER_RUNG() defines the rung.
#define WARPLADDER_SPACE(stem)                                 \
  inline namespace WARPLADDER_FLAVOUR {                        \
  extern const ::warpladder::ladder::Space<Call> space_##stem; \
  }                                                            \
  constinit const ::warpladder::ladder::Space<Call> WARPLADDER_FLAVOUR::space_##stem
