#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom. Arrows point down only; a folder that is not in the table is a mistake, so that a new layer
is a decision. `base`, `accel`, `runtime`, `tune` and the devices never see MLIR, LLVM or Clang. And who may name whom:
a target's name stands in its own folder only, a word of an instruction set only in targets and `base/CpuInfo`."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LLVM = ("mlir/", "llvm/", "mlir-c/", "llvm-c/", "clang/", "clang-c/", "lld/")

# The longest prefix of a file's path below src/tessera counts; `self` is its own folder (first two parts of the
# path where the folder has parts that must not see each other).
ALLOWED = {
    "base": [],
    "accel": ["base"],
    "runtime": ["base"],
    "tune": ["base", "runtime"],
    "ir": ["base"],
    "ir/vta": ["base", "ir", "accel/isa"],
    "oracle": ["base", "ir"],
    "transforms/check": ["base", "ir"],
    "transforms/graph": ["base", "ir"],
    "transforms/leaf": ["base", "ir"],
    "transforms/nn": ["base", "ir", "transforms/leaf"],
    "transforms/schedule": ["base", "ir", "transforms/graph", "transforms/leaf"],
    "frontends": ["base", "ir", "frontends/Frontend.h"],
    # A file reader knows bytes and structs only.
    "frontends/onnx/reader": ["base"],
    "frontends/dsl": ["base", "ir", "frontends/Frontend.h", "transforms/schedule"],
    # A plan is what a target's compile-time half writes and the runtime reads.
    "targets": ["base", "ir", "oracle", "transforms", "runtime", "targets/Target.h", "targets/common"],
    "targets/accel": ["base", "ir", "transforms", "runtime", "targets/Target.h", "targets/common", "accel"],
    # The stages ask any target by its interface, and include none.
    "driver": ["base", "accel", "runtime", "tune", "ir", "oracle", "transforms", "frontends", "targets/Target.h",
               "targets/common", "targets/KnownNames.h"],
}
WITHOUT_LLVM = ("base", "accel", "runtime", "tune", "include", "frontends/onnx/reader")
# Folders whose children are siblings that do not see each other.
SIBLINGS = ("targets", "frontends", "transforms")
DEVICE = re.compile(r"^targets/(?:[^/]+/)?Device[^/]*$")
# A folder here is a target like those in src/tessera/targets: tests use it, and it is built with them.
TEST_TARGETS = ROOT / "tests" / "targets"

# Who may name a target, or an instruction set, all the same, and why.
MAY_NAME = {
    "src/include/tessera/hetero.h": "an example of a hint, for users",
    "src/include/tessera/runtime.h": "an example of a list of devices, for users",
    "src/tessera/driver/Link.cpp": "the key for the machine's CPU in a program's description",
    "src/tessera/runtime/program/Module.cpp": "reads the same key",
    "src/tessera/runtime/control/Monitor.cpp": "Linux's own names under /sys/devices/system/cpu and in /proc/stat",
    "src/tessera/runtime/Testing.h": "plans for unit tests",
    "tools/tessera/Run.cpp": "the same key in a benchmark's report",
    "src/tessera/targets/null/Device.h": "the pretend device borrows the kernels of the CPU's target",
    "src/tessera/targets/KnownNames.h": "the names that programs may use",
}
MAY_NAME_INSTRUCTIONS = {
    "src/tessera/base/CpuInfo.h": "the place for them",
    "src/tessera/base/CpuInfo.cpp": "the place for them",
    "src/tessera/base/Sha256.cpp": "checksums of files by the processor's own instructions, not code that a target makes",
}
INSTRUCTIONS = re.compile(r"\w*(?:avx|amx|vnni)\w*|(?<![A-Za-z0-9])(?:neon|sve2?|ssse3|sse[\d.]*)(?![A-Za-z0-9])",
                          re.IGNORECASE)
NAMING_FILES = (".cpp", ".h", ".c", ".td", ".py")


def layer(path):
    """The part of the tree that a file belongs to, and what it may include there."""
    parts = path.split("/")
    for depth in range(len(parts) - 1, 0, -1):
        prefix = "/".join(parts[:depth])
        if prefix in ALLOWED:
            own = "/".join(parts[:2]) if parts[0] in SIBLINGS and len(parts) > 2 else parts[0]
            return own, ALLOWED[prefix]
    return None, None


