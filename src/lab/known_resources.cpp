#include "lab/known_resources.hpp"

#include <algorithm>
#include <charconv>
#include <regex>

#include "lab/compiled_code.hpp"
#include "lab/ncu_compare.hpp"

namespace warpladder::lab {
namespace {

unsigned number(const std::string& text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

const std::vector<ShippedResources>& shipped() {
  static const std::vector<ShippedResources> rows = parse_shipped_resources(shipped_table());
  return rows;
}

// The table leaves scopes out of arguments, too: a rung's kernels are told apart without them.
std::string name_in_table(const std::string& kernel) {
  static const std::regex scope(R"(\b\w+::)");
  return std::regex_replace(plain_kernel_name(kernel), scope, "");
}

}  // namespace

std::string plain_kernel_name(std::string name) {
  static const std::regex nothing(
      R"(\(anonymous namespace\)::|_GLOBAL__N__\w+::|\b(counted|plain|gpu|warpladder)::)");
  name = std::regex_replace(name, nothing, "");
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (depth == 0 && name[i] == '(') name.resize(i);
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  std::erase(name, ' ');
  // Of a rung's kernel the operator's namespace says nothing more.
  const std::size_t arguments = std::min(name.find('<'), name.size());
  const std::size_t scope = name.rfind("::", arguments);
  return scope == name.npos ? name : name.substr(scope + 2);
}

std::vector<ShippedResources> parse_shipped_resources(std::string_view table) {
  std::vector<ShippedResources> rows;
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    std::vector<std::string> fields;
    for (std::size_t end; (end = line.find('\t')) != line.npos; line.remove_prefix(end + 1)) {
      fields.emplace_back(line.substr(0, end));
    }
    fields.emplace_back(line);
    if (fields.size() != 5) continue;
    const std::string source = "the table of nvcc's " + fields[2] + " code";
    rows.push_back({fields[0],
                    plain_kernel_name(fields[1]),
                    {number(fields[3]), number(fields[4]), source, fields[2]}});
  }
  return rows;
}

void add_shipped_resources(Explanation& e) {
  for (const executor::KernelCounts& k : e.launches) {
    if (e.compiled.contains(k.kernel)) continue;  // launched before
    const std::string kernel = name_in_table(k.kernel);
    for (const ShippedResources& row : shipped()) {
      if (row.rung != e.full_name() || row.kernel != kernel) continue;
      e.compiled.emplace(k.kernel, row.resources);
    }
  }
}

bool add_resources(Explanation& e, const std::vector<CubinKernel>& kernels,
                   const std::string& source) {
  bool found = false;
  for (const executor::KernelCounts& k : e.launches) {
    const CubinKernel* match = nullptr;
    std::size_t alike = 0;  // by their bare names
    for (const CubinKernel& kernel : kernels) {
      const std::string name = plain_kernel_name(demangled(kernel.symbol));
      if (name == plain_kernel_name(k.kernel)) {
        match = &kernel;
        alike = 1;
        break;
      }
      if (bare_kernel_name(name) != bare_kernel_name(k.kernel)) continue;
      match = &kernel;
      ++alike;
    }
    if (alike != 1) continue;
    e.compiled.erase(k.kernel);
    e.compiled.insert({k.kernel, {match->registers, match->static_shared_bytes, source, {}}});
    found = true;
  }
  return found;
}

}  // namespace warpladder::lab
