#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/selection.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using runtime::Flavour;

struct ListFlags {
  std::string name;
  JsonFlag json;
};

// In the order of the table's columns.
constexpr Flavour kColumns[] = {Flavour::plain, Flavour::counted, Flavour::gpu};

// Why the rung cannot run in this flavour in this build on this machine, or empty if it can.
std::string why_not_here(const ladder::AnyRung& rung, Flavour flavour) {
  const std::string not_built = ladder::why_not(rung, flavour);
  const auto target = flavour == Flavour::gpu ? runtime::Target::gpu : runtime::Target::cpu;
  return not_built.empty() ? device::availability(target).why_not : not_built;
}

// Many rungs share a reason, so the table shows a number, and each reason is printed once below.
class Footnotes {
 public:
  std::size_t number_of(const std::string& reason) {
    const auto at = std::ranges::find(reasons_, reason);
    const auto number = static_cast<std::size_t>(at - reasons_.begin()) + 1;
    if (at == reasons_.end()) reasons_.push_back(reason);
    return number;
  }
  void print() const {
    if (!reasons_.empty()) print_line("");
    for (std::size_t i = 0; i < reasons_.size(); ++i) {
      print_line(fmt::format("- [{}] {}", i + 1, reasons_[i]));
    }
  }

 private:
  std::vector<std::string> reasons_;
};

Cell runs_cell(const std::string& why_not, Footnotes& notes) {
  if (why_not.empty()) return {"yes", Emphasis::good};
  return {fmt::format("no [{}]", notes.number_of(why_not)), Emphasis::dim};
}

// Operators in the order of the command line, each with its selected rungs.
struct Listed {
  const ops::Operator* op;
  std::vector<const ladder::AnyRung*> rungs;
};

std::vector<Listed> listed(const std::vector<lab::Selected>& selected) {
  std::vector<Listed> list;
  for (const auto& [op, rung] : selected) {
    if (list.empty() || list.back().op != op) list.push_back({op, {}});
    list.back().rungs.push_back(rung);
  }
  return list;
}

void print_operators(const std::vector<Listed>& operators) {
  TextTable table(
      {{"operator"}, {"what it computes"}, {"shape"}, {"variants"}, {"rungs", Align::right}});
  for (const auto& [op, rungs] : operators) {
    std::vector<std::string> variants = op->variants();
    std::erase(variants, "");  // the plain problem
    table.add_row({op->name(), op->idea(), op->shape_form(),
                   fmt::format("{}", fmt::join(variants, ", ")), std::to_string(rungs.size())});
  }
  print(table);
}

void print_rungs(const std::vector<Listed>& operators) {
  TextTable table({{"rung"}, {"idea"}, {"accepts"}, {"cpu"}, {"counted"}, {"gpu"}});
  Footnotes notes;
  for (const Listed& each : operators) {
    table.add_rule();
    for (const ladder::AnyRung* rung : each.rungs) {
      std::vector<Cell> row{rung->full_name(), rung->idea, rung->accepts};
      for (const Flavour flavour : kColumns) {
        row.push_back(runs_cell(why_not_here(*rung, flavour), notes));
      }
      table.add_row(std::move(row));
    }
  }
  print(table);
  notes.print();
}

nlohmann::json as_json(const Listed& listed) {
  const ops::Operator& op = *listed.op;
  nlohmann::json rungs = nlohmann::json::array();
  for (const ladder::AnyRung* rung : listed.rungs) {
    nlohmann::json flavours;
    for (const Flavour flavour : kColumns) {
      const std::string why_not = why_not_here(*rung, flavour);
      nlohmann::json& entry = flavours[lab::name(flavour)];
      entry["runs"] = why_not.empty();
      if (!why_not.empty()) entry["why_not"] = why_not;
    }
    rungs.push_back({{"id", rung->id},
                     {"idea", rung->idea},
                     {"accepts", rung->accepts},
                     {"flavours", flavours}});
  }
  return {{"name", op.name()},
          {"idea", op.idea()},
          {"shape", op.shape_form()},
          {"variants", op.variants()},
          {"rungs", rungs}};
}

void list(const ListFlags& flags, const Context& context) {
  std::vector<std::string> names;
  if (!flags.name.empty()) names.push_back(flags.name);
  const std::vector<Listed> operators = listed(lab::select_once(names));
  if (names.empty()) {
    print_operators(operators);
    print_line("");
  }
  print_rungs(operators);
  if (flags.json.asked()) {
    nlohmann::json report{{"verb", "list"}, {"operators", nlohmann::json::array()}};
    for (const Listed& each : operators) report["operators"].push_back(as_json(each));
    flags.json.write(context, std::move(report));
  }
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("list", "Operators and rungs, and where each can run here");
  const auto flags = std::make_shared<ListFlags>();
  verb->add_option("OP[/RUNG]", flags->name,
                   "Only this operator's rungs, this rung, or a pattern such as 'sgemm/row_*'")
      ->type_name("");
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { list(*flags, context); });
}

}  // namespace warpladder::app
