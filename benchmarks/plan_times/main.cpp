// How long each rung takes that sgemm's plan() compares, beside what the model says, and how long
// cuBLAS takes. Products or batches are random; tools/fit_plans.py makes the model's corrections of
// them. A time is the geometric mean of two medians. One is with the operands in memory alone, the
// other as the launch before leaves them in the L2 cache. Needs a GPU.
//
//   plan_times COUNT SEED [--batches] [--only RUNG] --json FILE
//
// --only: times one rung alone, and cuBLAS, on those of the products that it is a candidate for.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../gpu_program.hpp"
#include "base/atomic_file.hpp"
#include "base/provenance.hpp"
#include "device/cuda/utility_kernels.hpp"
#include "ops/lab/cublas.hpp"
#include "ops/sgemm/plan.hpp"
#include "runtime/device_code.hpp"

namespace warpladder::plan_times {
namespace {

using nlohmann::json;
using sgemm::Candidate;
using sgemm::Problem;

constexpr std::size_t kMostElements = 110'000'000;  // of an operand
constexpr std::size_t kWorkspaceBytes = std::size_t{6} << 30;
constexpr int kMostFew = 128;
constexpr double kUnit_s = 1e-8;
constexpr double kMostTimes = 3;  // plan() leaves out what the model says takes over twice as long
constexpr double kLeastFlops = 2e6, kMostFlops = 4e11;  // of a batch

struct Shape {
  Problem problem;
  std::int64_t products = 1;
};

// Classes of products that programs ask for, in the shares below; sizes are even in logarithm.
class Shapes {
 public:
  Shapes(unsigned seed, bool batches) : random_(seed), batches_(batches) {}

  Shape next() {
    for (;;) {
      const Shape s = batches_ ? any_batch() : Shape{any()};
      const Problem& p = s.problem;
      const auto fits = [&](std::int64_t a, std::int64_t b) {
        return static_cast<std::size_t>(a * b * s.products) <= kMostElements;
      };
      const double flops = 2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k) *
                           static_cast<double>(s.products);
      const bool is_worth = !batches_ || (flops > kLeastFlops && flops < kMostFlops);
      if (fits(p.m, p.k) && fits(p.k, p.n) && fits(p.m, p.n) && is_worth) return s;
    }
  }

 private:
  double share() { return std::uniform_real_distribution<double>()(random_); }
  std::int64_t size(double least, double most) {
    const double log = std::log(least) + share() * (std::log(most) - std::log(least));
    return std::max<std::int64_t>(1, std::llround(std::exp(log)));
  }
  // Half are multiples of 4, as most programs have them, and some of 2.
  std::int64_t rounded(std::int64_t size) {
    const double which = share();
    if (which < 0.5) return std::max<std::int64_t>(4, size / 4 * 4);
    return which < 0.6 ? std::max<std::int64_t>(2, size / 2 * 2) : size;
  }
  std::int64_t rounded(double least, double most) { return rounded(size(least, most)); }
  Problem any() {
    const bool trans_a = share() < 0.5, trans_b = share() < 0.5;
    const auto of = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
      return sgemm::compact(m, n, k, sgemm::Layout::row_major, trans_a, trans_b);
    };
    const double which = share();
    if (which < 0.45) {  // few rows or columns
      std::int64_t few = std::max<std::int64_t>(2, size(1.6, kMostFew));
      if (share() < 0.35) few = std::max<std::int64_t>(2, few / 8 * 8);
      const std::int64_t many = rounded(400, 60000), k = rounded(48, 16384);
      return share() < 0.5 ? of(few, many, k) : of(many, few, k);
    }
    if (which < 0.65) return of(rounded(20, 1400), rounded(20, 1400), rounded(20, 3000));
    if (which < 0.75) return of(rounded(400, 9000), rounded(400, 9000), size(1, 64));
    if (which < 0.88) return of(rounded(4, 700), rounded(4, 700), rounded(5000, 200000));
    return of(rounded(700, 5000), rounded(700, 5000), rounded(300, 5000));
  }

  Shape any_batch() {
    const bool trans_a = share() < 0.5, trans_b = share() < 0.5;
    const double which = share();
    const auto products = std::max<std::int64_t>(2, size(2, 6000));
    const auto of = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
      return Shape{sgemm::compact(m, n, k, sgemm::Layout::row_major, trans_a, trans_b), products};
    };
    if (which < 0.5) return of(rounded(2, 300), rounded(2, 300), rounded(2, 600));
    if (which < 0.65) return of(rounded(2, 64), rounded(64, 2000), rounded(16, 1500));
    if (which < 0.75) return of(rounded(64, 2000), rounded(2, 64), rounded(16, 1500));
    if (which < 0.9) return of(rounded(64, 1024), rounded(64, 1024), rounded(32, 1024));
    return of(rounded(16, 100), rounded(16, 100), rounded(300, 5000));
  }

  std::mt19937 random_;
  bool batches_;
};

