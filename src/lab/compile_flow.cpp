#include "lab/compile_flow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/whole_file.hpp"
#include "lab/kernel_name.hpp"

namespace warpladder::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTextBytes = std::size_t{1} << 30;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The compiler's first line with an error.
std::string complaint_of(const std::string& errors) {
  std::string first;
  for (std::size_t begin = 0; begin < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', begin), errors.size());
    const std::string line = errors.substr(begin, end - begin);
    if (line.find("error") != line.npos || line.find("fatal") != line.npos) return line;
    if (first.empty()) first = line;
    begin = end + 1;
  }
  return first;
}

// Compiles, or throws the compiler's error.
FinishedProcess run_or_throw(const Words& argv) {
  FinishedProcess finished = run_process(argv);
  if (finished.exit_code == 0) return finished;
  const std::string complaint = complaint_of(finished.errors + finished.output);
  throw_bad_input(fmt::format(
      "{} says: {}", fs::path(argv[0]).filename().string(),
      complaint.empty() ? fmt::format("exit {}", finished.exit_code) : in_quotes(complaint, 300)));
}

std::size_t bytes_of(const std::string& file) {
  std::error_code absent;
  const auto bytes = fs::file_size(file, absent);
  return absent ? 0 : static_cast<std::size_t>(bytes);
}

std::string text_of(const std::string& file) { return read_whole_file(file, file, kMostTextBytes); }

// Compiles one source for one architecture.
class Compiler {
 public:
  Compiler(const Toolkit& toolkit, const CompileRequest& request, std::string architecture)
      : toolkit_(toolkit), request_(request), architecture_(std::move(architecture)) {}

  ArchitectureFlow run() {
    ArchitectureFlow flow;
    flow.architecture = architecture_;
    // A source that calls another one's functions is compiled as one of several.
    const Words of_several = request_.second ? Words{"-rdc=true"} : Words{};
    const Words nvcc =
        Words{toolkit_.nvcc, "-arch=sm_" + architecture_} + request_.flags + of_several;
    const std::string source = request_.source;
    flow.stages.push_back(stage("preprocess", "nvcc -E", "ii", nvcc + Words{"-E", source}));
    flow.stages.push_back(stage("PTX", "nvcc -ptx", "ptx", nvcc + Words{"-ptx", source}));
    const std::string ptx = file("ptx"), cubin = file("cubin");
    const FinishedProcess assembled =
        run_or_throw(Words{ptxas(), "-arch=sm_" + architecture_, "-lineinfo", "-v"} +
                     (request_.second ? Words{"-c"} : Words{}) + Words{ptx, "-o", cubin});
    flow.stages.push_back({"machine code", "ptxas", cubin, bytes_of(cubin), assembled.seconds});
    flow.kernels = parse_resources(assembled.errors + assembled.output);
    parse_launch_bounds(text_of(ptx), flow.kernels);
    if (!toolkit_.nvdisasm.empty()) {
      const std::string sass = file("sass");
      const FinishedProcess listed = run_or_throw({toolkit_.nvdisasm, "-c", "-gi", cubin});
      write(sass, listed.output);
      flow.stages.push_back({"SASS", "nvdisasm", sass, bytes_of(sass), listed.seconds});
      add_instructions(listed.output, flow.kernels);
      flow.lines = parse_lines(listed.output);
    }
    if (request_.fast_math) flow.maths = maths();
    if (request_.second) flow.separate = separate();
    for (const Compiled& way : flow.separate) add_shared_memory(way, flow.kernels);
    return flow;
  }

 private:
  std::string file(const std::string& extension) const {
    const std::string stem = fs::path(request_.source).stem().string();
    return fmt::format("{}/{}.sm_{}.{}", request_.folder, stem, architecture_, extension);
  }

  std::string ptxas() const { return (fs::path(toolkit_.nvcc).parent_path() / "ptxas").string(); }

