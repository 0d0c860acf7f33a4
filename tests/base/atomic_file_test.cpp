#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "base/testing.hpp"

namespace warpladder {
namespace {

namespace fs = std::filesystem;
using testing::sentence_of;
using testing::slurp;
using testing::spill;
using testing::TempDir;

std::string refusal(const std::string& path, ErrorCode code = ErrorCode::bad_input) {
  return sentence_of([&] { write_file(path, "text", "--out"); }, code);
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST(AtomicFile, WritesANewFile) {
  const TempDir dir;
  write_file(dir.file("new"), std::string("a\0b", 3));
  EXPECT_EQ(slurp(dir.file("new")), std::string("a\0b", 3));
  write_file(dir.file("empty"), "");
  EXPECT_EQ(slurp(dir.file("empty")), "");
  EXPECT_EQ(dir.entries(), 2);
}

TEST(AtomicFile, ANewFileObeysTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(027);
  write_file(dir.file("new"), "x");
  ::umask(before);
  EXPECT_EQ(mode_of(dir.file("new")), 0640u);
}

TEST(AtomicFile, NothingIsVisibleBeforeCommit) {
  const TempDir dir;
  spill(dir.file("a"), "old");
  {
    AtomicFile file(dir.file("a"));
    file.write("new");
    EXPECT_EQ(slurp(dir.file("a")), "old");
    file.commit();
    EXPECT_EQ(slurp(dir.file("a")), "new");
  }
  EXPECT_EQ(slurp(dir.file("a")), "new");
  EXPECT_EQ(dir.entries(), 1);
}

// The file system may not have files without a name.
bool has_unnamed_files(const TempDir& dir) {
  return FileDescriptor(::open(dir.path().c_str(), O_TMPFILE | O_WRONLY, 0600)).is_open();
}

TEST(AtomicFile, WithoutCommitNothingStays) {
  const TempDir dir;
  spill(dir.file("a"), "old");
  for (const Temporary wish : {Temporary::unnamed, Temporary::named}) {
    const bool is_named = wish == Temporary::named || !has_unnamed_files(dir);
    {
      AtomicFile existing(dir.file("a"), "", wish);
      AtomicFile fresh(dir.file("b"), "", wish);
      existing.write("new");
      fresh.write("new");
      EXPECT_EQ(dir.entries(), is_named ? 3 : 1);
    }
    EXPECT_EQ(slurp(dir.file("a")), "old");
    EXPECT_EQ(dir.entries(), 1);
  }
}

TEST(AtomicFile, BothTemporariesBecomeTheFile) {
  const TempDir dir;
  for (const Temporary wish : {Temporary::unnamed, Temporary::named}) {
    for (const char* contents : {"first", "second"}) {  // a fresh name, and one to replace
      AtomicFile file(dir.file("a"), "", wish);
      file.write(contents);
      file.commit();
      EXPECT_EQ(slurp(dir.file("a")), contents);
      EXPECT_EQ(dir.entries(), 1);
    }
    fs::remove(dir.file("a"));
  }
}

TEST(AtomicFile, ANameThatIsTakenMeanwhileIsReplaced) {
  const TempDir dir;
  AtomicFile file(dir.file("a"));
  file.write("ours");
  spill(dir.file("a"), "somebody else's");
  file.commit();
  EXPECT_EQ(slurp(dir.file("a")), "ours");
  EXPECT_EQ(dir.entries(), 1);
}

// Writes half a file in a process that then dies of the signal; returns what is left in the folder.
std::ptrdiff_t left_by(const TempDir& dir, Temporary wish, int signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int) {
      TemporaryName::remove_all();
      ::_exit(1);
    });
    AtomicFile file(dir.file("a"), "", wish);
    file.write("half of ");
    ::raise(signal);
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_NE(WEXITSTATUS(status), 2);
  return dir.entries();
}

TEST(AtomicFile, ASignalLeavesNoTemporary) {
  const TempDir dir;
  EXPECT_EQ(left_by(dir, Temporary::named, SIGTERM), 0);
  EXPECT_EQ(left_by(dir, Temporary::unnamed, SIGTERM), 0);
  if (!has_unnamed_files(dir)) GTEST_SKIP() << "the file system has no files without a name";
  EXPECT_EQ(left_by(dir, Temporary::unnamed, SIGKILL), 0);
}

TEST(FileBehind, IsTheSameForEachSpelling) {
  const TempDir dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  fs::create_symlink("absent", "link");
  const fs::path absent = fs::canonical(dir.path()) / "absent";
  for (const std::string path : {"absent", "./absent", "link", "none/../absent"}) {
    EXPECT_EQ(file_behind(path), absent) << path;
  }
  EXPECT_EQ(file_behind(dir.file("absent")), absent);
  EXPECT_NE(file_behind("other"), absent);
  fs::current_path(before);
}

TEST(AtomicFile, KeepsThePermissions) {
  const TempDir dir;
  for (const mode_t mode : {0600u, 0664u, 0755u}) {
    spill(dir.file("a"), "old");
    ASSERT_EQ(::chmod(dir.file("a").c_str(), mode), 0);
    write_file(dir.file("a"), "new");
    EXPECT_EQ(mode_of(dir.file("a")), mode);
  }
}

TEST(AtomicFile, KeepsTheOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const TempDir dir;
  spill(dir.file("a"), "old");
  ASSERT_EQ(::chown(dir.file("a").c_str(), 12345, 23456), 0);
  write_file(dir.file("a"), "new");
  struct stat status {};
  ASSERT_EQ(::stat(dir.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345u);
  EXPECT_EQ(status.st_gid, 23456u);
}

TEST(AtomicFile, FollowsLinksToTheTarget) {
  const TempDir dir;
  fs::create_directory(dir.file("sub"));
  spill(dir.file("sub/target"), "old");
  fs::create_symlink("sub/target", dir.file("near"));
  fs::create_symlink(dir.file("near"), dir.file("far"));
  write_file(dir.file("far"), "new");
  EXPECT_EQ(slurp(dir.file("sub/target")), "new");
  EXPECT_TRUE(fs::is_symlink(dir.file("near")) && fs::is_symlink(dir.file("far")));

  fs::create_symlink("sub/absent", dir.file("dangling"));
  write_file(dir.file("dangling"), "new");
  EXPECT_EQ(slurp(dir.file("sub/absent")), "new");

  fs::create_symlink("loop", dir.file("loop"));
  EXPECT_SAYS("symbolic links", refusal(dir.file("loop")));
}

TEST(AtomicFile, SaysWhyAPathCannotBeWritten) {
  const TempDir dir;
  EXPECT_SAYS("cannot write --out '" + dir.path() + "': it is a directory", refusal(dir.path()));
  EXPECT_SAYS("directory '" + dir.file("none") + "' does not exist", refusal(dir.file("none/a")));
  EXPECT_SAYS("the path is empty", refusal(""));
  EXPECT_SAYS("directory '/proc'", refusal("/proc/warpladder"));  // not even root may
  EXPECT_SAYS("too long", refusal(dir.file(std::string(300, 'x'))));
  spill(dir.file("a"), "");
  EXPECT_SAYS("Not a directory", refusal(dir.file("a/b")));
  EXPECT_EQ(dir.entries(), 1);
}

TEST(AtomicFile, AReadOnlyFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write read-only files";
  const TempDir dir;
  spill(dir.file("a"), "old");
  ASSERT_EQ(::chmod(dir.file("a").c_str(), 0444), 0);
  EXPECT_SAYS("Permission denied", refusal(dir.file("a")));
  EXPECT_EQ(slurp(dir.file("a")), "old");
}

TEST(AtomicFile, TheLongestNameIsLegal) {
  const TempDir dir;
  write_file(dir.file(std::string(255, 'x')), "text");
  EXPECT_EQ(dir.entries(), 1);
}

TEST(AtomicFile, DevicesAreWrittenDirectly) {
  write_file("/dev/null", "text");
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_SAYS("No space left", refusal("/dev/full", ErrorCode::resource));
}

TEST(AtomicFile, APipeIsWrittenDirectly) {
  const TempDir dir;
  const std::string fifo = dir.file("pipe");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = slurp(fifo); });
  write_file(fifo, "through the pipe");
  reader.join();
  EXPECT_EQ(received, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(fifo));
}

