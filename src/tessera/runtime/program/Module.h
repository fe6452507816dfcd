// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An installed program file (.tsx) in memory: plan, code image, constants and meta
// data, checked against this machine.
#pragma once

#include "tessera/base/CachePath.h"
#include "tessera/base/Container.h"
#include "tessera/runtime/device/Device.h"
#include "tessera/runtime/plan/Plan.h"

#include <map>
#include <memory>
#include <mutex>
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

  /// True when the kernels of `target` are in an image of their own, the section `code.TARGET`. Those of
  /// other targets are machine code of the host, in the section `code`.
  bool hasOwnImage(std::string_view target) const;
  /// The kernels of a node's version as handles of `device`, one for each step. Their image is loaded when it
  /// is first asked for, and kept as long as the module. Fails when the file has none, or it lacks a kernel.
  Result<std::vector<void *>> handles(const Node &node, const Version &version, Device &device) const;

private:
  Module() = default;
  static Result<std::shared_ptr<Module>> read(Container container);
  Status checkMachine() const;
  Status resolve();
  Result<std::shared_ptr<const DeviceImage>> image(const Version &version, Device &device) const;

  Container container;
  Plan modulePlan;
  ModuleMeta moduleMeta;
  mutable std::mutex mutex;
  /// By section and device, what was loaded. Devices that run the host's code share one image.
  mutable std::map<std::pair<std::string, Device *>, std::shared_ptr<const DeviceImage>> images;
  std::shared_ptr<void> constCopy;
  const std::byte *constBase = nullptr;
};

/// Parses the section `meta`.
Result<ModuleMeta> parseMeta(std::string_view json);

} // namespace tessera