  static void write(const std::string& path, const std::string& text) {
    FILE* const out = std::fopen(path.c_str(), "w");
    if (!out || std::fwrite(text.data(), 1, text.size(), out) != text.size() ||
        std::fclose(out) != 0) {
      throw_resource(in_quotes(path) + " cannot be written");
    }
  }

  Stage stage(const char* name, const char* tool, const char* extension, const Words& argv) const {
    const std::string output = file(extension);
    const FinishedProcess finished = run_or_throw(argv + Words{"-o", output});
    return {name, tool, output, bytes_of(output), finished.seconds};
  }

  static void add_instructions(const std::string& disassembly, std::vector<KernelCode>& kernels) {
    std::map<std::string, Instructions> functions = parse_disassembly(disassembly);
    for (KernelCode& kernel : kernels) kernel.instructions = functions[kernel.symbol];
  }

  // Of code that is not linked yet ptxas does not say how much shared memory it takes.
  static void add_shared_memory(const Compiled& linked, std::vector<KernelCode>& kernels) {
    for (KernelCode& kernel : kernels) {
      const auto same = std::ranges::find(linked.kernels, kernel.symbol, &KernelCode::symbol);
      if (same == linked.kernels.end()) continue;
      kernel.shared_bytes = std::max(kernel.shared_bytes, same->shared_bytes);
    }
  }

  // Compiles the source to machine code with more flags.
  Compiled compile(const std::string& name, const Words& flags) const {
    Compiled compiled{name, fmt::format("{}", fmt::join(flags, " ")), {}, 0, 0, {}};
    const std::string output = file("variant.cubin");
    const FinishedProcess finished =
        run_or_throw(Words{toolkit_.nvcc, "-arch=sm_" + architecture_} + request_.flags + flags +
                     (request_.second ? Words{"-rdc=true"} : Words{}) +
                     Words{"-cubin", "-Xptxas", "-v", request_.source, "-o", output});
    compiled.bytes = bytes_of(output);
    compiled.seconds = finished.seconds;
    compiled.kernels = parse_resources(finished.errors + finished.output);
    if (!toolkit_.nvdisasm.empty()) {
      add_instructions(run_or_throw({toolkit_.nvdisasm, "-c", output}).output, compiled.kernels);
    }
    return compiled;
  }

  std::vector<Compiled> maths() const {
    return {compile("default", {}),
            compile("all of them", {"--use_fast_math"}),
            compile("denormals are zero", {"-ftz=true"}),
            compile("approximate division", {"-prec-div=false"}),
            compile("approximate square root", {"-prec-sqrt=false"}),
            compile("no fused multiply-adds", {"-fmad=false"})};
  }

  // The kernels of a linked cubin.
  std::vector<KernelCode> kernels_of(const std::string& cubin) const {
    if (toolkit_.cuobjdump.empty()) return {};
    std::vector<KernelCode> kernels =
        parse_usage(run_or_throw({toolkit_.cuobjdump, "-res-usage", cubin}).output);
    if (!toolkit_.nvdisasm.empty()) {
      add_instructions(run_or_throw({toolkit_.nvdisasm, "-c", cubin}).output, kernels);
    }
    return kernels;
  }

  // As one program: a source that includes both, the functions before the calls.
  Compiled whole_program() const {
    const std::string both = file("both.cu"), output = file("whole.cubin");
    write(both,
          fmt::format("#include \"{}\"\n#include \"{}\"\n", fs::absolute(*request_.second).string(),
                      fs::absolute(request_.source).string()));
    Compiled compiled{"whole program", "", {}, 0, 0, {}};
    compiled.seconds = run_or_throw(Words{toolkit_.nvcc, "-arch=sm_" + architecture_} +
                                    request_.flags + Words{"-cubin", both, "-o", output})
                           .seconds;
    compiled.bytes = bytes_of(output);
    compiled.kernels = kernels_of(output);
    return compiled;
  }

