#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/add/target.md tells how tests/targets/toy was added: its table has just the functions that the toy's files override, and
what it says must be there are the functions without an answer in the two interfaces."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/add/target.md"
TOY = ROOT / "tests/targets/toy"
FACES = {"Target.cpp": ROOT / "src/tessera/targets/Target.h", "Device.cpp": ROOT / "src/tessera/runtime/device/Device.h"}


def overridden(path):
    """Names in front of `(…) … override`."""
    return set(re.findall(r"(\w+)\([^()]*\)\s*(?:const\s*)?override", path.read_text()))


def required(path):
    """Functions that end in `= 0;`, but for those of images."""
    text = path.read_text()
    return set(re.findall(r"virtual [^;{]*?(\w+)\([^;{]*?\)[^;{]*= 0;", text)) - {"find"}


def main():
    page, errors = PAGE.read_text(), []
    for file, face in FACES.items():
        row = re.search(rf"^\| `{file}` \| (.*) \|$", page, re.M)
        named = set(re.findall(r"`(\w+)`", row.group(1))) if row else set()
        real = overridden(TOY / file)
        if named != real:
            errors.append(f"{PAGE.relative_to(ROOT)}: of {file} it names {sorted(named - real)} too much and {sorted(real - named)} too little")
        missing = required(face) - real
        if missing:
            errors.append(f"{(TOY / file).relative_to(ROOT)}: {sorted(missing)} must be there")
        last = page[page.rindex("A target must have"):]
        for name in required(face):
            if f"`{name}`" not in last:
                errors.append(f"{PAGE.relative_to(ROOT)}: it does not say that '{name}' must be there")
    for file in re.findall(r"`([\w/]+\.(?:cpp|test|txt))`", page):
        if not (TOY / file).exists():
            errors.append(f"{PAGE.relative_to(ROOT)}: the toy has no file '{file}'")
    print("\n".join(errors) if errors else "target page: it says what the toy is")
    return 1 if errors else 0


sys.exit(main())
