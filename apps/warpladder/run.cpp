#include "ops/lab/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/in_quotes.hpp"
#include "base/npy.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using ops::RunCapability;
using ops::RunFlag;
using ops::RunResult;

// One word after `run`, and the operators that share it.
class RunCommand {
 public:
  void add(const RunCapability& capability) {
    operators_.push_back(&capability);
    for (const RunFlag& flag : capability.flags) {
      if (std::ranges::find(flags_, flag.name, &RunFlag::name) == flags_.end()) {
        flags_.push_back(flag);
      }
    }
  }

  // The operators' required flags, then those of every command, then the operators' others.
  void add_to(CLI::App& verb) {
    for (const RunFlag& flag : flags_) {
      if (flag.required) add_flag(verb, flag);
    }
    const bool needs_out = std::ranges::all_of(operators_, &RunCapability::needs_out);
    add_output_file(verb, "--out", out_, "The .npy file to write, whole or not at all")
        ->required(needs_out);
    verb.add_option(
            "--rung", rung_,
            "Run this one (default: on a GPU the library's choice, on the CPU the one that the "
            "executor runs fastest)")
        ->type_name("ID");
    device_.add_to(verb);
    json_.add_to(verb);
    for (const RunFlag& flag : flags_) {
      if (!flag.required) add_flag(verb, flag);
    }
  }

  // The summary of the operator that needs no flag to be selected.
  const std::string& summary() const { return (*default_operator())->summary; }

  void run(const Context& context) const {
    ops::RunOptions options;
    options.target = device_.target();
    options.rung = rung_;
    options.executor_threads = device_.threads;
    options.has_out = !out_.empty();
    const ops::RunValues values = values_of();
    deliver(selected(values).run(values, options), context);
  }

 private:
  void add_flag(CLI::App& verb, const RunFlag& flag) {
    const std::string name = "--" + flag.name;
    if (flag.type.empty()) {
      verb.add_flag(name, switches_[flag.name], flag.help);
      return;
    }
    std::string& text = texts_[flag.name] = flag.default_value;
    verb.add_option(name, text, flag.help)->type_name(flag.type)->required(flag.required);
  }

  // The command line refuses empty values.
  ops::RunValues values_of() const {
    ops::RunValues values;
    for (const auto& [name, text] : texts_) {
      if (!text.empty()) values.set(name, text);
    }
    for (const auto& [name, is_given] : switches_) {
      if (is_given) values.set(name, "");
    }
    return values;
  }

  std::vector<const RunCapability*>::const_iterator default_operator() const {
    const auto is_default = [](const RunCapability* c) { return c->selected_by.empty(); };
    const auto at = std::ranges::find_if(operators_, is_default);
    return at == operators_.end() ? operators_.begin() : at;
  }
  const RunCapability& selected(const ops::RunValues& values) const {
    for (const RunCapability* c : operators_) {
      if (!c->selected_by.empty() && values.has(c->selected_by)) return *c;
    }
    return **default_operator();
  }

  void deliver(RunResult result, const Context& context) const;

  std::vector<const RunCapability*> operators_;
  std::vector<RunFlag> flags_;
  std::map<std::string, std::string> texts_;  // CLI11 keeps references to the values of both maps
  std::map<std::string, bool> switches_;
  std::string out_, rung_;
  DeviceFlags device_;
  JsonFlag json_;
};

std::string readable_time(double time_s) {
  if (time_s < 1e-3) return fmt::format("{:.3g} µs", time_s * 1e6);
  if (time_s < 1.0) return fmt::format("{:.3g} ms", time_s * 1e3);
  return fmt::format("{:.3g} s", time_s);
}

// Of a scalar result.
std::string only_value(const RunResult& result) {
  return result.places.empty() ? fmt::format("{}", result.out.data.front())
                               : std::to_string(result.places.front());
}

// Writes the result, if there is a file for it, and says so.
void RunCommand::deliver(RunResult result, const Context& context) const {
  const std::string file = file_of_output(out_);
  if (!file.empty() && result.places.empty()) {
    write_npy(file, result.out.shape, result.out.data, result.out.fortran_order, "--out");
  } else if (!file.empty()) {
    write_npy_places(file, result.out.shape, result.places, "--out");
  }
  const ladder::AnyRung& rung = *result.rung;
  const char* target = device::name(result.flavour == runtime::Flavour::gpu ? runtime::Target::gpu
                                                                            : runtime::Target::cpu);
  const std::string preparation =
      result.preparation_s > 0
          ? fmt::format(" after {} of preparation", readable_time(result.preparation_s))
          : "";
  // One line of any length, because scripts read it.
  print_text(fmt::format("{} of {} ran as {} on the {} in {}{}; the result is {}", rung.op,
                         fmt::join(result.shape, "x"), rung.id, target,
                         readable_time(result.time_s), preparation,
                         out_.empty() ? only_value(result) : "in " + in_quotes(out_)));
  if (json_.asked()) {
    nlohmann::json report{{"verb", "run"},
                          {"op", rung.op},
                          {"rung", rung.id},
                          {"target", target},
                          {"shape", result.shape},
                          {"time_s", result.time_s},
                          {"out_shape", result.out.shape}};
    for (const auto& [name, detail] : result.details) {
      std::visit([&](const auto& value) { report[name] = value; }, detail);
    }
    if (result.preparation_s > 0) report["preparation_s"] = result.preparation_s;
    json_.write(context, std::move(report));
  }
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("run", "An operator on your own data");
  verb->require_subcommand(1);
  verb->footer("warpladder run FILE.cu runs a CUDA program instead; its --help says how.");

  std::map<std::string, std::shared_ptr<RunCommand>> commands;
  for (const auto& op : ops::all_operators()) {
    const RunCapability* capability = op->run();
    if (!capability) continue;
    std::shared_ptr<RunCommand>& command = commands[capability->command];
    if (!command) command = std::make_shared<RunCommand>();
    command->add(*capability);
  }
  for (const auto& [name, command] : commands) {
    auto* subcommand = verb->add_subcommand(name, command->summary());
    command->add_to(*subcommand);
    subcommand->callback([command, &context] { command->run(context); });
  }
}

}  // namespace warpladder::app
