#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 0777;
constexpr mode_t kNewFileMode = 0666;  // less the umask
constexpr int kMaxLinks = 40;          // as the Linux kernel
constexpr const char* kDescriptors = "/proc/self/fd/";

std::string message_of(int error) { return std::generic_category().message(error); }

// Whether the machine, rather than what the user asked for, is to blame.
bool is_resource_error(int error) {
  constexpr int kErrors[] = {ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM, EMFILE, ENFILE, EPIPE};
  return std::ranges::find(kErrors, error) != std::end(kErrors);
}

// /dev/stdout and its like name a descriptor we hold. Opening the path again would start at
// offset 0 of a redirected file, and replacing that file would lose what was printed before.
std::optional<int> own_descriptor(const fs::path& path) {
  const std::string text = path.string();
  if (text == "/dev/stdout") return STDOUT_FILENO;
  if (text == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!text.starts_with(prefix)) continue;
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, number);
    if (error == std::errc() && stop == end && number >= 0) return number;
  }
  return std::nullopt;
}

// Unlike fs::canonical, accepts a last component that does not exist, and stops at a descriptor.
fs::path follow_links(fs::path path) {
  for (int link = 0; link < kMaxLinks && !own_descriptor(path); ++link) {
    std::error_code not_a_link;
    const fs::path next = fs::read_symlink(path, not_a_link);
    if (not_a_link) break;
    path = path.parent_path() / next;
  }
  return path;
}

fs::path directory_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, std::string_view argument, Temporary wish)
    : subject_(file_subject(path, argument)), target_(follow_links(path)) {
  if (path.empty()) fail("the path is empty", ENOENT);
  if (const auto descriptor = own_descriptor(target_)) {
    is_direct_ = true;
    file_ = FileDescriptor(::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0));
    if (!file_.is_open()) fail(errno);
    return;
  }
  struct stat status {};
  if (::stat(target_.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(errno);
  } else if (S_ISDIR(status.st_mode)) {
    fail("it is a directory", EISDIR);
  } else if (!S_ISREG(status.st_mode)) {
    is_direct_ = true;
    file_ = FileDescriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!file_.is_open()) fail(errno);
    return;
  } else {
    // A rename would replace even a read-only file.
    if (::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail(errno);
    existing_ = Existing{status.st_mode & kPermissions, status.st_uid, status.st_gid};
  }
  if (wish == Temporary::named || !open_unnamed()) open_named();
}

// The mode of the old file from the start: its secrets are never readable in the temporary.
mode_t AtomicFile::new_mode() const { return existing_ ? existing_->mode : kNewFileMode; }

// Nothing of a file without a name is left behind, however the program ends. Linking it to a name
// takes /proc. False where the directory's file system has no such files.
bool AtomicFile::open_unnamed() {
  if (::access(kDescriptors, F_OK) != 0) return false;
  file_ = FileDescriptor(
      ::open(directory_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, new_mode()));
  return file_.is_open();
}

// A short name of its own, since the target's may already be as long as names can be.
void AtomicFile::name_temporary() {
  static std::atomic<unsigned> serial{0};
  temporary_.emplace(directory_of(target_) / (".warpladder-" + std::to_string(::getpid()) + "-" +
                                              std::to_string(serial++) + ".tmp"));
}

void AtomicFile::open_named() {
  do {
    name_temporary();
    file_ =
        FileDescriptor(::open(temporary_->path().c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, new_mode()));
    if (file_.is_open()) return;
    temporary_->disown();
  } while (errno == EEXIST);
  const int error = errno;
  const std::string where = in_quotes(directory_of(target_).string(), kShownBytes);
  if (error == ENOENT) fail("the directory " + where + " does not exist", error);
  fail("no file can be made in the directory " + where + " (" + message_of(error) + ")", error);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::keep_owner_and_mode() {
  // Best effort: giving a file away needs privileges, and some file systems hold no modes.
  if (existing_->owner != ::geteuid() || existing_->group != ::getegid()) {
    [[maybe_unused]] const int ignored = ::fchown(file_.get(), existing_->owner, existing_->group);
  }
  ::fchmod(file_.get(), existing_->mode);
}

// Gives the unnamed file the target's name where that is free, else a temporary one to rename.
void AtomicFile::link_unnamed() {
  const std::string descriptor = kDescriptors + std::to_string(file_.get());
  const auto link_to = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (!existing_) {
    if (link_to(target_.string())) return;
    if (errno != EEXIST) fail(errno);  // somebody else has made it meanwhile
  }
  for (;;) {
    name_temporary();
    if (link_to(temporary_->path())) return;
    temporary_->disown();
    if (errno != EEXIST) fail(errno);
  }
}

void AtomicFile::commit() {
  if (is_direct_) {
    if (!file_.close()) fail(errno);
    return;
  }
  if (existing_) keep_owner_and_mode();
  // The bytes must be on the disk before the name is: else a crash could leave an empty file.
  if (::fsync(file_.get()) != 0) fail(errno);
  if (!temporary_) link_unnamed();
  if (!file_.close()) fail(errno);
  if (temporary_) {
    if (::rename(temporary_->path().c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.reset();
  }
  // Makes the new name last, too. Not every file system can; the file is whole either way.
  const FileDescriptor directory(
      ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) ::fsync(directory.get());
}

void AtomicFile::fail(int error) const { fail(message_of(error), error); }

void AtomicFile::fail(const std::string& reason, int error) const {
  const std::string sentence = "cannot write " + subject_ + ": " + reason;
  if (is_resource_error(error)) throw_resource(sentence);
  throw_bad_input(sentence);
}

fs::path file_behind(const std::string& path) {
  std::error_code unknown;
  const fs::path place = follow_links(path);
  const fs::path whole = fs::absolute(place, unknown);
  const fs::path canonical = fs::weakly_canonical(whole, unknown);
  return unknown ? whole.lexically_normal() : canonical;
}

void write_file(const std::string& path, std::string_view contents, std::string_view argument) {
  AtomicFile file(path, argument);
  file.write(contents);
  file.commit();
}

}  // namespace warpladder
