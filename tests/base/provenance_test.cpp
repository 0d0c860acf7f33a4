#include "base/provenance.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

namespace warpladder {
namespace {

using nlohmann::json;

json provenance_of(const std::vector<const char*>& argv) { return provenance(argv); }

// What stands for `argument` when it is given after the program's name.
std::string recorded(const char* argument) { return provenance_of({"tool", argument})["argv"][1]; }

TEST(Provenance, HasEveryField) {
  const json record = provenance_of({"tool"});
  EXPECT_EQ(record["schema_version"], kSchemaVersion);
  for (const char* key : {"date", "commit", "cpu", "os", "build_type"}) {
    ASSERT_TRUE(record[key].is_string()) << key;
    EXPECT_FALSE(record[key].get<std::string>().empty()) << key;
  }
  EXPECT_GE(record["cores"].get<int>(), 1);
  EXPECT_TRUE(record["os"].get<std::string>().starts_with("Linux "));
  const std::string version = record["compiler"]["version"];
#if defined(__clang__)
  EXPECT_EQ(record["compiler"]["name"], "clang++");
#else
  EXPECT_EQ(record["compiler"]["name"], "g++");
  EXPECT_TRUE(version.starts_with(std::to_string(__GNUC__) + "."));
#endif
}

TEST(Provenance, TheDateIsNowInUtc) {
  const auto before = std::chrono::system_clock::now();
  const std::string date = provenance_of({"tool"})["date"];
  int year, month, day, hour, minute, second;
  char zone;
  ASSERT_EQ(std::sscanf(date.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c", &year, &month, &day, &hour,
                        &minute, &second, &zone),
            7);
  EXPECT_EQ(zone, 'Z');
  EXPECT_EQ(date.size(), 20u);
  using namespace std::chrono;
  const auto then = sys_days(std::chrono::year(year) / month / day) + hours(hour) +
                    minutes(minute) + seconds(second);
  EXPECT_LT(abs(then - before), 5s);
}

TEST(Provenance, NamesNoDirectories) {
  EXPECT_EQ(provenance_of({"/home/ada/build/tool"})["argv"], json({"tool"}));
  EXPECT_EQ(provenance_of({"../build/tool"})["argv"], json({"tool"}));
  EXPECT_EQ(recorded("/home/ada/A.npy"), "A.npy");
  EXPECT_EQ(recorded("/home/ada love/A.npy"), "A.npy");
  EXPECT_EQ(recorded("--a=/home/ada/A.npy"), "--a=A.npy");
  EXPECT_EQ(recorded("--a=~/A.npy"), "--a=A.npy");
  EXPECT_EQ(recorded("-o/home/ada/A.npy"), "-oA.npy");
  EXPECT_EQ(recorded("../ada/A.npy"), "A.npy");
  EXPECT_EQ(recorded("--files=/home/ada/A,/home/ada/B"), "--files=B");
  EXPECT_EQ(recorded("/home/ada/"), "");
}

TEST(Provenance, KeepsWhatIsNoAbsolutePath) {
  for (const char* kept : {"bench", "sgemm/row_03_thread_tile", "--a=data/A.npy", "results/x.json",
                           "m,n,k=[pow2:10:13]", "-", "", "--alpha=-1.5", "a~b"}) {
    EXPECT_EQ(recorded(kept), kept);
  }
}

TEST(Provenance, NamesNeitherHostNorUser) {
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  const std::string text = provenance_of({"/home/ada/tool", "--out=/home/ada/x"}).dump();
  if (std::string(host).size() > 3) {
    EXPECT_EQ(text.find(host), std::string::npos);
  }
  EXPECT_EQ(text.find("ada"), std::string::npos);
  EXPECT_EQ(text.find("/home"), std::string::npos);
}

TEST(Provenance, AnyBytesCanBeWrittenAsJson) {
  const json record = provenance_of({"to\xffol", "\x80 caf\xc3\xa9"});
  EXPECT_NO_THROW(static_cast<void>(record.dump()));
  EXPECT_EQ(record["argv"][1], "\xef\xbf\xbd caf\xc3\xa9");
}

TEST(Provenance, AnEmptyCommandLineIsLegal) { EXPECT_EQ(provenance({})["argv"], json::array()); }

}  // namespace
}  // namespace warpladder