def within(path, prefix):
    return path == prefix or path.startswith(prefix + "/")


def placed(file):
    """The path below src/tessera that stands for a file in the table; None where the table does not hold."""
    for folder, prefix in ((ROOT / "src" / "tessera", ""), (TEST_TARGETS, "targets/")):
        if file.is_relative_to(folder):
            return prefix + file.relative_to(folder).as_posix()
    return None


def check_names(file, targets, errors):
    """Names of targets and of instruction sets where they do not belong. Tests may name both."""
    path = file.relative_to(ROOT).as_posix()
    if file.name.endswith("Test.cpp") or "test" in file.relative_to(ROOT).parts:
        return
    own = {name for folder in ("src/tessera/targets", "tests/targets") for name in targets
           if within(path, f"{folder}/{name}")}
    others = "|".join(sorted(targets - own))
    # At the start of a string, or as the folder in a path.
    target = re.compile(rf'(?:"|\btargets/)({others})(?![A-Za-z0-9_])')
    isTarget = within(path, "src/tessera/targets") or within(path, "tests/targets")
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if match := path not in MAY_NAME and file.suffix in NAMING_FILES and target.search(line):
            errors.append(f"{path}:{number}: names the target '{match.group(1)}'; ask the target or the host "
                          "(driver/Components.h, runtime/device/Device.h)")
        if match := not isTarget and path not in MAY_NAME_INSTRUCTIONS and INSTRUCTIONS.search(line):
            errors.append(f"{path}:{number}: '{match.group(0)}' is of an instruction set; its places are "
                          "src/tessera/targets and base/CpuInfo")


def check(file, errors):
    path = placed(file)
    device = bool(DEVICE.match(path))
    own, allowed = layer(path)
    if own is None:
        errors.append(f"{file.relative_to(ROOT)}:1: folder is not in the table of scripts/check_layers.py")
        return
    if device:
        allowed = ["base", "runtime", "targets/Devices.inc"] + (["accel"] if within(path, "targets/accel") else [])
    light = device or any(within(path, folder) for folder in WITHOUT_LLVM)
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if not match:
            continue
        name = match.group(1)
        where = f"{file.relative_to(ROOT)}:{number}"
        if ".." in name.split("/"):
            errors.append(f"{where}: '{name}': give the path from src, so that the layers can be seen")
        if name.startswith("tests/targets/"):
            name = "tessera" + name[len("tests") :]
        if light and name.startswith(LLVM):
            errors.append(f"{where}: '{name}' is of the compiler; this part builds without LLVM")
        if not name.startswith("tessera/"):
            continue
        target = name[len("tessera/") :]
        if target.startswith("runtime.") or "/" not in target:
            continue  # the public headers
        if not within(target, own) and not any(within(target, a) for a in allowed):
            errors.append(f"{where}: '{own}' may not include '{target}' (allowed: {', '.join(allowed) or 'nothing'})")


def main():
    errors = []
    sources = [f for f in sorted((ROOT / "src" / "tessera").rglob("*")) + sorted(TEST_TARGETS.rglob("*"))
               if f.suffix in (".h", ".cpp", ".c", ".td")]
    for file in sources:
        check(file, errors)
    targets = {f.name for folder in (ROOT / "src" / "tessera" / "targets", TEST_TARGETS) if folder.is_dir()
               for f in folder.iterdir() if f.is_dir()} - {"common"}
    known = (ROOT / "src" / "tessera" / "targets" / "KnownNames.h").read_text(encoding="utf-8")
    targets |= set(re.findall(r'"(\w+)"', known))
    named = [f for folder in ("src", "tools", "tests/targets") for f in sorted((ROOT / folder).rglob("*"))
             if f.suffix in NAMING_FILES or (f.suffix == ".md" and f.is_relative_to(ROOT / "src" / "tessera"))]
    for file in named:
        check_names(file, targets, errors)
    print("\n".join(errors) if errors else
          f"layers: {len(sources)} files, no forbidden include; {len(named)} files, no name out of its place")
    return 1 if errors else 0


sys.exit(main())
