#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What would the analog accelerator PROMISE give to chains of image filters (examples/filters) at 30 and 20 dB, beside this CPU in f32?

    bench/approx/promise_images.py [--chains geo,gsm] [--pictures DIR] [--bounds 30,20] [--threads 2] [--json F]

Each chain is written as a network of convolutions of one channel, since those have the knobs `promise:1` to `promise:7`; it answers as the chain does, which is checked.
`tessera tune` judges networks by labels only, so the search is done here: each level of each filter by itself on tiles of photographs, noise power added up for the
rest, and from the least energy on what is predicted to come near the bound is run on the tiles until one configuration is within it. Rows carry `psnr_tiles` and
`psnr`, that of a photograph the search never saw.

The model of the accelerator is that of promise.py: a filter is a product of one row, its weights, by as many columns as there are pixels. Filters that stay exact
stay on the CPU: neighbouring ones as one program, whose time is measured on the same photograph.
"""
import argparse
import array
import importlib.util
import itertools
import json
import math
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import promise

specification = importlib.util.spec_from_file_location("pipelines", os.path.join(os.path.dirname(HERE), "pipelines", "suite.py"))
pipelines = importlib.util.module_from_spec(specification)
specification.loader.exec_module(pipelines)

BINOMIAL = (1, 4, 6, 4, 1)
# letter: name, weights, whether results are clamped to 0 and 1; as in examples/filters/filters.mlir
FILTERS = {
    "g": ("gaussian", [[a * b / 256 for b in BINOMIAL] for a in BINOMIAL], False),
    "m": ("motion", [[1 / 9 if i == j else 0 for j in range(9)] for i in range(9)], False),
    "s": ("sharpen", [[0, -1, 0], [-1, 5, -1], [0, -1, 0]], True),
    "o": ("outline", [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]], True),
    "e": ("emboss", [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], True),
}
CHAINS = ("geo", "gemo", "gsm", "gsme", "gsmo")
PICTURE = "tensor<?x1x?x?xf32>"
SLACK, TRIES = 1.0, 60  # dB below the bound that a prediction may be; configurations that are run for a bound


def network(chain):
    """The chain as a network: a border of the nearest pixels, a convolution, a clamp."""
    text, last = "", "a"
    for letter in chain:
        name, weights, clamps = FILTERS[letter]
        size = len(weights)
        window, border = f"tensor<1x1x{size}x{size}xf32>", f"array<i64: 0, 0, {size // 2}, {size // 2}>"
        numbers = ", ".join("[" + ", ".join(f"{w:.9e}" for w in row) + "]" for row in weights)
        attributes = (f'nn.name = "{name}", nn.range = array<f32: 0.0, 1.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, '
                      "dilations = array<i64: 1, 1>")
        text += f"""    %{letter}w = arith.constant dense<[[[{numbers}]]]> : {window}
    %{letter}p = nn.pad edge %{last} {{lows = {border}, highs = {border}}} : ({PICTURE}) -> {PICTURE}
    %{letter}c = nn.conv %{letter}p, %{letter}w {{{attributes}}} : ({PICTURE}, {window}) -> {PICTURE}