  // Two objects, which nvlink joins.
  Compiled linked(const std::string& name, bool optimise) const {
    Compiled compiled{name, optimise ? "-rdc=true -dlto" : "-rdc=true", {}, 0, 0, {}};
    if (optimise && toolkit_.nvvm.empty()) {
      compiled.why_not = "nvlink finds no libnvvm.so";
      return compiled;
    }
    const std::string code =
        fmt::format("arch=compute_{0},code={1}_{0}", architecture_, optimise ? "lto" : "sm");
    Words objects;
    for (const std::string& source : {request_.source, *request_.second}) {
      objects.push_back(file(fmt::format("{}.{}.o", optimise ? "lto" : "rdc", objects.size())));
      compiled.seconds += run_or_throw(Words{toolkit_.nvcc, "-gencode", code} + request_.flags +
                                       Words{"-dc", source, "-o", objects.back()})
                              .seconds;
    }
    const std::string output = file(optimise ? "lto.cubin" : "rdc.cubin");
    Words link{
        toolkit_.nvlink,           "-m64",       "--arch=sm_" + architecture_, "-cpu-arch=X86_64",
        "-L" + toolkit_.libraries, "-lcudadevrt"};
    if (optimise) link = link + Words{"-dlto", "-nvvmpath=" + toolkit_.nvvm};
    compiled.seconds += run_or_throw(link + objects + Words{"-o", output}).seconds;
    compiled.bytes = bytes_of(output);
    compiled.kernels = kernels_of(output);
    return compiled;
  }

  std::vector<Compiled> separate() const {
    return {whole_program(), linked("two files", false), linked("two files, optimised", true)};
  }

  const Toolkit& toolkit_;
  const CompileRequest& request_;
  std::string architecture_;
};

// The toolkit's folder that holds bin/nvcc.
fs::path root_of(const std::string& nvcc) {
  std::error_code error;
  const fs::path real = fs::canonical(nvcc, error);
  return (error ? fs::path(nvcc) : real).parent_path().parent_path();
}

std::string program_beside(const fs::path& root, const std::string& name) {
  const fs::path beside = root / "bin" / name;
  std::error_code absent;
  return fs::exists(beside, absent) ? beside.string() : find_program(name);
}

std::string release_of(const std::string& text) {
  const std::size_t at = text.find("release ");
  return at == text.npos ? "" : text.substr(at + 8, text.find(',', at) - at - 8);
}

std::string nvvm_of(const fs::path& root) {
  const char* const asked = std::getenv("WARPLADDER_NVVM");
  for (const fs::path& folder : {fs::path(asked ? asked : ""), root / "nvvm"}) {
    std::error_code absent;
    if (!folder.empty() && fs::exists(folder / "lib64" / "libnvvm.so", absent)) {
      return folder.string();
    }
  }
  return "";
}

}  // namespace

Toolkit find_toolkit() {
  Toolkit toolkit;
  toolkit.nvcc = find_program("nvcc");
  std::error_code absent;
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string& folder :
       {std::string(home ? home : ""), std::string("/usr/local/cuda")}) {
    const std::string nvcc = folder + "/bin/nvcc";
    if (toolkit.nvcc.empty() && !folder.empty() && fs::exists(nvcc, absent)) toolkit.nvcc = nvcc;
  }
  if (toolkit.nvcc.empty()) {
    throw_resource(
        "nvcc is neither in PATH, nor in $CUDA_HOME/bin, nor in /usr/local/cuda/bin: install the "
        "CUDA toolkit");
  }
  const fs::path root = root_of(toolkit.nvcc);
  toolkit.version = release_of(run_or_throw({toolkit.nvcc, "--version"}).output);
  toolkit.nvlink = program_beside(root, "nvlink");
  toolkit.cuobjdump = program_beside(root, "cuobjdump");
  toolkit.nvdisasm = program_beside(root, "nvdisasm");
  for (const char* folder : {"lib64", "targets/x86_64-linux/lib", "lib"}) {
    if (fs::exists(root / folder / "libcudadevrt.a", absent)) {
      toolkit.libraries = (root / folder).string();
      break;
    }
  }
  toolkit.nvvm = nvvm_of(root);
  if (toolkit.nvdisasm.empty()) {
    toolkit.missing.push_back(
        "nvdisasm is missing, so no instructions are shown: pip install nvidia-cuda-nvdisasm, and "
        "put its folder into PATH");
  }
  if (toolkit.cuobjdump.empty()) {
    toolkit.missing.push_back(
        "cuobjdump is missing, so what is in the fat binary and in linked code is not shown: pip "
        "install nvidia-cuda-cuobjdump, and put its folder into PATH");
  }
  return toolkit;
}

