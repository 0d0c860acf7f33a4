#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/in_quotes.hpp"

extern char** environ;

namespace warpladder {
namespace {

[[noreturn]] void fail(const std::string& program, int error) {
  throw_resource(fmt::format("{} cannot be run: {}", in_quotes(program),
                             std::generic_category().message(error)));
}

struct Pipe {
  FileDescriptor read_end, write_end;
};
Pipe make_pipe(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(program, errno);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// Both at once: a program that fills one pipe waits until somebody reads it.
void drain(const FileDescriptor& out, std::string& output, const FileDescriptor& err,
           std::string& errors) {
  std::array<pollfd, 2> ends{pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0}};
  std::array<std::string*, 2> texts{&output, &errors};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (::poll(ends.data(), ends.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char bytes[65536];
      const ssize_t count = ::read(ends[i].fd, bytes, sizeof bytes);
      if (count > 0) texts[i]->append(bytes, static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) ends[i].fd = -1;
    }
  }
}

}  // namespace

FinishedProcess run_process(const std::vector<std::string>& argv) {
  Pipe out = make_pipe(argv[0]), err = make_pipe(argv[0]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // An ignored signal would stay ignored in the program.
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, signal);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  FinishedProcess finished;
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(argv[0], error);
  out.write_end.close();
  err.write_end.close();
  drain(out.read_end, finished.output, err.read_end, finished.errors);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  finished.seconds = elapsed.count();
  return finished;
}

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/bin:/usr/bin");  // as posix_spawnp() has it
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code absent;
    if (std::filesystem::is_regular_file(file, absent) && ::access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
  }
  return "";
}

}  // namespace warpladder
