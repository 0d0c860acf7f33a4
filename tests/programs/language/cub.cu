// Collectives and algorithms of cub against loops on the host. Blocks of 96 threads, so that the
// last warp and logical warps of 8 lanes are tried, too.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }
constexpr int kThreads = 96, kItems = 3, kTile = kThreads * kItems;

struct Running {
  int before;
  __device__ int operator()(int all) {
    const int start = before;
    before += all;
    return start;
  }
};
struct MaxOf {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

__global__ void collectives(const int* in, int* sums, int* scans, int* sorted) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Warp = cub::WarpReduce<int, 8>;
  using WarpScan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Scan::TempStorage scan;
  __shared__ typename Warp::TempStorage warps[kThreads / 8];
  __shared__ typename WarpScan::TempStorage warp_scan[kThreads / 32];
  const int t = threadIdx.x;
  const int sum = Reduce(reduce).Sum(in[t]);
  __syncthreads();
  const int most = Reduce(reduce).Reduce(in[t], MaxOf());
  __syncthreads();
  const int part = Reduce(reduce).Sum(in[t], 40);
  const int eight = Warp(warps[t / 8]).Sum(in[t]);
  if (t == 0) sums[0] = sum, sums[1] = most, sums[2] = part;
  if (t % 8 == 0) sums[3 + t / 8] = eight;

  int inclusive, exclusive, all, of_warp, running;
  Scan(scan).InclusiveSum(in[t], inclusive);
  __syncthreads();
  Scan(scan).ExclusiveSum(in[t], exclusive, all);
  __syncthreads();
  Running prefix{1000};
  Scan(scan).ExclusiveSum(in[t], running, prefix);
  WarpScan(warp_scan[t / 32]).InclusiveSum(in[t], of_warp);
  scans[t] = inclusive;
  scans[kThreads + t] = exclusive;
  scans[2 * kThreads + t] = running;
  scans[3 * kThreads + t] = of_warp;
  if (t == 0) sums[15] = all;
  (void)sorted;
}

__global__ void tiles(const int* in, int* scanned, int* sorted) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
  } room;
  int items[kItems], sums[kItems];
  Load(room.load).Load(in, items, kTile - 1, 7);
  __syncthreads();
  Scan(room.scan).ExclusiveSum(items, sums);
  __syncthreads();
  Store(room.store).Store(scanned, sums);
  __syncthreads();
  Sort(room.sort).Sort(items);
  cub::StoreDirectBlocked(threadIdx.x, sorted, items);
}

static std::vector<int> numbers(int n) {
  std::vector<int> v(n);
  unsigned state = 7;
  for (int& x : v) x = static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % 201 - 100;
  return v;
}
template <class T>
static T* shared_array(std::size_t n) {
  T* p;
  cudaMallocManaged(&p, n * sizeof(T));
  return p;
}
// cub's two calls: one asks for the size, one works.
template <class Call>
static void twice(Call call) {
  void* temporary = nullptr;
  std::size_t bytes = 0;
  call(temporary, bytes);
  cudaMalloc(&temporary, bytes);
  call(temporary, bytes);
  cudaFree(temporary);
}

