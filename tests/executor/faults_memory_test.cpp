// Memory that is not the kernel's, or off its alignment; stacks; illegal launches; and which fault
// is told of when several blocks have one.

#include "kernels/planted.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr const char* kFile = "faults_memory.cu";

class MemoryFaults : public ::testing::Test {
 protected:
  void expect(const std::string& kernel, const Arguments& arguments, const Expected& expected) {
    expect_fault(stream_, Flavour::counted, kernel, arguments, expected);
    expect_usable();
  }
  void expect_clean(const std::string& kernel, const Arguments& arguments) {
    EXPECT_NO_THROW(launch(stream_, Flavour::counted, kernel, arguments)) << kernel;
  }
  // A fault leaves nothing behind: the next launches are whole and right, in either flavour.
  void expect_usable() {
    for (const Flavour flavour : {Flavour::counted, Flavour::plain}) {
      const Buffer<int> in(Target::cpu, std::vector<int>(4 * 256, 3));
      Buffer<int> out(Target::cpu, 4);
      run(stream_, flavour, "block_sums", {{4}, {256}, 1024}, in, out);
      EXPECT_EQ(out.download(), std::vector<int>(4, 768));
    }
  }
  device::Stream stream_{Target::cpu};
};

TEST_F(MemoryFaults, PastTheEndAndBeforeTheStart) {
  Buffer<float> p(Target::cpu, 100);
  expect_clean("write_at", arguments_of({{4}, {25}}, p, 0));
  // 128 threads for 100 elements: thread 4 of the fourth block is the first outside.
  expect("write_at", arguments_of({{4}, {32}}, p, 0),
         {FaultKind::out_of_bounds,
          kFile,
          "write",
          4,
          {"writes 4 bytes 0 bytes past the end of an allocation of 400 bytes"},
          3});
  expect("write_at", arguments_of({{1}, {32}}, p, 90),
         {FaultKind::out_of_bounds, kFile, "write", 10, {"past the end"}});
  expect("write_at", arguments_of({{1}, {32}}, p, -3),
         {FaultKind::out_of_bounds,
          kFile,
          "write",
          0,
          {"writes 4 bytes 12 bytes before the start of an allocation of 400 bytes"}});
  // The slack in front of a payload that begins at an odd address is legal, what is before is not.
  Buffer<float> odd(Target::cpu, 100, 3);
  expect_clean("write_at", arguments_of({{1}, {32}}, odd, -3));
  expect("write_at", arguments_of({{1}, {32}}, odd, -4),
         {FaultKind::out_of_bounds, kFile, "write", 0, {"before the start"}});
}

TEST_F(MemoryFaults, ReadsOfEveryWidth) {
  const Buffer<float> in(Target::cpu, whole_numbers(34));  // 136 bytes: 8 float4 and half of one
  Buffer<float> out(Target::cpu, 128);
  expect_clean("read_at<float4>", arguments_of({{1}, {8}}, in, out, 0));
  expect("read_at<float4>", arguments_of({{1}, {32}}, in, out, 0),
         {FaultKind::out_of_bounds,
          kFile,
          "read",
          8,
          {"reads 16 bytes across the end of an allocation of 136 bytes"}});
  expect("read_at<double>", arguments_of({{1}, {32}}, in, out, 0),
         {FaultKind::out_of_bounds, kFile, "read", 17, {"reads 8 bytes 0 bytes past the end"}});
  expect("read_at<signed char>", arguments_of({{1}, {32}}, in, out, 120),
         {FaultKind::out_of_bounds, kFile, "read", 16, {"reads 1 bytes 0 bytes past the end"}});
}

TEST_F(MemoryFaults, BetweenTwoAllocations) {
  const Buffer<int> a(Target::cpu, 32), b(Target::cpu, 32);
  Buffer<int> out(Target::cpu, 32);
  const auto distance =
      reinterpret_cast<std::intptr_t>(b.data()) - reinterpret_cast<std::intptr_t>(a.data());
  const long long middle = distance / 2 / 4 * 4;
  expect("read_at<int>", arguments_of({{1}, {32}}, a, out, middle),
         {FaultKind::out_of_bounds, kFile, "read", 0, {"an allocation of 128 bytes"}});
  expect_clean("read_at<int>", arguments_of({{1}, {32}}, a, out, distance));
}

