// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading of a .tsx file.
#include "tessera/runtime/program/Module.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Json.h"
#include "tessera/base/Trust.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace tessera {

Result<ModuleMeta> parseMeta(std::string_view text) {
  using Json = nlohmann::json;
  ModuleMeta meta;
  Json json = parseJson(text);
  if (!json.is_object())
    return fail(StatusCode::Corrupt, "meta: not a JSON object");
  auto readText = [&](const char *key, std::string &out) {
    if (auto it = json.find(key); it != json.end() && it->is_string())
      out = it->get<std::string>();
  };
  readText("triple", meta.triple);
  readText("cpu", meta.cpu);
  readText("source", meta.source);
  readText("mode", meta.mode);
  readText("default", meta.defaultProgram);
  readText("cacheKey", meta.cacheKey);
  auto readNumber = [&](const char *key, uint64_t &out) {
    if (auto it = json.find(key); it != json.end() && it->is_number_unsigned())
      out = it->get<uint64_t>();
  };
  readNumber("savedBytes", meta.savedBytes);
  readNumber("savedKernels", meta.savedKernels);
  if (auto it = json.find("features"); it != json.end()) {
    if (it->is_array()) {
      for (const Json &item : *it)
        if (item.is_string())
          meta.features.push_back(item.get<std::string>());
    } else if (it->is_string()) {
      // The form LLVM's own tools use: "+a,+b".
      std::string list = it->get<std::string>(), word;
      for (char c : list + ",")
        if (c != ',')
          word += c;
        else if (!word.empty())
          meta.features.push_back(std::exchange(word, ""));
    }
  }
  meta.json = std::string(text);
  return meta;
}

Result<std::shared_ptr<Module>> Module::read(Container container) {
  std::shared_ptr<Module> module(new Module);
  module->container = std::move(container);
  const Container &file = module->container;
  if (file.kind() != ContainerKind::InstalledProgram)
    return fail(
        StatusCode::InvalidArgument, "'", file.name(),
        "': expected an installed program (.tsx), but got a portable object (.tsr); run 'tessera install'");
  if (file.has("meta")) {
    TESSERA_ASSIGN(std::string_view text, file.text("meta"));
    auto meta = parseMeta(text);
    if (!meta.ok())
      return meta.status().withContext(concat("'", file.name(), "'"));
    module->moduleMeta = meta.take();
  }
  std::span<const std::byte> constants;
  if (file.has("const")) {
    TESSERA_ASSIGN(constants, file.section("const"));
  }
  module->constBase = constants.data();
  if (!constants.empty() && reinterpret_cast<uintptr_t>(constants.data()) % 64 != 0) {
    // Bytes that were not mapped from a file may lie anywhere, but kernels expect 64.
    void *copy = std::aligned_alloc(64, (constants.size() + 63) / 64 * 64);
    if (!copy)
      return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", formatBytes(constants.size()),
                  " for constants");
    std::memcpy(copy, constants.data(), constants.size());
    module->constCopy.reset(copy, std::free);
    module->constBase = static_cast<std::byte *>(copy);
  }
  TESSERA_ASSIGN(std::string_view planText, file.text("plan"));
  auto plan = parsePlan(planText, constants.size());
  if (!plan.ok())
    return plan.status().withContext(concat("'", file.name(), "'"));
  module->modulePlan = plan.take();
  return module;
}

Status Module::checkMachine() const {
  const CpuInfo &cpu = cpuInfo();
  std::string arch = moduleMeta.triple.substr(0, moduleMeta.triple.find('-'));
  if (!arch.empty() && arch != cpu.arch)
    return fail(StatusCode::Unsupported, "'", name(), "' was installed for ", moduleMeta.triple,
                ", but this machine is ", cpu.arch, "; run 'tessera install' on this machine");
  std::vector<std::string> lacking = cpu.missing(moduleMeta.features);
  if (!lacking.empty())
    return fail(StatusCode::Unsupported, "'", name(),
                "' needs CPU features this machine lacks: ", joinNames(lacking),
                "; run 'tessera install' on this machine");
  return enableFeatures(moduleMeta.features).withContext(concat("'", name(), "'"));
}

