# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite approx: what one, two or three points of accuracy buy, for eight networks at batch 16, and for two more apart from them.

Each network is tuned once on the first half of its test images (`tessera tune`), installed (`tessera install --loss`) and evaluated for each bound on
the second half, which tuning never saw. What an earlier run tuned is taken, and what it left unfinished is gone on with, unless --again is given. Rows:
the installed configuration against our own f32 build in strict mode (`tessera-f32`), our own best plain conversion (`tessera-plain`, the same precision
for all layers that have it) and the better of OpenVINO's plain conversions (`openvino-best`: bf16, NNCF int8), all measured in turns. Rows carry `loss`,
the bound; `measured_loss`, paired, on the held-back images; the energy of a batch; and what `tessera verify` says of all shipped configurations' claims there.
"""
import os
import subprocess
import sys

import claims
import measure

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "onnx-cpu")]
import environment
from process import Engine
import curve

NETS = {"fc4": "mnist", "lenet": "mnist", "alexnet": "cifar10", "alexnet2": "cifar10", "vgg16_half": "cifar10", "resnet18": "cifar10",
        "mobilenet": "cifar10", "mobilenet_shallow": "cifar10"}
# Tuned too, but not among those that means are taken of.
MORE = {"resnet20": "cifar10", "lstm": "mnist"}
DATA = {**NETS, **MORE}
NORMALISE = {"resnet20": ["--normalise", "imagenet"]}
SHAPES = {"mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
PLAIN = ("int8", "int7", "bf16")
OPENVINO = ("openvino-bf16", "openvino-int8")
# Samples for the search. More make predictions better; resnet18 has ten minutes.
IMAGES, FEWER = 768, {"resnet18": 256}
BATCH, ROUND_MS = 16, 20


def add_options(parser):
    parser.add_argument("--nets", default="", help="networks, separated by commas; default: all of " + ", ".join(DATA))
    parser.add_argument("--models", default=os.environ.get("TESSERA_MODELS", ""), help="folder of the networks; default: $TESSERA_MODELS")
    parser.add_argument("--data", default=os.environ.get("TESSERA_DATA", ""), help="folder of mnist and cifar10; default: $TESSERA_DATA")
    parser.add_argument("--losses", default="1,2,3")
    parser.add_argument("--images", type=int, default=0, help=f"samples for the search; default: {IMAGES}, but " + ", ".join(f"{n} for {net}" for net, n in FEWER.items()))
    parser.add_argument("--half", type=int, default=5000, help="samples to tune with; as many after them test")
    parser.add_argument("--peers", default="", help="conversions of OpenVINO, default: " + ", ".join(OPENVINO) + "; '-': none")
    parser.add_argument("--again", action="store_true", help="tune anew what an earlier run tuned")
    parser.add_argument("--cpu", default="", help="tune and install for this CPU of LLVM's instead of the machine's own, e.g. haswell for AVX2 alone; no peers")


def newer(path, than):
    return os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(than)


class Run:
    def __init__(self, options):
        self.options, self.failures, self.rows = options, [], []
        self.work = os.path.join(options.build, "bench", "approx")
        os.makedirs(self.work, exist_ok=True)
        self.tessera = os.path.join(options.build, "bin", "tessera")
        self.python = environment.python()
        self.nets = measure.words(options.nets, DATA)
        self.peers = [] if options.peers == "-" or options.cpu else measure.words(options.peers, OPENVINO)

    def call(self, *words):
        # Installation chooses by times, so it measures with as many threads as the rows do.
        env = {**os.environ, "TESSERA_THREADS": str(max(self.options.threads))}
        done = subprocess.run([self.tessera, *words], capture_output=True, text=True, env=env)
        if done.returncode:
            raise RuntimeError(f"'tessera {' '.join(words[:2])}': " + (done.stderr.strip().splitlines() or ["no message"])[-1])
        return done.stdout

    def path(self, net, name):
        return os.path.join(self.work, f"{net}-{name}")

    def model(self, net):
        for folder in (self.options.models, os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "models")):
            path = os.path.join(folder, net + ".onnx")
            if os.path.exists(path):
                return path
        raise RuntimeError(f"'{net}.onnx' is not there; give --models or set TESSERA_MODELS")

    def tune(self, net, model, kind="tuned", words=()):
        """The tuned portable object."""
        cpu = self.options.cpu
        if cpu:
            kind, words = f"{kind}-{cpu}", (*words, "--cpu", cpu)
        portable, tuned = self.path(net, "plain.tsr"), self.path(net, kind + ".tsr")
        if self.options.again or not newer(tuned, model):
            self.call("compile", model, "-o", portable)
            self.call("tune", portable, "-o", tuned, "--data", self.data(net), "--limit", str(self.options.half), "--images", str(self.options.images or FEWER.get(net, IMAGES)),
                      "--batch", str(BATCH), *NORMALISE.get(net, []), *words)
        return tuned

    def install(self, target, tuned, *words):
        """Installs unless it was done by this compiler before."""
        if self.options.cpu:
            root, end = os.path.splitext(target)
            target, words = f"{root}-{self.options.cpu}{end}", (*words, "--cpu", self.options.cpu)
        if not newer(target, tuned) or not newer(target, self.tessera + "-compiler"):
            self.call("install", tuned, "-o", target, *words)
        return target

    def data(self, net):
        return f"{DATA[net]}:{os.path.join(self.options.data, DATA[net])}"

    def held_back(self, net, installed):
        """What `tessera verify` finds of all configurations on images that tuning never saw."""
        return claims.verify(self.tessera, installed, max(self.options.threads), "--data", self.data(net), "--skip", str(self.options.half),
                             "--limit", str(self.options.half), *NORMALISE.get(net, []))

    def plain(self, net, tuned):
        """Our own plain conversions, from the ranges that tuning found."""
        files = {}
        for precision in PLAIN:
            try:
                files[f"plain-{precision}"] = self.install(self.path(net, f"plain-{precision}.tsx"), tuned, "--knobs", f"all={precision}")
            except RuntimeError as error:
                self.failures.append(f"tessera-plain {net}: {error}")
        return files

    def load(self, net, engine, path, threads):
        worker = Engine(self.python, self.options.build, threads=threads)
        answer = worker.ask(do="load", engine=engine, model=path, batch=BATCH, threads=threads, shape=SHAPES[DATA[net]])
        if "failed" in answer:
            self.failures.append(f"{engine} {net}: {answer['failed']}")
            worker.close()
            return None
        return worker

    def openvino(self, net, engine, model):
        """What OpenVINO loads for one of its conversions."""
        if engine != "openvino-int8":
            return model
        target = self.path(net, "int8.xml")
        if not newer(target, model):
            worker = Engine(self.python, self.options.build, timeout=900)
            answer = worker.ask(do="prepare", kind="int8", model=model, target=target, shape=SHAPES[DATA[net]], count=16)
            worker.close()
            if "failed" in answer:
                self.failures.append(f"{engine} {net}: {answer['failed']}")
                return None
        return target

    def rounds(self, workers):
        names = list(workers)
        for r in range(self.options.rounds):
            for i in range(len(names)):
                worker = workers[names[(r + i) % len(names)]]
                times = worker.ask(do="round", ms=ROUND_MS, least=3, most=1000, warm=True, clock="wall").get("times")
                if times:
                    worker.rounds.append(measure.median(times))
                    worker.best = min(worker.best, *times)

    def network(self, net, threads):
        model = self.model(net)
        tuned = self.tune(net, model)
        losses = self.options.losses.split(",")
        files, given = {}, {}
        files["tessera-f32"] = self.install(self.path(net, "f32.tsx"), tuned, "--mode", "strict")
        # What is within a smaller bound is the beginning of the same list.
        most = max(losses, key=float)
        installed = self.install(self.path(net, f"loss-{most}.tsx"), tuned, "--loss", most)
        found = curve.read(self.tessera, installed)
        for loss in losses:
            configuration = curve.chosen(found, float(loss))["name"]
            given[loss] = configuration
            files[configuration] = installed + "#" + (found["network"] + "@" + configuration if configuration != "baseline" else found["network"])
        verified = self.held_back(net, installed)
        files.update(self.plain(net, tuned))
        workers = {name: self.load(net, "tessera", path, threads) for name, path in files.items()}
        for engine in self.peers:
            path = self.openvino(net, engine, model)
            workers[engine] = path and self.load(net, engine, path, threads)
        workers = {name: worker for name, worker in workers.items() if worker}
        self.rounds(workers)
        best = lambda prefix: min((w for n, w in workers.items() if n.startswith(prefix) and w.rounds), key=lambda w: w.best, default=None)
        peers = {"tessera-f32": workers.get("tessera-f32"), "tessera-plain": best("plain-"), "openvino-best": best("openvino-")}
        config = f"batch {BATCH}, {threads} threads" + (f", {self.options.cpu}" if self.options.cpu else "")
        for loss in losses:
            ours, answer = workers.get(given[loss]), verified[given[loss]]
            for peer, other in peers.items():
                if not ours or not other or not ours.rounds or not other.rounds:
                    continue
                self.rows.append({"case": f"{net} loss {loss}", "config": config, "peer": peer, "ours": ours.rounds,
                                  "peer_times": other.rounds, "ours_best": ours.best, "peer_best": other.best,
                                  "more": {"loss": float(loss), "measured_loss": answer["loss"]["found"]["value"], "loss_hi": answer["loss"]["found"]["hi"],
                                           "quality": answer["quality"]["found"]["value"], "configuration": given[loss],
                                           "tune_s": sum(found["tuning"][part] for part in ("profile_s", "search_s", "validate_s")),
                                           "search_s": found["tuning"]["search_s"], "prediction_error": found["tuning"]["prediction_error"],
                                           "energy_j": answer["energy"]["found"]["value"], "energy_source": answer["energy_source"], **claims.verdicts(verified)}})
        for worker in workers.values():
            worker.close()


def reports(options):
    run = Run(options)
    for net in run.nets:
        if options.only and options.only not in net:
            continue
        try:
            run.network(net, max(options.threads))
        except RuntimeError as error:
            run.failures.append(f"{net}: {error}")
            print(f"not measured: {net}: {error}", file=sys.stderr)
    return run.rows, run.failures


def summary(rows):
    rows = [r for r in rows if r["case"].split()[0] in NETS]
    for loss in sorted({r["loss"] for r in rows}):
        own = [r for r in rows if r["loss"] == loss]
        for peer in dict.fromkeys(r["peer"] for r in own):
            ratios = [r["ratio"] for r in own if r["peer"] == peer]
            print(f"at most {loss:g} points, over {peer}: {measure.geometric_mean(ratios):.2f} over {len(ratios)} networks")
        broken = [r["case"] for r in own if r["peer"] == "tessera-f32" and r["measured_loss"] > loss]
        print(f"at most {loss:g} points: {len(broken)} bounds broken on held-back images" + (": " + ", ".join(broken) if broken else ""))
    claims.summary(rows)
    print("CIFAR-100 and ImageNet networks of ApproxTuner's table: no data at hand")
