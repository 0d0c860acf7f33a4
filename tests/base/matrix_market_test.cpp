#include "base/matrix_market.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "base/random_fill.hpp"
#include "base/testing.hpp"

namespace warpladder {
namespace {

using testing::sentence_of;
using testing::slurp;
using testing::spill;
using testing::TempDir;
using Offsets = std::vector<std::int64_t>;
using Columns = std::vector<std::int32_t>;
using Values = std::vector<float>;

const std::string kBanner = "%%MatrixMarket matrix ";
const std::string kReal = kBanner + "coordinate real general\n";

MatrixMarket parse(std::string_view file, const MatrixMarketReading& reading = {}) {
  return parse_matrix_market(std::as_bytes(std::span(file)), "--a", reading);
}
std::string refusal(std::string_view file, const MatrixMarketReading& reading = {}) {
  return sentence_of([&] { parse(file, reading); });
}
// The one value of a 1 x 1 matrix.
float value_of(const std::string& text, const std::string& field = "real") {
  const MatrixMarket file =
      parse(kBanner + "coordinate " + field + " general\n1 1 1\n1 1 " + text + "\n");
  return file.matrix.values.at(0);
}
std::string refusal_of_entry(const std::string& line, const std::string& field = "real") {
  return refusal(kBanner + "coordinate " + field + " general\n3 4 1\n" + line + "\n");
}

std::string gzip(std::string_view text) {
  z_stream stream = {};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

TEST(MatrixMarket, ReadsUnsortedEntriesAndEmptyRows) {
  const MatrixMarket file = parse(kReal + "4 3 4\n4 1 1.5\n1 3 -2e-3\n4 3 .5\n1 1 5.\n");
  EXPECT_EQ(file.matrix, (CsrMatrix{4, 3, Offsets{0, 2, 2, 2, 4}, Columns{0, 2, 0, 2},
                                    Values{5, -2e-3f, 1.5f, .5f}}));
  EXPECT_EQ(file.format, MatrixMarketFormat::coordinate);
  EXPECT_EQ(file.field, MatrixMarketField::real);
  EXPECT_EQ(file.symmetry, MatrixMarketSymmetry::general);
  EXPECT_EQ(file.stored_entries, 4);
  EXPECT_EQ(file.duplicates, 0);
  EXPECT_EQ(file.explicit_zeros, 0);
}

TEST(MatrixMarket, MirrorsSymmetricEntriesOfEitherTriangle) {
  const CsrMatrix truth{3, 3, {0, 2, 4, 5}, {0, 1, 0, 2, 1}, {4, -3, -3, 7, 7}};
  const std::string header = kBanner + "coordinate real symmetric\n3 3 3\n";
  const MatrixMarket lower = parse(header + "1 1 4\n2 1 -3\n3 2 7\n");
  EXPECT_EQ(lower.matrix, truth);
  EXPECT_EQ(lower.symmetry, MatrixMarketSymmetry::symmetric);
  EXPECT_EQ(lower.stored_entries, 3);
  EXPECT_EQ(parse(header + "1 1 4\n1 2 -3\n2 3 7\n").matrix, truth);
}

TEST(MatrixMarket, RefusesASymmetricFileOfBothTriangles) {
  const std::string reason =
      ": the entries before are on the other side of the diagonal, but a symmetric or "
      "skew-symmetric file holds one triangle";
  for (const char* const symmetry : {"symmetric", "skew-symmetric"}) {
    const std::string header = kBanner + "coordinate real " + symmetry + "\n3 3 3\n";
    for (const std::size_t block_bytes : {std::size_t{96}, std::size_t{4096}}) {
      EXPECT_EQ(refusal(header + "2 1 4\n\n1 1 0\n1 2 4\n", {block_bytes, 2}),
                "--a, line 6" + reason);
      EXPECT_EQ(refusal(header + "1 2 4\n3 1 x\n", {block_bytes, 2}),
                "--a, line 4: the value is 'x', which is not a number");
      EXPECT_EQ(refusal(header + "1 2 4\n3 1 1\n2 2 x\n", {block_bytes, 2}),
                "--a, line 4" + reason);
    }
  }
}

TEST(MatrixMarket, NegatesSkewSymmetricEntries) {
  const std::string header = kBanner + "coordinate real skew-symmetric\n3 3 3\n";
  const MatrixMarket file = parse(header + "2 1 4\n3 2 -1\n2 2 0\n");
  EXPECT_EQ(file.matrix, (CsrMatrix{3, 3, {0, 1, 4, 5}, {1, 0, 1, 2, 1}, {-4, 4, 0, 1, -1}}));
  EXPECT_EQ(file.explicit_zeros, 1);
  EXPECT_EQ(refusal(header + "2 1 4\n2 2 1\n"),
            "--a, line 4: a skew-symmetric matrix has zeros on its diagonal, but here is another "
            "value");
}

TEST(MatrixMarket, APatternsEntriesAreOne) {
  const MatrixMarket file = parse(kBanner + "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n");
  EXPECT_EQ(file.matrix, (CsrMatrix{2, 2, {0, 1, 3}, {1, 0, 1}, {1, 1, 1}}));
  EXPECT_EQ(file.field, MatrixMarketField::pattern);
}

TEST(MatrixMarket, ReadsArraysByColumns) {
  const MatrixMarket general = parse(kBanner + "array real general\n2 3\n1\n0\n-0\n4\n5\n6.25\n");
  EXPECT_EQ(general.matrix, (CsrMatrix{2, 3, {0, 2, 4}, {0, 2, 1, 2}, {1, 5, 4, 6.25f}}));
  EXPECT_EQ(general.format, MatrixMarketFormat::array);
  EXPECT_EQ(general.stored_entries, 6);
  EXPECT_EQ(general.explicit_zeros, 0);
  EXPECT_EQ(
      parse(kBanner + "array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n").matrix,
      (CsrMatrix{3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {1, 2, 3, 2, 4, 5, 3, 5, 6}}));
  EXPECT_EQ(parse(kBanner + "array real skew-symmetric\n3 3\n1\n2\n3\n").matrix,
            (CsrMatrix{3, 3, {0, 2, 4, 6}, {1, 2, 0, 2, 0, 1}, {-1, -2, 1, -3, 2, 3}}));
}

TEST(MatrixMarket, MatricesWithoutRowsColumnsOrEntries) {
  EXPECT_EQ(parse(kReal + "0 5 0\n").matrix, (CsrMatrix{0, 5, {0}, {}, {}}));
  EXPECT_EQ(parse(kReal + "3 0 0").matrix, (CsrMatrix{3, 0, {0, 0, 0, 0}, {}, {}}));
  EXPECT_EQ(parse(kReal + "2 2 0\n\n").matrix, (CsrMatrix{2, 2, {0, 0, 0}, {}, {}}));
  EXPECT_EQ(parse(kBanner + "array real general\n0 7\n").matrix, (CsrMatrix{0, 7, {0}, {}, {}}));
  for (const char* const n : {"0", "1"}) {
    const std::string sizes = std::string(n) + " " + n + "\n";
    EXPECT_EQ(parse(kBanner + "array real skew-symmetric\n" + sizes).matrix.nnz(), 0);
  }
}

TEST(MatrixMarket, ABannerMayLeaveWordsOut) {
  const CsrMatrix truth{2, 2, {0, 0, 1}, {0}, {3}};
  for (const std::string words :
       {"coordinate", "coordinate real", "coordinate general", "coordinate double general",
        "coordinate integer", "coordinate unsigned-integer general", "coordinate real % words"}) {
    EXPECT_EQ(parse(kBanner + words + "\n2 2 1\n2 1 3\n").matrix, truth) << words;
  }
  const MatrixMarket file = parse(kBanner + "coordinate symmetric\n2 2 1\n2 1 3\n");
  EXPECT_EQ(file.matrix, (CsrMatrix{2, 2, {0, 1, 2}, {1, 0}, {3, 3}}));
  EXPECT_EQ(file.field, MatrixMarketField::real);
}

TEST(MatrixMarket, CommentsBlankLinesAndCrlfMayStandAnywhere) {
  const MatrixMarket file = parse(
      "%%MATRIXMARKET Matrix Coordinate Real General\r\n%c\r\n\r\n%\r\n 2\t2 2 % sizes\r\n\r\n"
      " 1\t1 1 % one\r\n   % two\r\n002  2 +2e+0%\r\n\t\r\n% end");
  EXPECT_EQ(file.matrix, (CsrMatrix{2, 2, {0, 1, 2}, {0, 1}, {1, 2}}));
}

TEST(MatrixMarket, AddsDuplicatesInDoubleAndCountsThem) {
  // In float, 1e8 + 1 would be 1e8.
  const MatrixMarket file =
      parse(kReal + "2 2 6\n2 2 1e8\n1 1 1\n2 2 1\n2 2 -1e8\n2 1 0\n1 1 -1\n");
  EXPECT_EQ(file.matrix, (CsrMatrix{2, 2, {0, 1, 3}, {0, 0, 1}, {0, 0, 1}}));
  EXPECT_EQ(file.stored_entries, 6);
  EXPECT_EQ(file.duplicates, 3);
  EXPECT_EQ(file.explicit_zeros, 2);

  const MatrixMarket symmetric =
      parse(kBanner + "coordinate real symmetric\n2 2 4\n2 1 1\n2 1 2\n1 1 1\n1 1 1\n");
  EXPECT_EQ(symmetric.matrix, (CsrMatrix{2, 2, {0, 2, 3}, {0, 1, 0}, {2, 3, 3}}));
  EXPECT_EQ(symmetric.duplicates, 2);
  EXPECT_EQ(refusal(kReal + "2 3 3\n1 1 1\n2 3 3e38\n2 3 3e38\n"),
            "--a: the entries of row 2, column 3 add up to a value beyond the range of fp32");
}

TEST(MatrixMarket, ExplicitZerosStay) {
  const MatrixMarket file = parse(kReal + "2 2 3\n1 1 0\n2 2 -0.0\n2 1 1\n");
  EXPECT_EQ(file.matrix.nnz(), 3);
  EXPECT_EQ(file.explicit_zeros, 2);
  EXPECT_TRUE(std::signbit(file.matrix.values[2]));
}

TEST(MatrixMarket, ValuesAreTheNearestFloats) {
  EXPECT_EQ(value_of("1e-45"), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(value_of("-1.1754942e-38"), -1.1754942e-38f);  // the largest denormal
  EXPECT_EQ(value_of("7e-46"), 0.0f);
  EXPECT_EQ(value_of("1e-400"), 0.0f);
  EXPECT_EQ(value_of("1e-99999999999999999999999"), 0.0f);
  EXPECT_EQ(value_of("0e99999999999999999999999"), 0.0f);
  EXPECT_EQ(value_of("3.4028235e38"), std::numeric_limits<float>::max());
  EXPECT_EQ(value_of("3.4028235677973366e38"), std::numeric_limits<float>::max());
  EXPECT_EQ(
      value_of(std::string(400, '0') + "1" + std::string(10, '0') + "." + std::string(400, '0')),
      1e10f);
  EXPECT_EQ(value_of("0." + std::string(300, '0') + "15e301"), 1.5f);
  // Halfway between two floats, and beside it by less than a double can tell.
  EXPECT_EQ(value_of("1.000000059604644775390625"), 1.0f);
  EXPECT_EQ(value_of("1.00000005960464477539062500000000001"), 1.00000012f);
  EXPECT_EQ(value_of("1.00000017881393432617187499999999999"), 1.00000012f);
  EXPECT_EQ(value_of("1.000000178813934326171875"), 1.00000024f);
  EXPECT_EQ(value_of("16777217", "integer"), 16777216.0f);
  EXPECT_EQ(value_of("16777219", "integer"), 16777220.0f);
  EXPECT_EQ(value_of("-100000000000000000000000000000", "integer"), -1e29f);
}

// strtof is correctly rounded and shares no code with the reader.
TEST(MatrixMarket, ValuesAreWhatTheCLibraryReads) {
  std::string text;
  Values truth;
  constexpr std::int64_t kCount = 60000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const PhiloxBlock random = random_block(7, i);
    char word[64];
    // Digits and exponents of every kind, then numbers next to the middle of two floats.
    const int digits = static_cast<int>(random.word[0] % 20);
    const double scale = std::pow(10.0, static_cast<int>(random.word[1] % 84) - 46);
    const double fraction = 1.0 + random.word[2] * 0x1p-32;
    const float near = static_cast<float>(fraction);
    const double middle =
        static_cast<double>(near) + 0x1p-24 + (random.word[3] % 5 - 2.0) * 0x1p-52;
    std::snprintf(word, sizeof word, "%.*e", i % 3 == 0 ? 18 : digits,
                  i % 3 == 0 ? middle : fraction * scale * (i % 2 == 0 ? 1 : -1));
    truth.push_back(std::strtof(word, nullptr));
    text += "1 " + std::to_string(i + 1) + " " + word + "\n";
  }
  const std::string size = std::to_string(kCount);
  EXPECT_EQ(parse(kReal + "1 " + size + " " + size + "\n" + text).matrix.values, truth);
}

TEST(MatrixMarket, RefusesWhatIsNoMatrixMarketFile) {
  EXPECT_EQ(refusal(""), "--a is empty (0 bytes), so it is no Matrix Market file");
  EXPECT_EQ(refusal(gzip("")), "--a is empty (0 bytes), so it is no Matrix Market file");
  EXPECT_EQ(refusal("hello\r\n"),
            "--a is no Matrix Market file: it begins with 'hello', not with '%%MatrixMarket'");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x01\x00", 8)),
            "--a is no Matrix Market file: it begins with '\\x93NUMPY\\x01\\x00', not with "
            "'%%MatrixMarket'");
  EXPECT_EQ(refusal(kReal), "--a, line 1: the file ends before the line of sizes");
  EXPECT_EQ(refusal(kReal + "% 1 1 1\n\n"), "--a, line 3: the file ends before the line of sizes");
}

TEST(MatrixMarket, RefusesBannersThatAskForMore) {
  const std::pair<const char*, const char*> banners[] = {
      {"", "the banner ends where the object, matrix, should be"},
      {" vector coordinate real", "the object is 'vector', but only matrix is read"},
      {" matrix", "the banner ends where the format should be"},
      {" matrix sparse", "the format is 'sparse', but only coordinate and array are read"},
      {" matrix coordinate complex general",
       "the field is 'complex', but only real numbers are read"},
      {" matrix coordinate complex hermitian",
       "the field is 'complex', but only real numbers are read"},
      {" matrix coordinate hermitian",
       "the symmetry is 'hermitian', which is for complex numbers, but only real ones are read"},
      {" matrix array real hermitian",
       "the symmetry is 'hermitian', which is for complex numbers, but only real ones are read"},
      {" matrix coordinate quaternion",
       "the field is 'quaternion', but only real, integer and pattern are read"},
      {" matrix coordinate real lopsided",
       "the symmetry is 'lopsided', but only general, symmetric and skew-symmetric are read"},
      {" matrix coordinate real general twice", "the banner goes on with 'twice'"},
      {" matrix array pattern general", "an array has values, so its field cannot be pattern"},
      {" matrix coordinate pattern skew-symmetric",
       "a pattern has no signs, so it cannot be skew-symmetric"},
  };
  for (const auto& [words, reason] : banners) {
    EXPECT_EQ(refusal(std::string("%%MatrixMarket") + words + "\n1 1 1\n1 1 1\n"),
              std::string("--a, line 1: ") + reason);
  }
}

TEST(MatrixMarket, RefusesSizesThatCannotBe) {
  const std::pair<const char*, const char*> sizes[] = {
      {"3 4",
       "the line of sizes has 2 numbers, but a coordinate file's has 3: rows, columns and "
       "entries"},
      {"3",
       "the line of sizes has 1 number, but a coordinate file's has 3: rows, columns and "
       "entries"},
      {"3 4 5 6",
       "the line of sizes has 4 numbers, but a coordinate file's has 3: rows, columns "
       "and entries"},
      {"3 -4 5", "the number of columns is '-4', which is not a whole number"},
      {"3 4 5.0", "the number of entries is '5.0', which is not a whole number"},
      {"9223372036854775808 1 1",
       "the number of rows is '9223372036854775808', which overflows 64 bits"},
      {"1 2147483648 1",
       "the number of columns is 2147483648, but column indices are 32-bit: at most 2147483647 "
       "are read"},
      {"1000000000000 5 3",
       "the matrix is said to have 1000000000000 rows and only 3 entries, but more than 16777216 "
       "rows need an entry for every 1024 of them"},
  };
  for (const auto& [line, reason] : sizes) {
    EXPECT_EQ(refusal(kReal + "% c\n" + line + "\n1 1 1\n"), std::string("--a, line 3: ") + reason);
  }
  EXPECT_EQ(refusal(kBanner + "coordinate real symmetric\n3 4 0\n"),
            "--a, line 2: a symmetric or skew-symmetric matrix is square, but this one has 3 rows "
            "and 4 columns");
  EXPECT_EQ(refusal(kBanner + "array real general\n3 4 12\n"),
            "--a, line 2: the line of sizes has 3 numbers, but an array's has 2: rows and columns");
  EXPECT_EQ(refusal(kBanner + "array real general\n9223372036854775807 2\n"),
            "--a, line 2: an array of 9223372036854775807 rows and 2 columns overflows 64 bits");
  EXPECT_EQ(refusal(kBanner + "array real general\n9223372036854775807 0\n"),
            "--a, line 2: the matrix is said to have 9223372036854775807 rows and only 0 entries, "
            "but more than 16777216 rows need an entry for every 1024 of them");
}

TEST(MatrixMarket, RefusesEntriesThatCannotBe) {
  const std::pair<const char*, const char*> entries[] = {
      {"0 1 1", "the row is '0', but 1 to 3 are there"},
      {"4 1 1", "the row is '4', but 1 to 3 are there"},
      {"1 5 1", "the column is '5', but 1 to 4 are there"},
      {"-1 1 1", "the row is '-1', which is not a whole number"},
      {"1.0 1 1", "the row is '1.0', which is not a whole number"},
      {"1 x 1", "the column is 'x', which is not a whole number"},
      // 2^64 + 1, which would wrap to 1
      {"1 18446744073709551617 1", "the column is '18446744073709551617', but 1 to 4 are there"},
      {"1", "the line ends where the column should be"},
      {"1 1", "the line ends where the value should be"},
      {"1 1 % 5", "the line ends where the value should be"},
      {"1 1 nan", "the value is 'nan', which is not finite"},
      {"1 1 -NaN(7)", "the value is '-NaN(7)', which is not finite"},
      {"1 1 +Infinity", "the value is '+Infinity', which is not finite"},
      {"1 1 1e39", "the value is '1e39', which is beyond the range of fp32"},
      {"1 1 -3.4028236e38", "the value is '-3.4028236e38', which is beyond the range of fp32"},
      {"1 1 1e99999999999999999999",
       "the value is '1e99999999999999999999', which is beyond the range of fp32"},
      {"1 1 1.5x", "the value is '1.5x', which is not a number"},
      {"1 1 .", "the value is '.', which is not a number"},
      {"1 1 --1", "the value is '--1', which is not a number"},
      {"1 1 1e", "the value is '1e', which is not a number"},
      {"1 1 0x10", "the value is '0x10', which is not a number"},
      {"1 1 1 2", "the line goes on with '2' after the entry"},
      {"\x01\xff\x7f", "the row is '\\x01\\xff\\x7f', which is not a whole number"},
  };
  for (const auto& [line, reason] : entries) {
    EXPECT_EQ(refusal_of_entry(line), std::string("--a, line 3: ") + reason);
  }
  EXPECT_EQ(refusal_of_entry("1 1 1.5", "integer"),
            "--a, line 3: the value is '1.5', which is not an integer");
  EXPECT_EQ(refusal_of_entry("1 1 1", "pattern"),
            "--a, line 3: the line goes on with '1' after the entry");
  EXPECT_EQ(refusal(kReal + "0 4 1\n1 1 1\n"), "--a, line 3: the row is '1', but there is none");
  EXPECT_EQ(refusal(kBanner + "array real general\n1 1\n1 2\n"),
            "--a, line 3: the line goes on with '2' after the entry");
  EXPECT_EQ(refusal(kReal + std::string("2 2 1\n1 1 1\0\n", 13)),
            "--a, line 3: the value is '1\\x00', which is not a number");
}

TEST(MatrixMarket, RefusesCountsThatLie) {
  for (const std::size_t block_bytes : {std::size_t{64}, std::size_t{4096}}) {
    const MatrixMarketReading reading{block_bytes, 2};
    EXPECT_EQ(refusal(kReal + "3 3 3\n1 1 1\n%\n2 2 2\n", reading),
              "--a, line 5: the number of entries is said to be 3, but the file ends after 2");
    EXPECT_EQ(refusal(kReal + "3 3 1\n%\n1 1 1\n\n\n2 2 2\n3 3 x\n", reading),
              "--a, line 7: the number of entries is said to be 1, but here is one more");
    EXPECT_EQ(refusal(kReal + "3 3 1\n1 1 1\n?\n", reading),
              "--a, line 4: the number of entries is said to be 1, but here is one more");
  }
  EXPECT_EQ(refusal(kReal + "1000000000000 5 1000000000000000\n1 1 1\n"),
            "--a, line 3: the number of entries is said to be 1000000000000000, but the file ends "
            "after 1");
  EXPECT_EQ(refusal(kBanner + "array real symmetric\n2 2\n1\n2\n"),
            "--a, line 4: the number of entries is said to be 3, but the file ends after 2");
}

TEST(MatrixMarket, LinesHaveALimit) {
  const MatrixMarketReading reading{64, 1};
  const std::string reason = ": the line is longer than 63 bytes, the most that is read";
  EXPECT_EQ(refusal(kReal + "%" + std::string(63, 'c') + "\n1 1 0\n", reading),
            "--a, line 2" + reason);
  EXPECT_EQ(refusal(kReal + "1 1 1\n%\n%" + std::string(63, 'c'), reading), "--a, line 4" + reason);
  EXPECT_EQ(refusal(kReal + "1 1 1\n1 1 1\n%" + std::string(63, 'c'), reading),
            "--a, line 4" + reason);
  EXPECT_EQ(parse(kReal + "1 1 0\n%\n%" + std::string(62, 'c') + "\n", reading).matrix.rows, 1);
  EXPECT_SAYS("is no Matrix Market file", refusal(std::string(100, 'c'), reading));
}

TEST(MatrixMarket, ReadsGzipInAnyNumberOfMembers) {
  const std::string text = kReal + "2 2 2\n1 1 1\n2 2 2\n";
  const CsrMatrix truth = parse(text).matrix;
  EXPECT_EQ(parse(gzip(text)).matrix, truth);
  for (const std::size_t cut : {0u, 1u, 50u, 64u}) {
    EXPECT_EQ(parse(gzip(text.substr(0, cut)) + gzip(text.substr(cut))).matrix, truth) << cut;
  }
  EXPECT_EQ(parse(gzip(text) + std::string(100, '\0')).matrix, truth);
}

TEST(MatrixMarket, RefusesDamagedGzip) {
  const std::string text = kReal + "2 2 2\n1 1 1\n2 2 2\n", file = gzip(text);
  for (std::size_t size = 2; size < file.size(); ++size) {
    EXPECT_EQ(refusal(file.substr(0, size)),
              "--a is a truncated gzip file: it ends inside the compressed data");
  }
  std::string changed = file;
  changed[file.size() - 8] = static_cast<char>(changed[file.size() - 8] ^ 1);
  EXPECT_EQ(refusal(changed), "--a is a corrupt gzip file: incorrect data check");
  EXPECT_EQ(refusal(file + "junk"), "--a is a corrupt gzip file: incorrect header check");
  // What stands before the damage is judged first.
  EXPECT_EQ(refusal(gzip(kReal + "2 2 2\n0 1 1\n2 2 2\n") + "junk"),
            "--a, line 3: the row is '0', but 1 to 2 are there");
}

TEST(MatrixMarket, FilesPipesAndFolders) {
  const TempDir dir;
  const std::string text = kReal + "2 2 2\n1 1 1\n2 2 2\n";
  const CsrMatrix truth = parse(text).matrix;
  spill(dir.file("plain.gz"), text);  // the name says nothing
  spill(dir.file("zipped.mtx"), gzip(text));
  EXPECT_EQ(read_matrix_market(dir.file("plain.gz")).matrix, truth);
  EXPECT_EQ(read_matrix_market(dir.file("zipped.mtx")).matrix, truth);

  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream pipe(dir.file("pipe"));
    for (const char c : text) pipe << c << std::flush;
  });
  EXPECT_EQ(read_matrix_market(dir.file("pipe")).matrix, truth);
  writer.join();

