#include "knobs.hpp"

#include <fnmatch.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "report.hpp"

namespace warpladder::cublas {
namespace {

Knobs storage;
std::mutex reading;

// Null for a variable that is unset or empty.
const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? value : nullptr;
}

bool parse_number(const char* text, const char* end, std::int64_t* value) {
  if (text == end) return false;
  *value = 0;
  for (; text != end; ++text) {
    if (*text < '0' || *text > '9') return false;
    if (__builtin_mul_overflow(*value, 10, value)) return false;
    if (__builtin_add_overflow(*value, *text - '0', value)) return false;
  }
  return true;
}

// 5, 5.., ..7 or 5..7
bool parse_range(const char* text, Range* range) {
  const char* const end = text + std::strlen(text);
  const char* const dots = std::strstr(text, "..");
  if (!dots) {
    const bool good = parse_number(text, end, &range->least);
    range->most = range->least;
    return good;
  }
  if (dots == text && dots + 2 == end) return false;
  if (dots != text && !parse_number(text, dots, &range->least)) return false;
  if (dots + 2 != end && !parse_number(dots + 2, end, &range->most)) return false;
  return range->least <= range->most;
}

std::uint32_t functions_like(const char* pattern) {
  std::uint32_t bits = 0;
  for (int i = 0; i < kFunctions; ++i) {
    if (fnmatch(pattern, kFunctionNames[i], 0) == 0) bits |= 1u << i;
  }
  return bits;
}

bool parse_size(char* word, Rule* rule) {
  const struct {
    const char* name;
    Range* range;
  } sizes[] = {{"m=", &rule->m}, {"n=", &rule->n}, {"k=", &rule->k}, {"batch=", &rule->batch}};
  for (const auto& [name, range] : sizes) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(word, name, length) == 0) return parse_range(word + length, range);
  }
  return false;
}

void read_rules(const char* path) {
  std::FILE* const file = std::fopen(path, "re");
  if (!file) {
    report("WARPLADDER_CUBLAS_RULES: %s cannot be read: %s; all calls go to cuBLAS", path,
           std::strerror(errno));
    storage.off = true;
    return;
  }
  char line[512], sentence[256];
  for (int number = 1; std::fgets(line, sizeof line, file); ++number) {
    Rule rule;
    const std::size_t length = std::strlen(line);
    const bool whole = length + 1 < sizeof line || line[length - 1] == '\n';
    if (!whole) {
      for (int c = std::fgetc(file); c != EOF && c != '\n';) c = std::fgetc(file);
      std::snprintf(sentence, sizeof sentence, "the line is longer than %zu bytes",
                    sizeof line - 2);
    }
    if (!whole || !parse_rule(line, &rule, sentence, sizeof sentence)) {
      report("%s:%d is ignored: %s", path, number, sentence);
    } else if (rule.functions != 0) {
      if (storage.rules == kMostRules) {
        report("%s:%d and what follows is ignored: there is room for %d rules", path, number,
               kMostRules);
        break;
      }
      storage.rule[storage.rules++] = rule;
    }
  }
  std::fclose(file);
}

void read_mode() {
  const char* const mode = variable("WARPLADDER_CUBLAS");
  if (!mode || std::strcmp(mode, "on") == 0) return;
  storage.log = std::strcmp(mode, "log") == 0;
  storage.verify = std::strcmp(mode, "verify") == 0;
  storage.summary = storage.log || storage.verify;
  if (storage.summary) return;
  storage.off = true;
  if (std::strcmp(mode, "off") == 0) return;
  report("WARPLADDER_CUBLAS is '%s', none of on, off, log and verify; all calls go to cuBLAS",
         mode);
}

void read_others() {
  if (const char* const summary = variable("WARPLADDER_CUBLAS_SUMMARY")) {
    const bool wanted = std::strcmp(summary, "1") == 0;
    storage.summary |= wanted;
    if (!wanted && std::strcmp(summary, "0") != 0) {
      report("WARPLADDER_CUBLAS_SUMMARY is '%s', neither 0 nor 1; all calls go to cuBLAS", summary);
      storage.off = true;
    }
  }
  if (const char* const least = variable("WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS")) {
    if (!parse_number(least, least + std::strlen(least), &storage.least_multiply_adds)) {
      report("WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS is '%s', no whole number; all calls go to cuBLAS",
             least);
      storage.off = true;
    }
    storage.least_activated = storage.least_multiply_adds;
  }
  if (const char* const rules = variable("WARPLADDER_CUBLAS_RULES")) read_rules(rules);
}

void read_precision() {
  const char* const tf32 = variable("NVIDIA_TF32_OVERRIDE");
  const char* const emulated = variable("CUBLAS_EMULATE_SINGLE_PRECISION");
  if (tf32) {
    storage.precision = std::strcmp(tf32, "0") == 0 ? Precision::never_tf32 : Precision::theirs;
  }
  if (emulated && std::strcmp(emulated, "0") != 0) storage.precision = Precision::theirs;
}

}  // namespace

bool parse_rule(const char* line, Rule* rule, char* sentence, int sentence_bytes) noexcept {
  const auto room = static_cast<std::size_t>(sentence_bytes);
  char text[512];
  std::snprintf(text, sizeof text, "%s", line);
  if (char* const comment = std::strchr(text, '#')) *comment = '\0';
  char* place = nullptr;
  const char* const pattern = strtok_r(text, " \t\r\n", &place);
  if (!pattern) return true;
  const std::uint32_t functions = functions_like(pattern);
  if (functions == 0) {
    std::snprintf(sentence, room, "no function that is taken has a name like '%s'", pattern);
    return false;
  }
  while (char* const word = strtok_r(nullptr, " \t\r\n", &place)) {
    const bool take = std::strcmp(word, "take") == 0;
    if (take || std::strcmp(word, "pass") == 0) {
      if (const char* const more = strtok_r(nullptr, " \t\r\n", &place)) {
        std::snprintf(sentence, room, "'%s' stands behind '%s'", more, word);
        return false;
      }
      rule->take = take;
      rule->functions = functions;
      return true;
    }
    if (!parse_size(word, rule)) {
      std::snprintf(sentence, room,
                    "'%s' is no size such as m=5, n=5..7, k=64.. or batch=..8, nor take or pass",
                    word);
      return false;
    }
  }
  std::snprintf(sentence, room, "it ends with neither take nor pass");
  return false;
}

const Knobs& read_knobs() noexcept {
  const std::lock_guard lock(reading);
  if (!known_knobs.load(std::memory_order_relaxed)) {
    read_mode();
    if (!storage.off) read_others();
    read_precision();
    known_knobs.store(&storage, std::memory_order_release);
  }
  return storage;
}

}  // namespace warpladder::cublas
