#pragma once
// A CUDA runtime without a GPU: the functions that the library and its tests call, over host
// memory. Devices are made up, calls are counted, and the next call of a kind can be made to fail.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/machine.hpp"

namespace warpladder::made_up {

struct Device {
  runtime::Machine machine;
  int code_error = 0;         // of this build's GPU code on the device
  int code_capability = 120;  // that the code was compiled for
};

struct Launch {
  int device;
  void* stream;
};

// The devices that CUDA shows; empty: none. One H200 unless a test says otherwise.
void set_devices(std::vector<Device> devices);
// The next call of the named function returns this error.
void fail_next(const std::string& function, int error);
// A stream that is being captured, until the next call with `false`.
void set_capturing(void* stream, bool capturing);

// Counts since the last reset.
struct Counts {
  std::map<std::string, int> calls;
  int launches = 0;
  long long blocks = 0;  // of all launches
  int of(const std::string& function) const {
    const auto at = calls.find(function);
    return at == calls.end() ? 0 : at->second;
  }
};
Counts counts();
// Forgets failures that are still to come, too.
void reset_counts();
// Whether calls are counted: counting takes a lock and heap memory.
void count_calls(bool wanted);

// Bytes of device memory that are allocated.
std::size_t live_bytes();

}  // namespace warpladder::made_up