  spill(dir.file("bad.mtx"), kReal + "2 2 1\n3 1 1\n");
  const std::string bad = dir.file("bad.mtx");
  EXPECT_EQ(sentence_of([&] { read_matrix_market(bad, "--a"); }),
            "--a '" + bad + "', line 3: the row is '3', but 1 to 2 are there");
  EXPECT_EQ(sentence_of([&] { read_matrix_market(dir.path(), "--a"); }),
            "--a '" + dir.path() + "' is a directory, not a Matrix Market file");
  const std::string none = dir.file("none.mtx");
  EXPECT_EQ(sentence_of([&] { read_matrix_market(none); }),
            "cannot open '" + none + "': No such file or directory");
}

TEST(MatrixMarket, WritesTheFewestDigitsAndReadsThemBack) {
  const TempDir dir;
  const CsrMatrix matrix{
      3, 3, {0, 2, 2, 5}, {0, 2, 0, 1, 2}, {0.1f, -0.0f, 1e-45f, 3.4028235e38f, 7}};
  write_matrix_market(dir.file("a.mtx"), matrix);
  EXPECT_EQ(slurp(dir.file("a.mtx")),
            kReal + "3 3 5\n1 1 0.1\n1 3 -0\n3 1 1e-45\n3 2 3.4028235e+38\n3 3 7\n");
  EXPECT_EQ(read_matrix_market(dir.file("a.mtx")).matrix, matrix);
  write_matrix_market(dir.file("a.mtx"), CsrMatrix{0, 4, {0}, {}, {}});
  EXPECT_EQ(slurp(dir.file("a.mtx")), kReal + "0 4 0\n");
  EXPECT_EQ(dir.entries(), 1);
}

