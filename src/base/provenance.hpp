#pragma once
// Where a result came from, for the JSON files. Nothing here names the host, the user or an
// absolute path, so results can be published as they are.

#include <nlohmann/json.hpp>
#include <span>

namespace warpladder {

// Grows when a reader of older files would misread newer ones.
inline constexpr int kSchemaVersion = 1;

// schema_version, argv, date, commit, compiler, cpu, cores, os, build_type. Of a path in argv that
// is absolute, or begins with ../, only the last component stays.
nlohmann::json provenance(std::span<const char* const> argv);

}  // namespace warpladder
