#include "lab/compiled_code.hpp"

#include <gtest/gtest.h>

#include "lab/compile_flow.hpp"

namespace warpladder::lab {
namespace {

TEST(CompiledCode, ResourcesOfEachKernel) {
  const auto kernels = parse_resources(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4axpyILi64EEvifPKfPf' for 'sm_90a'
ptxas info    : Function properties for _Z6helperf
    99 bytes stack frame, 98 bytes spill stores, 97 bytes spill loads
ptxas info    : Function properties for _Z4axpyILi64EEvifPKfPf
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 15 registers, used 1 barriers, 256 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'plain' for 'sm_90a'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
)");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "axpy<64>");
  EXPECT_EQ(kernels[0].registers, 15u);
  EXPECT_EQ(kernels[0].barriers, 1u);
  EXPECT_EQ(kernels[0].stack_bytes, 8u);
  EXPECT_EQ(kernels[0].spill_store_bytes, 16u);
  EXPECT_EQ(kernels[0].spill_load_bytes, 24u);
  EXPECT_EQ(kernels[0].shared_bytes, 256u);
  EXPECT_EQ(kernels[1].name, "plain");
  EXPECT_EQ(kernels[1].registers, 8u);
  EXPECT_EQ(kernels[1].shared_bytes, 0u);
}

TEST(CompiledCode, UsageOfLinkedCode) {
  const auto kernels = parse_usage(R"(
Resource usage:
 Common:
  GLOBAL:0
 Function _Z1kiPKfS0_Pf:
  REG:24 STACK:32 SHARED:48 LOCAL:0 CONSTANT[0]:560 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _Z4termfff:
  REG:7 STACK:0 SHARED:0 LOCAL:0 TEXTURE:0 SURFACE:0 SAMPLER:0
)");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].registers, 24u);
  EXPECT_EQ(kernels[0].stack_bytes, 32u);
  EXPECT_EQ(kernels[0].shared_bytes, 48u);
  EXPECT_EQ(kernels[1].name, "term");
}

TEST(CompiledCode, LaunchBoundsOfPtx) {
  std::vector<KernelCode> kernels(2);
  kernels[0].symbol = "one";
  kernels[1].symbol = "two";
  parse_launch_bounds(
      ".visible .entry one(\n\t.param .u64 a\n)\n.maxntid 32, 4, 2\n{\n}\n"
      ".visible .entry other(\n)\n.maxntid 7\n{\n}\n.visible .entry two(\n)\n{\n}\n",
      kernels);
  EXPECT_EQ(kernels[0].threads, 256u);
  EXPECT_EQ(kernels[1].threads, 0u);
}

// Compute capability 8.0 has a line more in each section, and predicates stand before instructions.
constexpr const char* kDisassembly =
    "\t.section\t.text.kernel,\"ax\",@progbits\n"
    "\t.sectioninfo\t@\"SHI_REGISTERS=15\"\n"
    "kernel:\n"
    "\t//## File \"/home/ada/a.cu\", line 12\n"
    "        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;\n"
    "        /*0010*/              @!P0 LDG.E.128 R4, [R2.64] ;\n"
    "        /*0020*/              @UP1 FFMA R4, R5, R6, R7 ;\n"
    "\t//## File \"/home/ada/c.hpp\", line 9 inlined at \"/home/ada/b.hpp\", line 3\n"
    "\t//## File \"/home/ada/b.hpp\", line 3 inlined at \"/home/ada/a.cu\", line 14\n"
    "\t//## File \"/home/ada/a.cu\", line 14\n"
    "        /*0030*/                   FFMA.FTZ R4, R5, R6, R7 ;\n"
    "        /*0040*/                   MUFU.RSQ R3, R0 ;\n"
    "\t//## File \"/home/ada/b.hpp\", line 3\n"
    ".L_x_1:\n"
    "        /*0050*/                   BRA `(.L_x_1);\n"
    "        /*0060*/                   NOP ;\n"
    "\t.section\t.text.function,\"ax\",@progbits\n"
    "        /*0000*/                   RET.REL.NODEC R20 `(kernel) ;\n"
    "\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"\n"
    "        /*0000*/        .byte   0x04\n";

TEST(CompiledCode, InstructionsOfEachFunction) {
  const auto functions = parse_disassembly(kDisassembly);
  EXPECT_EQ(functions.size(), 2u);
  EXPECT_EQ(
      functions.at("kernel"),
      (Instructions{{"BRA", 1}, {"FFMA", 2}, {"IMAD", 1}, {"LDG.E.128", 1}, {"MUFU.RSQ", 1}}));
  EXPECT_EQ(functions.at("function"), (Instructions{{"RET", 1}}));
  EXPECT_EQ(count_of(functions.at("kernel")), 6u);
}

TEST(CompiledCode, InstructionsOfEachLine) {
  const auto lines = parse_lines(kDisassembly);
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines.at({"a.cu", 12}), (Instructions{{"FFMA", 1}, {"IMAD", 1}, {"LDG.E.128", 1}}));
  EXPECT_EQ(lines.at({"a.cu", 14}), (Instructions{{"FFMA", 1}, {"MUFU.RSQ", 1}})) << "its caller's";
  EXPECT_EQ(lines.at({"b.hpp", 3}), (Instructions{{"BRA", 1}}));
  EXPECT_EQ(parse_lines(kDisassembly, {"kernel"}), lines) << "the function has no line";
  EXPECT_TRUE(parse_lines(kDisassembly, {"function", "other"}).empty());
}

TEST(CompiledCode, LinesOfASharedKernel) {
  const auto lines = parse_lines(
      "\t.section\t.text.kernel,\"ax\",@progbits\n"
      "\t//## File \"/src/parts/a.hpp\", line 5 inlined at \"/src/rung_b.hpp\", line 7\n"
      "\t//## File \"/src/rung_b.hpp\", line 7 inlined at \"/src/parts/c.hpp\", line 8\n"
      "\t//## File \"/src/parts/c.hpp\", line 8 inlined at \"/src/rung_b.hpp\", line 9\n"
      "\t//## File \"/src/rung_b.hpp\", line 9\n"
      "        /*0000*/                   FFMA R4, R5, R6, R7 ;\n");
  EXPECT_EQ(lines, (LineInstructions{{{"rung_b.hpp", 7}, {{"FFMA", 1}}}}));
}

TEST(CompiledCode, FatBinary) {
  const auto entries = parse_fat_binary(
      "\nFatbin elf code:\n================\narch = sm_80\nhost = linux\n\nFatbin ptx code:\n"
      "================\narch = sm_90a\ncompressed\nptxasOptions = \n");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].kind + entries[0].arch, "machine codesm_80");
  EXPECT_FALSE(entries[0].compressed);
  EXPECT_EQ(entries[1].kind + entries[1].arch, "PTXsm_90a");
  EXPECT_TRUE(entries[1].compressed);
}

TEST(CompiledCode, NamesForPeople) {
  EXPECT_EQ(demangled("_ZN10warpladder5sgemm52_GLOBAL__N__e48e1c5d_19_row_06_warp_tile_cu_16a2efb4"
                      "8multiplyILb1ELb1ELi1EEEvNS0_3gpu4GemmE"),
            "warpladder::sgemm::multiply<true, true, 1>");
  EXPECT_EQ(demangled("_Z1fPFvSt4lessIiEE"), "f");
  EXPECT_EQ(demangled("plain"), "plain");
}

TEST(CompiledCode, ChangesBetweenTwoWays) {
  const auto changes = changes_between({{"FFMA", 9}, {"BRA", 2}, {"EXIT", 1}},
                                       {{"FFMA", 2}, {"MUFU.RCP", 3}, {"EXIT", 1}});
  std::vector<std::pair<std::string, long>> found;
  for (const InstructionChange& change : changes)
    found.emplace_back(change.opcode, change.difference);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, long>>{
                       {"FFMA", -7}, {"MUFU.RCP", 3}, {"BRA", -2}}));
}

}  // namespace
}  // namespace warpladder::lab