"""
        last = letter + "c"
        if clamps:
            text += f"    %{letter}r = nn.activation clip %{last} {{alpha = 0.0 : f64, beta = 1.0 : f64}} : {PICTURE} -> {PICTURE}\n"
            last = letter + "r"
    return f"""dfg.graph @{chain}(%image: {PICTURE}) -> (filtered: {PICTURE}) {{
  %y = dfg.node @net (%a = %image : {PICTURE}) -> {PICTURE} {{
{text}    dfg.yield %{last} : {PICTURE}
  }}
  dfg.return %y : {PICTURE}
}}
"""


def parts(chain):
    """Neighbouring filters of a chain, as words."""
    return {chain[i:j] for i in range(len(chain)) for j in range(i + 1, len(chain) + 1)}


def cpu_programs(words):
    """A graph for each word that calls the filters of examples/filters one after the other."""
    picture, text = "tensor<?x?xf32>", ""
    for word in words:
        text += f"dfg.graph @{word}(%image: {picture}) -> (filtered: {picture}) {{\n"
        last = "image"
        for letter in word:
            text += f"  %{letter} = dfg.call @{FILTERS[letter][0]}(%{last}) : ({picture}) -> {picture}\n"
            last = letter
        text += f"  dfg.return %{last} : {picture}\n}}\n"
    return text


def write_npy(path, pictures, rank):
    """Pictures of one size, of rank 4 with one channel or one alone of rank 2."""
    height, width = len(pictures[0]), len(pictures[0][0])
    shape = f"({len(pictures)}, 1, {height}, {width})" if rank == 4 else f"({height}, {width})"
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for picture in pictures:
            for row in picture:
                array.array("f", row).tofile(file)


class Images:
    def __init__(self, options):
        self.options = options
        self.work = os.path.join(options.build, "bench", "approx", "images")
        self.tessera = os.path.join(options.build, "bin", "tessera")
        os.makedirs(self.work, exist_ok=True)
        self.cpu, self.energy_source = {"": (0.0, 0.0)}, ""
        self.prepare()

    def path(self, name):
        return os.path.join(self.work, name)

    def call(self, *words):
        return pipelines.call(self.tessera, *words, threads=self.options.threads)

    def prepare(self):
        """Tiles to search on and the photograph to test with, made once; programs of the CPU."""
        self.tiles, self.photograph, self.plain = self.path("tiles.npy"), self.path("photograph.npy"), self.path("plain.npy")
        size = pipelines.TILE
        if not os.path.exists(self.plain):
            tiles = []
            for name in pipelines.TUNE_ON:
                rows = pipelines.read_picture(self.options, name)
                tiles += [[row[x:x + size] for row in rows[y:y + size]]
                          for y in range(0, len(rows) - size + 1, size) for x in range(0, len(rows[0]) - size + 1, size)]
            write_npy(self.tiles, tiles, 4)
            test = pipelines.read_picture(self.options, pipelines.TEST_ON)
            write_npy(self.photograph, [test], 4)
            write_npy(self.plain, [test], 2)
        with open(self.plain, "rb") as file:
            self.height, self.width = json.loads("[" + file.read(128).split(b"(")[1].split(b")")[0].decode() + "]")
        with open(os.path.join(pipelines.ROOT, "examples", "filters", "filters.mlir"), encoding="utf-8") as file:
            filters = file.read()
        filters = filters[:filters.index("dfg.graph @")]
        with open(self.path("cpu.mlir"), "w", encoding="utf-8") as file:
            file.write(filters + cpu_programs(sorted(set().union(*map(parts, CHAINS)))))
        self.call("compile", self.path("cpu.mlir"), "-o", self.path("cpu.tsr"))
        self.call("install", self.path("cpu.tsr"), "-o", self.path("cpu.tsx"))

    def on_cpu(self, word):
        """Seconds and joules of neighbouring filters on the photograph."""
        if word not in self.cpu:
            words = ("compare", self.path("cpu.tsx"), self.path("cpu.tsx"), "--program", word, "--input", "image=" + self.plain, "--metric", "psnr",
                     "--seconds", "0.5", "--threads", str(self.options.threads), "--json")
            # Medians; the best of some, which other load on the machine disturbs least.
            found = min((json.loads(self.call(*words)) for _ in range(5)), key=lambda f: f["ms"])
            self.cpu[word], self.energy_source = (found["ms"] / 1e3, found["joules"]), found["energy_source"]
        return self.cpu[word]

    def cost(self, chain, levels):
        """Seconds and joules for the photograph; level 0 is the CPU."""
        pixels, seconds, joules, word = self.height * self.width, 0.0, 0.0, ""
        for letter, level in zip(chain, levels):
            if not level:
                word += letter
                continue
            for part in (self.on_cpu(word), promise.product(1, len(FILTERS[letter][1]) ** 2, pixels, level, pixels)):
                seconds, joules = seconds + part[0], joules + part[1]
            word = ""
        part = self.on_cpu(word)
        return seconds + part[0], joules + part[1]

    def psnr(self, chain, levels, picture):
        """Of a configuration against the exact network."""
        installed = self.path(f"{chain}-{''.join(map(str, levels))}.tsx")
        if not os.path.exists(installed) or os.path.getmtime(installed) < os.path.getmtime(self.tessera + "-compiler"):
            knobs = ",".join(f"{FILTERS[letter][0]}=promise:{level}" for letter, level in zip(chain, levels) if level)
            self.call("install", self.path(chain + ".tsr"), "-o", installed, *(["--knobs", knobs] if knobs else []))
        found = json.loads(self.call("compare", self.path(chain + "-exact.tsx"), installed, "--input", "image=" + picture, "--metric", "psnr",
                                     "--seconds", "0", "--json"))
        return float(found["metrics"]["psnr"])

    def check(self, chain):
        """The network computes what the chain of examples/filters does, but for rounding."""
        answers = []
        for name, picture, program in ((chain + "-exact.tsx", self.photograph, []), ("cpu.tsx", self.plain, ["--program", chain])):
            self.call("run", self.path(name), *program, "--input", "image=" + picture, "--output", "filtered=" + self.path("answer.npy"))
            with open(self.path("answer.npy"), "rb") as file:
                data = file.read()
            answers.append(array.array("f", data[10 + int.from_bytes(data[8:10], "little"):]))
        worst = max(map(abs, map(float.__sub__, *answers)))
        if worst > 1e-4:
            raise RuntimeError(f"'{chain}': the network is off by {worst:.2g}")

    def rows(self, chain):
        with open(self.path(chain + ".mlir"), "w", encoding="utf-8") as file:
            file.write(network(chain))
        self.call("compile", self.path(chain + ".mlir"), "-o", self.path(chain + ".tsr"))
        self.call("install", self.path(chain + ".tsr"), "-o", self.path(chain + "-exact.tsx"), "--mode", "strict")
        self.check(chain)
        noise, tried = {}, {}
        for i, level in itertools.product(range(len(chain)), promise.JOULES):
            levels = tuple(level if i == j else 0 for j in range(len(chain)))
            tried[levels] = self.psnr(chain, levels, self.tiles)
            noise[i, level] = 10 ** (-tried[levels] / 10)
        exact = (0,) * len(chain)
        everything = {levels: self.cost(chain, levels) for levels in itertools.product((0, *promise.JOULES), repeat=len(chain))}
        predicted = {levels: -10 * math.log10(sum(noise[i, level] for i, level in enumerate(levels) if level)) for levels in everything if levels != exact}
        found = []
        for bound in map(float, self.options.bounds.split(",")):
            chosen, tries = exact, 0
            for levels in sorted(predicted, key=lambda l: everything[l][1]):
                if everything[levels][1] >= everything[exact][1] or tries == TRIES:
                    break
                if predicted[levels] < bound - SLACK:
                    continue
                if levels not in tried:
                    tries += 1
                    tried[levels] = self.psnr(chain, levels, self.tiles)
                if tried[levels] >= bound:
                    chosen = levels
                    break
            cpu, own = everything[exact], everything[chosen]
            row = {"suite": "promise", "case": f"{chain} psnr {bound:g}", "config": f"{self.width}x{self.height}, {self.options.threads} threads",
                   "peer": "tessera-exact", "speed": cpu[0] / own[0], "energy": cpu[1] / own[1], "source": "modelled", "cpu_energy_source": self.energy_source,
                   "cpu_ms": 1e3 * cpu[0], "cpu_energy_j": cpu[1], "psnr_bound": bound, "psnr_tiles": tried.get(chosen),
                   "psnr": self.psnr(chain, chosen, self.photograph) if any(chosen) else None,
                   "knobs": {FILTERS[letter][0]: f"promise:{level}" for letter, level in zip(chain, chosen) if level}, "tries": tries}
            found.append(row)
            print(f"{chain}, at least {bound:g} dB: {row['speed']:.2f} times the speed, {row['energy']:.2f} times less energy (modelled); {row['knobs'] or 'all exact'}, "
                  + (f"{row['psnr']:.1f} dB on the photograph" if row["psnr"] is not None else "no noise"), flush=True)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pipelines.add_options(parser)
    parser.add_argument("--chains", default=",".join(CHAINS))
    parser.add_argument("--bounds", default="30,20", help="PSNR in dB")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--build", default=os.path.join(pipelines.ROOT, "build", "default"))
    parser.add_argument("--json", help="record the rows in this file; those of other cases stay")
    options = parser.parse_args()
    images, rows = Images(options), []
    for chain in options.chains.split(","):
        rows += images.rows(chain)
    promise.conclude(rows, "psnr_bound", "at least {:g} dB", "chains", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
