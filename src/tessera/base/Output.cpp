// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Output.h.
#include "tessera/base/Output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <span>
#include <sys/stat.h>

namespace tessera {

// Whether both names lead to one file. What is not there yet has a folder and a name.
static bool isSameFile(const std::string &a, const std::string &b) {
  struct stat x, y;
  const bool hasX = stat(a.c_str(), &x) == 0, hasY = stat(b.c_str(), &y) == 0;
  if (hasX && hasY)
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  if (hasX || hasY)
    return false;
  const auto folder = [](const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string(".") : path.substr(0, slash + 1);
  };
  return a.substr(a.rfind('/') + 1) == b.substr(b.rfind('/') + 1) &&
         (folder(a) == folder(b) || (stat(folder(a).c_str(), &x) == 0 && stat(folder(b).c_str(), &y) == 0 &&
                                     x.st_dev == y.st_dev && x.st_ino == y.st_ino));
}

static bool isFile(const std::string &name) { return !name.empty() && name != "-"; }

Status checkOutputs(const std::vector<std::string> &inputs, const std::vector<std::string> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!isFile(outputs[i]))
      continue;
    for (const std::string &input : inputs)
      if (isFile(input) && isSameFile(input, outputs[i]))
        return fail(StatusCode::InvalidArgument, "'", outputs[i], "' would be written over the input '",
                    input, "'; choose another name for it");
    for (const std::string &other : std::span(outputs).first(i))
      if (isFile(other) && isSameFile(other, outputs[i]))
        return fail(StatusCode::InvalidArgument, "two outputs, '", other, "' and '", outputs[i],
                    "', are the same file; choose different names");
  }
  return Status();
}

Status flushStandardOutput() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good();
  if (flushed)
    return Status();
  // What failed in between has left no reason.
  return fail(StatusCode::Io, "cannot write to standard output", errno ? ": " : "",
              errno ? std::strerror(errno) : "");
}

} // namespace tessera
