# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a seed to a verdict: make the network and its launches, ask ONNX Runtime, run ours, compare."""
import json
import os
import pickle
import shutil
import subprocess
import sys
import traceback

import numpy as np
from onnx import numpy_helper

import families
import found
import judge
import limits
import net as nets

BATCH = 20
launches_judged = errors_judged = 0


class Case:
    """A model, what each launch is fed with, and what ONNX Runtime says of each."""

    def __init__(self, seed, model, launches, expected, mode="fast", threads=1, bind=()):
        self.seed, self.model, self.launches, self.expected = seed, model, launches, expected
        self.mode, self.threads, self.bind = mode, threads, list(bind)
        self.outcome = self.failure = self.reason = None

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "model.onnx"), "wb") as f:
            f.write(self.model.SerializeToString())
        with open(os.path.join(folder, "case.json"), "w") as f:
            json.dump({"mode": self.mode, "threads": self.threads, "launches": len(self.launches), "bind": self.bind}, f)
        for i, name in enumerate(sorted(self.bind)):
            with open(os.path.join(folder, f"bind{i}.pb"), "wb") as f:
                f.write(numpy_helper.from_array(self.launches[0][name], name).SerializeToString())
        names = [i.name for i in self.model.graph.input]
        for i, feeds in enumerate(self.launches):
            np.savez(os.path.join(folder, f"in{i}.npz"), **{str(k): feeds[name] for k, name in enumerate(names)})


def make(seed, given):
    """The case of a seed, or None where ONNX Runtime refuses the whole model."""
    net = nets.Net(seed)
    wanted = net.pick([1, 2, 3, 4, 5, 6, 8], [18, 18, 18, 16, 14, 10, 6])
    for _ in range(12 * wanted):
        if len(net.nodes) >= wanted:
            break
        net.attempt(families.choose(net, given.family, given.op))
    if not net.nodes:
        return None
    model = net.model()
    names = [i.name for i in model.graph.input]
    by_name = {v.name: v for v in net.inputs}
    launches = [{n: by_name[n].arrays[i] for n in names} for i in range(net.launches)]
    launches += damaged(net, names, by_name)
    expected = judge.run_model(model, launches)
    if isinstance(expected, str):
        return None
    case = Case(seed, model, launches, expected, "strict" if net.chance(0.2) else "fast", net.pick([1, 2]))
    case.outputs = [o.name for o in model.graph.output]
    return case


def damaged(net, names, by_name):
    """Launches with an extent or an index that nothing promised to fit."""
    launches = []
    for _ in range(2):
        base = net.rng.randrange(net.launches)
        feeds = {n: by_name[n].arrays[base] for n in names}
        indices = [n for n in names if getattr(by_name[n], "index", None)]
        if indices and net.chance(0.5):
            name = net.pick(indices)
            array = feeds[name].copy()
            if not array.size:
                continue
            array.reshape(-1)[net.rng.randrange(array.size)] = net.pick(by_name[name].index(base))
            feeds[name] = array
        else:
            open_dims = [(n, d) for n in names for d, word in enumerate(net.declared[n]) if not isinstance(word, int)]
            if not open_dims:
                break
            name, d = net.pick(open_dims)
            old = by_name[name].dims[d][base]
            new = net.pick([1, old + 1, old + 2, max(old - 1, 0), 2 * old, 0], [4, 3, 2, 3, 1, 1])
            together = net.chance(0.5)
            for other in names:
                shape = list(feeds[other].shape)
                for k in range(len(shape)):
                    if (other, k) == (name, d) or together and (other, k) in open_dims and by_name[other].dims[k] == by_name[name].dims[d]:
                        shape[k] = new
                if tuple(shape) != feeds[other].shape and np.prod(shape) < nets.MAX_ELEMENTS:
                    try:
                        feeds[other] = np.asarray(by_name[other].draw(tuple(shape), base))
                    except (ValueError, IndexError):
                        pass
        launches.append(feeds)
    return launches


