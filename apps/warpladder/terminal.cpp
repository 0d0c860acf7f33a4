#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/temporary_name.hpp"
#include "base/terminal.hpp"
#include "base/text_table.hpp"
#include "lab/time_left.hpp"

namespace warpladder::app {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

std::atomic<bool> progress_is_shown{false};

// The current work, in fixed memory, which a signal handler may read.
constexpr std::size_t kRunningBytes = 200;
char running[kRunningBytes + 1];
std::atomic<bool> is_running{false};

double limit_s = 0;  // of each that runs; 0: none

// SIGPROF arrives after this processor time of all threads; 0: never.
void restart_clock(double seconds) {
  if (limit_s <= 0) return;
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void write_to_stderr(std::string_view text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

// Cut to the width, because a wrapped line would remain.
std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::string out;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins && display_width(out) == width) break;
    out += c;
  }
  return out;
}

// `left_s` is infinite while nothing can be said of it.
void show(const std::string& what, double done, double left_s) {
  const std::string left =
      std::isfinite(left_s) ? fmt::format(", {}:", lab::time_left_text(left_s)) : "";
  const std::string line = fmt::format("{:3.0f}%{} {}", 100.0 * done, left, what);
  write_to_stderr("\r" + cut(line, columns_of(STDERR_FILENO) - 1) + "\x1b[K");
  progress_is_shown = true;
}

// Signal handlers must not use stdio or the heap.
void end_progress_line() {
  if (progress_is_shown) write_to_stderr(kEraseLine);
}

void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void on_end(int signal) {
  end_progress_line();
  TemporaryName::remove_all();
  die_of(signal);
}

// For unchecked work only. In the checking flavour the executor ends an endless loop first.
void on_time_limit(int) {
  end_progress_line();
  TemporaryName::remove_all();
  const char* const what = running;
  for (const char* part : {"warpladder: ", what, " does not end: an endless loop? ",
                           "'warpladder verify' without --fast names the line\n"}) {
    write_to_stderr(part);
  }
  ::_exit(static_cast<int>(ErrorCode::check_failed));
}

void on_crash(int signal) {
  end_progress_line();
  TemporaryName::remove_all();
  if (!is_running) return die_of(signal);
  const char* const what = running;
  const char* const name = signal == SIGFPE   ? "a division by zero"
                           : signal == SIGILL ? "an illegal instruction"
                                              : "an access outside of memory";
  for (const char* part :
       {"warpladder: ", what, " crashed: ", name,
        "; 'warpladder verify OP/RUNG' checks each access and names the line\n"}) {
    write_to_stderr(part);
  }
  ::_exit(static_cast<int>(ErrorCode::check_failed));
}

// Except signals that the parent process set to be ignored, as nohup does.
void handle(int signal, void (*handler)(int)) {
  struct sigaction before {};
  if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void limit_each(double seconds) {
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  // Twice the executor's limit, so that the executor acts first.
  limit_s = 2 * seconds * cores;
}

void note_running(const std::string& what) {
  is_running = false;
  restart_clock(what.empty() ? 0 : limit_s);
  const std::string quoted = in_quotes(what, kRunningBytes / 4 - 2);  // a byte may become four
  running[quoted.copy(running, kRunningBytes)] = '\0';
  is_running = !what.empty();
}

lab::Progress progress_on_stderr(double budget_s) {
  const bool is_shown = ::isatty(STDERR_FILENO) == 1 && !is_dumb_terminal(std::getenv("TERM"));
  using Clock = std::chrono::steady_clock;
  return [is_shown, budget_s, begin = Clock::now(), done_at_begin = -1.0](const std::string& what,
                                                                          double done) mutable {
    note_running(what);
    if (!is_shown) return;
    if (done_at_begin < 0) done_at_begin = done;  // more than 0 where a run is resumed
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    double left_s = lab::seconds_left(elapsed.count(), done_at_begin, done);
    if (budget_s > 0) left_s = std::min(left_s, std::max(0.0, budget_s - elapsed.count()));
    show(what, done, left_s);
  };
}

void end_progress() {
  note_running("");
  if (progress_is_shown.exchange(false)) write_to_stderr(kEraseLine);
}

void handle_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, on_end);
#ifndef __SANITIZE_ADDRESS__  // which says more of a crash
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) handle(signal, on_crash);
#endif
  handle(SIGPROF, on_time_limit);
  // A closed pipe and a file-size limit then become errors of write(), which can be reported or
  // ignored.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace warpladder::app
