#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Markdown wraps at 120 columns. Tables, code, headings and what has no space to break at may be longer. Without files
all tracked pages are checked; --fix fills the paragraphs that have a longer line, and leaves the others as they are."""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120
FENCE = re.compile(r"^\s*(```|~~~)")
# Lines that stand alone: headings, tables, HTML, definitions of links, rules.
ALONE = re.compile(r"^\s*(#{1,6}\s|\||<|\[[^\]]+\]:\s|(-{3,}|={3,}|\*{3,})\s*$)")
MARKER = re.compile(r"^(\s*(?:>\s?)?)((?:[-*+]|\d+[.)])\s+)?")
# What must not begin a line, since it would then mean something else.
OPENS = re.compile(r"^([-*+]|#{1,6}|=+|\d+[.)])$|^[>|<]")


def words(text):
    """Words of a paragraph; short pieces of code and names of links stay whole."""
    kept = re.sub(r"`[^`]{1,60}`|\[[^]]{1,40}\](?=\()", lambda m: m.group(0).replace(" ", "\0"), text)
    return [w.replace("\0", " ") for w in kept.split()]


def fill(lines):
    """The lines of one paragraph or list item, filled anew."""
    match = MARKER.match(lines[0])
    first = match.group(0)
    quote = match.group(1) if ">" in match.group(1) else ""
    rest = quote or (re.match(r"\s*", lines[1]).group(0) if len(lines) > 1 else " " * len(first))
    body = [lines[0][len(first):]] + [re.sub(r"^\s*>?\s?", "", line) if quote else line for line in lines[1:]]
    result, line = [], []
    for word in words(" ".join(body)):
        prefix = rest if result else first
        if line and len(prefix + " ".join(line + [word])) > COLUMNS:
            down = [word]
            while len(line) > 1 and OPENS.match(down[0]):
                down.insert(0, line.pop())
            result.append(prefix + " ".join(line))
            line = down
        else:
            line.append(word)
    return result + [(rest if result else first) + " ".join(line)]


def too_long(line):
    text = line[len(MARKER.match(line).group(0)):]
    return len(line) > COLUMNS and len(words(text)) > 1


def paragraphs(lines):
    """Pairs of lines and whether they may be filled."""
    group, fenced, blank_before, listed = [], False, True, False
    for line in lines:
        fence = FENCE.match(line)
        code = re.match(r"^(    |\t)", line) and blank_before and not group and not listed
        if fenced or fence or code or not line.strip() or ALONE.match(line):
            if group:
                yield group, True
                group = []
            yield [line], False
            fenced = fenced != bool(fence)
            blank_before = not line.strip()
            if line.strip() and not line.startswith(" ") and not fence:
                listed = False
            continue
        if MARKER.match(line).group(2) and group:
            yield group, True
            group = []
        if MARKER.match(line).group(2):
            listed = True
        elif blank_before and not line.startswith(" "):
            listed = False
        group.append(line)
        blank_before = False
        if line.endswith("  ") or line.endswith("\\"):
            yield group, True
            group = []
    if group:
        yield group, True


def wrap(text):
    """The text with long paragraphs filled, and the numbers of lines that are too long as they are."""
    result, bad, number = [], [], 0
    for group, may in paragraphs(text.splitlines()):
        long = [number + i + 1 for i, line in enumerate(group) if may and too_long(line)]
        number += len(group)
        bad += long
        result += fill(group) if long else group
    return "\n".join(result) + "\n", bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="fill the paragraphs that have a line beyond the limit")
    parser.add_argument("--print", action="store_true", help="print one page as --fix would leave it")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    pages = options.pages
    if not pages:
        tracked = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, text=True)
        pages = [ROOT / name for name in tracked.stdout.split("\0") if name and (ROOT / name).exists()]
        if not pages:  # a source tree without its history
            pages = [p for folder in ("docs", "src", "examples", "python", "bench") for p in (ROOT / folder).rglob("*.md")]
            pages += ROOT.glob("*.md")
    if options.print:
        sys.stdout.write(wrap(pages[0].read_text(encoding="utf-8"))[0])
        return 0
    broken = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        wrapped, bad = wrap(text)
        if bad and options.fix:
            page.write_text(wrapped, encoding="utf-8")
        elif bad:
            broken += 1
            print(f"{page}: lines beyond {COLUMNS} columns: {', '.join(map(str, bad[:8]))}")
    if broken:
        print("markdown: run scripts/check --fix")
    elif not options.pages:
        print(f"markdown: {len(pages)} pages wrap at {COLUMNS} columns")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
