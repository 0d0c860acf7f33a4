// A cubin of nvcc 13.0 for sm_90, of three kernels. `ptxas -v` said of them: 10 registers each; 400
// bytes of shared memory for k, none for the others.

#include "base/cubin.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error.hpp"

namespace warpladder {
namespace {

const std::string kFile = WARPLADDER_SOURCE_DIR "/tests/fuzz/corpus/cubin/sm_90";

std::string bytes() {
  std::ifstream file(kFile, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const std::string& text) {
  try {
    parse_cubin(text, "x.cubin");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(Cubin, RegistersAndStaticSharedMemory) {
  std::map<std::string, std::pair<unsigned, std::size_t>> found;
  for (const CubinKernel& k : read_cubin(kFile, "--cubin")) {
    found[k.symbol] = {k.registers, k.static_shared_bytes};
  }
  const std::map<std::string, std::pair<unsigned, std::size_t>> expected{
      {"_Z1kPf", {10, 400}}, {"_Z4nonePf", {10, 0}}, {"_Z7dynonlyPf", {10, 0}}};
  EXPECT_EQ(found, expected);
}

TEST(Cubin, RefusesWhatIsNone) {
  EXPECT_EQ(refusal(""), "x.cubin is no cubin; nvcc -cubin writes one");
  EXPECT_EQ(refusal("int main() {}"), "x.cubin is no cubin; nvcc -cubin writes one");
  std::string other = bytes();
  other[18] = 62;  // x86-64
  EXPECT_EQ(refusal(other), "x.cubin is a program for another machine, not a cubin");
}

TEST(Cubin, RefusesEveryCut) {
  // Before the end of the table of sections.
  const std::string whole = bytes();
  std::uint64_t table = 0;
  std::uint16_t sections = 0;
  std::memcpy(&table, whole.data() + 40, sizeof table);
  std::memcpy(&sections, whole.data() + 60, sizeof sections);
  ASSERT_GT(sections, 10);
  for (std::size_t size = 64; size < table + 64 * sections; size += 97) {
    const std::string said = refusal(whole.substr(0, size));
    EXPECT_EQ(said.find("x.cubin "), 0u) << size << ": " << said;
  }
}

}  // namespace
}  // namespace warpladder
