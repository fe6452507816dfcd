#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each diagnostic that a source emits is expected by a test. For every emit call the longest piece of its text is
looked for in the expected-* and CHECK lines of the tests (and in the strings of *Test.cpp), and must be found; what no
input can reach is no diagnostic but a TESSERA_CHECK. Labels of rules, '(dfg-n3)', must stand in the table of rules
of their dialect's page beside the sources, and the table must not name others."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EMIT = re.compile(
    r"\b(?:emit(?:Op)?Error|emit(?:Silenceable|Definite)(?:Failure|Error)|emitWarning|emitRemark|parser\.emitError)\s*\("
)
LABEL = re.compile(r"\(([a-z]+[a-z0-9]*-[a-z]+\d+)\)")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def statement(text, start):
    """The source from `start` to the end of the statement, comments and strings respected."""
    depth, i = 0, start
    while i < len(text):
        c = text[i]
        if c == '"':
            i = STRING.match(text, i).end()
            continue
        if text.startswith("//", i):
            i = text.find("\n", i)
            continue
        depth += (c in "({[") - (c in ")}]")
        if (c == ";" and depth <= 0) or depth < 0:
            break
        i += 1
    return text[start:i]


def pieces(source):
    """Literal pieces of the message: neighbouring literals join, anything streamed between them parts them."""
    result, last = [], None
    for match in STRING.finditer(source):
        text = match.group(1).replace('\\"', '"').replace("\\n", "\n")
        between = source[last:match.start()] if last is not None else "?"
        if last is not None and between.strip() == "":
            result[-1] += text
        else:
            result.append(text)
        last = match.end()
    return result


def diagnostics():
    for folder in ("src", "tools"):
        for file in sorted((ROOT / folder).rglob("*.cpp")):
            if file.name.endswith("Test.cpp"):
                continue
            text = file.read_text(encoding="utf-8", errors="replace")
            for match in EMIT.finditer(text):
                source = statement(text, match.start())
                parts = pieces(source)
                # A message may be finished by later statements that stream into the same diagnostic.
                name = re.search(r"auto\s+(\w+)\s*=\s*[^;={}]*$", text[: match.start()])
                if name:
                    tail = text[match.start() : match.start() + 900].split("return", 1)[0]
                    for more in re.finditer(rf"\b{name.group(1)}\s*<<([^;]*);", tail):
                        parts += pieces(more.group(1))
                if parts:
                    line = text.count("\n", 0, match.start()) + 1
                    yield file.relative_to(ROOT), line, parts


def expectations():
    found = []
    for folder in ("src", "tests", "examples"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".mlir", ".test", ".py") or file.name.endswith("Test.cpp"):
                for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                    if re.search(r"expected-(error|warning|remark|note)|CHECK|ERR\w*:", line) or file.suffix != ".mlir":
                        found.append(line.replace('\\"', '"'))
    return "\n".join(found)


def tables():
    """Labels in the tables of rules, against labels in messages."""
    listed, used = set(), set()
    for page in (ROOT / "src").rglob("*.md"):
        listed.update(re.findall(r"^\| ([a-z]+[a-z0-9]*-[a-z]+\d+) \|", page.read_text(encoding="utf-8"), re.M))
    for file in (ROOT / "src").rglob("*.cpp"):
        used.update(LABEL.findall(file.read_text(encoding="utf-8", errors="replace")))
    for label in sorted(used - listed):
        print(f"errors: rule {label} is in no table of rules")
    for label in sorted(listed - used):
        print(f"errors: rule {label} of a table is in no message")
    return used == listed


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    expected = expectations()
    counts = {True: [0, 0], False: [0, 0]}
    missing = []
    for file, line, parts in diagnostics():
        label = LABEL.search(" ".join(parts))
        longest = max((p.strip(" ,'") for p in parts), key=len)
        tested = longest in expected and (not label or label.group(1) in expected)
        counts[bool(label)][0] += 1
        counts[bool(label)][1] += tested
        if not tested:
            missing.append(f"{file}:{line}: no test expects \"{longest}\"" + (f" ({label.group(1)})" if label else ""))
    print("\n".join(missing) + "\n" if missing else "", end="")
    for labelled, text in ((True, "with a rule's label"), (False, "without a label")):
        total, tested = counts[labelled]
        print(f"errors: {tested} of {total} diagnostics {text} are expected by a test ({tested / max(total, 1):.2f})")
    return 0 if tables() and not missing else 1


sys.exit(main())
