// Flags of verbs that measure many problems: their sizes, how long that may take, and where what is
// done lies.

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "lab/axes.hpp"
#include "ops/lab/operator.hpp"
#include "verb.hpp"

namespace warpladder::app {

std::string journal_path_of(const JsonFlag& json, bool resume, const char* ending) {
  std::error_code absent;
  const bool is_file = json.asked() && json.path != "-" &&
                       !std::filesystem::is_other(std::filesystem::status(json.path, absent));
  if (resume && !is_file) throw_bad_input("--resume needs --json FILE, beside which rows are");
  if (!is_file) return "";
  register_output("the rows beside --json", json.path + ending);
  return json.path + ending;
}

std::vector<std::vector<std::int64_t>> shapes_asked_for(const ops::Operator& op,
                                                        const std::optional<std::string>& shape,
                                                        const std::vector<std::string>& axes) {
  if (shape && !axes.empty()) {
    throw_bad_input("--shape and -a both give the sizes; give one of them");
  }
  const std::vector<std::int64_t> defaults = op.default_shape();
  if (shape) return {parse_shape(*shape, defaults.size(), "--shape")};
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<lab::Axis> parsed;
  for (const std::string& text : axes) {
    if (!text.starts_with("shape=")) {
      parsed.push_back(lab::parse_axis(text));
      continue;
    }
    if (axes.size() > 1) throw_bad_input("-a 'shape=...' gives all sizes; give it alone");
    for (const std::string& listed : lab::parse_list(text)) {
      shapes.push_back(parse_shape(listed, defaults.size(), "-a"));
    }
  }
  if (!shapes.empty()) return shapes;
  return lab::shapes_of(parsed, lab::size_names(op.shape_form()), defaults, op.name());
}

void add_sizes(CLI::App& verb, std::optional<std::string>& shape, std::vector<std::string>& axes) {
  verb.add_option("-a,--axis", axes,
                  "Values of sizes: 'm,n,k=[pow2:5:8]', 'm=[16,32]', 'm=[64:256:64]'; several make "
                  "their product. Or whole shapes: 'shape=[64x32,100x7]'")
      ->type_name("NAMES=VALUES")
      ->allow_extra_args(false);
  verb.add_option("--shape", shape, "One problem")->type_name("MxNxK");
}

void add_parts(CLI::App& verb, std::optional<std::string>& budget, bool& resume) {
  verb.add_option("--budget", budget,
                  "Time for all problems, as in 60s, 5m or 1h: fewer samples each, and what it "
                  "does not last for is named")
      ->type_name("TIME");
  verb.add_flag("--resume", resume,
                "Go on where an interrupted run with the same --json FILE stopped");
}

}  // namespace warpladder::app
