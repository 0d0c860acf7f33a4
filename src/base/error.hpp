#pragma once
// Errors. Internal host code throws Error; the public boundary and the command line each translate
// it in one place. The message is one sentence that names the argument (or file and line) and its
// value.

#include <stdexcept>
#include <string>

namespace warpladder {

// The values are the command line's exit codes.
enum class ErrorCode : int {
  check_failed = 1,  // a result is wrong, or slower than asked for
  bad_input = 2,     // usage, argument or file contents
  resource = 3,      // the device, the memory or another resource is missing
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

[[noreturn]] inline void throw_bad_input(const std::string& sentence) {
  throw Error(ErrorCode::bad_input, sentence);
}
[[noreturn]] inline void throw_resource(const std::string& sentence) {
  throw Error(ErrorCode::resource, sentence);
}

}  // namespace warpladder
