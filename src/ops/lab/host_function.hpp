#pragma once
// A function that the user wrote as an expression, compiled by g++ and loaded. `run` on the CPU
// computes it where the library compiles the expression for a GPU.

#include <span>
#include <string>

namespace warpladder::ops {

// Of these parameters, called by `entry`, which is C++ with a function warpladder_entry().
class HostFunction {
 public:
  // `flag` names the expression in sentences. Throws Error(bad_input) with the compiler's first
  // error, Error(resource) without g++.
  HostFunction(const std::string& flag, const char* parameters, const std::string& expression,
               const char* entry);

 protected:
  void* entry_ = nullptr;  // its library stays loaded
};

// Of one float, `x`.
class HostMap : HostFunction {
 public:
  HostMap(const std::string& flag, const std::string& expression);
  void apply(std::span<float> values) const;
};

// Of two floats, `a` and `b`.
class HostFold : HostFunction {
 public:
  HostFold(const std::string& flag, const std::string& expression);
  // All values joined, in a tree; the identity where there are none.
  float of(std::span<const float> values, float identity) const;
};

}  // namespace warpladder::ops
