#include "programs/overlay.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder::programs {

namespace fs = std::filesystem;

namespace {

std::string read_text(const fs::path& path) {
  const std::string name = in_quotes(path.string());
  std::error_code error;
  if (fs::is_directory(path, error)) throw_bad_input(name + " is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_bad_input(name + " cannot be read");
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.find('\0') != std::string::npos) {
    throw_bad_input(name + " is no source text: it holds a zero byte");
  }
  return text;
}

}  // namespace

Overlay::Overlay(fs::path root, std::vector<fs::path> folders, fs::path provided)
    : root_(std::move(root)), folders_(std::move(folders)), provided_(std::move(provided)) {
  for (fs::path& folder : folders_) folder = fs::absolute(folder).lexically_normal();
}

fs::path Overlay::place_of(const fs::path& original) const {
  return root_ / original.relative_path();
}

fs::path Overlay::add(const fs::path& given) {
  const fs::path original = fs::absolute(given).lexically_normal();
  const fs::path copy = place_of(original);
  if (sources_.contains(original.string())) return copy;
  std::string& text = sources_[original.string()] = read_text(given);
  kernels_.merge(kernel_names(text));
  uses_openmp_ = uses_openmp_ || text.find("#pragma omp") != std::string::npos ||
                 text.find("<omp.h>") != std::string::npos;
  for (const std::string& name : included_names(text)) {
    std::error_code error;
    if (fs::is_regular_file(provided_ / name, error)) continue;
    std::vector<fs::path> around{original.parent_path()};
    around.insert(around.end(), folders_.begin(), folders_.end());
    for (const fs::path& folder : around) {
      if (!fs::is_regular_file(folder / name, error)) continue;
      add(folder / name);
      break;
    }
  }
  return copy;
}

void Overlay::write() const {
  std::set<std::string> pointers;
  for (const auto& [file, text] : sources_) pointers.merge(pointed_to(text, kernels_));
  for (const auto& [file, text] : sources_) {
    const fs::path copy = place_of(file);
    fs::create_directories(copy.parent_path());
    std::ofstream(copy, std::ios::binary)
        << fmt::format("#line 1 \"{}\"\n", file) << rewritten(text, kernels_, pointers);
  }
}

std::vector<std::string> Overlay::include_flags() const {
  std::vector<std::string> flags;
  for (const fs::path& folder : folders_) {
    fs::create_directories(place_of(folder));
    // As -iquote, too: a header must not be found where it is not rewritten, and so a second time.
    for (const char* flag : {"-iquote", "-I"}) flags.push_back(flag + place_of(folder).string());
  }
  return flags;
}

void Overlay::refuse_plain_calls() const {
  const std::string here = fs::current_path().string() + "/";
  std::set<std::string> kernels = kernels_;
  for (const auto& [file, text] : sources_) {  // what is a function, too, may be called
    for (const Use& use : uses_of(text, kernels_)) {
      if (!use.is_call) kernels.erase(use.kernel);
    }
  }
  for (const auto& [file, text] : sources_) {
    const std::vector<Use> calls = uses_of(text, kernels);
    if (calls.empty()) continue;
    const Use& call = calls.front();
    throw_bad_input(
        fmt::format("{}:{}: kernel {} is called like a function; launch it with {}<<<grid, "
                    "block>>>(…)",
                    file.starts_with(here) ? file.substr(here.size()) : file, call.line,
                    call.kernel, call.kernel));
  }
}

}  // namespace warpladder::programs
