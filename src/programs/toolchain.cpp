#include "programs/toolchain.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "programs/process.hpp"
#include "programs/site_lines.hpp"
#include "runtime/code_cache.hpp"

namespace warpladder::programs {

namespace fs = std::filesystem;

namespace {

// -O2: at -O3 barriers are duplicated. -fno-tree-sra and -fno-ipa-sra: a float4 stays one access.
// DWARF 4: binutils names the wrong file for #line with DWARF 5.
const std::vector<std::string> kFlags{"-x",
                                      "c++",
                                      "-std=gnu++17",
                                      "-O2",
                                      "-g1",
                                      "-gdwarf-4",
                                      "-fno-var-tracking",
                                      "-mavx2",
                                      "-mfma",
                                      "-mf16c",
                                      "-ffp-contract=fast",
                                      "-fno-tree-vectorize",
                                      "-fno-tree-slp-vectorize",
                                      "-fno-tree-loop-distribute-patterns",
                                      "-fno-extern-tls-init",
                                      "-ftls-model=local-exec",
                                      "-fno-optimize-sibling-calls",
                                      "-fno-tree-sra",
                                      "-fno-ipa-sra",
                                      "-fno-strict-aliasing",
                                      "-fpermissive",
                                      "-U_FORTIFY_SOURCE",
                                      "-w"};
const std::vector<std::string> kInstrumented{"-fsanitize=thread",
                                             "--param=tsan-instrument-func-entry-exit=0",
                                             "-fsanitize-coverage=trace-pc",
                                             "-fno-reorder-blocks",
                                             "-fno-reorder-blocks-and-partition",
                                             "-fno-crossjumping",
                                             "-fno-thread-jumps"};
constexpr const char* kWrapped[] = {"malloc", "free",  "_Znwm",  "_Znam", "_ZdlPv", "_ZdlPvm",
                                    "_ZdaPv", "clock", "printf", "puts",  "putchar"};

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

// g++'s own folders of headers, less those that hold a CUDA toolkit: our headers and NVIDIA's do
// not mix. Nothing where there is no toolkit among them.
std::vector<std::string> folders_without_toolkit() {
  const auto holds_toolkit = [](const std::string& folder) {
    std::error_code error;
    return fs::exists(fs::path(folder) / "cuda_runtime.h", error);
  };
  if (!holds_toolkit("/usr/local/include") && !holds_toolkit("/usr/include")) return {};
  const std::string text = run_tool({"g++", "-E", "-v", "-x", "c++", "/dev/null"}).errors;
  std::vector<std::string> flags{"-nostdinc", "-nostdinc++"};
  bool is_list = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string row = text.substr(at, end - at);
    at = end + 1;
    if (row.starts_with("End of search list")) break;
    if (is_list && row.starts_with(' ') && !holds_toolkit(row.substr(1))) {
      append(flags, {"-isystem", row.substr(1)});
    }
    is_list = is_list || row.starts_with("#include <...> search");
  }
  return flags;
}

std::vector<std::string> flags_for(bool instrumented, bool openmp) {
  static const std::vector<std::string> folders = folders_without_toolkit();
  std::vector<std::string> flags = kFlags;
  append(flags, folders);
  if (instrumented) append(flags, kInstrumented);
  if (openmp) flags.push_back("-fopenmp");
  return flags;
}

// ---- the precompiled header: 2 s of headers become 0.2 s

// Changes when the compiler, a flag or a header does.
std::string cache_key(const Shipped& shipped, const std::vector<std::string>& flags) {
  std::string text = run_tool({"g++", "-dumpfullversion", "-dumpmachine"}).output;
  for (const std::string& flag : flags) text += flag + " ";
  text += shipped.include.string();
  std::vector<std::string> headers;
  for (const auto& entry : fs::recursive_directory_iterator(shipped.include)) {
    if (!entry.is_regular_file()) continue;
    headers.push_back(fmt::format("{} {} {}", entry.path().string(), entry.file_size(),
                                  entry.last_write_time().time_since_epoch().count()));
  }
  std::ranges::sort(headers);
  for (const std::string& header : headers) text += header;
  return fmt::format("{:016x}", std::hash<std::string>()(text));
}

// The header to include in front of every file, precompiled where a folder for it can be written.
// Several processes may make it at once: each renames a whole one into place.
fs::path prefix_header(const Shipped& shipped, const std::vector<std::string>& flags) {
  const fs::path plain = shipped.include / "cuda_runtime.h";
  const std::string cache = runtime::cache_folder();
  if (cache.empty()) return plain;
  std::error_code error;
  const fs::path folder = fs::path(cache) / cache_key(shipped, flags);
  const fs::path header = folder / "program.h", compiled = folder / "program.h.gch";
  if (fs::exists(compiled, error)) return header;
  fs::create_directories(folder, error);
  const fs::path mine = folder / fmt::format("program.{}.gch", ::getpid());
  {
    std::ofstream file(header);
    file << "#include \"" << plain.string() << "\"\n";
    if (!file.flush()) return plain;
  }
  std::vector<std::string> call{"g++"};
  append(call, flags);
  *std::ranges::find(call, "c++") = "c++-header";
  append(call, {"-I" + shipped.include.string(), "-c", header.string(), "-o", mine.string()});
  if (run_tool(call).exit_code != 0) return plain;
  fs::rename(mine, compiled, error);
  return error ? plain : header;
}

// ---- what g++ complains about, as sentences that help

// The first error, and how many follow it.
std::string first_error(const std::string& output) {
  std::string first;
  int more = -1;
  std::size_t at = 0;
  while (at < output.size()) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string row = output.substr(at, end - at);
    at = end + 1;
    if (row.find("error:") == std::string::npos) continue;
    if (++more == 0) first = row;
  }
  if (more < 0) return output.substr(0, output.find('\n'));
  return more == 0 ? first : fmt::format("{} ({} more)", first, more);
}

