#include "base/npy.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/npy_header.hpp"
#include "base/testing.hpp"

namespace warpladder {
namespace {

using testing::sentence_of;
using testing::slurp;
using testing::spill;
using testing::TempDir;
using Shape = std::vector<std::int64_t>;

// A file put together by hand: no padding, `version` and the length field as told.
std::string file_of(std::string_view dict, std::string_view data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  }
  return file.append(dict).append(data);
}

std::string bytes_of(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

NpyArray parse(std::string_view file) { return parse_npy(std::as_bytes(std::span(file)), "--a"); }

std::string refusal(std::string_view file) {
  return sentence_of([&] { parse(file); });
}
std::string refusal_of_dict(std::string_view dict) { return refusal(file_of(dict, "")); }
std::string refusal_of_dtype(const std::string& descr) {
  return refusal_of_dict("{'descr': " + descr + ", 'fortran_order': False, 'shape': (0,)}");
}
std::string refusal_of_shape(const std::string& shape) {
  return refusal_of_dict("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}");
}

// numpy.save(numpy.array([[1, 2, 3], [4, 5, 6]], dtype="<f4")) by NumPy 2.4.6.
const std::string kNumpyHeader = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                                 std::string(58, ' ') + "\n";
const std::string kSixFloats = bytes_of({1, 2, 3, 4, 5, 6});

TEST(Npy, ReadsWhatNumpyWrote) {
  ASSERT_EQ(kNumpyHeader.size(), 128u);
  const NpyArray array = parse(kNumpyHeader + kSixFloats);
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_FALSE(array.fortran_order);
  EXPECT_EQ(array.data, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, WritesWhatNumpyWrites) {
  const TempDir dir;
  const std::vector<float> data{1, 2, 3, 4, 5, 6};
  write_npy(dir.file("a.npy"), Shape{2, 3}, data);
  EXPECT_EQ(slurp(dir.file("a.npy")), kNumpyHeader + kSixFloats);
  EXPECT_EQ(dir.entries(), 1);
}

TEST(Npy, FormatsHeadersAsNumpyDoes) {
  EXPECT_EQ(format_npy_header({{2, 3}, false}), kNumpyHeader);
  const auto dict_of = [](const NpyHeader& header) {
    const std::string text = format_npy_header(header);
    EXPECT_EQ(text.size() % 64, 0u);
    EXPECT_EQ(text.back(), '\n');
    return text.substr(10, text.find('}') - 9);
  };
  EXPECT_EQ(dict_of({{3}, false}), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(dict_of({{}, false}), "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
  EXPECT_EQ(dict_of({{4, 5, 6}, true}),
            "{'descr': '<f4', 'fortran_order': True, 'shape': (4, 5, 6), }");
}

TEST(Npy, AVersion2HeaderIsWrittenOnlyWhereNeeded) {
  const NpyHeader small{Shape(20, 1), false};
  const NpyHeader large{Shape(30000, 1), false};
  EXPECT_EQ(format_npy_header(small)[6], 1);
  const std::string header = format_npy_header(large);
  EXPECT_EQ(header[6], 2);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(parse(header + bytes_of({7})).shape, large.shape);
}

TEST(Npy, RoundTripsBitsShapesAndOrders) {
  const TempDir dir;
  const std::string path = dir.file("a.npy");
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> data{0.0f, -0.0f, inf, -inf, std::nanf("7"), 1e-45f};
  for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{3, 2}, Shape{1, 3, 1, 2}}) {
    for (const bool fortran_order : {false, true}) {
      write_npy(path, shape, data, fortran_order);
      const NpyArray back = read_npy(path);
      EXPECT_EQ(back.shape, shape);
      EXPECT_EQ(back.fortran_order, fortran_order);
      ASSERT_EQ(back.data.size(), data.size());
      EXPECT_EQ(std::memcmp(back.data.data(), data.data(), sizeof(float) * data.size()), 0);
    }
  }
}

TEST(Npy, ZeroElementsAreAnArrayAndZeroBytesAreNot) {
  const TempDir dir;
  for (const Shape& shape : {Shape{0}, Shape{0, 7}, Shape{7, 0}}) {
    write_npy(dir.file("a.npy"), shape, {});
    EXPECT_EQ(read_npy(dir.file("a.npy")).shape, shape);
  }
  EXPECT_SAYS("--a is empty (0 bytes)", refusal(""));
  spill(dir.file("b.npy"), "");
  EXPECT_SAYS("b.npy' is empty", sentence_of([&] { read_npy(dir.file("b.npy")); }));
}

TEST(Npy, AScalarHasOneElement) {
  const auto file =
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", bytes_of({2.5f}));
  EXPECT_EQ(parse(file).shape, Shape{});
  EXPECT_EQ(parse(file).data, std::vector<float>{2.5f});
}

TEST(Npy, ReadsEveryVersionAndEverySpelling) {
  const char* const dicts[] = {
      "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}",
      "{'shape': (1, 2), 'fortran_order': True, 'descr': '<f4'}",
      "{\"descr\":\"<f4\",\"fortran_order\":True,\"shape\":(1,2)}",
      "  {\t'descr' : '<f4' ,\n'fortran_order': True , 'shape' : ( 1 , 2 , ) , } \n",
      "{'descr': '<f4', 'fortran_order': True, 'shape': (1L, 2L), }",
  };
  for (const char* dict : dicts) {
    for (const int version : {1, 2, 3}) {
      const NpyArray array = parse(file_of(dict, bytes_of({8, 9}), version));
      EXPECT_EQ(array.shape, (Shape{1, 2})) << dict;
      EXPECT_TRUE(array.fortran_order) << dict;
      EXPECT_EQ(array.data, (std::vector<float>{8, 9})) << dict;
    }
  }
}

TEST(Npy, RefusesOtherFilesAndVersions) {
  EXPECT_SAYS("--a is no .npy file", refusal("PK\x03\x04 a zip"));
  EXPECT_SAYS("--a is no .npy file", refusal("x"));
  EXPECT_SAYS("format version 4.0", refusal(file_of("", "", 4)));
  EXPECT_SAYS("format version 0.0", refusal(file_of("", "", 0)));
  std::string minor = kNumpyHeader;
  minor[7] = 9;
  EXPECT_SAYS("format version 1.9", refusal(minor));
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = kNumpyHeader + kSixFloats;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::string sentence = refusal(whole.substr(0, size));
    if (size < kNumpyHeader.size()) {
      EXPECT_SAYS("truncated header", sentence);
    } else {
      EXPECT_SAYS("only " + std::to_string(size - kNumpyHeader.size()), sentence);
    }
  }
  EXPECT_SAYS("says 118 bytes, but only 2 are there", refusal(whole.substr(0, 12)));
}

TEST(Npy, RefusesDataThatTheShapeDoesNotSay) {
  EXPECT_SAYS("'(2, 3)', which takes 24 bytes of data, but holds only 20",
              refusal(kNumpyHeader + kSixFloats.substr(4)));
  EXPECT_SAYS("takes 24 bytes of data, but holds 25", refusal(kNumpyHeader + kSixFloats + "x"));
}

TEST(Npy, RefusesMalformedHeaders) {
  const char* const malformed[] = {
      "",
      " ",
      "{",
      "}",
      "[]",
      "{,}",
      "{'descr'}",
      "{'descr':}",
      "{'descr}",
      "{descr: 1}",
      "{'descr': '<f4' 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': 0}",
      "{'descr': '<f4', 'fortran_order': true}",
      "{'descr': <f4}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
      "{'descr': '<f4',, 'fortran_order': False, 'shape': (1,)}",
  };
  for (const char* dict : malformed) EXPECT_SAYS("malformed header", refusal_of_dict(dict));
  const char* const shapes[] = {"3",      "(3)",   "[3]",    "(,)",    "(3,,)",  "(3 4)",
                                "(3.0,)", "(03,)", "('3',)", "(3,4",   "(-,)",   "None",
                                "(3l,)",  "(+3,)", "(0x3,)", "(1_0,)", "(3 L,)", "(True,)"};
  for (const char* shape : shapes) EXPECT_SAYS("malformed header", refusal_of_shape(shape));
  EXPECT_SAYS("expected ':' at byte 8", refusal_of_dict("{'descr'}"));
  std::string with_nul = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
  with_nul += '\0';
  EXPECT_SAYS("malformed header", refusal_of_dict(with_nul));
}

TEST(Npy, RefusesUnknownMissingAndDuplicateKeys) {
  EXPECT_SAYS("unknown key 'colour'", refusal_of_dict("{'colour': 3}"));
  EXPECT_SAYS("no key 'descr'", refusal_of_dict("{}"));
  EXPECT_SAYS("no key 'descr'", refusal_of_dict("{'fortran_order': True, 'shape': (1,)}"));
  EXPECT_SAYS("no key 'fortran_order'", refusal_of_dict("{'descr': '<f4', 'shape': (1,)}"));
  EXPECT_SAYS("no key 'shape'", refusal_of_dict("{'descr': '<f4', 'fortran_order': True}"));
  EXPECT_SAYS("'descr' twice", refusal_of_dict("{'descr': '<f4', 'descr': '<f4'}"));
  EXPECT_SAYS("'shape' twice", refusal_of_dict("{'shape': (1,), 'shape': (1,)}"));
  EXPECT_SAYS("'fortran_order' twice",
              refusal_of_dict("{'fortran_order': True, 'fortran_order': False}"));
}

TEST(Npy, RefusesOtherDtypesByName) {
  EXPECT_SAYS("--a is big-endian ('>f4')", refusal_of_dtype("'>f4'"));
  const std::pair<const char*, const char*> real[] = {
      {"'<f8'", "float64 ('<f8')"}, {"'>f8'", "float64"}, {"'<f2'", "float16"},
      {"'<i8'", "int64"},           {"'|u1'", "uint8"},   {"'|b1'", "bool"},
  };
  for (const auto& [descr, name] : real) {
    EXPECT_SAYS(name, refusal_of_dtype(descr));
    EXPECT_SAYS("a.astype(numpy.float32)", refusal_of_dtype(descr));
  }
  const std::pair<const char*, const char*> other[] = {
      {"'<c8'", "complex64"},
      {"'<U3'", "text"},
      {"'|S3'", "text"},
      {"'|O'", "Python objects ('|O')"},
      {"'<M8[s]'", "dates"},
      {"'|V2'", "raw bytes"},
      {"'<m8'", "durations"},
      {"''", "unknown dtype ''"},
      {"'<'", "unknown dtype"},
      {"'zzz'", "unknown dtype 'zzz'"},
      {"[('x', '<f4'), ('y', '<f4')]", "structured dtype"},
      {"('<f4', (2,))", "structured dtype"},
  };
  for (const auto& [descr, name] : other) {
    EXPECT_SAYS(name, refusal_of_dtype(descr));
    EXPECT_EQ(refusal_of_dtype(descr).find("astype"), std::string::npos);
  }
}

TEST(Npy, ASentenceNeverCarriesControlCharacters) {
  EXPECT_SAYS("'\\x1b[31m\\x0a'", refusal_of_dtype("'\x1b[31m\n'"));
  EXPECT_LT(refusal_of_dtype("'" + std::string(5000, 'z') + "'").size(), 200u);
}

TEST(Npy, RefusesNegativeAndOverflowingShapes) {
  EXPECT_SAYS("negative size '-3'", refusal_of_shape("(-3,)"));
  EXPECT_SAYS("negative size", refusal_of_shape("(2, -1)"));
  EXPECT_SAYS("overflows", refusal_of_shape("(99999999999999999999,)"));
  EXPECT_SAYS("overflows", refusal_of_shape("(4294967296, 4294967296)"));
  EXPECT_SAYS("overflows", refusal_of_shape("(2305843009213693952,)"));  // 2^61: 2^63 bytes
  EXPECT_SAYS("overflows", refusal_of_shape("(0, 4294967296, 4294967296)"));
}

// 2^61 - 1 elements: had any memory been asked for, bad_alloc would escape instead of Error.
TEST(Npy, AClaimGetsNoMemory) {
  EXPECT_SAYS("9223372036854775804 bytes of data, but holds only 0",
              refusal_of_shape("(2305843009213693951,)"));
  EXPECT_SAYS("only 0", refusal_of_shape("(100000, 25000)"));
}

TEST(Npy, RefusesPathsThatCannotBeRead) {
  const TempDir dir;
  const auto refusal_of_path = [](const std::string& path) {
    return sentence_of([&] { read_npy(path, "--a"); });
  };
  EXPECT_SAYS("cannot open --a '", refusal_of_path(dir.file("none.npy")));
  EXPECT_SAYS("No such file or directory", refusal_of_path(dir.file("none.npy")));
  EXPECT_SAYS("is a directory", refusal_of_path(dir.path()));
  EXPECT_SAYS("cannot open", refusal_of_path(""));
  EXPECT_SAYS("is empty", refusal_of_path("/dev/null"));
  EXPECT_SAYS("is no .npy file", refusal_of_path("/dev/zero"));  // does not read it to its end
}

TEST(Npy, ReadsAPipe) {
  const TempDir dir;
  const std::string fifo = dir.file("pipe");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto read_from_pipe = [&](const std::string& contents) {
    std::thread writer([&] { spill(fifo, contents); });
    struct Join {
      std::thread& thread;
      ~Join() { thread.join(); }
    } join{writer};
    return read_npy(fifo);
  };
  EXPECT_EQ(read_from_pipe(kNumpyHeader + kSixFloats).data, parse(kNumpyHeader + kSixFloats).data);
  const std::string whole = kNumpyHeader + kSixFloats;
  EXPECT_SAYS("holds only 23", sentence_of([&] { read_from_pipe(whole.substr(0, 151)); }));
  EXPECT_SAYS("holds at least 25", sentence_of([&] { read_from_pipe(whole + "x"); }));

  // More than one chunk of memory, so that the growing is tested too.
  const std::vector<float> many(700'000, 3.0f);
  const std::string data(reinterpret_cast<const char*>(many.data()), many.size() * sizeof(float));
  const std::string file =
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (700000,)}", data);
  EXPECT_EQ(read_from_pipe(file).data, many);
}

TEST(Npy, WritesOnlyWhatFitsTheShape) {
  const TempDir dir;
  const std::vector<float> data(6);
  const auto refusal_to_write = [&](const Shape& shape) {
    return sentence_of([&] { write_npy(dir.file("a.npy"), shape, data, false, "--out"); });
  };
  EXPECT_SAYS("--out", refusal_to_write({2, 2}));
  EXPECT_SAYS("'(2, 2)' has 4 elements, but 6 were given", refusal_to_write({2, 2}));
  EXPECT_SAYS("negative", refusal_to_write({-2, -3}));
  EXPECT_EQ(dir.entries(), 0);
}

}  // namespace
}  // namespace warpladder
