// A library with NVRTC's functions that compiles nothing: code is the source behind "code for", and
// a source that holds BAD is refused. It counts compilations.

#include <atomic>
#include <cstring>
#include <string>

namespace {

std::atomic<int> compilations{0};

struct Program {
  std::string source, kernel, log, code;
};
Program& of(void* program) { return *static_cast<Program*>(program); }

}  // namespace

extern "C" {

int made_up_compilations() { return compilations; }

int nvrtcVersion(int* major, int* minor) {
  *major = 99;
  *minor = 1;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 3;
  return 0;
}
int nvrtcGetSupportedArchs(int* architectures) {
  const int known[] = {75, 80, 90};
  std::memcpy(architectures, known, sizeof known);
  return 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source, "", "", ""};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}
int nvrtcAddNameExpression(void* program, const char* kernel) {
  of(program).kernel = kernel;
  return 0;
}
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  ++compilations;
  Program& p = of(program);
  if (p.source.find("BAD") != std::string::npos) {
    p.log = "expression(1): error: identifier \"BAD\" is undefined\n\n1 error detected.\n";
    return 6;
  }
  p.code = "code for " + p.kernel + " of " + p.source;
  for (int i = 0; i < count; ++i) p.code += std::string(" ") + options[i];
  return 0;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
  *bytes = of(program).log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  std::strcpy(log, of(program).log.c_str());
  return 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  *bytes = of(program).code.size();
  return 0;
}
int nvrtcGetCUBIN(void* program, char* code) {
  std::memcpy(code, of(program).code.data(), of(program).code.size());
  return 0;
}
int nvrtcGetPTXSize(void* program, std::size_t* bytes) { return nvrtcGetCUBINSize(program, bytes); }
int nvrtcGetPTX(void* program, char* code) { return nvrtcGetCUBIN(program, code); }
const char* nvrtcGetErrorString(int error) {
  return error == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}
}
