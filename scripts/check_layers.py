#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom. Arrows point down only; a folder that is not in the table is a mistake, so that a new layer
is a decision. `base`, `accel`, `runtime`, `tune` and the devices never see MLIR, LLVM or Clang."""

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
    "driver": ["base", "accel", "runtime", "tune", "ir", "oracle", "transforms", "frontends", "targets"],
}
WITHOUT_LLVM = ("base", "accel", "runtime", "tune", "include", "frontends/onnx/reader")
# Folders whose children are siblings that do not see each other.
SIBLINGS = ("targets", "frontends", "transforms")
DEVICE = re.compile(r"^targets/(?:[^/]+/)?Device[^/]*$")


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


def check(file, errors):
    path = file.relative_to(ROOT / "src" / "tessera").as_posix()
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
    files = [f for f in sorted((ROOT / "src" / "tessera").rglob("*")) if f.suffix in (".h", ".cpp", ".c", ".td")]
    for file in files:
        check(file, errors)
    print("\n".join(errors) if errors else f"layers: {len(files)} files, no forbidden include")
    return 1 if errors else 0


sys.exit(main())
