// Times examples/compile_flow/normalise.cu as it was compiled, and its worst relative error beside
// float64: a line of JSON. measure.py compiles it once for each set of flags.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "../../examples/compile_flow/normalise.cu"
#include "timing.cuh"

namespace {

constexpr int kRows = 16384, kColumns = 4096;
constexpr float kEpsilon = 1e-6f;

// Rows of magnitudes from 2^-70 to 2^55: the squares of the small ones are denormal, and sums of
// the large ones still finite.
float element(std::size_t i) {
  const auto bits = static_cast<unsigned>(i * 2654435761u);
  const int power = static_cast<int>(i / kColumns % 126) - 70;
  return std::ldexp(1.0f + static_cast<float>(bits >> 9) / 8388608.0f, power) *
         (bits & 1 ? -1.0f : 1.0f);
}

double worst_error(const std::vector<float>& x, const std::vector<float>& y) {
  double worst = 0;
  for (int row = 0; row < kRows; row += 61) {
    const float* const line = &x[static_cast<std::size_t>(row) * kColumns];
    double squares = 0;
    for (int j = 0; j < kColumns; ++j) squares += static_cast<double>(line[j]) * line[j];
    const double scale = std::sqrt(squares / kColumns + static_cast<double>(kEpsilon));
    for (int j = 0; j < kColumns; ++j) {
      const double exact = line[j] / scale;
      const double error =
          std::abs(y[static_cast<std::size_t>(row) * kColumns + j] - exact) / std::abs(exact);
      worst = error <= worst ? worst : error;
    }
  }
  return worst;
}

}  // namespace

int main() {
  const std::size_t count = static_cast<std::size_t>(kRows) * kColumns;
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = element(i);
  float *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, count * sizeof(float)));
  check(cudaMalloc(&to, count * sizeof(float)));
  check(cudaMemcpy(from, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  std::printf("{");
  print_samples([&] { normalise<<<kRows / 8, 256>>>(kRows, kColumns, kEpsilon, from, to); });
  check(cudaMemcpy(y.data(), to, count * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf(", \"worst_relative_error\": %.6g}\n", worst_error(x, y));
}