// What `tool --json /dev/stdout > log` does: what was in the log before must stay.
TEST(AtomicFile, AnOwnDescriptorGoesOnWhereItIs) {
  const TempDir dir;
  const FileDescriptor log(::open(dir.file("log").c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_EQ(::write(log.get(), "before ", 7), 7);
  const std::string number = std::to_string(log.get());
  write_file("/dev/fd/" + number, "and ");
  write_file("/proc/self/fd/" + number, "after");
  EXPECT_EQ(slurp(dir.file("log")), "before and after");
  EXPECT_SAYS("Bad file descriptor", refusal("/dev/fd/987654"));
}

TEST(AtomicFile, StandardOutputIsADescriptor) {
  ::testing::internal::CaptureStdout();  // into a regular file
  write_file("/dev/stdout", "one ");
  write_file("/dev/stdout", "two");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "one two");
}

// Stands for a full disk: the kernel refuses the second half of the bytes.
TEST(AtomicFile, AFailedWriteLeavesTheOldFileAndNoTemporary) {
  const TempDir dir;
  spill(dir.file("a"), "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string sentence =
      sentence_of([&] { write_file(dir.file("a"), std::string(8192, 'x')); }, ErrorCode::resource);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_SAYS("File too large", sentence);
  EXPECT_EQ(slurp(dir.file("a")), "old");
  EXPECT_EQ(dir.entries(), 1);
}

TEST(AtomicFile, ManyWritersLeaveOneWholeFile) {
  const TempDir dir;
  const auto contents = [](int writer) {
    return std::string(100'000, static_cast<char>('a' + writer));
  };
  std::array<std::thread, 4> writers;
  for (int i = 0; i < 4; ++i) {
    writers[static_cast<std::size_t>(i)] = std::thread([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat) write_file(dir.file("a"), contents(i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string result = slurp(dir.file("a"));
  ASSERT_FALSE(result.empty());
  EXPECT_EQ(result, contents(result[0] - 'a'));
  EXPECT_EQ(dir.entries(), 1);
}

}  // namespace
}  // namespace warpladder
