#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows the README and the lessons to the letter: runs each of their command blocks as it stands, in order, in one
shell and one working folder, a copy of what a newcomer has.

  ```sh, ```python             run; a command that fails is a failure
  ``` right behind one of them what it must have printed: these lines, in this order; … stands for any text
  ```xyz behind "Save this as `NAME`"    a file
  <!-- not run: WHY -->        in front of a block: it is left out, and counted
  <!-- needs: pip -->          the same where pip can install nothing (no network)

usage: lessons.py SOURCE BUILD FOLDER [PAGE...]"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"<!-- (not run|needs): (.*?) -->\n$")
SAVE = re.compile(r"Save this as `([\w.]+)`:?\n$")
COMMAND = re.compile(r"^(\$ |tessera |python3 |cmake |pip |make |\./)", re.M)


class Page:
    """The blocks of a page: language, text, line, and what stands in front of each."""

    def __init__(self, root, name):
        self.name = name
        text = (root / name).read_text(encoding="utf-8")
        self.blocks, end = [], 0
        for match in FENCE.finditer(text):
            before = text[end:match.start()]
            self.blocks.append((match[1], match[2], text.count("\n", 0, match.start()) + 1, before))
            end = match.end()


class Shell:
    """One bash for all pages: what a block exports, or where it goes, the next one finds."""

    def __init__(self, folder, environment):
        self.folder, self.count = folder, 0
        self.process = subprocess.Popen(["bash", "-e", "-o", "pipefail"], cwd=folder / "tree", env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, language, text):
        """(whether it succeeded, what it printed)"""
        self.count += 1
        path, out = self.folder / f"{self.count:02}.{language}", self.folder / f"{self.count:02}.out"
        path.write_text(text, encoding="utf-8")
        command = f"source '{path}'" if language == "sh" else f"python3 '{path}'"
        self.process.stdin.write(f"{command} >'{out}' 2>&1 </dev/null\necho done\n")
        self.process.stdin.flush()
        done = self.process.stdout.readline() == "done\n"
        return done, out.read_text(encoding="utf-8", errors="replace") if out.exists() else ""

    def write(self, name, text):
        self.process.stdin.write("pwd\n")
        self.process.stdin.flush()
        (pathlib.Path(self.process.stdout.readline().rstrip("\n")) / name).write_text(text, encoding="utf-8")


def unmet(wanted, printed):
    """The first expected line that was not printed behind those before it, or None."""
    lines = iter(re.sub(r"[ \t]+", " ", printed).splitlines())
    for line in wanted.splitlines():
        line = re.sub(r"  +#.*", "", line).strip()
        if line in ("", "…"):
            continue
        words = [".*".join(map(re.escape, word.split("…"))) for word in line.split()]
        if not any(re.search(" ".join(words), candidate) for candidate in lines):
            return line
    return None


def make_tree(source, build, tree):
    """A newcomer's folder: the source, copied where commands could leave something behind, and the build."""
    tree.mkdir(parents=True)
    for entry in source.iterdir():
        if entry.name in ("examples", "python"):
            shutil.copytree(entry, tree / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif entry.name not in ("build", "try", ".git"):
            (tree / entry.name).symlink_to(entry)
    (tree / "build").mkdir()
    (tree / "build/default").symlink_to(build)
    return files_of(tree)


def files_of(tree):
    return {str(p.relative_to(tree)) for p in tree.rglob("*") if p.relative_to(tree).parts[0] not in ("try", "build") and "__pycache__" not in p.parts}


@functools.cache
def has_pip(folder):
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", "-d", folder / "pip",
                           "flit_core"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def follow(page, shell, folder, skipped):
    """Runs the blocks of a page; a message about the first that fails, or None. Counts in `skipped` what was not run."""
    last = None  # what the block before printed, when it was run
    for language, text, line, before in page.blocks:
        place, mark, save = f"{page.name}:{line}", MARK.search(before), SAVE.search(before)
        if mark and (mark[1] == "not run" or not has_pip(folder)):
            skipped.append(f"{place}: {mark[2]}")
            last = None
        elif language in ("sh", "python"):
            start = time.monotonic()
            done, last = shell.run(language, text)
            print(f"{place}: {text.splitlines()[0][:90]} ({time.monotonic() - start:.1f} s)", flush=True)
            if not done:
                return f"{place}: a command failed:\n{text}\nIt printed:\n{last}"
        elif save:
            shell.write(save[1], text)
        elif not language and last is not None and not before.strip():
            if (missing := unmet(text, last)) is not None:
                return f"{place}: expected the line\n{missing}\nin what the commands printed:\n{last}"
        elif not language and COMMAND.search(text):
            return f"{place}: commands in a block that is not marked as ```sh"
        else:
            last = None
    return None


def main():
    source, build, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    files = make_tree(source, build, folder / "tree")
    # `python3` is the interpreter that has NumPy, whatever comes first in the path.
    (folder / "bin").mkdir()
    (folder / "bin/python3").symlink_to(sys.executable)
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "TESSERA_CACHE": f"{folder}/cache",
                   "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    names = sys.argv[4:] or ["README.md", "python/README.md", *sorted(str(p.relative_to(source)) for p in source.glob("examples/[0-9]*/README.md")),
                             "examples/edge/README.md"]
    shell, skipped = Shell(folder, environment), []
    for name in names:
        if problem := follow(Page(source, name), shell, folder, skipped):
            sys.exit(f"lessons: {problem}")
    if left := sorted(files_of(folder / "tree") - files):
        sys.exit(f"lessons: the commands left files outside the folder try: {', '.join(left[:20])}")
    shell.process.stdin.close()
    print(f"lessons: {shell.count} blocks of {len(names)} pages were run")
    for place in skipped:
        print(f"lessons: NOT RUN: {place}")
    shutil.rmtree(folder)


main()
