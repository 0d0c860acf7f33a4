#include "runtime/nvrtc.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

namespace warpladder::runtime {

std::vector<std::string> places_of_nvrtc() {
  if (const char* own = std::getenv("WARPLADDER_NVRTC"); own && *own) return {own};
  std::vector<std::string> folders{""};
  if (const char* home = std::getenv("CUDA_HOME"); home && *home) {
    folders.push_back(std::string(home) + "/lib64/");
  }
  folders.push_back("/usr/local/cuda/lib64/");
  std::vector<std::string> places;
  for (const std::string& folder : folders) {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) places.push_back(folder + name);
  }
  return places;
}

Nvrtc::Nvrtc(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    if (take_functions(library)) {  // which then stays loaded
      path_ = place;
      return;
    }
    functions_ = {};
    ::dlclose(library);
  }
  why_not_ = places.empty() ? "no library was named" : places.front() + " cannot be loaded";
}

bool Nvrtc::take_functions(void* library) {
  bool all = true;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    all = all && function;
  };
  take(functions_.architectures_count, "nvrtcGetNumSupportedArchs");
  take(functions_.architectures, "nvrtcGetSupportedArchs");
  take(functions_.create, "nvrtcCreateProgram");
  take(functions_.destroy, "nvrtcDestroyProgram");
  take(functions_.add_name, "nvrtcAddNameExpression");
  take(functions_.compile, "nvrtcCompileProgram");
  take(functions_.log_size, "nvrtcGetProgramLogSize");
  take(functions_.log, "nvrtcGetProgramLog");
  take(functions_.code_size, "nvrtcGetCUBINSize");
  take(functions_.code, "nvrtcGetCUBIN");
  take(functions_.ptx_size, "nvrtcGetPTXSize");
  take(functions_.ptx, "nvrtcGetPTX");
  take(functions_.error_string, "nvrtcGetErrorString");
  take(functions_.version, "nvrtcVersion");
  return all;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  if (!found() || functions_.version(&major, &minor) != 0) return "";
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string Nvrtc::identity() const {
  Dl_info where;
  struct stat file {};
  if (!found() || !::dladdr(reinterpret_cast<void*>(functions_.version), &where) ||
      ::stat(where.dli_fname, &file) != 0) {
    return version();
  }
  return version() + " " + std::to_string(file.st_size) + " " +
         std::to_string(file.st_mtim.tv_sec) + "." + std::to_string(file.st_mtim.tv_nsec);
}

std::string Nvrtc::architecture_for(int capability) const {
  int count = 0;
  if (!found() || functions_.architectures_count(&count) != 0 || count <= 0) return "";
  std::vector<int> known(static_cast<std::size_t>(count));
  if (functions_.architectures(known.data()) != 0) return "";
  int best = 0;
  for (const int architecture : known) {
    if (architecture <= capability) best = std::max(best, architecture);
  }
  if (best == 0) return "";
  return (best == capability ? "sm_" : "compute_") + std::to_string(best);
}

std::string Nvrtc::log_of(Program program) const {
  std::size_t bytes = 0;
  if (functions_.log_size(program, &bytes) != 0 || bytes == 0) return "";
  std::string log(bytes, '\0');
  if (functions_.log(program, log.data()) != 0) return "";
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  return log;
}

Status Nvrtc::compile(const KernelText& text, const std::vector<SourceFile>& headers,
                      const std::vector<std::string>& options, bool to_ptx,
                      std::string* code) const {
  if (!found()) return refuse(Code::no_compiler, "NVRTC is not found: %s", why_not_.c_str());
  std::vector<const char*> names, texts, flags;
  for (const SourceFile& header : headers) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  for (const std::string& option : options) flags.push_back(option.c_str());
  Program program = nullptr;
  int error = functions_.create(&program, text.source.c_str(), "kernel.cu",
                                static_cast<int>(names.size()), texts.data(), names.data());
  std::string log;
  if (!error) error = functions_.add_name(program, text.kernel.c_str());
  if (!error) {
    error = functions_.compile(program, static_cast<int>(flags.size()), flags.data());
    log = log_of(program);
  }
  std::size_t bytes = 0;
  if (!error) error = (to_ptx ? functions_.ptx_size : functions_.code_size)(program, &bytes);
  if (!error) {
    code->assign(bytes, '\0');
    error = (to_ptx ? functions_.ptx : functions_.code)(program, code->data());
  }
  if (program) functions_.destroy(&program);
  if (!error) return {};
  const std::string first = first_error_of(log);
  return refuse_argument("the compiler says: %s",
                         first.empty() ? functions_.error_string(error) : first.c_str());
}

const Nvrtc& nvrtc() {
  static const Nvrtc library(places_of_nvrtc());
  return library;
}

std::string first_error_of(const std::string& log) {
  constexpr std::string_view kError = "error: ";
  const std::size_t at = log.find(kError);
  const std::size_t begin = at == std::string::npos ? 0 : at + kError.size();
  return log.substr(begin, std::min(log.find('\n', begin), log.size()) - begin);
}

}  // namespace warpladder::runtime
