#pragma once
// What the warpgroups of the running blocks have asked of the tensor cores. Internal to device/cpu.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpladder::executor {

constexpr unsigned kWarpgroup = 128;

// One lane's part in a product.
struct Product {
  float* sums;
  std::uint64_t a, b;  // descriptors
  int columns, element_bytes;
  bool add;
  std::uintptr_t pc;
  bool from_registers = false;  // A: bfloat16 in the lane's words
  std::uint32_t words[4] = {};

  bool is_the_same(const Product& other) const {
    return a == other.a && b == other.b && columns == other.columns &&
           element_bytes == other.element_bytes && add == other.add &&
           from_registers == other.from_registers;
  }
};

// What a lane has asked for and not yet waited for.
struct ProductQueue {
  std::vector<Product> products;
  std::vector<std::size_t> group_ends;  // of the groups that are closed, into products
  int groups_left = 0;                  // what the lane waits for
};

class Warpgroups {
 public:
  // Before a launch.
  void prepare(std::size_t fibers) {
    if (queues_.size() < fibers) queues_.resize(fibers);
    if (arrived_.size() < fibers / 32 + 1) arrived_.resize(fibers / 32 + 1);
  }
  // Before each block or cluster.
  void clear() {
    if (!used_) return;
    used_ = false;
    for (ProductQueue& queue : queues_) {
      queue.products.clear();
      queue.group_ends.clear();
    }
    std::fill(arrived_.begin(), arrived_.end(), 0);
  }
  ProductQueue& of(unsigned fiber) {
    used_ = true;
    return queues_[fiber];
  }
  // How many lanes wait of the warpgroup that begins with this fiber.
  unsigned& arrived(unsigned first) { return arrived_[first / 32]; }

 private:
  std::vector<ProductQueue> queues_;
  std::vector<unsigned> arrived_;
  bool used_ = false;  // since the last clear()
};

}  // namespace warpladder::executor
