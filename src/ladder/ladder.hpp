#pragma once
// All rungs of all operators, by id, as the lab sees them: their calls' types are erased. It names
// no rung, because the build lists rungs by their files.

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "executor/counts.hpp"
#include "ladder/rung.hpp"

namespace warpladder::ladder {

// A call of any operator. Remembers its type, so that a rung of another operator refuses it.
class AnyCall {
 public:
  template <class Call>
  AnyCall(const Call& call) : call_(&call), type_(&kTypeOf<Call>) {
    static_assert(std::is_class_v<Call>, "a call itself, not its address");
  }

  // Throws std::logic_error if the call is of another type.
  template <class Call>
  const Call& as() const {
    if (type_ != &kTypeOf<Call>) throw_wrong_type();
    return *static_cast<const Call*>(call_);
  }

 private:
  template <class Call>
  static constexpr char kTypeOf = 0;
  [[noreturn]] static void throw_wrong_type();

  const void* call_;
  const void* type_;
};

// A function of a call of erased type: the one place where rungs and rivals lose the type.
template <class Result, class... More>
class Erased {
 public:
  Erased() = default;
  Erased(std::nullptr_t) {}
  template <class Call>
  Erased(Result (*typed)(const Call&, More...))
      : typed_(reinterpret_cast<void (*)()>(typed)), invoke_(typed ? &invoke<Call> : nullptr) {}
  // A lambda without captures.
  template <class Function>
  requires(std::is_class_v<Function> && !std::is_same_v<Function, Erased>) Erased(Function function)
      : Erased(+function) {}

  explicit operator bool() const { return invoke_; }
  Result operator()(AnyCall call, More... more) const { return invoke_(typed_, call, more...); }

 private:
  template <class Call>
  static Result invoke(void (*typed)(), AnyCall call, More... more) {
    return reinterpret_cast<Result (*)(const Call&, More...)>(typed)(call.as<Call>(), more...);
  }

  void (*typed_)() = nullptr;
  Result (*invoke_)(void (*)(), AnyCall, More...) = nullptr;
};
using Launcher = Erased<void, runtime::StreamView&>;
using Predictor = Erased<Totals, const runtime::Machine&>;
using Condition = Erased<bool>;

struct AnyRung {
  std::string op, id, idea, accepts;
  bool on_host = false;
  Launcher launch[runtime::kFlavours] = {};  // null where this build has no such flavour
  Predictor predict = {};
  Condition takes = {};
  Erased<std::size_t, const runtime::Machine&> workspace_bytes = {};  // null: no more than is given
  Launcher prepare[runtime::kFlavours] = {};  // null: there is nothing to prepare
  Arithmetic arithmetic = {};
  Needs needs = {};
  bool is_hopper = false;  // its machine code runs on compute capability 9.0 alone
  // For `dispatch`: the arithmetic of the planned rung. Null for other rungs.
  Erased<Arithmetic> planned_arithmetic = {};

  Arithmetic arithmetic_for(AnyCall call) const {
    return planned_arithmetic ? planned_arithmetic(call) : arithmetic;
  }
  // Bytes of workspace beyond those that the operator gives every call.
  std::size_t workspace_for(AnyCall call, const runtime::Machine& machine) const {
    return workspace_bytes ? workspace_bytes(call, machine) : 0;
  }
  bool is_dispatch() const { return static_cast<bool>(planned_arithmetic); }
  Launcher launcher(runtime::Flavour flavour) const { return launch[static_cast<int>(flavour)]; }
  Launcher preparation(runtime::Flavour flavour) const {
    return prepare[static_cast<int>(flavour)];
  }
  std::string full_name() const { return op + "/" + id; }
};

// Adds a rung to the ladder. The list that the build writes calls it during static initialisation.
// A second rung of the same name ends the program.
bool declare(AnyRung rung);

// The flavours of one rung, as the lab sees them; null for one that this build lacks. It has
// `plain` or `counted`.
template <class Call>
AnyRung erased(const char* op, const char* id, bool is_hopper, const Rung<Call>* gpu,
               const Rung<Call>* plain, const Rung<Call>* counted) {
  const Rung<Call>& told = plain ? *plain : *counted;
  AnyRung rung{.op = op,
               .id = id,
               .idea = told.idea,
               .accepts = told.accepts,
               .on_host = told.on_host,
               .predict = told.predict,
               .takes = told.takes,
               .workspace_bytes = told.workspace_bytes,
               .arithmetic = told.arithmetic,
               .needs = told.needs,
               .is_hopper = is_hopper};
  const auto add = [&](runtime::Flavour flavour, const Rung<Call>* of_flavour) {
    if (!of_flavour) return;
    rung.launch[static_cast<int>(flavour)] = of_flavour->launch;
    rung.prepare[static_cast<int>(flavour)] = of_flavour->prepare;
  };
  add(runtime::Flavour::gpu, gpu);
  add(runtime::Flavour::plain, plain);
  add(runtime::Flavour::counted, counted);
  return rung;
}

// Declares an operator's contestant `dispatch`, which takes every call. `gpu` is the library's call
// (null in a build without CUDA); the others run the planned rung in the executor.
template <class Call>
bool declare_dispatch(const char* op,
                      std::type_identity_t<void (*)(const Call&, runtime::StreamView&)> gpu,
                      void (*plain)(const Call&, runtime::StreamView&),
                      void (*counted)(const Call&, runtime::StreamView&),
                      Arithmetic (*arithmetic)(const Call&),
                      std::size_t (*workspace_bytes)(const Call&, const runtime::Machine&)) {
  AnyRung rung{.op = op,
               .id = "dispatch",
               .idea = "what the library's call does",
               .accepts = "every problem",
               .workspace_bytes = workspace_bytes,
               .planned_arithmetic = arithmetic};
  rung.launch[static_cast<int>(runtime::Flavour::gpu)] = gpu;
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = plain;
  rung.launch[static_cast<int>(runtime::Flavour::counted)] = counted;
  return declare(std::move(rung));
}

// Sorted by operator, then id.
const std::vector<AnyRung>& all_rungs();
std::vector<const AnyRung*> rungs_of(std::string_view op);
// Throws Error(bad_input), which names the existing operators or rungs.
const AnyRung& find_rung(std::string_view op, std::string_view id);

// Whether this build has the rungs' GPU flavour.
bool has_gpu_flavour();

// Why the machine cannot run the rung's GPU flavour, or empty if it can.
std::string why_not(const AnyRung& rung, const runtime::Machine& machine);
// Why the rung cannot run in this flavour, in this build and on this GPU; empty if it can.
std::string why_not(const AnyRung& rung, runtime::Flavour flavour);
// Why it cannot run on this problem, or empty if it can.
std::string why_not(const AnyRung& rung, AnyCall call);

// Whether each total is the predicted one, or not predicted.
bool agrees(const Totals& counted, const Totals& predicted);

Totals totals_of(const std::vector<executor::KernelCounts>& launches);

}  // namespace warpladder::ladder
