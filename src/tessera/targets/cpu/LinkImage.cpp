// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Object files to one fully linked ELF image, by lld in process.
#include "tessera/targets/cpu/ObjectCode.h"

#include "tessera/base/Check.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fcntl.h>

LLD_HAS_DRIVER(elf)

using namespace tessera;
using namespace tessera::cpu;

// lld works on files; they are removed again. What code generation calls on its own (memcpy, conversions of
// half types) comes from the builtins' object; sections that nobody needs are dropped.
FailureOr<std::string> cpu::linkImage(ArrayRef<StringRef> objects, ArrayRef<Alias> names, Location loc) {
  std::vector<SmallString<128>> paths; // the last one is the image
  llvm::scope_exit remove([&] {
    for (const auto &path : paths)
      (void)llvm::sys::fs::remove(path);
  });
  size_t size = 0;
  // Writes a file; more space than its content needs is only asked for.
  auto write = [&](StringRef path, StringRef content, size_t space) -> LogicalResult {
    int fd = -1;
    std::error_code ec = llvm::sys::fs::openFileForWrite(path, fd);
    if (!ec) {
      llvm::raw_fd_ostream file(fd, /*shouldClose=*/true, /*unbuffered=*/true);
      file << content;
      ec = file.error();
      file.clear_error();
      if (!ec && space > content.size() && posix_fallocate(fd, 0, space) == ENOSPC)
        ec = std::make_error_code(std::errc::no_space_on_device);
    }
    if (ec)
      return emitError(loc, "cannot write '")
             << path << "': " << ec.message() << "; set TMPDIR to a folder with space";
    return success();
  };
  for (size_t i = 0; i <= objects.size(); ++i) {
    bool last = i == objects.size();
    SmallString<128> path;
    if (llvm::sys::fs::createTemporaryFile("tessera", last ? "elf" : "o", path))
      return emitError(loc, "cannot create a temporary file; set TMPDIR to a folder with space"), failure();
    paths.push_back(path);
    // lld maps its output, where a full disk would end the process: the space is asked for before.
    if (failed(write(path, last ? "" : objects[i], last ? size : 0)))
      return failure();
    size += last ? 0 : objects[i].size();
  }
  std::string messages;
  llvm::raw_string_ostream os(messages);
  std::vector<const char *> args = {
      "ld.lld",  "-shared",           "-Bsymbolic",    "--no-undefined", "-z", "max-page-size=4096", "-z",
      "norelro", "--hash-style=sysv", "--gc-sections", "--strip-debug",  "-o", paths.back().c_str()};
  std::vector<std::string> aliases;
  for (const Alias &alias : names)
    aliases.push_back(("--defsym=" + alias.name + "=" + alias.of).str());
  for (const std::string &alias : aliases)
    args.push_back(alias.c_str());
  for (size_t i = 0; i < objects.size(); ++i)
    args.push_back(paths[i].c_str());
  lld::Result result = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  TESSERA_CHECK(!result.retCode) << os.str();
  auto file = llvm::MemoryBuffer::getFile(paths.back(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  TESSERA_CHECK(file) << "the linked image is gone: " << file.getError().message();
  return (*file)->getBuffer().str();
}