static void of_blocks(int* in) {
  int *sums = shared_array<int>(16), *scans = shared_array<int>(4 * kThreads);
  int *scanned = shared_array<int>(kTile), *sorted = shared_array<int>(kTile);
  collectives<<<1, kThreads>>>(in, sums, scans, sorted);
  tiles<<<1, kThreads>>>(in, scanned, sorted);
  cudaDeviceSynchronize();
  const int total = std::accumulate(in, in + kThreads, 0);
  say("BlockReduce::Sum", sums[0] == total && sums[2] == std::accumulate(in, in + 40, 0));
  say("BlockReduce::Reduce", sums[1] == *std::max_element(in, in + kThreads));
  bool eights = true, scans_are = sums[15] == total, prefixed = true, warps = true;
  for (int t = 0, sum = 0, of_warp = 0; t < kThreads; ++t) {
    if (t % 8 == 0) eights = eights && sums[3 + t / 8] == std::accumulate(in + t, in + t + 8, 0);
    if (t % 32 == 0) of_warp = 0;
    scans_are = scans_are && scans[kThreads + t] == sum;
    prefixed = prefixed && scans[2 * kThreads + t] == 1000 + sum;
    sum += in[t];
    of_warp += in[t];
    scans_are = scans_are && scans[t] == sum;
    warps = warps && scans[3 * kThreads + t] == of_warp;
  }
  say("WarpReduce", eights);
  say("BlockScan", scans_are);
  say("BlockScan with a prefix", prefixed);
  say("WarpScan", warps);
  std::vector<int> tile(in, in + kTile);
  tile[kTile - 1] = 7;
  std::vector<int> truth(kTile);
  std::exclusive_scan(tile.begin(), tile.end(), truth.begin(), 0);
  say("BlockLoad, BlockStore", std::equal(truth.begin(), truth.end(), scanned));
  std::sort(tile.begin(), tile.end());
  say("BlockRadixSort", std::equal(tile.begin(), tile.end(), sorted));
}

static void of_devices(int* in, int n) {
  int *out = shared_array<int>(n), *values = shared_array<int>(n), *order = shared_array<int>(n);
  cub::KeyValuePair<int, int>* least = shared_array<cub::KeyValuePair<int, int>>(1);
  twice([&](void* t, std::size_t& b) { cub::DeviceReduce::Sum(t, b, in, out, n); });
  twice([&](void* t, std::size_t& b) { cub::DeviceReduce::ArgMin(t, b, in, least, n); });
  say("DeviceReduce",
      out[0] == std::accumulate(in, in + n, 0) && least->key == std::min_element(in, in + n) - in);
  twice([&](void* t, std::size_t& b) { cub::DeviceScan::InclusiveSum(t, b, in, out, n); });
  std::vector<int> truth(n);
  std::partial_sum(in, in + n, truth.begin());
  say("DeviceScan", std::equal(truth.begin(), truth.end(), out));
  std::iota(values, values + n, 0);
  twice([&](void* t, std::size_t& b) {
    cub::DeviceRadixSort::SortPairsDescending(t, b, in, out, values, order, n);
  });
  std::iota(truth.begin(), truth.end(), 0);
  std::stable_sort(truth.begin(), truth.end(), [&](int a, int b) { return in[a] > in[b]; });
  say("DeviceRadixSort", std::equal(truth.begin(), truth.end(), order));
  float* floats = shared_array<float>(4);
  const float given[4] = {1.5f, -2, -0.25f, 0};
  cub::DoubleBuffer<float> both(floats, shared_array<float>(4));
  std::copy(given, given + 4, floats);
  twice([&](void* t, std::size_t& b) { cub::DeviceRadixSort::SortKeys(t, b, both, 4); });
  say("DeviceRadixSort of floats", std::is_sorted(both.Current(), both.Current() + 4));
  twice([&](void* t, std::size_t& b) {
    cub::DeviceSelect::If(t, b, in, out, order, n, [] __device__(int x) { return x > 50; });
  });
  say("DeviceSelect", order[0] == std::count_if(in, in + n, [](int x) { return x > 50; }));
  twice([&](void* t, std::size_t& b) {
    cub::DeviceHistogram::HistogramEven(t, b, in, out, 5, -100, 100, n);
  });
  bool same = true;
  for (int bin = 0; bin < 4; ++bin) {
    const auto is_in = [=](int x) { return x >= -100 + 50 * bin && x < -50 + 50 * bin; };
    same = same && out[bin] == std::count_if(in, in + n, is_in);
  }
  say("DeviceHistogram", same);
}

int main() {
  const std::vector<int> given = numbers(kTile);
  int* in = shared_array<int>(kTile);
  std::copy(given.begin(), given.end(), in);
  of_blocks(in);
  of_devices(in, kTile);
}
