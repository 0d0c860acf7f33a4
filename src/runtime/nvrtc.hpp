#pragma once
// NVRTC, NVIDIA's compiler as a library: loaded where it is found, needed by nobody. It compiles to
// machine code on machines without a GPU, too.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/status.hpp"

namespace warpladder::runtime {

// A header that sources may include by its name.
struct SourceFile {
  const char* name;
  const char* text;
};

// What to compile: a source, and the one kernel that is wanted of it, as a C++ expression, such as
// the instantiation of a template.
struct KernelText {
  std::string source, kernel;
};

// Where it is looked for: WARPLADDER_NVRTC alone, where that names a file. Else where the system
// finds libraries, below CUDA_HOME, and where the toolkit is installed by default; versions 13
// and 12.
std::vector<std::string> places_of_nvrtc();

// Any number of threads may use it at the same time.
class Nvrtc {
 public:
  // The first of these that loads and has all functions.
  explicit Nvrtc(const std::vector<std::string>& places);
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  bool found() const { return functions_.version; }
  const std::string& why_not() const { return why_not_; }  // empty if it was found
  const std::string& path() const { return path_; }
  std::string version() const;  // "13.0"
  // The version with the file's size and time: updates of a toolkit have the same version.
  std::string identity() const;

  // What it compiles for a GPU of this compute capability, 10 · major + minor: sm_NN. For a GPU
  // that is newer than it this is compute_NN, which is PTX. Empty where it knows none so old.
  std::string architecture_for(int capability) const;

  // Machine code or PTX. A source that is refused gives Code::invalid_argument and the compiler's
  // first error.
  Status compile(const KernelText& text, const std::vector<SourceFile>& headers,
                 const std::vector<std::string>& options, bool to_ptx, std::string* code) const;

 private:
  // As nvrtc.h declares them; results are nvrtcResult, 0 for success.
  using Program = struct NvrtcProgram*;
  struct Functions {
    int (*version)(int*, int*) = nullptr;
    int (*architectures_count)(int*) = nullptr;
    int (*architectures)(int*) = nullptr;
    int (*create)(Program*, const char*, const char*, int, const char* const*,
                  const char* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*add_name)(Program, const char*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*code_size)(Program, std::size_t*) = nullptr;
    int (*code)(Program, char*) = nullptr;
    int (*ptx_size)(Program, std::size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
    const char* (*error_string)(int) = nullptr;
  };
  bool take_functions(void* library);
  std::string log_of(Program program) const;

  Functions functions_;
  std::string path_, why_not_;
};

// That of this process: looked for once.
const Nvrtc& nvrtc();

// "identifier "y" is undefined" of the compiler's log; its first line where it names no error.
std::string first_error_of(const std::string& log);

}  // namespace warpladder::runtime