TEST(MatrixMarket, AFileThatCouldNotBeReadIsNotWritten) {
  const TempDir dir;
  const float inf = std::numeric_limits<float>::infinity();
  const std::string path = dir.file("a.mtx");
  EXPECT_EQ(sentence_of([&] {
              write_matrix_market(path, {1, 2, {0, 1}, {1}, {inf}}, "--out");
            }),
            "cannot write --out '" + path +
                "': the value of row 1, column 2 is inf, but Matrix Market files hold finite "
                "numbers");
  EXPECT_EQ(dir.entries(), 0);
}

// A random file and what a plain reading of it gives.
struct Example {
  std::string text;
  CsrMatrix matrix;
  std::int64_t entries = 0, duplicates = 0;
};

Example random_example(std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto draw = [&](std::uint32_t below) {
    return random_block(seed, index++).word[0] % below;
  };
  const char* const symmetries[] = {"general", "symmetric", "skew-symmetric"};
  const auto symmetry = draw(3);
  const std::int64_t rows = 1 + draw(300), columns = symmetry == 0 ? 1 + draw(300) : rows;
  Example out;
  std::string body;
  std::map<std::pair<std::int64_t, std::int64_t>, double> sums;
  const std::uint32_t wanted = draw(4000);
  for (std::uint32_t i = 0; i < wanted; ++i) {
    // Half of them in the first row, so that there are long rows and duplicates.
    std::int64_t row = draw(2) * draw(static_cast<std::uint32_t>(rows));
    std::int64_t column = draw(static_cast<std::uint32_t>(columns));
    if (symmetry > 0 && row < column) std::swap(row, column);
    if (symmetry == 2 && row == column) continue;
    std::ostringstream value;
    value << (static_cast<double>(draw(2000)) - 1000) / 8;
    while (draw(10) == 0) body += draw(2) == 0 ? "% comment\n" : "\n";
    body += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " + value.str() + "\n";
    ++out.entries;
    const double number = std::strtod(value.str().c_str(), nullptr);
    out.duplicates += sums.contains({row, column});
    sums[{row, column}] += number;
    if (symmetry > 0 && row != column) sums[{column, row}] += symmetry == 1 ? number : -number;
  }
  out.text = kBanner + "coordinate real " + symmetries[symmetry] + "\n" + std::to_string(rows) +
             " " + std::to_string(columns) + " " + std::to_string(out.entries) + "\n" + body;
  out.matrix = {rows, columns, Offsets(static_cast<std::size_t>(rows) + 1), {}, {}};
  for (const auto& [place, sum] : sums) {
    ++out.matrix.row_offsets[static_cast<std::size_t>(place.first) + 1];
    out.matrix.column_indices.push_back(static_cast<std::int32_t>(place.second));
    out.matrix.values.push_back(static_cast<float>(sum));
  }
  for (std::size_t row = 1; row < out.matrix.row_offsets.size(); ++row) {
    out.matrix.row_offsets[row] += out.matrix.row_offsets[row - 1];
  }
  return out;
}

