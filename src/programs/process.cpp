#include "programs/process.hpp"

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

constexpr int kEndings[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
std::atomic<int> ending{0};     // the last of them that came
std::atomic<pid_t> program{0};  // the person's, while it runs

// A terminal sends the other two to the program, too.
bool is_to_be_sent(int signal) { return signal == SIGTERM || signal == SIGHUP; }

void note_ending(int signal) {
  ending = signal;
  if (const pid_t child = program; child > 0 && is_to_be_sent(signal)) ::kill(child, signal);
}

void throw_if_ending() {
  if (const int signal = ending) throw Interrupted{signal};
}

// In the child: what this program set for itself is not the other's.
void restore_signals() {
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
}

}  // namespace

SignalsToProgram::SignalsToProgram() {
  ending = 0;
  struct sigaction action = {};
  action.sa_handler = note_ending;
  for (const int signal : kEndings) {
    struct sigaction& before = before_.emplace_back();
    ::sigaction(signal, nullptr, &before);
    // As nohup wants it.
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

SignalsToProgram::~SignalsToProgram() {
  for (std::size_t i = 0; i < before_.size(); ++i) ::sigaction(kEndings[i], &before_[i], nullptr);
}

FinishedProcess run_tool(const std::vector<std::string>& argv) {
  if (find_program(argv.front()).empty()) {
    throw_resource(fmt::format(
        "{} is not to be found; programs are compiled with g++ and binutils (on Debian and Ubuntu: "
        "apt install g++)",
        argv.front()));
  }
  FinishedProcess finished = run_process(argv);
  throw_if_ending();
  return finished;
}

Ended run_on_terminal(const std::vector<std::string>& argv, const std::string& variable,
                      const std::string& value, bool hide_output) {
  const std::vector<char*> list = pointers(argv);
  throw_if_ending();
  const pid_t child = ::fork();
  if (child == 0) {
    restore_signals();
    if (hide_output) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::setenv(variable.c_str(), value.c_str(), 1);
    ::execv(list[0], list.data());
    ::_exit(kNotFound);
  }
  if (child < 0) throw_resource("cannot start " + argv.front());
  program = child;
  if (const int signal = ending; signal && is_to_be_sent(signal)) ::kill(child, signal);
  const Ended ended = wait_for(child);
  program = 0;
  return ended;
}

std::vector<FinishedProcess> run_tools(const std::vector<std::vector<std::string>>& calls,
                                       unsigned at_once) {
  std::vector<FinishedProcess> finished(calls.size());
  std::vector<std::exception_ptr> failures(calls.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < calls.size();) {
      try {
        finished[i] = run_tool(calls[i]);
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
  return finished;
}

}  // namespace warpladder::programs
