# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts how the compiler's work grows with the size of what it compiles, and complains where it grows too fast.

usage: growth.py TESSERA [FAMILY ...]

Each family of inputs.py is compiled and installed at two sizes. What is counted is the same on every machine: the lines of the IR after each
stage. A stage may grow by as much as n log n does, and hold only so many lines for each layer, so that what is unrolled or copied too often is
seen at any size. Work that leaves no trace in the IR is seen only where it takes a minute of processor time.
"""
import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import inputs  # noqa: E402

STAGES = ["import", "graph", "knobs", "place", "prepare", "graph-schedule", "payload", "schedule", "lower"]
# Lines of a stage for each layer, loop or node: a few times what they are.
MOST = {"import": 60, "graph": 60, "knobs": 60, "place": 60, "prepare": 120, "graph-schedule": 120, "payload": 3000, "schedule": 3000, "lower": 5000}
SIZES = (8, 32)
# Where a kernel must end before all has become one, and steps of the compiler that leave no trace are seen by the limit of time.
LARGE = {"join": (50, 250), "maps": (100, 1200), "wide": (1, 512)}
MEMORY = 12 << 30
SECONDS = "60"


def growth(small, large):
    """By how much n log n grows."""
    return large * math.log(large + 1) / (small * math.log(small + 1))


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, TESSERA_TIME_LIMIT=SECONDS),
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))


def lines(folder):
    """Lines of each dumped stage."""
    count = {}
    for name in os.listdir(folder):
        stage = name.split("-", 1)[1].removesuffix(".mlir")
        with open(os.path.join(folder, name), "rb") as file:
            count[stage] = sum(1 for _ in file)
    return count


class Net:
    def __init__(self, tessera, folder):
        self.tessera, self.folder, self.bad = tessera, folder, 0

    def complain(self, text):
        self.bad += 1
        print("growth: " + text)

    def make(self, family, size):
        path = os.path.join(self.folder, f"{family}-{size}" + (".mlir" if family.startswith(("graph", "maps", "wide")) else ".onnx"))
        inputs.FAMILIES[family](size, path)
        return path

    def count(self, family, size):
        """Lines after each stage."""
        source = self.make(family, size)
        program, dump = source + ".tsr", source + ".stages"
        run([self.tessera, "compile", source, "--dump-stages", dump, "-o", program])
        run([self.tessera, "install", program, "--dump-stages", dump, "--stop-after", "lower"])
        return lines(dump)

    def checkCounts(self, family, sizes):
        counts = {size: self.count(family, size) for size in sizes}
        for stage in STAGES:
            # Scheduled kernels for any extent have code for what is left of rows and columns.
            most = MOST[stage] * (2 if stage == "schedule" and family.endswith("-open") else 1)
            for size in sizes:
                each = counts[size].get(stage, 0) / size
                if each > most:
                    self.complain(f"'{family}' of {size}: expected at most {most} lines for each layer after the stage "
                                  f"'{stage}', but got {each:.0f}")
            for small, large in zip(sizes, sizes[1:]):
                got, allowed = counts[large].get(stage, 0) / max(1, counts[small].get(stage, 1)), growth(small, large)
                if got > allowed:
                    self.complain(f"'{family}' from {small} to {large}: expected the IR after the stage '{stage}' to grow by at most "
                                  f"{allowed:.1f}, but got {got:.1f}")
        text = ", ".join(f"{stage} {counts[sizes[-1]].get(stage, 0)}" for stage in STAGES)
        print(f"{family}: {sizes[-1]}: {text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera")
    parser.add_argument("families", nargs="*")
    args = parser.parse_args()
    unknown = [name for name in args.families if name not in inputs.FAMILIES]
    if unknown:
        parser.error(f"unknown family '{unknown[0]}'; expected one of " + ", ".join(inputs.FAMILIES))
    with tempfile.TemporaryDirectory() as folder:
        net = Net(args.tessera, folder)
        for family in args.families or inputs.FAMILIES:
            if family not in ("cpp", "launches"):
                net.checkCounts(family, LARGE.get(family, SIZES))
        return 1 if net.bad else 0


if __name__ == "__main__":
    sys.exit(main())
