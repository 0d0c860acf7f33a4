#pragma once
// A register-tiled product whose 64 multiply-adds of a step come in one order or another; each
// kernel exists once per flavour. main.cpp includes this too.

#include <cstdint>

#include "runtime/stream.hpp"

namespace warpladder::register_order {

// In which order sum[i][j] += a[i] · b[j] is written out. rows: i outermost, so that a[i] may stay
// in the operand cache; columns: j outermost, so that b[j] may. snake: every other line backwards,
// so that the other factor stays at each turn.
// tools/generate_tables.py counts on the numbers, which are part of the kernels' symbols.
enum class Order { rows, rows_snake, columns, columns_snake };
constexpr int kOrders = 4;

// C = A·B: all by rows and compact, sizes multiples of 128.
struct Product {
  std::int64_t m, n, k;
  const float* a;
  const float* b;
  float* c;
};

// `rounds` × kStepsOfRound steps from two fragments of a and of b that stay in registers, in turn.
// values: such fragments for each of 32 lanes: a of step 0, a of step 1, b of step 0, b of step 1.
// out: sum[8][8] of each thread.
struct Issue {
  int blocks, rounds;
  float scale;  // 1
  const float* values;
  float* out;
};
constexpr int kThreads = 256, kLanes = 32, kFragmentFloats = 32, kSums = 64, kStepsOfRound = 8;

struct Launchers {
  void (*multiply)(Order order, const Product& product, runtime::StreamView& stream) = nullptr;
  void (*issue_only)(Order order, const Issue& issue, runtime::StreamView& stream) = nullptr;
  // The same with sums that are stored as they are, which ties the numbers of their registers.
  void (*issue_tied)(Order order, const Issue& issue, runtime::StreamView& stream) = nullptr;
};
// Called by static initialisation, once for each flavour of this build.
bool declare(runtime::Flavour flavour, const Launchers& launchers);

}  // namespace warpladder::register_order
