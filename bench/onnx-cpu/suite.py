# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite onnx-cpu: eleven networks against ONNX Runtime, OpenVINO, IREE and TVM, batch 1 and 16, one and two threads.

Each engine has a process of its own (worker.py, in build/bench-venv), so that peak memory is its own and no thread pool meets another.
For each network, batch and number of threads all engines are loaded, their answers compared with ONNX Runtime's, and then asked for a
round in turn, starting with another engine each time; while one runs the others wait for their next command.

Rows: ours against each peer; peers of lower precision meet our build of that precision. `tessera-strict` and `tessera-without-X` are peers too: their ratio says what fast mode and each part of the
optimiser are worth. Rows carry the peak memory and the time to import + compile + install of both sides.
"""
import os
import subprocess
import sys
import time

import measure

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import environment
from process import Engine

MNIST, CIFAR, IMAGENET = (1, 28, 28), (3, 32, 32), (3, 224, 224)
NETS = {"fc4": MNIST, "lenet": MNIST, "alexnet": CIFAR, "alexnet2": CIFAR, "resnet18": CIFAR, "vgg16_half": CIFAR, "mobilenet": CIFAR,
        "mobilenet_shallow": CIFAR, "resnet18_224": IMAGENET, "resnet50_224": IMAGENET, "mobilenet_224": IMAGENET}
FIGURES = list(NETS)  # what the suite's figures are about; others are measured when they are named
NETS["mobilenet_sparse_224"] = IMAGENET
PEERS = ["onnxruntime", "openvino-f32", "openvino-bf16", "openvino-int8", "iree", "tvm"]
SLOW = ("iree", "tvm")  # Many times slower than the rest: batch 1 and one thread only.
# Our builds: install options. The first is what all peers are compared with.
BUILDS = {"tessera": [], "tessera-strict": ["--mode", "strict"], "tessera-without-fusion": ["--without", "fusion"],
          "tessera-without-layout": ["--without", "layout"], "tessera-without-memory-plan": ["--without", "memory-plan"],
          "tessera-portfolio": ["--portfolio"], "tessera-bf16": ["--knobs", "all=bf16"], "tessera-int8": ["--knobs", "all=int8"]}
# Peers of lower precision are compared with the build of theirs.
TWINS = {"openvino-bf16": "tessera-bf16", "openvino-int8": "tessera-int8"}
# How far an answer may be from ONNX Runtime's, relative to the largest number of its row.
TOLERANCE = {"openvino-bf16": 0.1, "openvino-int8": 1.0, "tessera-bf16": 0.1, "tessera-int8": 1.0}
ROUND_MS = 20


def add_options(parser):
    parser.add_argument("--nets", default="", help="networks, separated by commas; default: " + ", ".join(FIGURES) + "; beside them " +
                        ", ".join(net for net in NETS if net not in FIGURES))
    parser.add_argument("--peers", default="", help="peers, separated by commas; default: all that install of " + ", ".join(PEERS))
    parser.add_argument("--batches", default="1,16")
    parser.add_argument("--builds", default="", help="builds of ours beside the default, separated by commas; default: all; '-': none")
    parser.add_argument("--models", default=os.environ.get("TESSERA_MODELS", ""), help="folder of the 32x32 networks; default: $TESSERA_MODELS")
    parser.add_argument("--quick", action="store_true", help="few rounds, no slow peers, no builds beside the default")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: processor time of the process, for one thread on a machine that others use; never for the record")
    parser.add_argument("--keep", action="store_true", help="take programs from the last run instead of making them again")
    parser.add_argument("--peers-only", action="store_true", help="the peers' times alone; nothing of ours is compiled")


class Run:
    """One run of the suite: what was asked for, where files go, what failed."""

    def __init__(self, options):
        self.options = options
        self.failures = []
        self.work = os.path.join(options.build, "bench", "onnx")
        os.makedirs(self.work, exist_ok=True)
        self.python = environment.python()
        self.nets = measure.words(options.nets, NETS) if options.nets else FIGURES
        if options.only:
            self.nets = [net for net in self.nets if options.only in net]
        self.peers = measure.words(options.peers, PEERS)
        self.builds = [] if options.builds == "-" else measure.words(options.builds, list(BUILDS)[1:])
        self.seconds = 3.0
        if options.quick:
            self.peers = [p for p in self.peers if p not in SLOW or options.peers]
            self.builds = self.builds if options.builds else []
            self.seconds = 0.6
        self.files = {}      # (engine, net, batch) → file, or None when it could not be made
        self.setup = {}      # the same → seconds that making it took

    def fail(self, text):
        if text not in self.failures:
            print(f"not measured: {text}", file=sys.stderr)
            self.failures.append(text)

    def model(self, net):
        """The ONNX file of a network, or None."""
        if NETS[net] == IMAGENET:
            path = os.path.join(self.work, net + ".onnx")
            if not os.path.exists(path):
                subprocess.run([self.python, os.path.join(HERE, "networks.py"), self.work, net], check=True)
            return path
        path = os.path.join(self.options.models, net + ".onnx")
        if os.path.exists(path):
            return path
        kept = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "models", net + ".onnx")
        if os.path.exists(kept):
            return kept
        self.fail(f"{net}: '{path}' is not there; give --models or set TESSERA_MODELS")
        return None

    def make(self, engine, net, batch, model):
        """The file that `engine` loads."""
        if engine.startswith("tessera"):
            return self.make_ours(engine, net, model)
        kind = {"openvino-int8": "int8", "iree": "iree"}.get(engine)
        if not kind:
            return model
        target = os.path.join(self.work, f"{net}-int8.xml" if kind == "int8" else f"{net}-{batch}.vmfb")
        key = (engine, net, batch if kind == "iree" else 0)
        if key not in self.files and self.options.keep and os.path.exists(target):
            self.files[key], self.setup[key] = target, 0.0
        if key not in self.files:
            begin = time.perf_counter()
            more = {"batch": batch} if kind == "iree" else {"shape": NETS[net], "count": 16}
            worker = Engine(self.python, self.options.build, timeout=900)
            answer = worker.ask(do="prepare", kind=kind, model=model, target=target, **more)
            worker.close()
            if "failed" in answer:
                self.fail(f"{engine} {net}: {answer['failed']}")
            self.files[key] = None if "failed" in answer else target
            self.setup[key] = time.perf_counter() - begin
        return self.files[key]

    def make_ours(self, build, net, model):
        key = (build, net, 0)
        if key in self.files:
            return self.files[key]
        tessera = os.path.join(self.options.build, "bin", "tessera")
        portable, installed = (os.path.join(self.work, f"{net}-{build}{suffix}") for suffix in (".tsr", ".tsx"))
        begin = time.perf_counter()
        self.files[key] = installed
        if self.options.keep and os.path.exists(installed):
            self.setup[key] = 0.0
            return installed
        commands = [[tessera, "compile", model, "-o", portable], [tessera, "install", portable, "-o", installed, *BUILDS[build]]]
        if build == "tessera-int8":
            commands.insert(1, [tessera, "calibrate", portable, "--data", self.noise(net), "--samples", "16"])
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                first = (done.stderr.strip().splitlines() or ["no message"])[0]
                self.fail(f"{build} {net}: 'tessera {command[1]}' failed: {first}")
                self.files[key] = None
                break
        self.setup[key] = time.perf_counter() - begin
        return self.files[key]

    def noise(self, net):
        """What NNCF calibrates with, too (engines.prepare_int8)."""
        path = os.path.join(self.work, "noise-" + "x".join(map(str, NETS[net])) + ".npz")
        if not os.path.exists(path):
            text = ("import numpy, sys; x = numpy.random.default_rng(1).random((16, *map(int, sys.argv[2:])), dtype=numpy.float32); "
                    "numpy.savez(sys.argv[1], x=x, y=numpy.zeros(16, numpy.int64))")
            subprocess.run([self.python, "-c", text, path, *map(str, NETS[net])], check=True)
        return path

    def engines(self, batch, threads):
        """Who takes part; ONNX Runtime first, its answer is what the others are compared with."""
        names = ["onnxruntime"] + [p for p in self.peers if p != "onnxruntime" and (p not in SLOW or (batch == 1 and threads == 1))]
        if self.options.peers_only:
            return names
        return names + ["tessera"] + [b for b in self.builds if threads == 1 or b in TWINS.values()]

    def load(self, net, batch, threads, model):
        """Workers that are loaded and gave the right answer."""
        loaded = {}
        answer_file = os.path.join(self.work, f"answer-{os.getpid()}.npy")
        for name in self.engines(batch, threads):
            where = f"{name} {net} batch {batch} threads {threads}"
            path = self.make(name, net, batch, model)
            if not path:
                continue
            worker = Engine(self.python, self.options.build, threads=threads)
            kind = "tessera" if name.startswith("tessera") else name
            answer = worker.ask(do="load", engine=kind, model=path, batch=batch, threads=threads, shape=NETS[net])
            if "failed" not in answer:
                worker.setup = answer["seconds"] + self.setup.get((name, net, batch if name == "iree" else 0), 0)
                answer = worker.ask(**{"do": "check", "with": answer_file})
            bound = TOLERANCE.get(name, 1e-3)
            if "failed" in answer or not answer["error"] <= bound:
                self.fail(f"{where}: " + (answer.get("failed") or f"wrong by {answer['error']:.2g} of the largest, expected at most {bound:g}"))
                worker.close()
                continue
            loaded[name] = worker
        if os.path.exists(answer_file):
            os.unlink(answer_file)
        return loaded

    def measure(self, loaded):
        """Rounds in turn. Gives each worker its list of times a round (medians) and its best."""
        names = list(loaded)
        for worker in loaded.values():
            first = worker.ask(do="round", ms=0, least=2, most=2, clock=self.options.clock).get("times")
            worker.once = min(first) if first else 1e9
        slowest = max((w.once for n, w in loaded.items() if n not in SLOW), default=1)
        rounds = int(max(5, min(self.options.rounds, self.seconds * 1e3 / max(ROUND_MS, 2 * slowest))))
        for r in range(rounds):
            for i in range(len(names)):
                worker = loaded[names[(r + i) % len(names)]]
                if worker.dead or (worker.once > 4 * slowest and r >= 5):
                    continue
                slow = worker.once > 2 * ROUND_MS
                answer = worker.ask(do="round", ms=ROUND_MS, least=1 if slow else 3, most=1000, warm=not slow,
                                    clock=self.options.clock)
                times = answer.get("times")
                if not times:
                    self.fail(f"{names[(r + i) % len(names)]}: {answer['failed']}")
                    worker.dead = True
                    continue
                worker.rounds.append(measure.median(times))
                worker.best = min(worker.best, *times)
        for worker in loaded.values():
            worker.memory = worker.ask(do="memory")


def describe(report, name, worker):
    """What a row says of one side beside its times."""
    memory = worker.memory
    report["more"].update({f"{name}_best_ms": worker.best, f"{name}_setup_s": round(worker.setup, 3)})
    if "failed" not in memory:
        report["more"].update({f"{name}_running_mb": round(memory["running_mb"], 1), f"{name}_peak_mb": round(memory["whole_mb"], 1)})


def reports(options):
    why = environment.make()
    if why:
        return [], [why]
    if options.clock == "cpu" and options.threads != [1]:
        sys.exit("error: --clock cpu needs --threads 1: the processor time of several threads says little about how long they took")
    run = Run(options)
    found, alone = [], []
    for net in run.nets:
        model = run.model(net)
        if not model:
            continue
        for batch in map(int, options.batches.split(",")):
            for threads in options.threads:
                config = f"batch {batch}, {threads} thread{'s' if threads > 1 else ''}"
                if options.clock == "cpu":
                    config += ", processor time"
                print(f"{net}, {config} …", file=sys.stderr)
                loaded = run.load(net, batch, threads, model)
                run.measure(loaded)
                for name, worker in loaded.items():
                    ours = loaded.get(TWINS.get(name, "tessera"))
                    if worker.dead or not worker.rounds:
                        continue
                    if options.peers_only:
                        alone.append({"suite": "onnx-cpu", "case": net, "config": config, "peer": name, "peer_ms": worker.best,
                                      "peer_median_ms": measure.median(worker.rounds), "setup_s": worker.setup, **worker.memory})
                    elif ours and worker is not ours and not ours.dead and ours.rounds:
                        twin = TWINS.get(name, "").removeprefix("tessera-")
                        report = {"case": net, "config": config + (", " + twin if twin else ""), "peer": name, "ours": ours.rounds, "peer_times": worker.rounds,
                                  "ours_best": ours.best, "peer_best": worker.best, "more": {"batch": batch, "threads": threads}}
                        describe(report, "ours", ours)
                        describe(report, "peer", worker)
                        found.append(report)
                for worker in loaded.values():
                    worker.close()
    if options.peers_only:
        print_peers(alone, run.peers)
        if options.json:
            measure.write_json(options.json, alone)
        sys.exit(1 if run.failures else 0)
    return found, run.failures


def print_peers(rows, peers):
    """Best ms of each peer, a line for each case."""
    table = {}
    for r in rows:
        table.setdefault((r["case"], r["config"]), {})[r["peer"]] = r
    print("| network | config | " + " | ".join(peers) + " | MB: " + " / ".join(peers[:2]) + " |")
    print("|---|---|" + "--:|" * (len(peers) + 1))
    for (case, config), cells in table.items():
        times = [f"{cells[p]['peer_ms']:.4g}" if p in cells else "–" for p in peers]
        memory = [f"{cells[p].get('running_mb', 0):.0f}" if p in cells else "–" for p in peers[:2]]
        print(f"| {case} | {config} | " + " | ".join(times) + " | " + " / ".join(memory) + " |")


def summary(rows, out=sys.stdout):
    """What the figures of the suite are about: the better of ONNX Runtime and OpenVINO f32, memory, time to install."""
    best, against = {}, ("onnxruntime", "openvino-f32")
    for r in rows:
        if r["peer"] in against:
            key = (r["case"], r["config"])
            if key not in best or r["peer_ms"] < best[key]["peer_ms"]:
                best[key] = r
    if not best:
        return
    ratios = [r["ratio"] for r in best.values()]
    behind = [f"{r['case']} ({r['config']}) {r['ratio']:.2f}" for r in best.values() if r["ratio"] < 0.95]
    print(f"\nagainst the better of {' and '.join(against)}: geometric mean {measure.geometric_mean(ratios):.3f} over {len(ratios)}, "
          f"worst {min(ratios):.2f}, {len(ratios) - len(behind)} of {len(ratios)} at 0.95 or more", file=out)
    if behind:
        print("behind: " + "; ".join(behind), file=out)
    for twin in sorted(set(TWINS)):
        low = [r["ratio"] for r in rows if r["peer"] == twin]
        if low:
            print(f"{TWINS[twin]} against {twin}: geometric mean {measure.geometric_mean(low):.3f} over {len(low)}, worst {min(low):.2f}", file=out)
    print("\nnetwork, config: peak MB while running, ours / ONNX Runtime; seconds to import + compile + install, ours / ONNX Runtime", file=out)
    for r in rows:
        if r["peer"] == "onnxruntime" and "ours_running_mb" in r:
            print(f"  {r['case']}, {r['config']}: {r['ours_running_mb']:.0f} / {r['peer_running_mb']:.0f} MB; "
                  f"{r['ours_setup_s']:.2f} / {r['peer_setup_s']:.2f} s", file=out)
