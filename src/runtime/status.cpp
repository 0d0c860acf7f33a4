#include "runtime/status.hpp"

#include <cstdarg>
#include <cstdio>

namespace warpladder::runtime {
namespace {

Status refuse_with(Code code, const char* format, std::va_list arguments) noexcept {
  Status status;
  status.code = code;
  std::vsnprintf(status.sentence, sizeof status.sentence, format, arguments);
  return status;
}

}  // namespace

Status refuse(Code code, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  const Status status = refuse_with(code, format, arguments);
  va_end(arguments);
  return status;
}

Status refuse_argument(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  const Status status = refuse_with(Code::invalid_argument, format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace warpladder::runtime
