// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TempFolder.h.
#include "tessera/base/TempFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera {

static constexpr std::string_view prefix = "tessera-tmp-", pattern = "XXXXXX";

static void removeAll(const std::string &path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Whether `path` still leads to the folder that is open as `fd`.
static bool isStill(const std::string &path, int fd) {
  struct stat byName, byHandle;
  return lstat(path.c_str(), &byName) == 0 && fstat(fd, &byHandle) == 0 && byName.st_dev == byHandle.st_dev &&
         byName.st_ino == byHandle.st_ino;
}

static int openFolder(const std::string &path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// A folder is removed while its lock is held: an owner that has just made it and waits for the lock sees that
// it is gone.
static void removeIfOrphaned(const std::string &path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 0777) != 0700)
    return;
  int fd = openFolder(path);
  if (fd < 0)
    return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && isStill(path, fd))
    removeAll(path);
  close(fd);
}

static void removeOrphans(const std::string &base) {
  DIR *folder = opendir(base.c_str());
  if (!folder)
    return;
  while (dirent *entry = readdir(folder)) {
    std::string_view name = entry->d_name;
    // The Python package's are two characters longer.
    if (name.starts_with(prefix) &&
        (name.size() == prefix.size() + pattern.size() || name.size() == prefix.size() + pattern.size() + 2))
      removeIfOrphaned(base + "/" + std::string(name));
  }
  closedir(folder);
}

Result<TempFolder> TempFolder::create() {
  const char *given = std::getenv("TMPDIR");
  const std::string base = given && *given ? given : "/tmp";
  removeOrphans(base);
  for (int attempt = 0; attempt < 100; ++attempt) {
    TempFolder made;
    std::string path = concat(base, "/", prefix, pattern);
    if (!mkdtemp(path.data()))
      return fail(StatusCode::Io, "cannot make a temporary folder in '", base, "': ", std::strerror(errno),
                  "; set TMPDIR");
    made.lock = openFolder(path);
    if (made.lock < 0)
      continue; // Somebody took it for an orphan before it was locked.
    while (flock(made.lock, LOCK_EX) != 0 && errno == EINTR)
      ;
    if (!isStill(path, made.lock))
      continue;
    made.name = std::move(path);
    return Result<TempFolder>(std::move(made));
  }
  return fail(StatusCode::Io, "cannot make a temporary folder in '", base, "': it is removed at once");
}

TempFolder::TempFolder(TempFolder &&other) noexcept
    : name(std::exchange(other.name, "")), lock(std::exchange(other.lock, -1)) {}

TempFolder &TempFolder::operator=(TempFolder &&other) noexcept {
  std::swap(name, other.name);
  std::swap(lock, other.lock);
  return *this;
}

TempFolder::~TempFolder() {
  if (!name.empty())
    removeAll(name);
  if (lock >= 0)
    close(lock);
}

} // namespace tessera
