#include "runtime/code_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "runtime/sha256.hpp"
#include "runtime/testing.hpp"

namespace warpladder::runtime {
namespace {

TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TellsListsOfPartsApart) {
  EXPECT_NE(sha256_of_parts({"ab", "c"}), sha256_of_parts({"a", "bc"}));
  EXPECT_NE(sha256_of_parts({"a", ""}), sha256_of_parts({"a"}));
}

using Cache = InFolder;

// As if it had been used at this second of 1970.
void set_used(const std::string& path, long second) {
  const timespec times[2] = {{second, 0}, {second, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(Cache, KeepsWhatIsStored) {
  const CodeCache cache(path("new/folder"));
  const std::string key = sha256("x"), code(100000, '\0');
  std::string found;
  EXPECT_FALSE(cache.load(key, &found));
  cache.store(key, code);
  ASSERT_TRUE(cache.load(key, &found));
  EXPECT_EQ(found, code);
  EXPECT_FALSE(cache.load(sha256("y"), &found));
  EXPECT_EQ(names("new/folder"), std::vector<std::string>{key + ".code"});
}

TEST_F(Cache, IgnoresAndReplacesEveryBrokenEntry) {
  const CodeCache cache(folder());
  const std::string key = sha256("x"), code = "machine code", file = path(key + ".code");
  cache.store(key, code);
  const std::string good = slurp(file);
  std::string other_key = good, flipped = good;
  other_key[20] = other_key[20] == '0' ? '1' : '0';
  flipped.back() ^= 1;
  std::string found;
  for (const std::string& broken :
       {std::string(), good.substr(0, 10), good.substr(0, good.size() - 1), good + "x", other_key,
        flipped, "version 2" + good}) {
    spill(file, broken);
    EXPECT_FALSE(cache.load(key, &found)) << broken;
    cache.store(key, code);
    EXPECT_TRUE(cache.load(key, &found));
    EXPECT_EQ(found, code);
  }
}

TEST_F(Cache, FollowsNoLinkAndOpensNoFolder) {
  const CodeCache cache(folder());
  const std::string key = sha256("x"), file = path(key + ".code");
  cache.store(key, "code");
  std::filesystem::rename(file, path("elsewhere"));
  std::filesystem::create_symlink(path("elsewhere"), file);
  std::string found;
  EXPECT_FALSE(cache.load(key, &found));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_FALSE(cache.load(key, &found));
  cache.store(key, "code");  // cannot replace it, and leaves nothing behind
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(Cache, IgnoresAndReplacesAnotherUsersEntry) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const CodeCache cache(folder());
  const std::string key = sha256("x"), file = path(key + ".code");
  cache.store(key, "code");
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::chown(file.c_str(), kSomebody, 0), 0);
  std::string found;
  EXPECT_FALSE(cache.load(key, &found));
  cache.store(key, "code");
  EXPECT_TRUE(cache.load(key, &found));
}

TEST_F(Cache, RemovesWhatWasUsedLongestAgo) {
  constexpr std::size_t kBytes = 1000, kEntry = kBytes + 18 + 2 * 65;
  const CodeCache cache(folder(), 3 * kEntry);
  const std::string code(kBytes, 'c'),
      keys[] = {sha256("0"), sha256("1"), sha256("2"), sha256("3")};
  // Somebody else's file is neither counted nor removed.
  spill(path("notes.txt"), std::string(100000, 'n'));
  for (int i = 0; i < 3; ++i) {
    cache.store(keys[i], code);
    set_used(path(keys[i] + ".code"), 1000 + i);
  }
  std::string found;
  EXPECT_TRUE(cache.load(keys[0], &found));  // now the latest
  cache.store(keys[3], code);
  EXPECT_TRUE(cache.load(keys[0], &found));
  EXPECT_FALSE(cache.load(keys[1], &found));
  EXPECT_TRUE(cache.load(keys[2], &found));
  EXPECT_TRUE(cache.load(keys[3], &found));
  EXPECT_TRUE(std::filesystem::exists(path("notes.txt")));
  cache.store(sha256("large"), std::string(4 * kEntry, 'l'));
  EXPECT_FALSE(cache.load(sha256("large"), &found));
  EXPECT_TRUE(cache.load(keys[0], &found));
}

TEST_F(Cache, RemovesTemporaryFilesThatNobodyOwns) {
  const CodeCache cache(folder());
  const std::string stale = path(sha256("s") + ".1.0.tmp"), fresh = path(sha256("f") + ".1.0.tmp");
  spill(stale, "half");
  spill(fresh, "half");
  set_used(stale, 1000);
  cache.store(sha256("x"), "code");
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

TEST_F(Cache, IsOffWithoutAFolder) {
  const CodeCache cache("");
  std::string found;
  cache.store(sha256("x"), "code");
  EXPECT_FALSE(cache.load(sha256("x"), &found));
  // A folder that cannot be made fails nothing.
  spill(path("file"), "");
  const CodeCache blocked(path("file/folder"));
  blocked.store(sha256("x"), "code");
  EXPECT_FALSE(blocked.load(sha256("x"), &found));
}

// Whatever is loaded must be whole, while entries come and go.
void load_and_store(const CodeCache& cache, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const int which = i % 7;
    const std::string key = sha256(std::to_string(which)),
                      code(1000 + static_cast<std::size_t>(which), static_cast<char>('a' + which));
    std::string found;
    if (cache.load(key, &found) && found != code) ::_exit(1);
    cache.store(key, code);
  }
}

TEST_F(Cache, ServesManyThreadsAndProcesses) {
  const CodeCache cache(folder(), 4000);  // room for three of seven
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back(load_and_store, cache, 60);
    for (std::thread& thread : threads) thread.join();
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (const std::string& name : names()) EXPECT_TRUE(name.ends_with(".code")) << name;
  EXPECT_LE(names().size(), 3u);
}

TEST(CacheFolder, IsWhereTheEnvironmentSays) {
  ::setenv("HOME", "/home/ada", 1);
  ::unsetenv("WARPLADDER_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cache_folder(), "/home/ada/.cache/warpladder");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder(), "/home/ada/.cache/warpladder");
  ::setenv("XDG_CACHE_HOME", "/var/cache/ada", 1);
  EXPECT_EQ(cache_folder(), "/var/cache/ada/warpladder");
  ::setenv("WARPLADDER_CACHE", "here", 1);
  EXPECT_EQ(cache_folder(), "here");
  ::setenv("WARPLADDER_CACHE", "off", 1);
  EXPECT_EQ(cache_folder(), "");
  ::unsetenv("WARPLADDER_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(cache_folder(), "");
}

}  // namespace
}  // namespace warpladder::runtime
