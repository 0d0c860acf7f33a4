#include "programs/runtime/time_limit.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>

#include "executor/hooks.hpp"
#include "executor/site_table.hpp"
#include "executor/worker.hpp"
#include "programs/runtime/session.hpp"

namespace warpladder::programs {
namespace {

using executor::this_worker;

// Of the processor time of all threads. The thread that runs when it is over gets the signal.
constexpr suseconds_t kTickMicroseconds = 100'000;

// What the signal handler reads.
std::atomic<const char*> kernel{nullptr};  // of the last launch
std::atomic<std::uint64_t> number{0};      // of that launch of the kernel
std::atomic<std::uint64_t> launches_ended{0};
std::atomic<bool> is_launch_running{false}, is_advised{false};

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
const double begin_s = seconds_of(CLOCK_MONOTONIC);

// Once, when the program takes long. Written from a signal handler, too: no stdio, no heap.
void advise() {
  const double budget_s = settings().budget_s, so_far_s = seconds_of(CLOCK_MONOTONIC) - begin_s;
  if (budget_s <= 0 || so_far_s < budget_s || is_advised.exchange(true)) return;
  const bool runs = is_launch_running;
  const std::uint64_t launch = number;
  char text[512];
  const int length = std::snprintf(
      text, sizeof text,
      "warpladder: after %.0f s launch %llu of %s %s; %spass a smaller size after --\n", so_far_s,
      static_cast<unsigned long long>(launch), kernel.load(), runs ? "still runs" : "has ended",
      runs && launch == 1 ? "" : "--launch 1 looks at the first one alone, or ");
  if (length <= 0) return;
  [[maybe_unused]] const ssize_t ignored =
      ::write(STDERR_FILENO, text, std::min(static_cast<std::size_t>(length), sizeof text - 1));
}

// In code of the person's, which holds no lock of a library that a report needs.
bool is_in_program(std::uintptr_t pc) {
  return pc >= reinterpret_cast<std::uintptr_t>(warpladder_kernels_begin) &&
         pc < reinterpret_cast<std::uintptr_t>(warpladder_kernels_end);
}

[[noreturn]] void end_kernel(std::uintptr_t pc) {
  report_fault(this_worker->endless_loop_at(pc));
  stop(1);
}

[[noreturn]] void end_host(std::uintptr_t pc) {
  const std::uint32_t site = executor::SiteTable::instance().site_near(executor::offset_of(pc));
  const char* const last = kernel;
  report_finding(
      "endless loop",
      caller_of(reinterpret_cast<const void*>(executor::SiteTable::text_begin() + site)),
      fmt::format(
          "host code has run for {:g} s of processor time without an end {}; --timeout 0 "
          "sets no limit",
          settings().timeout_s,
          last ? fmt::format("since launch {} of {}", number.load(), last) : "before any launch"));
  stop(1);
}

// The executor ends a launch that it counts, and names the line better.
double limit_of_block() {
  return this_worker->logs ? 1 + 1.25 * settings().timeout_s : settings().timeout_s;
}

// When the thread was first seen in host code behind the last launch.
struct HostBegin {
  std::uint64_t launches = 0;
  double seconds = 0;
};
constinit thread_local HostBegin host_begin;

double host_seconds() {
  const double now = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  if (const std::uint64_t ended = launches_ended; ended != host_begin.launches) {
    host_begin = {ended, now};
  }
  return now - host_begin.seconds;
}

void on_tick(int, siginfo_t*, void* context) {
  const int saved = errno;
  if (is_launch_running) advise();
  const auto pc = static_cast<std::uintptr_t>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  const double limit_s = settings().timeout_s;
  if (limit_s > 0 && is_in_program(pc)) {
    if (this_worker) {
      if (this_worker->block_seconds() > limit_of_block()) end_kernel(pc);
    } else if (host_seconds() > limit_s) {
      end_host(pc);
    }
  }
  errno = saved;
}

bool begin_ticks() {
  if (settings().mode == Mode::run) return false;
  struct sigaction action = {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(SIGPROF, &action, nullptr);
  itimerval timer{};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = kTickMicroseconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  return true;
}
[[maybe_unused]] const bool kTicks = begin_ticks();

}  // namespace

void watch_launch(const char* name, std::uint64_t launch) {
  kernel = name;
  number = launch;
  is_launch_running = true;
}

void watch_host() {
  ++launches_ended;
  is_launch_running = false;
  advise();
}

}  // namespace warpladder::programs