TEST_F(MemoryFaults, AfterItIsReleased) {
  Buffer<int> out(Target::cpu, 32);
  int* gone = nullptr;
  {
    const Buffer<int> short_lived(Target::cpu, 32);
    gone = short_lived.data();
  }
  expect_fault(stream_, Flavour::counted, "read_at<int>", arguments_of({{1}, {32}}, gone, out, 0),
               {FaultKind::out_of_bounds, kFile, "read", 0});
}

TEST_F(MemoryFaults, HostPointers) {
  std::vector<int> on_host(32);
  Buffer<int> out(Target::cpu, 32);
  expect("read_at<int>", arguments_of({{1}, {32}}, on_host.data(), out, 0),
         {FaultKind::host_pointer, kFile, "read", 0, {"reads 4 bytes", "not device memory"}});
  const int* null = nullptr;
  expect("read_at<int>", arguments_of({{1}, {32}}, null, out, 0),
         {FaultKind::host_pointer, kFile, "read", 0, {"0x0"}});
  int on_stack = 0;
  expect("add_at", arguments_of({{1}, {32}}, &on_stack, 0),
         {FaultKind::host_pointer, kFile, "atomic", 0, {"atomically changes 4 bytes"}});
}

TEST_F(MemoryFaults, Misalignment) {
  const Buffer<float> in(Target::cpu, whole_numbers(256));
  Buffer<float> out(Target::cpu, 256);
  const auto misaligned = [&](const std::string& type, int bytes, int off) {
    expect("read_at<" + type + ">", arguments_of({{1}, {8}}, in, out, off),
           {FaultKind::misaligned_access,
            kFile,
            "read",
            0,
            {"an access of " + std::to_string(bytes) + " bytes",
             std::to_string(off) + " bytes off a multiple of " + std::to_string(bytes)}});
    expect_clean("read_at<" + type + ">", arguments_of({{1}, {8}}, in, out, bytes));
  };
  misaligned("float4", 16, 4);
  misaligned("float4", 16, 8);
  misaligned("float2", 8, 4);
  misaligned("double", 8, 4);
  misaligned("int", 4, 1);
  misaligned("int", 4, 2);
  expect("add_at_byte", arguments_of({{1}, {1}}, in, 2),
         {FaultKind::misaligned_access, kFile, "crooked atomic", 0});
  expect("read_crooked_shared", arguments_of({{1}, {32}}, out, 3),
         {FaultKind::misaligned_access, kFile, "crooked shared", 0, {"an access of 8 bytes"}});
  expect_clean("read_crooked_shared", arguments_of({{1}, {32}}, out, 2));
}

TEST_F(MemoryFaults, AtomicsAndAsynchronousCopies) {
  Buffer<int> counters(Target::cpu, 10);
  expect("add_at", arguments_of({{1}, {32}}, counters, 0),
         {FaultKind::out_of_bounds, kFile, "atomic", 10, {"atomically changes 4 bytes"}});
  const Buffer<float> in(Target::cpu, whole_numbers(4 * 32));
  Buffer<float> out(Target::cpu, 32);
  expect_clean("copy_asynchronously", arguments_of({{1}, {32}}, in, out, 0));
  expect("copy_asynchronously", arguments_of({{1}, {32}}, in, out, 8),
         {FaultKind::out_of_bounds, kFile, "asynchronous read", 30, {"reads 16 bytes"}});
  expect("copy_asynchronously", arguments_of({{1}, {32}}, in, out, 2),
         {FaultKind::misaligned_access, kFile, "asynchronous read", 0});
}