class Bench {
 public:
  Bench() {
    if (const std::string why_not = ops::Cublas::why_not(); !why_not.empty()) {
      throw_resource(why_not);
    }
    int error = 0;
    machine_ = runtime::machine_of(0, runtime::device_code(), &error);
    require(static_cast<cudaError_t>(error), "the device");
    constexpr std::size_t kBytes = kMostElements * sizeof(float);
    call_.a = random_operand(kBytes, 1);
    call_.b = random_operand(kBytes, 2);
    call_.c = static_cast<float*>(allocated(kBytes));
    int l2_bytes = 0;
    require(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "the device");
    zero_bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    zeros_ = allocated(zero_bytes_);
    require(cudaMemset(zeros_, 0, zero_bytes_), "a buffer of zeros");
    call_.workspace = allocated(kWorkspaceBytes);
  }

  // A product's row. For each of `rungs`, to which new ones are added, it has the time by the model
  // and measured, in kUnit_s, and the cut. A cut is rows, columns, slices, steps, and 1 if it is
  // partly sliced. A rung has 0 if it is no candidate, needs more workspace, or takes over
  // kMostTimes as long as the fastest one by the model. "cuda_cores_alone" names those that are not
  // accurate enough for another arithmetic. `only`: null where this rung is no candidate.
  json row_of(const Shape& shape, std::vector<std::string>& rungs, std::string_view only) {
    const Problem& p = shape.problem;
    call_.problem = p;
    call_.batch = {};
    if (shape.products > 1) {
      call_.batch = {.count = shape.products,
                     .stride_a = p.m * p.k,
                     .stride_b = p.k * p.n,
                     .stride_c = p.m * p.n};
    }
    json row{{"product", fmt::format("{}{} {}x{}x{}", p.trans_a ? 't' : 'n', p.trans_b ? 't' : 'n',
                                     p.m, p.n, p.k)}};
    if (shape.products > 1) row["batch"] = shape.products;
    json times(rungs.size(), 0);
    for (const auto arithmetic : {sgemm::Arithmetic::accurate, sgemm::Arithmetic::cuda_cores}) {
      Candidate found[sgemm::kMostCandidates];
      const int count = sgemm::gpu::candidates(p, machine_, arithmetic, call_.batch, found);
      const std::span all(found, static_cast<std::size_t>(count));
      const double least_s = std::ranges::min(all, {}, &Candidate::model_s).model_s;
      for (const Candidate& candidate : all) {
        if (!only.empty() && candidate.plan.id != only) continue;
        if (candidate.plan.workspace_bytes > kWorkspaceBytes) continue;
        if (candidate.model_s > kMostTimes * least_s) continue;
        const auto place =
            static_cast<std::size_t>(std::ranges::find(rungs, candidate.plan.id) - rungs.begin());
        if (place == rungs.size()) {
          rungs.emplace_back(candidate.plan.id);
          times.push_back(0);
        }
        if (times[place].is_array()) continue;
        times[place] = {
            units(candidate.model_s),
            units(time_of([&](auto& stream) { candidate.plan.rung->launch(call_, stream); })),
            candidate.cut.rows,
            candidate.cut.columns,
            candidate.cut.slices,
            candidate.cut.steps};
        if (candidate.cut.partly) times[place].push_back(1);
        if (arithmetic == sgemm::Arithmetic::cuda_cores) {
          row["cuda_cores_alone"].push_back(candidate.plan.id);
        }
      }
    }
    if (!only.empty() && (times.empty() || times[0] == 0)) return {};
    row["times"] = std::move(times);
    row["cublas"] = units(time_of([&](auto& stream) { launch_cublas(stream); }));
    return row;
  }

