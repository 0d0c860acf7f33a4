#include "lab/shapes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"

namespace warpladder::lab {
namespace {

// Empty where the line holds no problem. Throws Error(bad_input) without the file and the line.
std::vector<ShapeLine> parse_line(const ops::Operator& op, const std::string& text,
                                  std::size_t line) {
  std::istringstream words(text.substr(0, text.find('#')));
  ShapeLine parsed;
  parsed.line = line;
  std::string shape;
  if (!(words >> parsed.shape_class)) return {};
  if (!(words >> parsed.variant >> shape)) {
    throw_bad_input(fmt::format("{} is not a class, a variant and a shape ({})",
                                in_quotes(text, kShownBytes), op.shape_form()));
  }
  if (parsed.variant == "-") parsed.variant = op.variants().front();
  parsed.shape = parse_shape(shape, op.default_shape().size(), "the shape");
  for (std::string detail; words >> detail;) parsed.variant += " " + detail;
  try {
    op.sampled_case_of_shape(parsed.shape, parsed.variant);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::bad_input) throw;  // memory is found missing when it runs
  }
  return {parsed};
}

}  // namespace

std::vector<ShapeLine> read_shapes(const ops::Operator& op, const std::string& path,
                                   const std::string& argument) {
  const std::string subject = file_subject(path, argument);
  if (op.default_shape().empty() || op.matrices()) {
    throw_bad_input(fmt::format("{}: the problems of {} are matrices, which have no shape", subject,
                                op.name()));
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw_bad_input(subject + " is a directory");
  }
  std::ifstream file(path);
  if (!file) {
    throw_bad_input(fmt::format("{} cannot be opened: {}", subject, std::strerror(errno)));
  }
  std::vector<ShapeLine> list;
  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    if (text.ends_with('\r')) text.pop_back();
    try {
      const auto parsed = parse_line(op, text, line);
      list.insert(list.end(), parsed.begin(), parsed.end());
    } catch (const Error& fault) {
      throw_bad_input(fmt::format("{}, line {}: {}", subject, line, fault.what()));
    }
  }
  if (file.bad()) throw_bad_input(subject + " cannot be read");
  if (list.empty()) throw_bad_input(subject + " holds no shape");
  return list;
}

}  // namespace warpladder::lab
