#include "kernels/testing.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace warpladder::runtime {

void PrintTo(Flavour flavour, std::ostream* out) { *out << kernel_tests::name_of(flavour); }

void PrintTo(const Dim3& size, std::ostream* out) {
  *out << fmt::format("({},{},{})", size.x, size.y, size.z);
}

}  // namespace warpladder::runtime

namespace warpladder::executor {

void PrintTo(const AccessCounts& c, std::ostream* out) {
  const char* kinds[] = {"loads", "stores", "atomics"};
  *out << fmt::format(
      "{}:{}: {} {} of {} bytes: {} requests, {} lanes, {} sectors (ideal {}), "
      "{} wavefronts (ideal {}), worst {}",
      c.file, c.line, c.space == MemorySpace::global ? "global" : "shared",
      kinds[static_cast<int>(c.kind)], c.bytes, c.requests, c.lanes, c.sectors, c.ideal_sectors,
      c.wavefronts, c.ideal_wavefronts, c.worst);
}

void PrintTo(const EventCounts& c, std::ostream* out) {
  *out << fmt::format("{}:{}: {} FMAs, {} barriers, {} shuffles, {} bulk bytes, {} tensor FMAs",
                      c.file, c.line, c.fmas, c.barriers, c.shuffles, c.bulk_bytes, c.tensor_fmas);
}

}  // namespace warpladder::executor

namespace warpladder::kernel_tests {

std::string name_of(Flavour flavour) {
  return flavour == Flavour::gpu ? "gpu" : flavour == Flavour::plain ? "plain" : "counted";
}

std::string why_not(Flavour flavour) {
  const device::Availability there = device::availability(target_of(flavour));
  return there.available ? "" : there.why_not;
}

void launch(device::Stream& stream, Flavour flavour, const std::string& kernel,
            const Arguments& arguments) {
  const Launcher launcher = find_launcher(kernel.c_str(), flavour);
  if (!launcher) {
    throw std::logic_error(fmt::format("no test kernel {} ({})", kernel, name_of(flavour)));
  }
  launcher(stream, arguments);
  stream.synchronize();
}

std::string path_of(const std::string& file) {
  for (const char* folder : {"executor", "parts"}) {
    const std::string path = fmt::format("tests/{}/kernels/{}", folder, file);
    if (std::filesystem::exists(std::filesystem::path(WARPLADDER_SOURCE_DIR) / path)) return path;
  }
  throw std::logic_error(fmt::format("no file of test kernels is called {}", file));
}

int line_of(const std::string& file, const std::string& mark) {
  std::ifstream source(std::filesystem::path(WARPLADDER_SOURCE_DIR) / path_of(file));
  const std::string end = "// " + mark;
  int number = 0, found = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (!line.ends_with(end)) continue;
    if (found) throw std::logic_error(fmt::format("{} marks two lines '{}'", file, end));
    found = number;
  }
  if (!found) throw std::logic_error(fmt::format("{} marks no line '{}'", file, end));
  return found;
}

std::vector<float> whole_numbers(std::size_t count, int below) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % below);
  return values;
}

}  // namespace warpladder::kernel_tests

// What a device function looks like that was left outside the kernels' code: it reports a basic
// block from an address that no table knows.
extern "C" void __sanitizer_cov_trace_pc();
volatile bool warpladder_after_the_call = false;
extern "C" __attribute__((noinline)) void warpladder_code_elsewhere() {
  __sanitizer_cov_trace_pc();
  warpladder_after_the_call = true;  // or the call would be a jump, and the address the kernel's
}
