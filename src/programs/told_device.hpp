#pragma once
// The GPU that a program is told it runs on. Its kernels are compiled as for compute capability 8.0
// whatever it is.

#include <cstddef>
#include <cstdio>
#include <string>

namespace warpladder::programs {

struct ToldDevice {
  int capability = 80;  // 10 · major + minor
  int multiprocessors = 16;
  int sm_threads = 2048, sm_blocks = 32;  // at once on a multiprocessor
  int sm_shared_kib = 164, block_shared_kib = 163;
  int clock_khz = 1000000, memory_clock_khz = 1000000;
  int bus_bits = 512;
  int memory_mib = 8 << 10, l2_kib = 32 << 10;
  std::string name = "warpladder SIMT executor (compute capability 8.0)";
};

// As a line of text, for the program that is started.
inline std::string line_of(const ToldDevice& d) {
  std::string line;
  for (const int number :
       {d.capability, d.multiprocessors, d.sm_threads, d.sm_blocks, d.sm_shared_kib,
        d.block_shared_kib, d.clock_khz, d.memory_clock_khz, d.bus_bits, d.memory_mib, d.l2_kib}) {
    line += std::to_string(number) + ' ';
  }
  return line + d.name;
}
inline ToldDevice told_device_of(const std::string& line) {
  ToldDevice d;
  int end = 0;
  std::sscanf(line.c_str(), "%d %d %d %d %d %d %d %d %d %d %d %n", &d.capability,
              &d.multiprocessors, &d.sm_threads, &d.sm_blocks, &d.sm_shared_kib,
              &d.block_shared_kib, &d.clock_khz, &d.memory_clock_khz, &d.bus_bits, &d.memory_mib,
              &d.l2_kib, &end);
  d.name = line.substr(static_cast<std::size_t>(end));
  return d;
}

}  // namespace warpladder::programs
