#pragma once
// The flags shared by check, run FILE.cu and explain FILE.cu.

#include "programs/program.hpp"
#include "verb.hpp"

namespace warpladder::app {

// True if the verb's arguments name a file of CUDA source: run and explain then take a program.
bool names_program(std::span<const char* const> argv);

struct ProgramFlags {
  programs::Request request;
  DeviceFlags device;

  void add_to(CLI::App& verb);
  // The launches to check or count.
  void add_selection_to(CLI::App& verb);
  // The request, with the arguments after "--".
  programs::Request request_for(const Context& context, const char* mode) const;
};

}  // namespace warpladder::app
