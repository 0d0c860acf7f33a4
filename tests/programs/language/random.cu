// Random numbers of XORWOW and Philox are cuRAND's: those wanted here are what cuRAND 10.4 gives.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <vector>

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }
static bool near(double got, double wanted) { return std::fabs(got - wanted) < 2e-6; }

template <class State>
__global__ void draw(unsigned long long seed, unsigned long long sequence,
                     unsigned long long offset, unsigned* words, double* numbers) {
  State state;
  curand_init(seed, sequence, offset, &state);
  for (int i = 0; i < 2; ++i) words[i] = curand(&state);
  numbers[0] = curand_uniform(&state);
  numbers[1] = curand_uniform_double(&state);
  for (int i = 2; i < 5; ++i) numbers[i] = curand_normal(&state);
  for (int i = 5; i < 8; ++i) numbers[i] = curand_normal_double(&state);
  const float2 two = curand_normal2(&state);
  numbers[8] = two.x, numbers[9] = two.y;
  numbers[10] = curand_log_normal(&state, 0.5f, 0.25f);
  skipahead(1234567ull, &state);
  words[2] = curand(&state);
  skipahead_sequence(5ull, &state);
  words[3] = curand(&state);
}
template <class State>
static void expect(const char* what, unsigned long long seed, unsigned long long sequence,
                   unsigned long long offset, const std::vector<unsigned>& words,
                   const std::vector<double>& numbers) {
  unsigned* w;
  double* n;
  cudaMallocManaged(&w, 4 * sizeof *w);
  cudaMallocManaged(&n, 11 * sizeof *n);
  draw<State><<<1, 1>>>(seed, sequence, offset, w, n);
  cudaDeviceSynchronize();
  bool same = true;
  for (int i = 0; i < 4; ++i) same = same && w[i] == words[i];
  for (int i = 0; i < 11; ++i) same = same && near(n[i], numbers[i]);
  say(what, same);
  cudaFree(w);
  cudaFree(n);
}

// Of a call of `generate`: values at 0, 1, 2, 4095, 4096, 8192 and 99,999, and the word behind.
template <class T, class Generate>
static void expect_host(const char* what, curandRngType_t type, unsigned long long offset,
                        const std::vector<double>& values, unsigned behind, Generate generate) {
  constexpr int kCount = 100000;
  curandGenerator_t generator;
  curandCreateGenerator(&generator, type);
  curandSetPseudoRandomGeneratorSeed(generator, 1234);
  curandSetGeneratorOffset(generator, offset);
  T* device;
  unsigned* word;
  cudaMallocManaged(&device, kCount * sizeof(T));
  cudaMallocManaged(&word, sizeof *word);
  generate(generator, device, kCount);
  curandGenerate(generator, word, 1);
  const int places[] = {0, 1, 2, 4095, 4096, 8192, kCount - 1};
  bool same = *word == behind;
  for (int i = 0; i < 7; ++i) same = same && near(device[places[i]], values[i]);
  say(what, same);
  curandDestroyGenerator(generator);
  cudaFree(device);
  cudaFree(word);
}
static void expect_host_all(curandRngType_t type, unsigned long long offset, const char* names[3],
                            const std::vector<double> (&values)[3],
                            const std::vector<unsigned>& behind) {
  expect_host<unsigned>(names[0], type, offset, values[0], behind[0], curandGenerate);
  expect_host<float>(names[1], type, offset, values[1], behind[1],
                     [](auto g, float* to, int n) { curandGenerateNormal(g, to, n, 1, 2); });
  expect_host<double>(names[2], type, offset, values[2], behind[2], curandGenerateUniformDouble);
}

int main() {
  expect<curandState>("xorwow", 1234, 1048577, 1000003,
                      {4046528827, 412579095, 2263771040, 3080182885},
                      {0.855931103, 0.229637001, -0.705097, 0.497608, 0.201376, -0.429311064,
                       0.970688133, -0.677447117, 0.109679, -0.118203, 1.615922});
  expect<curandState>("xorwow, a wide seed", 0xdeadbeefcafef00d, 77, 6,
                      {4124012133, 3523845453, 369270034, 725463549},
                      {0.237247556, 0.200438192, 0.517111, 0.685463, 0.183735, -0.343927620,
                       -0.962722099, 1.354263608, -0.549278, 0.827080, 1.701168});
  expect<curandStatePhilox4_32_10_t>(
      "philox", 1234, 1048577, 1000003, {547908081, 3346962121, 3547038112, 4122350354},
      {0.996189773, 0.945265384, 1.371974, -0.288820, -0.948906, 1.884587992, -0.864328226,
       -0.319577792, -0.358564, 0.093534, 1.470886});
  expect<curandStatePhilox4_32_10_t>(
      "philox, a wide seed", 0xdeadbeefcafef00d, 77, 6,
      {1372426713, 2742735504, 1429275381, 2371004690},
      {0.467163861, 0.932744540, 0.323585, -0.133090, 1.266513, -0.143561712, 1.571702775,
       -0.552516794, 0.926143, -2.837780, 2.456994});
  const char* xorwow[] = {"host: xorwow", "host: normals of xorwow", "host: doubles of xorwow"};
  expect_host_all(
      CURAND_RNG_PSEUDO_DEFAULT, 1000004, xorwow,
      {{4205927292, 2984823300, 1057280297, 1559198537, 1798089791, 364465003, 3305578971},
       {1.2002561, 0.6429412, 2.6931205, 0.0039505, 0.9323230, 4.7216821, 0.0383026},
       {0.4186504, 0.2302570, 0.6057876, 0.9200544, 0.1580735, 0.0409834, 0.7263045}},
      {2734816705, 75427322, 939394406});
  const char* philox[] = {"host: philox", "host: normals of philox", "host: doubles of philox"};
  expect_host_all(CURAND_RNG_PSEUDO_PHILOX4_32_10, 1000004, philox,
                  {{4281912557, 1355451987, 683243834, 664945184, 279945978, 3296119553, 158060961},
                   {1.1429896, 0.9374917, -0.1286026, 2.7545867, -3.5975409, 2.4062011, 3.4839787},
                   {0.3155905, 0.5475423, 0.0709552, 0.1620790, 0.7787979, 0.2085852, 0.4397703}},
                  {2216163371, 2216163371, 2216163371});
}
