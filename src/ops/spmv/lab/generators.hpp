#pragma once
// Sparse matrices made from a line of text: the shapes that row lengths, bandwidth and structure
// come in, at any size. The same text gives the same bits on any number of threads.
//
//   uniform:rows=1000000,per_row=16     name:key=value,key=value
//   banded:band=5                       a key that is left out has its default
//   arrow                               so may all be

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csr_matrix.hpp"

namespace warpladder::spmv {

struct GeneratorKey {
  std::string name;
  std::optional<std::int64_t> value;  // by default; without one, the generator's idea says
};

struct Generator {
  std::string name, idea;
  std::vector<GeneratorKey> keys;

  std::string form() const;  // "banded:rows=1000000,band=33,seed=1"
};

const std::vector<Generator>& generators();

// What comes before the ':' is one of generators().
bool names_generator(std::string_view spec);
// All generators, and those that `spec` may mean: ends a sentence about one that names none.
std::string known_generators(std::string_view spec);

// Values are uniform in [-1, 1). Throws Error(bad_input) for a spec that says no matrix, and
// Error(resource) for one that does not fit the memory. The sentence begins with `argument` (may be
// empty) and the spec. `threads` = 0: one per core.
CsrMatrix generate(std::string_view spec, std::string_view argument = {}, unsigned threads = 0);

}  // namespace warpladder::spmv
