// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mapping of files, and atomic replacement with clean-up on signals.
#include "tessera/base/File.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tessera {

static Status ioError(std::string_view verb, const std::string &path, int error) {
  StatusCode code = error == ENOENT ? StatusCode::NotFound : StatusCode::Io;
  std::string text = concat("cannot ", verb, " '", path, "': ", std::strerror(error));
  if (error == ENOSPC)
    text += "; free some space or choose another folder";
  else if (error == EROFS)
    text += "; choose a folder that can be written";
  return Status::error(code, text);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return ioError("open", path, errno);
  struct stat info;
  if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    int error = S_ISDIR(info.st_mode) ? EISDIR : errno;
    ::close(fd);
    return ioError("read", path, error);
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->name = path;
  if (!S_ISREG(info.st_mode)) {
    // A pipe has no size and cannot be mapped: read it into anonymous pages.
    std::vector<char> content;
    char block[65536];
    ssize_t got;
    while ((got = ::read(fd, block, sizeof block)) > 0 || (got < 0 && errno == EINTR))
      if (got > 0)
        content.insert(content.end(), block, block + got);
    int error = errno;
    ::close(fd);
    if (got < 0)
      return ioError("read", path, error);
    if (content.empty())
      return std::shared_ptr<const MappedFile>(std::move(file));
    void *pages = mmap(nullptr, content.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
      return ioError("read", path, errno);
    std::memcpy(pages, content.data(), content.size());
    file->base = static_cast<const std::byte *>(pages);
    file->size = content.size();
    return std::shared_ptr<const MappedFile>(std::move(file));
  }
  file->size = static_cast<size_t>(info.st_size);
  if (file->size) {
    void *pages = mmap(nullptr, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (pages == MAP_FAILED) {
      int error = errno;
      file->size = 0;
      ::close(fd);
      return ioError("map", path, error);
    }
    file->base = static_cast<const std::byte *>(pages);
  }
  ::close(fd);
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (size)
    munmap(const_cast<std::byte *>(base), size);
}

// Temporary files to remove when a signal ends the process. Fixed storage, since a
// signal handler may only use what is async-signal-safe: unlink is.
static constexpr int maxPending = 32;
static char pendingPaths[maxPending][4096];
static std::atomic<bool> pendingUsed[maxPending];
static std::mutex pendingMutex;

extern "C" void tesseraRemovePendingFiles(int signal) {
  for (int i = 0; i < maxPending; ++i)
    if (pendingUsed[i].load(std::memory_order_acquire))
      unlink(pendingPaths[i]);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

static void installHandlers() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old;
    // A handler of the host program is its own affair: only the default is replaced.
    if (sigaction(signal, nullptr, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL) {
      struct sigaction action = {};
      action.sa_handler = tesseraRemovePendingFiles;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, nullptr);
    }
  }
}

void removeUnfinishedFilesOnSignals() {
  static bool installed = (installHandlers(), true);
  (void)installed;
}

static int registerPending(const std::string &path) {
  if (path.size() >= sizeof pendingPaths[0])
    return -1;
  std::lock_guard<std::mutex> lock(pendingMutex);
  removeUnfinishedFilesOnSignals();
  for (int i = 0; i < maxPending; ++i)
    if (!pendingUsed[i].load(std::memory_order_relaxed)) {
      std::memcpy(pendingPaths[i], path.c_str(), path.size() + 1);
      pendingUsed[i].store(true, std::memory_order_release);
      return i;
    }
  return -1;
}

static void releasePending(int slot) {
  if (slot >= 0)
    pendingUsed[slot].store(false, std::memory_order_release);
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return ioError("write", path, EISDIR);
  AtomicFile file;
  file.target = path;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // A pipe or device is written to; a file renamed over it would take its place.
    file.fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.fd < 0)
      return ioError("write", path, errno);
    return Result<AtomicFile>(std::move(file));
  }
  static std::atomic<unsigned> counter;
  for (int attempt = 0; attempt < 100; ++attempt) {
    file.temporary = concat(path, ".tmp", static_cast<unsigned>(getpid()), ".", counter++);
    file.slot = registerPending(file.temporary);
    file.fd = ::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd >= 0)
      return Result<AtomicFile>(std::move(file));
    int error = errno;
    releasePending(file.slot);
    file.slot = -1;
    if (error != EEXIST)
      return ioError("write", path, error);
  }
  return ioError("write", path, EEXIST);
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::move(other.temporary)), fd(std::exchange(other.fd, -1)),
      slot(std::exchange(other.slot, -1)), position(other.position) {}

AtomicFile::~AtomicFile() {
  if (fd < 0)
    return;
  ::close(fd);
  if (!temporary.empty())
    unlink(temporary.c_str());
  releasePending(slot);
}

Status AtomicFile::write(std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t wrote = ::write(fd, data.data(), std::min<size_t>(data.size(), 1 << 30));
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return ioError("write", target, errno);
    position += static_cast<uint64_t>(wrote);
    data = data.subspan(static_cast<size_t>(wrote));
  }
  return Status();
}

Status AtomicFile::padTo(size_t alignment) {
  static const std::byte zeros[4096] = {};
  while (size_t rest = position % alignment) {
    TESSERA_TRY(write({zeros, std::min(sizeof zeros, alignment - rest)}));
  }
  return Status();
}

Status AtomicFile::writeAt(uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t wrote = pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return ioError("write", target, errno);
    offset += static_cast<uint64_t>(wrote);
    data = data.subspan(static_cast<size_t>(wrote));
  }
  return Status();
}

Status AtomicFile::commit() {
  // A full disk may show only here.
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    return ioError("write", target, errno);
  int closing = std::exchange(fd, -1);
  int closeError = ::close(closing) == 0 ? 0 : errno;
  int renameError = 0;
  if (!closeError && !temporary.empty() && rename(temporary.c_str(), target.c_str()) != 0)
    renameError = errno;
  if (!temporary.empty() && (closeError || renameError))
    unlink(temporary.c_str());
  releasePending(slot);
  if (closeError || renameError)
    return ioError("write", target, closeError ? closeError : renameError);
  return Status();
}

Status writeFile(const std::string &path, std::span<const std::byte> data) {
  auto file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  TESSERA_TRY(file->write(data));
  return file->commit();
}

Status writeFile(const std::string &path, std::string_view text) {
  return writeFile(path, std::as_bytes(std::span(text.data(), text.size())));
}

bool fileExists(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

} // namespace tessera