CompileFlow compile_flow(const CompileRequest& request) {
  CompileFlow flow;
  flow.toolkit = find_toolkit();
  if (request.second && flow.toolkit.nvvm.empty()) {
    flow.toolkit.missing.push_back(
        "libnvvm.so is missing, so -dlto is left out: pip install nvidia-nvvm, and let "
        "WARPLADDER_NVVM name a folder with lib64/libnvvm.so");
  }
  for (const std::string& architecture : request.architectures) {
    flow.architectures.push_back(Compiler(flow.toolkit, request, architecture).run());
  }
  Words codes;
  for (const std::string& architecture : request.architectures) {
    codes = codes + Words{"-gencode", fmt::format("arch=compute_{0},code=sm_{0}", architecture)};
  }
  codes = codes + Words{"-gencode", fmt::format("arch=compute_{0},code=compute_{0}",
                                                request.architectures.back())};
  const std::string output =
      fmt::format("{}/{}.fatbin", request.folder, fs::path(request.source).stem().string());
  const FinishedProcess fat = run_or_throw(Words{flow.toolkit.nvcc} + request.flags + codes +
                                           (request.second ? Words{"-rdc=true"} : Words{}) +
                                           Words{"-fatbin", request.source, "-o", output});
  flow.fat_binary = {"fat binary", "nvcc -fatbin", output, bytes_of(output), fat.seconds};
  if (!flow.toolkit.cuobjdump.empty()) {
    flow.fat_entries = parse_fat_binary(run_or_throw({flow.toolkit.cuobjdump, output}).output);
  }
  return flow;
}

LineCode line_code(const CompileRequest& request, const std::vector<std::string>& kernels) {
  const Toolkit toolkit = find_toolkit();
  if (toolkit.nvdisasm.empty()) throw_resource(toolkit.missing.front());
  LineCode code;
  code.version = toolkit.version;
  code.architecture = request.architectures.front();
  const std::string cubin = request.folder + "/lines.cubin";
  run_or_throw(Words{toolkit.nvcc, "-arch=sm_" + code.architecture} + request.flags +
               Words{"-cubin", request.source, "-o", cubin});
  const std::string listing = run_or_throw({toolkit.nvdisasm, "-c", "-gi", cubin}).output;
  std::vector<std::string> wanted, symbols;
  for (const std::string& kernel : kernels) wanted.push_back(without_namespaces(kernel));
  for (const auto& [symbol, instructions] : parse_disassembly(listing)) {
    const std::string name = without_namespaces(demangled(symbol));
    if (std::ranges::find(wanted, name) == wanted.end()) continue;
    symbols.push_back(symbol);
    code.kernels.push_back(name);
  }
  code.lines = parse_lines(listing, symbols);
  return code;
}

std::vector<InstructionChange> changes_between(const Instructions& before,
                                               const Instructions& after) {
  std::map<std::string, long> differences;
  for (const auto& [opcode, count] : after) differences[opcode] += static_cast<long>(count);
  for (const auto& [opcode, count] : before) differences[opcode] -= static_cast<long>(count);
  std::vector<InstructionChange> changes;
  for (const auto& [opcode, difference] : differences) {
    if (difference != 0) changes.push_back({opcode, difference});
  }
  std::ranges::stable_sort(changes, [](const InstructionChange& a, const InstructionChange& b) {
    return std::labs(a.difference) > std::labs(b.difference);
  });
  return changes;
}

}  // namespace warpladder::lab