TEST(MatrixMarket, RandomFilesReadAlikeInAnyBlocksOnAnyThreads) {
  const TempDir dir;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Example example = random_example(seed);
    for (const MatrixMarketReading reading :
         {MatrixMarketReading{}, MatrixMarketReading{64, 1}, MatrixMarketReading{1000, 3}}) {
      const MatrixMarket file = parse(example.text, reading);
      ASSERT_EQ(file.matrix, example.matrix) << example.text;
      EXPECT_EQ(file.stored_entries, example.entries);
      EXPECT_EQ(file.duplicates, example.duplicates);
      EXPECT_EQ(parse(gzip(example.text), reading).matrix, example.matrix);
    }
    write_matrix_market(dir.file("a.mtx"), example.matrix);
    EXPECT_EQ(read_matrix_market(dir.file("a.mtx")).matrix, example.matrix);
  }
}

// More than one bucket of the assembly, and blocks of the ordinary size.
TEST(MatrixMarket, LargeMatricesAreSortedInBuckets) {
  constexpr std::int64_t kRows = 50000, kPerRow = 4, kCount = kRows * kPerRow;
  std::string text = kReal + std::to_string(kRows) + " 200000 " + std::to_string(kCount) + "\n";
  CsrMatrix truth{kRows, 200000, {0}, {}, {}};
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t place = i * 77773 % kCount;  // a permutation
    text += std::to_string(place / kPerRow + 1) + " " + std::to_string(place + 1) + " " +
            std::to_string(place) + "\n";
    truth.column_indices.push_back(static_cast<std::int32_t>(i));
    truth.values.push_back(static_cast<float>(i));
    if (i % kPerRow == 0) truth.row_offsets.push_back(i + kPerRow);
  }
  ASSERT_GT(text.size(), std::size_t{2} << 20);
  for (const unsigned threads : {1u, 2u, 5u}) {
    EXPECT_EQ(parse(text, {std::size_t{1} << 20, threads}).matrix, truth);
  }
}

