// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera targets` and `tessera doctor`: what this machine has, what is missing and
// how to get it.
#include "Tool.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Sandbox.h"
#include "tessera/base/Sha256.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace tessera::tool {

// Pretend devices are for tests of this project, so they are not listed as hardware.
static std::vector<Device *> shownDevices(bool all) {
  std::vector<Device *> shown;
  for (Device *device : allDevices())
    if (all || !device->info().isPretend)
      shown.push_back(device);
  return shown;
}

static Status targetsCommand(bool json, bool all) {
  if (json) {
    std::string out = "[";
    for (Device *device : shownDevices(all))
      out += concat(out.size() > 1 ? ", " : "", "{\"name\": ", quoteJson(device->name()),
                    ", \"description\": ", quoteJson(device->info().description),
                    ", \"memory_bytes\": ", device->info().memoryBytes,
                    device->lost() ? concat(", \"lost\": ", quoteJson(device->lossReason())) : std::string(),
                    "}");
    std::printf("%s]\n", out.c_str());
    return Status();
  }
  std::vector<std::vector<std::string>> rows = {{"device", "memory", "description"}};
  for (Device *device : shownDevices(all))
    rows.push_back({device->name(), formatBytes(device->info().memoryBytes),
                    device->lost() ? concat("lost: ", device->lossReason()) : device->info().description});
  std::printf("%s", formatTable(rows).c_str());
  const CpuInfo &cpu = cpuInfo();
  std::printf("\ncpu %s: L1 %s, L2 %s, L3 %s, line %u\nfeatures: %s\n", cpu.arch.c_str(),
              formatBytes(cpu.l1d).c_str(), formatBytes(cpu.l2).c_str(), formatBytes(cpu.l3).c_str(),
              cpu.cacheLine, joinNames(cpu.features, " ").c_str());
  return Status();
}

static std::string findOnPath(const std::string &name) {
  const char *path = std::getenv("PATH");
  std::string folder;
  for (const char *c = path ? path : "";; ++c) {
    if (*c && *c != ':') {
      folder += *c;
      continue;
    }
    std::string candidate = folder + "/" + name;
    if (!folder.empty() && access(candidate.c_str(), X_OK) == 0)
      return candidate;
    folder.clear();
    if (!*c)
      return "";
  }
}

static Status doctorCommand() {
  const CpuInfo &cpu = cpuInfo();
  auto line = [](bool good, const std::string &what, const std::string &detail) {
    std::printf("%-8s %-18s %s\n", good ? "ok" : "missing", what.c_str(), detail.c_str());
  };
  line(true, "runtime",
       concat("tessera " TESSERA_VERSION ", ", cpu.arch, ", ", cpu.cores, " processors, checksums by ",
              sha256Implementation()));
  for (const CpuNote &note : cpuNotes())
    line(note.good, note.what, note.text);
  std::string compiler = compilerPath();
  line(!compiler.empty(), "compiler",
       compiler.empty()
           ? "needed for compile, install, tune: build it with 'make build'; not needed to run .tsx files"
           : compiler);
  std::string sandbox = describeSandbox();
  line(!sandbox.empty(), "sandbox",
       sandbox.empty() ? "the kernel has neither Landlock nor seccomp: the compiler reads files unconfined "
                         "(SECURITY.md)"
                       : "the compiler reads files confined by " + sandbox);
  struct Optional {
    const char *name, *use, *package;
  };
  static const Optional optional[] = {
      {"dot", "draws graphs (explain --svg)", "graphviz"},
      {"qemu-aarch64", "runs programs installed for aarch64", "qemu-user"},
      {"qemu-riscv64", "runs programs installed for riscv64", "qemu-user"},
      {"clang-22", "tests and 'tessera cc'", "clang-22 (Debian 12 security suite)"},
  };
  for (const Optional &item : optional) {
    std::string path = findOnPath(item.name);
    line(!path.empty(), item.name,
         concat(item.use,
                path.empty() ? concat("; optional: apt-get install ", item.package) : concat(": ", path)));
  }
  for (Device *device : shownDevices(/*all=*/false))
    line(!device->lost(), "device " + device->name(),
         device->lost() ? concat("lost: ", device->lossReason()) : device->info().description);
  return Status();
}

void addMachine(CLI::App &app, Action &action) {
  auto *targets = app.add_subcommand("targets", "list the devices of this machine");
  auto json = std::make_shared<bool>(false), all = std::make_shared<bool>(false);
  targets->add_flag("--json", *json, "print as JSON");
  targets->add_flag("--all", *all, "also list the pretend devices that tests use");
  targets->footer("example: tessera targets --json");
  targets->callback([json, all, &action] { action = [json, all] { return targetsCommand(*json, *all); }; });
  auto *doctor = app.add_subcommand("doctor", "say what is missing here and how to get it");
  doctor->footer("example: tessera doctor");
  doctor->callback([&action] { action = [] { return doctorCommand(); }; });
}

} // namespace tessera::tool