bool Module::hasOwnImage(std::string_view target) const { return container.has(concat("code.", target)); }

Result<std::shared_ptr<const DeviceImage>> Module::image(const Version &version, Device &device) const {
  const bool own = hasOwnImage(version.target);
  const std::string section = own ? concat("code.", version.target) : "code";
  Device *loader = own ? &device : hostDevice();
  if (!own && !device.runsHostCode())
    return fail(StatusCode::Unsupported, "'", name(), "' has no code for target '", version.target,
                "' (section 'code.", version.target, "'), which device '", device.name(),
                "' needs; install it again");
  if (!container.has(section) || !loader)
    return std::shared_ptr<const DeviceImage>();
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const DeviceImage> &known = images[{section, loader}];
  if (!known) {
    TESSERA_ASSIGN(std::span<const std::byte> bytes, container.section(section));
    auto loaded = loader->load(bytes);
    if (!loaded.ok())
      return loaded.status().withContext(own ? concat("'", name(), "': section '", section, "'")
                                             : concat("'", name(), "'"));
    known = loaded.take();
  }
  return known;
}

Result<std::vector<void *>> Module::handles(const Node &node, const Version &version, Device &device) const {
  TESSERA_ASSIGN(std::shared_ptr<const DeviceImage> kernels, image(version, device));
  std::vector<void *> found;
  for (const Step &step : version.steps) {
    found.push_back(kernels ? kernels->find(step.kernel) : nullptr);
    if (!found.back())
      return fail(StatusCode::Corrupt, "'", name(), "': kernel '", step.kernel, "' of node '", node.name,
                  "' is not in the ",
                  hasOwnImage(version.target) ? concat("image for target '", version.target, "'")
                                              : std::string("code image"));
  }
  return found;
}

// Functions for the static path, which calls the host's machine code without asking a device.
Status Module::resolve() {
  Device *host = hostDevice();
  auto isHostCode = [&](const std::string &target) {
    return !hasOwnImage(target) && std::ranges::any_of(allDevices(), [&](Device *device) {
      return device->runsHostCode() && device->runs(target);
    });
  };
  if (!host)
    return Status();
  std::unordered_map<std::string, bool> isHost;
  for (ProgramPlan &program : modulePlan.programs)
    for (Node &node : program.nodes)
      for (Version &version : node.versions) {
        auto [it, added] = isHost.try_emplace(version.target, false);
        if (added)
          it->second = isHostCode(version.target);
        if (!it->second)
          continue;
        TESSERA_ASSIGN(std::vector<void *> found, handles(node, version, *host));
        for (size_t i = 0; i < found.size(); ++i)
          version.steps[i].function = reinterpret_cast<KernelFunction>(found[i]);
      }
  return Status();
}

Result<std::shared_ptr<const Module>> Module::load(Container container) {
  auto module = read(std::move(container));
  if (!module.ok())
    return module.status();
  Module &m = **module;
  TESSERA_TRY(m.checkMachine());
  TESSERA_TRY(m.resolve());
  return std::shared_ptr<const Module>(module.take());
}

Result<std::shared_ptr<const Module>> Module::load(const std::string &path) {
  TESSERA_ASSIGN(Container container, Container::open(path));
  TESSERA_TRY(checkTrust(container));
  return load(std::move(container));
}

Result<std::shared_ptr<const Module>> Module::loadCached(const CacheEntry &entry) {
  if (!isOwnFile(entry.path))
    return fail(StatusCode::NotFound, "'", entry.path, "' is not in the cache");
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, load(entry.path));
  if (module->meta().cacheKey != entry.key)
    return fail(StatusCode::NotFound, "'", entry.path, "' is another program's");
  return module;
}

Result<std::shared_ptr<const Module>> Module::inspect(const std::string &path) {
  auto container = Container::open(path);
  if (!container.ok())
    return container.status();
  TESSERA_TRY(checkTrust(*container));
  auto module = read(container.take());
  if (!module.ok())
    return module.status();
  return std::shared_ptr<const Module>(module.take());
}

} // namespace tessera
