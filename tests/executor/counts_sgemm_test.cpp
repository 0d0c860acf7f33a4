// Golden counts of matrix products. Each number is derived from the addresses, never copied from a
// run. A sector is 32 bytes (8 floats), shared memory has 32 banks of 4 bytes.

#include "kernels/counting.hpp"

namespace warpladder::kernel_tests {
namespace {

// n×n operands of small whole numbers: every product is exact, so the result is checked as well.
struct Product {
  explicit Product(int size)
      : n(size),
        a(whole_numbers(elements(), 7)),
        b(whole_numbers(elements(), 5)),
        device_a(Target::cpu, a),
        device_b(Target::cpu, b),
        device_c(Target::cpu, elements()) {}

  Counted count(const std::string& kernel, unsigned tile, runtime::Dim3 block) {
    const auto blocks = static_cast<unsigned>(n) / tile;
    return {"counts_sgemm.cu", kernel, {{blocks, blocks}, block}, device_a, device_b, device_c, n};
  }
  void expect_right() const {
    std::vector<float> c(elements());
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    EXPECT_EQ(device_c.download(), c);
  }
  std::size_t elements() const { return static_cast<std::size_t>(n) * n; }

  int n;
  std::vector<float> a, b;
  Buffer<float> device_a, device_b, device_c;
};

TEST(CountsOfSgemm, Naive) {
  Product p(64);
  Counted c = p.count("naive", 32, {32, 32});
  // 64·64 threads are 128 warps; each takes 64 steps: 128·64 = 8,192 requests for A and for B.
  // A: all lanes want the same word: 1 sector. B: 32 neighbouring words, 128-byte aligned: 4.
  c.expect("naive a", global_load(4), {8192, 8192 * 32, 8192, 8192, 1});
  c.expect("naive b", global_load(4), {8192, 8192 * 32, 8192 * 4, 8192 * 4, 4});
  c.expect("naive c", global_store(4), {128, 128 * 32, 128 * 4, 128 * 4, 4});
  c.expect_fmas("naive fma", 64 * 64 * 64);
  c.expect_no_more();
  p.expect_right();
}

TEST(CountsOfSgemm, Tiles16) {
  Product p(64);
  Counted c = p.count("tiled<16>", 16, {16, 16});
  // 128 warps, each 2 rows of 16 columns, times 64/16 = 4 tiles: 512 requests for each tile's load.
  // Two rows of 16 words (64 bytes, aligned): 2·2 sectors.
  c.expect("tiled a", global_load(4), {512, 512 * 32, 512 * 4, 512 * 4, 4});
  c.expect("tiled b", global_load(4), {512, 512 * 32, 512 * 4, 512 * 4, 4});
  // Rows of a tile are 16 words apart, so the warp's two rows are 32 neighbouring words.
  c.expect("tiled a store", shared_store(4), {512, 512 * 32, 512, 512, 1});
  c.expect("tiled b store", shared_store(4), {512, 512 * 32, 512, 512, 1});
  // A[y][k]: two words 16 banks apart. B[k][x]: 16 words, each for two lanes. 16 steps a tile.
  c.expect("tiled a load", shared_load(4), {8192, 8192 * 32, 8192, 8192, 1});
  c.expect("tiled b load", shared_load(4), {8192, 8192 * 32, 8192, 8192, 1});
  c.expect("tiled c", global_store(4), {128, 128 * 32, 128 * 4, 128 * 4, 4});
  c.expect_fmas("tiled fma", 64 * 64 * 64);
  c.expect_barriers("tiles whole", 512);  // once per warp and tile
  c.expect_barriers("tiles read", 512);
  c.expect_no_more();
  p.expect_right();
}

TEST(CountsOfSgemm, Tiles32) {
  Product p(64);
  Counted c = p.count("tiled<32>", 32, {32, 32});
  // 128 warps, each a row of 32 columns, times 64/32 = 2 tiles: 256 requests of 4 sectors.
  c.expect("tiled a", global_load(4), {256, 256 * 32, 256 * 4, 256 * 4, 4});
  c.expect("tiled b", global_load(4), {256, 256 * 32, 256 * 4, 256 * 4, 4});
  c.expect("tiled a store", shared_store(4), {256, 256 * 32, 256, 256, 1});
  c.expect("tiled b store", shared_store(4), {256, 256 * 32, 256, 256, 1});
  // A[y][k]: one word for all. B[k][x]: 32 neighbouring words. 32 steps a tile.
  c.expect("tiled a load", shared_load(4), {8192, 8192 * 32, 8192, 8192, 1});
  c.expect("tiled b load", shared_load(4), {8192, 8192 * 32, 8192, 8192, 1});
  c.expect("tiled c", global_store(4), {128, 128 * 32, 128 * 4, 128 * 4, 4});
  c.expect_fmas("tiled fma", 64 * 64 * 64);
  c.expect_barriers("tiles whole", 256);
  c.expect_barriers("tiles read", 256);
  c.expect_no_more();
  p.expect_right();
}

TEST(CountsOfSgemm, ThreadTile) {
  Product p(128);
  Counted c = p.count("thread_tile", 128, {256});
  // One block of 8 warps, 128/8 = 16 tiles: 128 requests for each tile's load of 16 bytes a lane.
  // A: a warp takes 16 rows of 8 floats: one 32-byte sector a row, used whole. B: a row of 128
  // floats, 512 bytes.
  c.expect("wide a", global_load(16), {128, 128 * 32, 128 * 16, 128 * 16, 16});
  c.expect("wide b", global_load(16), {128, 128 * 32, 128 * 16, 128 * 16, 16});
  // 16 bytes a lane take four quarter-warps; each quarter's 32 words are neighbours.
  c.expect("wide b store", shared_store(16), {128, 128 * 32, 128 * 4, 128 * 4, 4});
  // Transposed: lanes 2r and 2r + 1 store to row r of tile columns i and i + 4. These lie 4·128
  // words apart: the same bank, two wavefronts. Four stores per tile and warp.
  c.expect("transposed a store", shared_store(4), {512, 512 * 32, 512 * 2, 512, 2});
  // Per warp 128 steps of k, two float4 for each fragment: 8·128·2 = 2,048 requests.
  // A: 16 lanes share a row of C, hence the address: neighbours share, one wavefront a half-warp.
  // B: the 8 lanes of a quarter are 8 words apart and read 4 words each. Lanes 0-3 cover banks 0-3,
  // 8-11, 16-19, 24-27, lanes 4-7 the same banks one row further: two wavefronts a quarter.
  c.expect("a fragment", shared_load(16), {2048, 2048 * 32, 2048 * 2, 2048 * 2, 2});
  c.expect("b fragment", shared_load(16), {2048, 2048 * 32, 2048 * 8, 2048 * 4, 8});
  // C: 8 rows × 2 float4 a thread: 8·16 = 128 requests. Lanes are 32 bytes apart and write 16 of
  // them: 32 sectors, where 512 bytes would fit in 16.
  c.expect("wide c", global_store(16), {128, 128 * 32, 128 * 32, 128 * 16, 32});
  c.expect_fmas("thread tile fma", 2097152);  // 128³
  std::uint64_t barriers = 0;
  for (const executor::EventCounts& e : c.counts().events) barriers += e.barriers;
  EXPECT_EQ(barriers, 2 * 16 * 8u);
  p.expect_right();
}

}  // namespace
}  // namespace warpladder::kernel_tests
