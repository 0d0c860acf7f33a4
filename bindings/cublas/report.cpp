#include "report.hpp"

#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "knobs.hpp"

namespace warpladder::cublas {
namespace {

std::atomic<std::uint64_t> counts[kFunctions][kOutcomes];
std::atomic<std::uint64_t> verified{0}, beyond_bound{0};

constexpr const char* kSentences[] = {
    "taken",
    "TF32 is allowed",
    "the environment asks for TF32 or emulation",
    "the math mode is another one",
    "alpha and beta lie in device memory",
    "a number of multiprocessors is asked for",
    "a type is not FP32",
    "the compute type is not FP32",
    "the algorithm is unknown",
    "an operation is neither N, T nor C",
    "an argument or the handle is not valid",
    "the product is too small",
    "a rule says so",
    "a matrix layout is another one",
    "the epilogue is another one",
    "a scale, or another attribute, is set",
    "a kernel stream is set",
    "the thread has no usable CUDA context",
    "the stream is being captured",
    "verify finds no memory",
    "warpladder refused it",
    "failed",
};
static_assert(sizeof kSentences / sizeof kSentences[0] == kOutcomes);

// Kinds of calls that were told already. A full table tells nothing new.
constexpr std::size_t kMostKinds = 2048;
std::atomic<std::uint64_t> told[kMostKinds];

std::uint64_t fingerprint(Function function, const Sizes& sizes, Outcome outcome) {
  std::uint64_t hash = 1469598103934665603u;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (const std::int64_t size : {sizes.m, sizes.n, sizes.k, sizes.batch}) {
    mix(static_cast<std::uint64_t>(size));
  }
  mix(static_cast<std::uint64_t>(sizes.op_a) << 8 | static_cast<std::uint64_t>(sizes.op_b));
  mix(static_cast<std::uint64_t>(function) << 8 | static_cast<std::uint64_t>(outcome));
  return hash | 1;
}

bool is_new(std::uint64_t kind) {
  for (std::size_t probe = 0; probe < 32; ++probe) {
    auto& slot = told[(kind + probe) % kMostKinds];
    std::uint64_t there = slot.load(std::memory_order_relaxed);
    if (there == 0 && slot.compare_exchange_strong(there, kind)) return true;
    if (there == kind) return false;
  }
  return false;
}

int describe(Function function, const Sizes& sizes, char* text, std::size_t bytes) {
  if (!sizes.known) return std::snprintf(text, bytes, "%s", name_of(function));
  if (function == Function::sgemv) {
    return std::snprintf(text, bytes, "%s m=%lld n=%lld %c", name_of(function),
                         static_cast<long long>(sizes.m), static_cast<long long>(sizes.n),
                         sizes.op_a);
  }
  const int length = std::snprintf(text, bytes, "%s m=%lld n=%lld k=%lld %c%c", name_of(function),
                                   static_cast<long long>(sizes.m), static_cast<long long>(sizes.n),
                                   static_cast<long long>(sizes.k), sizes.op_a, sizes.op_b);
  if (sizes.batch == 1) return length;
  return std::snprintf(text + length, bytes - static_cast<std::size_t>(length), " batch=%lld",
                       static_cast<long long>(sizes.batch));
}

int is_driver(dl_phdr_info* info, std::size_t, void*) {
  return info->dlpi_name && std::strstr(info->dlpi_name, "libcuda.so") ? 1 : 0;
}

void report_counts() {
  std::uint64_t all = 0, taken = 0;
  for (const auto& of_function : counts) {
    for (int outcome = 0; outcome < kOutcomes; ++outcome) {
      const std::uint64_t calls = of_function[outcome].load(std::memory_order_relaxed);
      all += calls;
      if (outcome == static_cast<int>(Outcome::taken)) taken += calls;
    }
  }
  report("%llu of %llu calls taken", static_cast<unsigned long long>(taken),
         static_cast<unsigned long long>(all));
  for (int function = 0; function < kFunctions; ++function) {
    for (int outcome = 0; outcome < kOutcomes; ++outcome) {
      const std::uint64_t calls = counts[function][outcome].load(std::memory_order_relaxed);
      if (calls == 0) continue;
      const bool on = outcome != static_cast<int>(Outcome::taken) &&
                      outcome != static_cast<int>(Outcome::failed);
      report("  %s: %llu %s%s", kFunctionNames[function], static_cast<unsigned long long>(calls),
             on ? "passed on: " : "", kSentences[outcome]);
    }
  }
}

// Not where a shell or another program without CUDA ends: it inherits LD_PRELOAD.
[[gnu::destructor]] void report_at_exit() {
  if (!knobs().summary) return;
  std::uint64_t all = 0;
  for (const auto& of_function : counts) {
    for (const auto& calls : of_function) all += calls.load(std::memory_order_relaxed);
  }
  if (all > 0) {
    report_counts();
  } else if (dl_iterate_phdr(is_driver, nullptr)) {
    report(
        "no call was seen; a program that holds cuBLAS statically calls it without the dynamic "
        "linker, and cannot be served");
  }
  if (const std::uint64_t compared = verified.load(std::memory_order_relaxed)) {
    report("%llu products compared with cuBLAS, %llu of them beyond the bound",
           static_cast<unsigned long long>(compared),
           static_cast<unsigned long long>(beyond_bound.load(std::memory_order_relaxed)));
  }
}

}  // namespace

const char* sentence_of(Outcome outcome) noexcept { return kSentences[static_cast<int>(outcome)]; }

void report(const char* format, ...) noexcept {
  char line[640] = "libwarpladder_cublas: ";
  const std::size_t start = std::strlen(line), room = sizeof line - start - 1;
  std::va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(line + start, room, format, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  std::size_t length = static_cast<std::size_t>(wanted);
  length = start + (length < room ? length : room - 1);
  line[length++] = '\n';
  // One call, so that threads' lines do not mix. Nobody can be told that stderr is closed.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, length);
}

void count(Function function, const Sizes& sizes, Outcome outcome) noexcept {
  counts[static_cast<int>(function)][static_cast<int>(outcome)].fetch_add(
      1, std::memory_order_relaxed);
  if (!knobs().log || !is_new(fingerprint(function, sizes, outcome))) return;
  char call[256];
  describe(function, sizes, call, sizeof call);
  const bool on = outcome != Outcome::taken && outcome != Outcome::failed;
  report("%s: %s%s", call, on ? "passed on: " : "", sentence_of(outcome));
}

void report_looked_up(const char* name) noexcept {
  if (!knobs().log) return;
  std::uint64_t hash = 0;
  for (const char* c = name; *c; ++c) hash = hash * 131 + static_cast<unsigned char>(*c);
  if (is_new(hash | 1)) report("%s: looked up by handle, served all the same", name);
}

void report_refusal(Function function, int status, const char* status_name,
                    const char* sentence) noexcept {
  static std::atomic<std::uint32_t> seen{0};
  const std::uint32_t bit = 1u << (static_cast<unsigned>(status) % 32);
  if (seen.load(std::memory_order_relaxed) & bit) return;
  if (seen.fetch_or(bit) & bit) return;
  report("%s went to cuBLAS: %s: %s", name_of(function), status_name, sentence);
}

void note_verdict(Function function, const Sizes& sizes, const Verdict& verdict) noexcept {
  verified.fetch_add(1, std::memory_order_relaxed);
  if (verdict.wrong == 0 && !is_new(fingerprint(function, sizes, Outcome::count))) return;
  if (verdict.wrong) beyond_bound.fetch_add(1, std::memory_order_relaxed);
  char call[256];
  describe(function, sizes, call, sizeof call);
  if (verdict.wrong) {
    report("%s: DIFFERS: %llu elements lie beyond the bound, the worst by a factor of %.3g", call,
           verdict.wrong, static_cast<double>(verdict.worst));
  } else {
    report("%s: agrees: the largest difference is %.3g of the bound", call,
           static_cast<double>(verdict.worst));
  }
}

}  // namespace warpladder::cublas
