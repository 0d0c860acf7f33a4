#pragma once
// The flags shared by check, run FILE.cu and explain FILE.cu.

#include <optional>
#include <string>

#include "explain_report.hpp"
#include "programs/program.hpp"
#include "verb.hpp"

namespace warpladder::app {

// True if the verb's arguments name a file of CUDA source: run and explain then take a program.
bool names_program(std::span<const char* const> argv);

// --format gcc|sarif|json, on standard output or in --out FILE|-.
struct ReportFlag {
  std::string format, out;

  void add_to(CLI::App& verb);
  bool asked() const { return !format.empty(); }
  // Before anything is printed: the report may take standard output.
  void settle();
  // In the form that was asked for; json writes `report`.
  void write(const Context& context, const programs::Outcome& outcome, nlohmann::json report) const;
};

struct ProgramFlags {
  programs::Request request;
  std::optional<std::string> timeout;
  DeviceFlags device;
  GpuFlag gpu;

  void add_to(CLI::App& verb);
  // The launches to check or count, and how long they may take.
  void add_selection_to(CLI::App& verb);
  // The request, with the arguments after "--".
  programs::Request request_for(const Context& context, const char* mode) const;
};

}  // namespace warpladder::app
