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
EMIT = r"\bemit(?:(?:Op)?Error|(?:Silenceable|Definite)(?:Failure|Error)|Warning|Remark)"
STATUS = (r"(?:\bfail(?=\(\s*(?:StatusCode::|\w*[cC]ode\b))|(?<!::)\b(?:corrupt|damaged|ioError|refuse)|"
          r"\bStatus::error)")
# Kind of message: the folder that makes it, the calls, and the share that must have a test. The first that fits counts.
KINDS = {
    "messages of the ONNX importer": (
        "src/tessera/frontends/onnx/", rf"{EMIT}|{STATUS}|(?<!::)\b(?:fail|problem|problems\.add|fatal)", 1),
    "messages of the C++ front end": (
        "src/tessera/frontends/heterocpp/", rf"{EMIT}|{STATUS}|(?<!::)\b(?:unsupported|report|note)", 0.95),
    "diagnostics": ("", EMIT, 1),
    "messages of Status": ("", STATUS, 0.95),
}
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


def kinds(file):
    """The kinds that are looked for in a file: one for a front end's folder, else those of all folders."""
    own = [kind for kind, (folder, _, _) in KINDS.items() if folder and str(file).startswith(folder)]
    return own or [kind for kind, (folder, _, _) in KINDS.items() if not folder]


def messages():
    """Kind, file, line and literal pieces of each message of the sources."""
    for file in sorted(f for folder in ("src", "tools") for f in (ROOT / folder).rglob("*.cpp")):
        if file.name.endswith("Test.cpp"):
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        name = file.relative_to(ROOT)
        for kind in kinds(name):
            for match in re.finditer(rf"(?:{KINDS[kind][1]})\s*\(", text):
                parts = pieces(statement(text, match.start()))
                # A message may be finished by later statements that stream into the same diagnostic.
                variable = re.search(r"auto\s+(\w+)\s*=\s*[^;={}]*$", text[: match.start()])
                if variable:
                    tail = text[match.start() : match.start() + 900].split("return", 1)[0]
                    for more in re.finditer(rf"\b{variable.group(1)}\s*<<([^;]*);", tail):
                        parts += pieces(more.group(1))
                if any(p.strip(" ,:;'") for p in parts):
                    yield kind, name, text.count("\n", 0, match.start()) + 1, parts


def expectations():
    found = []
    for folder in ("src", "tests", "examples"):
        for file in (ROOT / folder).rglob("*"):
            if not file.is_file():
                continue
            if file.name.endswith("Test.cpp"):
                text = file.read_text(encoding="utf-8", errors="replace")
                found += pieces(re.sub(r"^\s*//.*", "", text, flags=re.M))
            elif file.suffix in (".mlir", ".test", ".py"):
                for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                    if file.suffix != ".mlir" or re.search(r"expected-(error|warning|remark|note)|CHECK|ERR\w*:", line):
                        found.append(line.replace('\\"', '"'))
    return "\n".join(found)


def tables():
    """Labels in the tables of rules, against labels in messages."""
    listed, used = set(), set()
    for page in (ROOT / "src").rglob("*.md"):
        listed.update(re.findall(r"^\| ([a-z]+[a-z0-9]*-[a-z]+\d+) \|", page.read_text(encoding="utf-8"), re.M))
    for file in (f for ending in ("cpp", "td") for f in (ROOT / "src").rglob(f"*.{ending}")):
        used.update(LABEL.findall(file.read_text(encoding="utf-8", errors="replace")))
    for label in sorted(used - listed):
        print(f"errors: rule {label} is in no table of rules")
    for label in sorted(listed - used):
        print(f"errors: rule {label} of a table is in no message")
    return used == listed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="list all messages without a test, also those that may be")
    options = parser.parse_args()
    expected = expectations()
    counts = {kind: [0, 0] for kind in KINDS}
    missing = {kind: [] for kind in KINDS}
    for kind, file, line, parts in messages():
        label = LABEL.search(" ".join(parts))
        longest = max((p.strip(" ,:;'") for p in parts), key=len)
        tested = longest in expected and (not label or label.group(1) in expected)
        if len(longest) < 10:
            # 'expected' alone says nothing: all pieces, in one text.
            tested &= bool(re.search(".{0,99}?".join(re.escape(p.strip(" ")) for p in parts if len(p) > 3), expected))
        counts[kind][0] += 1
        counts[kind][1] += tested
        if not tested:
            missing[kind].append(
                f"{file}:{line}: no test expects \"{longest}\"" + (f" ({label.group(1)})" if label else ""))
    status = 0 if tables() else 1
    for kind, (_, _, share) in KINDS.items():
        total, tested = counts[kind]
        low = tested < share * total
        status |= low
        if missing[kind] and (low or options.all):
            print("\n".join(missing[kind]))
        print(f"errors: {tested} of {total} {kind} are expected by a test ({tested / max(total, 1):.2f}, "
              f"at least {share:.2f})")
    return status


sys.exit(main())
