// Each algorithm of thrust against the same of the standard library, on host and device memory.
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }

template <class Vector>
static std::vector<int> on_host(const Vector& v) {
  thrust::host_vector<int> h(v);
  return std::vector<int>(h.begin(), h.end());
}

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct AddScaled {
  float factor;
  __host__ __device__ float operator()(float x, float y) const { return factor * x + y; }
};

__global__ void double_all(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}
__global__ void sort_mine(int* data) {
  if (threadIdx.x == 0) thrust::sort(thrust::seq, data, data + 8);
}

static std::vector<int> numbers(int n) {
  std::vector<int> v(n);
  unsigned state = 1;
  for (int& x : v) x = static_cast<int>((state = state * 1664525u + 1013904223u) >> 20) % 97;
  return v;
}

static void sorts(const std::vector<int>& given) {
  std::vector<int> truth = given;
  thrust::device_vector<int> d = given;
  std::sort(truth.begin(), truth.end());
  thrust::sort(d.begin(), d.end());
  say("sort", on_host(d) == truth && thrust::is_sorted(d.begin(), d.end()));
  thrust::sort(d.begin(), d.end(), thrust::greater<int>());
  std::reverse(truth.begin(), truth.end());
  say("sort downwards", on_host(d) == truth);

  std::vector<int> order(given.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return given[a] < given[b]; });
  thrust::device_vector<int> keys = given, values(given.size());
  thrust::sequence(values.begin(), values.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  say("sort_by_key", on_host(values) == order);
  thrust::host_vector<int> h(given.begin(), given.end());
  thrust::sort(h.begin(), h.end());
  std::reverse(truth.begin(), truth.end());
  say("sort on the host", std::equal(truth.begin(), truth.end(), h.begin()));

  int* raw;
  cudaMallocManaged(&raw, 8 * sizeof(int));
  for (int i = 0; i < 8; ++i) raw[i] = 8 - i;
  sort_mine<<<1, 32>>>(raw);
  cudaDeviceSynchronize();
  say("sort in a kernel", std::is_sorted(raw, raw + 8) && raw[0] == 1);
  for (int i = 0; i < 8; ++i) raw[i] = 8 - i;
  thrust::sort(thrust::device, raw, raw + 8);
  say("sort by policy", std::is_sorted(raw, raw + 8) && raw[0] == 1);
  cudaFree(raw);
}

static void sums(const std::vector<int>& given) {
  thrust::device_vector<int> d = given;
  const int sum = std::accumulate(given.begin(), given.end(), 0);
  say("reduce", thrust::reduce(d.begin(), d.end()) == sum &&
                    thrust::reduce(d.begin(), d.end(), 5, thrust::plus<int>()) == sum + 5);
  const int most = *std::max_element(given.begin(), given.end());
  say("maximum", thrust::reduce(d.begin(), d.end(), -1, thrust::maximum<int>()) == most);
  const auto at = thrust::max_element(d.begin(), d.end()) - d.begin();
  say("max_element", at == std::max_element(given.begin(), given.end()) - given.begin());
  const long squares = thrust::transform_reduce(
      d.begin(), d.end(), [] __device__(int x) { return long(x) * x; }, 0L, thrust::plus<long>());
  say("transform_reduce",
      squares == std::inner_product(given.begin(), given.end(), given.begin(), 0L));

  std::vector<int> truth(given.size());
  thrust::device_vector<int> out(given.size());
  std::partial_sum(given.begin(), given.end(), truth.begin());
  thrust::inclusive_scan(d.begin(), d.end(), out.begin());
  say("inclusive_scan", on_host(out) == truth);
  thrust::exclusive_scan(d.begin(), d.end(), d.begin(), 3);
  for (std::size_t i = 0; i < truth.size(); ++i) truth[i] += 3 - given[i];
  say("exclusive_scan in place", on_host(d) == truth);
}

