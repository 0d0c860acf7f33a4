#include "programs/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <thread>

#include "base/error.hpp"

namespace warpladder::programs {
namespace {

constexpr int kNotFound = 127;

std::vector<char*> pointers(const std::vector<std::string>& argv) {
  std::vector<char*> list;
  for (const std::string& a : argv) list.push_back(const_cast<char*>(a.c_str()));
  list.push_back(nullptr);
  return list;
}

Ended wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Ended ended;
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ended.status = ended.signal ? 128 + ended.signal : WEXITSTATUS(status);
  return ended;
}

// In the child: what this program set for itself is not the other's.
void restore_signals() {
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT}) ::signal(number, SIG_DFL);
}

}  // namespace

Ended run_tool(const std::vector<std::string>& argv, bool with_errors) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_resource("cannot make a pipe to " + argv.front());
  const std::vector<char*> list = pointers(argv);
  const pid_t child = ::fork();
  if (child == 0) {
    restore_signals();
    ::dup2(ends[1], STDOUT_FILENO);
    if (with_errors) ::dup2(ends[1], STDERR_FILENO);
    ::execvp(list[0], list.data());
    ::_exit(kNotFound);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    throw_resource("cannot start " + argv.front());
  }
  std::string output;
  char bytes[65536];
  for (ssize_t n; (n = ::read(ends[0], bytes, sizeof bytes)) != 0;) {
    if (n > 0) {
      output.append(bytes, static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      break;
    }
  }
  ::close(ends[0]);
  Ended ended = wait_for(child);
  if (ended.status == kNotFound && output.empty()) {
    throw_resource(fmt::format(
        "{} is not to be found; programs are compiled with g++ and binutils (on Debian and Ubuntu: "
        "apt install g++)",
        argv.front()));
  }
  ended.output = std::move(output);
  return ended;
}

Ended run_on_terminal(const std::vector<std::string>& argv, const std::string& variable,
                      const std::string& value, bool hide_output) {
  const std::vector<char*> list = pointers(argv);
  // An interrupt is for the person's program; this one reports what it has found until then.
  struct sigaction ignored = {}, interrupt, quit;
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignored, &interrupt);
  ::sigaction(SIGQUIT, &ignored, &quit);
  const pid_t child = ::fork();
  if (child == 0) {
    restore_signals();
    if (hide_output) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::setenv(variable.c_str(), value.c_str(), 1);
    ::execv(list[0], list.data());
    ::_exit(kNotFound);
  }
  if (child < 0) throw_resource("cannot start " + argv.front());
  Ended ended = wait_for(child);
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGQUIT, &quit, nullptr);
  return ended;
}

std::vector<Ended> run_tools(const std::vector<std::vector<std::string>>& calls, unsigned at_once) {
  std::vector<Ended> ended(calls.size());
  std::vector<std::exception_ptr> failures(calls.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < calls.size();) {
      try {
        ended[i] = run_tool(calls[i], true);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> threads;
  const auto count = std::min<std::size_t>(std::max(1u, at_once), calls.size());
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return ended;
}

}  // namespace warpladder::programs
