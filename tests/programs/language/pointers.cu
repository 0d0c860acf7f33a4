// Launches through pointers to kernels, in every spelling. Each kernel writes its own number, so
// that the numbers say which one ran.
#include <cstdio>
#include <utility>

using Kernel = void (*)(int*);

__global__ void one(int* p) { p[threadIdx.x] = 1; }
__global__ void two(int* p) { p[threadIdx.x] = 2; }
template <class T>
__global__ void fill(T* p, T value) {
  p[threadIdx.x] = value;
}
namespace inner {
__global__ void three(int* p) { p[threadIdx.x] = 3; }
}  // namespace inner

static Kernel table[] = {one, two, inner::three};
static Kernel pick(int i) { return table[i]; }

struct Holder {
  Kernel kernel;
  void named(int* p) { kernel<<<1, 4>>>(p); }
  void by_this(int* p) { this->kernel<<<1, 4>>>(p); }
};

static void by_argument(Kernel kernel, int* p) { kernel<<<1, 4>>>(p); }
static void by_reference(void (&kernel)(int*), int* p) { kernel<<<1, 4>>>(p); }
static void dereferenced(void (*kernel)(int*), int* p) { (*kernel)<<<1, 4>>>(p); }
template <class K, class... Arguments>
static void by_template(K kernel, Arguments&&... arguments) {
  kernel<<<1, 4>>>(std::forward<Arguments>(arguments)...);
}
template <Kernel kernel>
static void by_value_in_template(int* p) {
  kernel<<<1, 4>>>(p);
}

static int* memory;
// Whether four threads have written the number, which is then wiped out.
static void expect(const char* what, int number) {
  int found[4];
  cudaMemcpy(found, memory, sizeof found, cudaMemcpyDeviceToHost);
  bool ok = cudaGetLastError() == cudaSuccess;
  for (const int f : found) ok = ok && f == number;
  cudaMemset(memory, 0, sizeof found);
  std::printf("%s %s\n", what, ok ? "ok" : "WRONG");
}

int main() {
  cudaMalloc(&memory, 4 * sizeof(int));
  int* const p = memory;
  by_argument(one, p);
  expect("an argument", 1);
  by_argument(&two, p);
  expect("an address", 2);
  by_reference(two, p);
  expect("a reference", 2);
  dereferenced(two, p);
  expect("dereferenced", 2);
  by_template(inner::three, p);
  expect("of a template's type", 3);
  by_template(fill<int>, p, 7);
  expect("an instance of a template", 7);
  by_value_in_template<two>(p);
  expect("a template's argument", 2);
  for (int i = 0; i < 3; ++i) table[i]<<<1, 4>>>(p);
  expect("an element of an array", 3);
  Holder holder{one}, *const held = &holder;
  holder.named(p);
  expect("a member", 1);
  holder.kernel = two;
  holder.by_this(p);
  expect("this->", 2);
  held->kernel = one;
  held->kernel<<<1, 4>>>(p);
  expect("->", 1);
  holder.kernel<<<1, 4>>>(p);
  expect("a dot", 1);
  pick(1)<<<1, 4>>>(p);
  expect("what a function returns", 2);
  (held ? one : two)<<<1, 4>>>(p);
  expect("a choice", 1);
  const auto by_lambda = [&](Kernel kernel) { kernel<<<1, 4>>>(p); };
  by_lambda(two);
  expect("in a lambda", 2);
  int* argument = p;
  void* arguments[] = {&argument};
  cudaLaunchKernel((const void*)table[1], dim3(1), dim3(4), arguments, 0, nullptr);
  expect("cudaLaunchKernel", 2);
  Kernel none = nullptr;
  none<<<1, 4>>>(p);
  const bool refused = cudaGetLastError() == cudaErrorInvalidDeviceFunction;
  std::printf("no kernel %s\n", refused ? "ok" : "WRONG");
  cudaFree(memory);
}