static void selections(const std::vector<int>& given) {
  thrust::device_vector<int> d = given, out(given.size());
  std::vector<int> truth(given.size());
  const auto end = thrust::copy_if(d.begin(), d.end(), out.begin(), IsOdd());
  truth.erase(std::copy_if(given.begin(), given.end(), truth.begin(), IsOdd()), truth.end());
  out.resize(end - out.begin());
  say("copy_if", on_host(out) == truth);
  say("count_if", thrust::count_if(d.begin(), d.end(), IsOdd()) == long(truth.size()));
  d.erase(thrust::remove_if(d.begin(), d.end(), IsOdd()), d.end());
  std::vector<int> even = given;
  even.erase(std::remove_if(even.begin(), even.end(), IsOdd()), even.end());
  say("remove_if", on_host(d) == even);

  std::map<int, int> histogram;
  for (int x : given) ++histogram[x];
  thrust::device_vector<int> keys = given, kept(given.size()), counts(given.size());
  thrust::sort(keys.begin(), keys.end());
  const auto ends = thrust::reduce_by_key(
      keys.begin(), keys.end(), thrust::constant_iterator<int>(1), kept.begin(), counts.begin());
  kept.resize(ends.first - kept.begin());
  counts.resize(ends.second - counts.begin());
  bool same = kept.size() == histogram.size();
  std::size_t i = 0;
  for (const auto& [key, count] : histogram) {
    same = same && kept[i] == key && counts[i] == count;
    ++i;
  }
  say("reduce_by_key", same);
  keys.erase(thrust::unique(keys.begin(), keys.end()), keys.end());
  say("unique", on_host(keys) == on_host(kept));
  thrust::device_vector<int> wanted(std::vector<int>{3, 50, 96}), places(3);
  thrust::lower_bound(keys.begin(), keys.end(), wanted.begin(), wanted.end(), places.begin());
  const std::vector<int> sorted = on_host(keys);
  same = true;
  for (int k = 0; k < 3; ++k) {
    same = same && places[k] == std::lower_bound(sorted.begin(), sorted.end(), int(wanted[k])) -
                                    sorted.begin();
  }
  say("lower_bound", same);
}

static void iterators() {
  thrust::device_vector<float> x(100), y(100, 1.0f);
  thrust::sequence(x.begin(), x.end(), 0.0f, 0.5f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), AddScaled{2});
  thrust::host_vector<float> h = y;
  bool same = true;
  for (int i = 0; i < 100; ++i) same = same && h[i] == i + 1.0f;
  say("transform", same);
  const auto first = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  thrust::for_each(first, first + 100, [] __device__(thrust::tuple<float&, float&> t) {
    thrust::get<1>(t) -= 2 * thrust::get<0>(t);
  });
  say("zip_iterator", thrust::count(y.begin(), y.end(), 1.0f) == 100);
  const auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(0),
                                                       [] __device__(int i) { return i * i; });
  say("transform_iterator", thrust::reduce(squares, squares + 10) == 285);
  thrust::device_vector<int> map(std::vector<int>{9, 0, 99});
  const auto picked = thrust::make_permutation_iterator(x.begin(), map.begin());
  say("permutation_iterator", thrust::reduce(picked, picked + 3) == 54.0f);

  thrust::device_vector<int> d(64, 3);
  d[5] = 7;
  double_all<<<1, 64>>>(thrust::raw_pointer_cast(d.data()), 64);
  double_all<<<1, 64>>>(thrust::raw_pointer_cast(&d[0]), 32);
  say("raw_pointer_cast", d[5] == 28 && d[6] == 12 && d.back() == 6);
  thrust::complex<float> z(1, 2);
  z = z * thrust::conj(z) + 1.0f;
  say("complex", z.real() == 6 && z.imag() == 0);
  thrust::default_random_engine engine;
  say("random", (engine.discard(9999), engine() == 399268537u));
}

int main() {
  const std::vector<int> given = numbers(1000);
  sorts(given);
  sums(given);
  selections(given);
  iterators();
}
