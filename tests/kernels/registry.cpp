#include "kernels/registry.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace warpladder::kernel_tests {
namespace {

std::map<std::pair<std::string, runtime::Flavour>, Launcher>& launchers() {
  static std::map<std::pair<std::string, runtime::Flavour>, Launcher> instance;
  return instance;
}

}  // namespace

bool declare(const Declaration& d) {
  if (launchers().emplace(std::pair(std::string(d.name), d.flavour), d.launch).second) return true;
  std::fprintf(stderr, "two test kernels are called %s\n", d.name);
  std::abort();
}

Launcher find_launcher(const char* name, runtime::Flavour flavour) {
  const auto it = launchers().find({name, flavour});
  return it == launchers().end() ? nullptr : it->second;
}

}  // namespace warpladder::kernel_tests
