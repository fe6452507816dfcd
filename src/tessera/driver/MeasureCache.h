// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measurements that are kept in the user's cache folder, one file each. What cannot be read is as good as not
// there, and measured again.
#pragma once

#include "tessera/driver/Compiler.h"

#include <nlohmann/json.hpp>

namespace tessera {

class MeasureCache {
public:
  /// For code of a target. Keys hold the compiler's version, the machine, and the mode.
  MeasureCache(const Target &target, const TargetOptions &options);
  /// What was kept for `key`, e.g. the signature of a program and what was done to it.
  std::optional<nlohmann::json> find(const std::string &key) const;
  /// Keeps a value. Others may do the same at the same time: the last one wins. A folder that cannot be
  /// written only means that nothing is kept.
  void keep(const std::string &key, const nlohmann::json &value) const;
  /// The file for a key.
  std::string pathOf(const std::string &key) const;

private:
  std::string machine;
};

} // namespace tessera
