// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder for temporary files. Its owner removes it; if the owner was killed, the next process that makes
// such a folder does. A lock on the folder says whether the owner is alive. Process numbers are not used for
// that: they are used again, and differ between containers.
#pragma once

#include "tessera/base/Status.h"

#include <string>

namespace tessera {

class TempFolder {
public:
  /// A folder in $TMPDIR, or /tmp, that only this user may look into. Removes those of owners that are gone.
  static Result<TempFolder> create();
  TempFolder() = default;
  TempFolder(TempFolder &&other) noexcept;
  TempFolder &operator=(TempFolder &&other) noexcept;
  /// Removes the folder and all in it. A child of fork() that must not do so ends by _exit.
  ~TempFolder();

  /// "" when there is none.
  const std::string &path() const { return name; }

private:
  std::string name;
  int lock = -1;
};

} // namespace tessera
