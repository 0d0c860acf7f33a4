#include "base/scratch_folder.hpp"

#include <stdlib.h>

#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder {

ScratchFolder::ScratchFolder() {
  const char* const wanted = std::getenv("TMPDIR");
  // mkdtemp() puts a name that is free in the place of the six letters.
  std::string path = std::string(wanted && *wanted ? wanted : "/tmp") + "/warpladder-XXXXXX";
  if (!::mkdtemp(path.data())) throw_resource("cannot make a folder in " + in_quotes(path));
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace warpladder
