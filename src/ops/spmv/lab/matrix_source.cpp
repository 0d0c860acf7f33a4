#include "ops/spmv/lab/matrix_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/matrix_market.hpp"
#include "ops/spmv/lab/generators.hpp"

namespace warpladder::spmv {
namespace {

bool is_file(const std::string& text) {
  if (text.ends_with(".mtx") || text.ends_with(".mtx.gz")) return true;
  if (text.find('/') != text.npos) return true;
  std::error_code absent;
  return std::filesystem::exists(text, absent);
}

}  // namespace

CsrMatrix load_matrix(const std::string& text, std::string_view argument,
                      std::int64_t* duplicates) {
  if (duplicates) *duplicates = 0;
  if (is_file(text)) {
    MatrixMarket file = read_matrix_market(text, argument);
    if (duplicates) *duplicates = file.duplicates;
    return std::move(file.matrix);
  }
  if (!names_generator(text)) {
    throw_bad_input(fmt::format("{} is neither a file nor a generator; the generators are: {}",
                                file_subject(text.substr(0, kShownBytes), argument),
                                known_generators(text)));
  }
  return generate(text, argument);
}

}  // namespace warpladder::spmv