TEST_F(MemoryFaults, LocalArraysAreTheThreadsOwn) {
  std::vector<int> values(16);
  for (int i = 0; i < 16; ++i) values[i] = 5 * i;  // 0 … 15 in another order, modulo 16
  const Buffer<int> in(Target::cpu, values);
  Buffer<int> out(Target::cpu, 32);
  expect_clean("use_local_array", arguments_of({{1}, {32}}, in, out));
  EXPECT_EQ(out.download()[2], 5 * 120 + 16 * 2);
}

// Told after the launch, of the kernel as a whole: neither line nor block are known.
TEST_F(MemoryFaults, OutgrownStack) {
  Buffer<int> out(Target::cpu, 32);
  for (const Flavour flavour : {Flavour::plain, Flavour::counted}) {
    try {
      run(stream_, flavour, "outgrow_stack", {{1}, {32}}, out, 20);
      ADD_FAILURE() << "no fault was found in " << name_of(flavour);
    } catch (const KernelFault& fault) {
      EXPECT_EQ(fault.kind(), FaultKind::stack_overflow) << fault.what();
      EXPECT_EQ(fault.place().kernel, "kernel_tests::outgrow_stack");
      EXPECT_EQ(fault.place().thread, (runtime::Dim3{20, 0, 0})) << fault.what();
      EXPECT_NE(std::string(fault.what()).find("65536 bytes"), std::string::npos) << fault.what();
    }
    expect_usable();
    EXPECT_NO_THROW(run(stream_, flavour, "outgrow_stack", {{1}, {32}}, out, -1));
  }
}

TEST_F(MemoryFaults, CodeOutsideTheKernels) {
  Buffer<int> out(Target::cpu, 32);
  expect("call_elsewhere", arguments_of({{1}, {32}}, out),
         {FaultKind::unknown_code, "", "", 0, {"was not inlined into its kernel"}});
}

// The lowest faulty block is told of, even if others come to their faults long before.
TEST_F(MemoryFaults, TheLowestBlockIsToldOf) {
  Buffer<float> p(Target::cpu, 64);
  Buffer<int> cells(Target::cpu, std::vector<int>(64));
  for (const unsigned os_threads : {1u, 4u}) {
    stream_.executor_threads = os_threads;
    for (int repeat = 0; repeat < 5; ++repeat) {
      expect("late_and_early", arguments_of({{12}, {1}}, p, 2, 5, 64),
             {FaultKind::out_of_bounds, kFile, "two blocks", 0, {"8 bytes past the end"}, 2});
      expect("late_and_early", arguments_of({{12}, {1}}, p, 7, 6, 64),
             {FaultKind::out_of_bounds, kFile, "two blocks", 0, {}, 6});
      expect("fault_amid_atomics", arguments_of({{40}, {1}}, cells, 9),
             {FaultKind::out_of_bounds, kFile, "amid atomics", 0, {}, 9});
    }
  }
}

// Refused before anything runs.
TEST_F(MemoryFaults, IllegalLaunches) {
  Buffer<float> p(Target::cpu, 64);
  const auto refused = [&](const Shape& shape, const std::string& words) {
    for (const Flavour flavour : {Flavour::plain, Flavour::counted}) {
      try {
        run(stream_, flavour, "write_at", shape, p, 0);
        ADD_FAILURE() << "not refused: " << words;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      }
    }
    expect_usable();
  };
  refused({{1}, {1025}}, "1025x1x1");
  refused({{1}, {32, 33}}, "32x33x1");
  refused({{1}, {1, 1, 65}}, "1x1x65");
  refused({{1}, {0}}, "0x1x1");
  refused({{0}, {32}}, "0x1x1");
  refused({{1, 65536}, {1}}, "1x65536x1");
  refused({{1, 1, 65536}, {1}}, "1x1x65536");
  refused({{0x80000000u}, {1}}, "2147483648x1x1");
  refused({{1}, {32}, 227 * 1024 + 1}, "232449 bytes of dynamic shared memory");
  EXPECT_NO_THROW(run(stream_, Flavour::counted, "write_at", {{1}, {64}, 227 * 1024}, p, 0));
}

}  // namespace
}  // namespace warpladder::kernel_tests