TEST(MatrixMarket, ArraysMayBeCutAnywhere) {
  for (const char* const symmetry : {"general", "symmetric", "skew-symmetric"}) {
    constexpr int kN = 37;
    const bool is_general = symmetry == std::string_view("general");
    const bool is_skew = symmetry == std::string_view("skew-symmetric");
    std::string text = kBanner + "array integer " + symmetry + "\n37 37\n";
    std::vector<std::vector<float>> dense(kN, Values(kN));
    for (int column = 0; column < kN; ++column) {
      for (int row = is_general ? 0 : column + is_skew; row < kN; ++row) {
        const int value = (row * 31 + column * 17) % 7;
        text += std::to_string(value) + "\n";
        const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
        dense[i][j] = static_cast<float>(value);
        if (!is_general && i != j) dense[j][i] = static_cast<float>(is_skew ? -value : value);
      }
    }
    CsrMatrix truth{kN, kN, {0}, {}, {}};
    for (const Values& row : dense) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        if (row[column] == 0) continue;
        truth.column_indices.push_back(static_cast<std::int32_t>(column));
        truth.values.push_back(row[column]);
      }
      truth.row_offsets.push_back(truth.nnz());
    }
    EXPECT_EQ(parse(text).matrix, truth);
    EXPECT_EQ(parse(text, {64, 3}).matrix, truth);
  }
}

// The first fault is named whichever thread meets one first.
TEST(MatrixMarket, TheFirstFaultIsReported) {
  std::string text = kReal + "9 9 4000\n";
  for (int i = 0; i < 4000; ++i) {
    if (i % 3 == 0) text += "% comment\n";
    text += i >= 2500 && i % 100 == 0 ? "1 1 bad\n" : "1 1 1\n";
  }
  // 2 lines of header, 2500 entries and 834 comments before it
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(refusal(text, {100, 4}), "--a, line 3337: the value is 'bad', which is not a number");
  }
}

// Rows of zeros cost memory only up to a limit; nothing else that is claimed costs any.
TEST(MatrixMarket, ManyEmptyRowsAreReadUpToALimit) {
  EXPECT_EQ(parse(kReal + "10000000 5 1\n10000000 5 1\n").matrix.row_offsets.back(), 1);
  EXPECT_SAYS("16777217 rows and only 1 entries", refusal(kReal + "16777217 5 1\n1 1 1\n"));
}

}  // namespace
}  // namespace warpladder
