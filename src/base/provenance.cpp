#include "base/provenance.hpp"

#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

// The build defines both; a file compiled by hand has neither.
#ifndef WARPLADDER_COMMIT
#define WARPLADDER_COMMIT ""
#endif
#ifndef WARPLADDER_BUILD_TYPE
#define WARPLADDER_BUILD_TYPE ""
#endif

namespace warpladder {
namespace {

std::string known_or_unknown(std::string_view text) {
  return text.empty() ? "unknown" : std::string(text);
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

// "--a=/home/ada/A.npy" becomes "--a=A.npy": a path that leaves the working directory keeps its
// last component only, for any of the others could be a user's name. A list of paths loses all but
// its last: better a name too few than one too many. Rung ids stay whole.
std::string without_directories(std::string_view argument) {
  constexpr std::string_view kBeforePath = "=,:;@'\" (";
  for (std::size_t i = 0; i < argument.size(); ++i) {
    const std::string_view rest = argument.substr(i);
    if (!rest.starts_with('/') && !rest.starts_with('~') && !rest.starts_with("../")) continue;
    const bool follows_short_flag = i == 2 && argument[0] == '-';  // -o/home/ada/out
    if (i == 0 || follows_short_flag || kBeforePath.find(argument[i - 1]) != kBeforePath.npos) {
      return std::string(argument.substr(0, i)) + base_name(rest);
    }
  }
  return std::string(argument);
}

// JSON holds UTF-8 only; arguments may be any bytes.
std::string as_utf8(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[sizeof "2000-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

nlohmann::json compiler() {
#if defined(__clang__)
  const char* const name = "clang++";
  const int version[] = {__clang_major__, __clang_minor__, __clang_patchlevel__};
#else
  const char* const name = "g++";
  const int version[] = {__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__};
#endif
  return {{"name", name},
          {"version", std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
                          std::to_string(version[2])}};
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return "unknown";  // some ARM kernels print no name
}

std::string operating_system() {
  utsname system{};
  if (::uname(&system) != 0) return "unknown";
  return std::string(system.sysname) + " " + system.release;
}

}  // namespace

nlohmann::json provenance(std::span<const char* const> argv) {
  nlohmann::json arguments = nlohmann::json::array();
  for (const char* argument : argv) {
    // Only the program itself is known to be a path even when it is relative.
    arguments.push_back(
        as_utf8(arguments.empty() ? base_name(argument) : without_directories(argument)));
  }
  return {{"schema_version", kSchemaVersion},
          {"argv", std::move(arguments)},
          {"date", utc_now()},
          {"commit", known_or_unknown(WARPLADDER_COMMIT)},
          {"compiler", compiler()},
          {"cpu", cpu_model()},
          {"cores", std::thread::hardware_concurrency()},
          {"os", operating_system()},
          {"build_type", known_or_unknown(WARPLADDER_BUILD_TYPE)}};
}

}  // namespace warpladder