def make_apart(seed, given, path):
    """`make` in a process of its own, since ONNX Runtime may die of a model. Returns the process id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        with open(path, "wb") as f:
            pickle.dump(make(seed, given), f)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def run_ours(folders, given):
    """The runner's answers by folder."""
    done = subprocess.run([given.runner, str(given.jobs)], input="".join(f + "\n" for f in folders), capture_output=True, text=True,
                          errors="replace")
    if done.returncode:
        raise SystemExit(f"{given.runner}: {done.stderr.strip() or done.returncode}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {a["folder"]: a for a in answers}


def load(folder, kind, launch):
    with np.load(os.path.join(folder, f"{kind}{launch}.npz")) as arrays:
        return [arrays[str(i)] for i in range(len(arrays.files))]


def judge_case(case, folder, answer):
    """Sets the outcome: agreed, refused (when compiled) or failed."""
    global launches_judged, errors_judged
    case.outcome = "agreed"
    if answer["crash"]:
        case.outcome, case.failure = "failed", "crash: " + answer["crash"]
        return
    # The oracle ran before an install may have been refused.
    for kind in ("oracle", "cpu"):
        for i, said in enumerate(answer[kind]):
            expected = case.expected[i]
            problem = compare(case, folder, kind, i, said, expected)
            if isinstance(expected, str):
                errors_judged += kind == "cpu"
            else:
                launches_judged += kind == "cpu"
            if problem:
                case.outcome, case.failure = "failed", f"{kind}, launch {i}: {problem}"
                return
    if answer["compile"]:
        if limits.is_refusal(answer["compile"]):
            case.outcome, case.reason = "refused", limits.reason(answer["compile"])
        else:
            case.outcome, case.failure = "failed", "not compiled: " + answer["compile"]


def compare(case, folder, kind, i, said, expected):
    if not limits.is_judged(case, i):
        return ""
    if isinstance(expected, str):
        if said or limits.only_onnx_runtime(expected, case, i):
            return ""
        return f"gave an answer where ONNX Runtime raises: {expected}"
    if said:
        return "" if limits.known_at_run(said, case) else f"refused what ONNX Runtime answers: {said}"
    ours = load(folder, kind, i)
    if len(ours) != len(expected):
        return f"{len(ours)} outputs, expected {len(expected)}"
    for position, (want, have) in enumerate(zip(expected, ours)):
        problem = judge.difference(want, have)
        if problem and not unstable(case, i, position, want, have):
            return f"output {position}: {problem}"
    return ""


def unstable(case, launch, position, want, have):
    """Whether ONNX Runtime's own answer moves as much when the inputs move by a rounding."""
    rng = np.random.default_rng(case.seed)
    feeds = {}
    for name, array in case.launches[launch].items():
        if array.dtype in judge.TOLERANCE:
            step = 2e-3 if array.dtype == np.float16 else 3e-6
            array = (array.astype(np.float64) * (1 + step * rng.choice([-1, 1], array.shape))).astype(array.dtype)
        feeds[name] = array
    moved = judge.run_model(case.model, [feeds])
    if isinstance(moved, str) or isinstance(moved[0], str):
        return False
    return want.shape == have.shape == moved[0][position].shape and bool(judge.difference(want, moved[0][position], 0.1))


def run_all(seeds, given, scratch):
    """Yields each case with its outcome."""
    yield from judged(found.all_cases() if not (given.family or given.op) else [], given, scratch)
    seeds = list(seeds)
    for start in range(0, len(seeds), BATCH):
        batch, running = seeds[start:start + BATCH], {}
        waiting = list(batch)
        while waiting or running:
            while waiting and len(running) < given.jobs:
                seed = waiting.pop(0)
                running[make_apart(seed, given, os.path.join(scratch, f"{seed}.pickle"))] = seed
            pid, status = os.wait()
            if pid in running:
                seed = running.pop(pid)
                if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                    raise SystemExit(f"seed {seed}: the generator failed")
                if status:
                    os.unlink(os.path.join(scratch, f"{seed}.pickle"))
        made = []
        for seed in batch:
            path, case = os.path.join(scratch, f"{seed}.pickle"), None
            if os.path.exists(path):
                with open(path, "rb") as f:
                    case = pickle.load(f)
                os.unlink(path)
            if case is None:
                case = Case(seed, None, [], [])
                case.outcome = "none"
                yield case
                continue
            made.append(case)
        yield from judged(made, given, scratch)


def judged(made, given, scratch):
    folders = {}
    for case in made:
        folder = os.path.join(scratch, str(case.seed))
        case.write(folder)
        folders[folder] = case
    answers = run_ours(list(folders), given) if folders else {}
    for folder, case in folders.items():
        judge_case(case, folder, answers[folder])
        yield case
        shutil.rmtree(folder, ignore_errors=True)


def run_one(case, given, folder):
    """Ours on one case; sets its outcome."""
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    judge_case(case, folder, run_ours([folder], given)[folder])
