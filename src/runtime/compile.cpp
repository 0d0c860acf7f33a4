#include "runtime/compile.hpp"

#include "runtime/sha256.hpp"

namespace warpladder::runtime {
namespace {

// Functions without a word of CUDA's are device functions: lambdas have none.
const std::vector<std::string> kOptions{"--std=c++20", "-default-device",
                                        "-DWARPLADDER_FLAVOUR=gpu"};

std::string hash_of_headers() {
  std::string text;
  for (const SourceFile& header : kernel_headers()) {
    text += sha256_of_parts({header.name, header.text});
  }
  return sha256(text);
}

}  // namespace

Status compile(const KernelText& text, int capability, int driver, const Nvrtc& compiler,
               const CodeCache& cache, CompiledCode* compiled) {
  if (!compiler.found()) {
    return refuse(Code::no_compiler, "NVRTC is not found: %s; WARPLADDER_NVRTC may name its file",
                  compiler.why_not().c_str());
  }
  const std::string architecture = compiler.architecture_for(capability);
  if (architecture.empty()) {
    return refuse(Code::unsupported_device,
                  "NVRTC %s does not compile for compute capability %d.%d",
                  compiler.version().c_str(), capability / 10, capability % 10);
  }
  std::vector<std::string> options = kOptions;
  options.push_back("--gpu-architecture=" + architecture);
  std::string all_options;
  for (const std::string& option : options) all_options += option + "\n";
  static const std::string headers = hash_of_headers();
  const std::string key =
      sha256_of_parts({text.source, text.kernel, headers, all_options, architecture,
                       compiler.identity(), std::to_string(driver)});
  compiled->from_cache = cache.load(key, &compiled->code);
  if (compiled->from_cache) return {};
  const bool to_ptx = architecture.starts_with("compute_");
  const Status status = compiler.compile(text, kernel_headers(), options, to_ptx, &compiled->code);
  if (status.ok()) cache.store(key, compiled->code);
  return status;
}

}  // namespace warpladder::runtime