[[noreturn]] void refuse_compilation(const std::string& file, const std::string& output) {
  constexpr std::string_view kMissing = ": No such file or directory";
  constexpr std::string_view kFatal = ": fatal error: ";
  const std::string here = fs::current_path().string() + "/";
  const auto relative = [&](const std::string& text) {
    return text.starts_with(here) ? text.substr(here.size()) : text;
  };
  const std::size_t fatal = output.find(kFatal), missing = output.find(kMissing);
  if (fatal != std::string::npos && missing != std::string::npos && fatal < missing) {
    const std::size_t row = output.rfind('\n', fatal) + 1;
    std::string place = output.substr(row, fatal - row);
    place = place.substr(0, place.rfind(':'));  // the column
    const std::string name = output.substr(fatal + kFatal.size(), missing - fatal - kFatal.size());
    throw_bad_input(fmt::format(
        "{}: #include <{}>: not provided here; if it is the project's own, name its folder with -I",
        relative(place), name));
  }
  throw_bad_input(
      fmt::format("g++ refuses {}: {}", in_quotes(file), relative(first_error(output))));
}

[[noreturn]] void refuse_linking(const std::string& output) {
  // What stands in quotes behind these words, or nothing.
  const auto name_behind = [&](std::string_view words) {
    const std::size_t at = output.find(words);
    if (at == std::string::npos) return std::string();
    const std::size_t name = at + words.size();
    return in_quotes(output.substr(name, output.find('\'', name) - name));
  };
  const std::string missing = name_behind("undefined reference to `"),
                    twice = name_behind("multiple definition of `");
  throw_bad_input("the program does not link: " +
                  (!missing.empty()
                       ? missing + " is not defined; name all its files, or the function is "
                                   "not provided here"
                   : !twice.empty() ? twice + " is defined in two files"
                                    : first_error(output)));
}

std::vector<std::string> compilation(const std::string& file, const fs::path& copy,
                                     const fs::path& object, const Build& build,
                                     const Overlay& overlay, const Shipped& shipped,
                                     const fs::path& prefix) {
  const std::string kind = fs::path(file).extension().string();
  const bool is_device = kind == ".cu" || kind == ".cuh";
  std::vector<std::string> call{"g++"};
  append(call, flags_for(build.instrumented && is_device, overlay.uses_openmp()));
  if (kind == ".c") {
    *std::ranges::find(call, "c++") = "c";
    *std::ranges::find(call, "-std=gnu++17") = "-std=gnu11";
    std::erase(call, "-fpermissive");
    std::erase(call, "-fno-extern-tls-init");
  }
  if (is_device) {
    append(call, {"-include", prefix.string()});
  } else {
    call.push_back("-DSIMT_HOST_ONLY");
  }
  call.push_back("-I" + shipped.include.string());
  append(call, overlay.include_flags());
  // What is not rewritten, such as data that is included, stays where it is.
  call.push_back("-iquote" + fs::absolute(file).parent_path().string());
  for (const std::string& folder : build.include_folders) call.push_back("-I" + folder);
  for (const std::string& define : build.defines) call.push_back("-D" + define);
  append(call, {"-c", copy.string(), "-o", object.string()});
  return call;
}

}  // namespace

Shipped find_shipped() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = self.parent_path().parent_path() / "share" / "warpladder" / "programs";
  Shipped shipped{folder / "include", folder / "program.o", folder / "program.ld"};
  for (const fs::path& needed : {shipped.include, shipped.object, shipped.script}) {
    if (!fs::exists(needed, error)) {
      throw_resource(fmt::format("{} is missing: it is installed beside this program",
                                 in_quotes(needed.string())));
    }
  }
  return shipped;
}

fs::path build_program(const Build& build, const fs::path& scratch) {
  const Shipped shipped = find_shipped();
  std::vector<fs::path> folders(build.include_folders.begin(), build.include_folders.end());
  Overlay overlay(scratch / "src", folders, shipped.include);
  std::vector<fs::path> copies;
  for (const std::string& file : build.files) copies.push_back(overlay.add(file));
  overlay.refuse_plain_calls();
  overlay.write();

  const fs::path prefix =
      prefix_header(shipped, flags_for(build.instrumented, overlay.uses_openmp()));
  std::vector<std::vector<std::string>> calls;
  std::vector<std::string> link{"g++", "-static-libstdc++", "-static-libgcc"};
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const fs::path object = scratch / fmt::format("program_part_{}.o", i);
    calls.push_back(
        compilation(build.files[i], copies[i], object, build, overlay, shipped, prefix));
    link.push_back(object.string());
  }
  const std::vector<FinishedProcess> compiled =
      run_tools(calls, std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    if (compiled[i].exit_code != 0) refuse_compilation(build.files[i], compiled[i].errors);
  }

  const fs::path program = scratch / "program";
  append(link, {shipped.object.string(), "-Wl,-T," + shipped.script.string(), "-pthread", "-ldl",
                "-lm", "-o", program.string()});
  if (overlay.uses_openmp()) link.push_back("-fopenmp");
  for (const char* name : kWrapped) link.push_back(fmt::format("-Wl,--wrap={}", name));
  const FinishedProcess linked = run_tool(link);
  if (linked.exit_code != 0) refuse_linking(linked.errors);
  embed_sites(program.string(), scratch.string(), {shipped.include.string(), "/usr/"});
  return program;
}

}  // namespace warpladder::programs
