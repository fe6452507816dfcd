// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An installed program file (.tsx) in memory: plan, code image, constants and meta
// data, checked against this machine.
#pragma once

#include "tessera/base/CachePath.h"
#include "tessera/base/Container.h"
#include "tessera/runtime/plan/Plan.h"
#include "tessera/runtime/program/Image.h"

#include <memory>
#include <string>

namespace tessera {

/// What the section `meta` says (docs/formats.md); all fields may be empty.
struct ModuleMeta {
  std::string triple, cpu, source, mode, json;
  std::string cacheKey;                      ///< Of an entry of the cache (base/CachePath.h).
  std::string defaultProgram;                ///< Of several, the one that runs when none is asked for.
  uint64_t savedBytes = 0, savedKernels = 0; ///< By storing once what several programs share.
  std::vector<std::string> features;
};

class Module {
public:
  /// Loads `path`: container, plan and image are checked; a file for another machine is refused by name.
  static Result<std::shared_ptr<const Module>> load(const std::string &path);
  static Result<std::shared_ptr<const Module>> load(Container container);
  /// Loads an entry of the cache. Fails when it is not there, damaged, of another program or by someone else:
  /// then it has to be made anew.
  static Result<std::shared_ptr<const Module>> loadCached(const CacheEntry &entry);
  /// Plan and meta data only, so that a file for another machine can be explained.
  static Result<std::shared_ptr<const Module>> inspect(const std::string &path);

  const Plan &plan() const { return modulePlan; }
  const ModuleMeta &meta() const { return moduleMeta; }
  const std::string &name() const { return container.name(); }
  const std::byte *constants() const { return constBase; }
  const Container &file() const { return container; }

private:
  Module() = default;
  static Result<std::shared_ptr<Module>> read(Container container);
  Status checkMachine() const;
  Status resolve();

  Container container;
  Plan modulePlan;
  ModuleMeta moduleMeta;
  std::unique_ptr<Image> image;
  std::shared_ptr<void> constCopy;
  const std::byte *constBase = nullptr;
};

/// Parses the section `meta`.
Result<ModuleMeta> parseMeta(std::string_view json);

} // namespace tessera