 private:
  static std::int64_t units(double seconds) { return std::llround(seconds / kUnit_s); }
  static void* allocated(std::size_t bytes) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes), "device memory");
    return memory;
  }
  static const float* random_operand(std::size_t bytes, unsigned seed) {
    constexpr std::size_t kBlock = std::size_t{1} << 22;
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    std::vector<float> values(kBlock);
    std::ranges::generate(values, [&] { return uniform(random); });
    auto* const operand = static_cast<char*>(allocated(bytes));
    for (std::size_t at = 0; at < bytes; at += kBlock * sizeof(float)) {
      const std::size_t some = std::min(kBlock * sizeof(float), bytes - at);
      require(cudaMemcpy(operand + at, values.data(), some, cudaMemcpyHostToDevice), "a copy");
    }
    require(cudaDeviceSynchronize(), "a copy");
    return reinterpret_cast<const float*>(operand);
  }
  // Row-major: Cᵀ = op(B)ᵀ·op(A)ᵀ by columns.
  void launch_cublas(runtime::StreamView& stream) {
    const Problem& p = call_.problem;
    const sgemm::Batch& batch = call_.batch;
    const ops::Cublas& cublas = ops::Cublas::on(stream);
    const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const auto status =
        batch.count == 1
            ? cublas.sgemm(cublas.handle, operation(p.trans_b), operation(p.trans_a), p.n, p.m, p.k,
                           &p.alpha, call_.b, p.ldb, call_.a, p.lda, &p.beta, call_.c, p.ldc)
            : cublas.sgemm_strided_batched(cublas.handle, operation(p.trans_b),
                                           operation(p.trans_a), p.n, p.m, p.k, &p.alpha, call_.b,
                                           p.ldb, batch.stride_b, call_.a, p.lda, batch.stride_a,
                                           &p.beta, call_.c, p.ldc, batch.stride_c, batch.count);
    ops::check_cublas(status, "cublasSgemm");
  }
  // Of one launch, whose costs hide behind a kernel that waits, as `bench` times it.
  template <class Launch>
  double sample(const Launch& launch) {
    constexpr long long kSpinCycles = 40'000;
    require(static_cast<cudaError_t>(device::cuda::launch_spin(timer_.stream, kSpinCycles)),
            "a kernel that waits");
    runtime::StreamView view{.native = timer_.stream, .machine = &machine_};
    const double time_s = timer_.seconds(1, [&] { launch(view); });
    require(static_cast<cudaError_t>(view.error), "a launch");
    return time_s;
  }
  template <class Launch>
  double cold_sample(const Launch& launch) {
    require(
        static_cast<cudaError_t>(device::cuda::launch_sweep(timer_.stream, zeros_, zero_bytes_)),
        "a kernel that empties the cache");
    return sample(launch);
  }
  static double median(std::vector<double> samples) {
    std::ranges::sort(samples);
    return samples[samples.size() / 2];
  }
  template <class Launch>
  double time_of(const Launch& launch) {
    constexpr double kLong_s = 5e-4;
    sample(launch);
    const int count = sample(launch) < kLong_s ? 9 : 5;
    std::vector<double> cold, hot;
    for (int i = 0; i < count; ++i) {
      cold.push_back(cold_sample(launch));
      hot.push_back(sample(launch));
    }
    return std::sqrt(median(std::move(cold)) * median(std::move(hot)));
  }

  GpuTimer timer_;
  void* zeros_ = nullptr;
  std::size_t zero_bytes_ = 0;
  runtime::Machine machine_;
  sgemm::Call call_;
};

unsigned number(const char* text) {
  unsigned value = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || rest != end) {
    throw_bad_input(fmt::format("{} is no whole number", text));
  }
  return value;
}

int run(int argc, char** argv) {
  int at = 3;  // behind the program's name, COUNT and SEED
  const auto is_next = [&](const char* option) {
    const bool is = at < argc && std::strcmp(argv[at], option) == 0;
    at += is;
    return is;
  };
  const bool batches = is_next("--batches");
  const std::string_view only = is_next("--only") && at < argc ? argv[at++] : "";
  if (!is_next("--json") || at + 1 != argc) {
    throw_bad_input("usage: plan_times COUNT SEED [--batches] [--only RUNG] --json FILE");
  }
  const unsigned count = number(argv[1]);
  Shapes shapes(number(argv[2]), batches);
  Bench bench;
  std::vector<std::string> rungs;
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0), "the device");
  json report = provenance({argv, static_cast<std::size_t>(argc)});
  report.update({{"program", "plan_times"},
                 {"gpu", properties.name},
                 {"unit_s", kUnit_s},
                 {"rows", json::array()}});
  for (unsigned i = 0; i < count; ++i) {
    json row = bench.row_of(shapes.next(), rungs, only);
    if (!row.is_null()) report["rows"].push_back(std::move(row));
  }
  report["rungs"] = rungs;
  write_file(argv[argc - 1], report.dump() + "\n");
  return 0;
}

}  // namespace
}  // namespace warpladder::plan_times

int main(int argc, char** argv) {
  return warpladder::exit_code_of("plan_times", warpladder::plan_times::run, argc, argv);
}
