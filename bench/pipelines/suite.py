# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite pipelines: what noise of 30 or 20 dB buys in chains of image filters (examples/filters) and in edge detection (examples/edge), and what a
relative error buys in programs of science (examples/science).

Each program is tuned on tiles of photographs (`tessera tune --metric psnr`), installed for each bound (`tessera install --min-quality`) and compared with
its exact form on a photograph that tuning never saw, in turns. Times of tuning are those of a picture of the same size, one photograph and its mirror
images. Rows carry `psnr_bound`, the bound, and `psnr`, what was measured on that photograph; those of science `error_bound` and `error`, on an input
that tuning never saw.
"""
import json
import os
import subprocess
import sys

import claims
import measure

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import png

# name: source, program of several, what tells an exact answer from a wrong one, bounds
PROGRAMS = {name: ("examples/filters/filters.mlir", name, "psnr", ("30", "20")) for name in ("geo", "gemo", "gsm", "gsme", "gsmo")}
PROGRAMS["edge"] = ("examples/edge/edge.mlir", "", "psnr:255", ("30", "20"))
PROGRAMS["hotspot"] = ("examples/science/hotspot.mlir", "", "relative", ("0.0001", "0.001"))
PROGRAMS["kmeans"] = ("examples/science/kmeans.mlir", "", "relative", ("0.01", "0.05"))
SIZES = {"hotspot": 2048, "kmeans": 100000}
TUNE_ON, TEST_ON, TILE = ("rgb", "astronaut", "coffee", "camera"), "gray", 128  # many tiles: the bound on a mean is as wide as there are few


def add_options(parser):
    parser.add_argument("--pictures", default=os.path.join(os.environ.get("TESSERA_DATA", ""), "images"),
                        help="folder of " + ", ".join(n + ".png" for n in (*TUNE_ON, TEST_ON)) + "; default: images in $TESSERA_DATA")
    parser.add_argument("--again", action="store_true", help="tune anew what an earlier run tuned")


def read_picture(options, name):
    return [[value / 255 for value in row] for row in png.read_png(os.path.join(options.pictures, name + ".png"))]


def write_sample(path, rows, scalars):
    """A picture alone as .npy, or with numbers beside it as a folder's .npz."""
    if not scalars:
        png.write_npy(path + ".npy", rows)
        return
    import zipfile
    png.write_npy(path + ".part", rows)
    with zipfile.ZipFile(path + ".npz", "w") as file:
        file.write(path + ".part", "image.npy")
        for name, value in scalars.items():
            png.write_npy(path + ".part", value)
            file.write(path + ".part", name + ".npy")
    os.remove(path + ".part")


def mirrored(rows):
    """Four times the picture, without new edges."""
    wide = [row + row[::-1] for row in rows]
    return wide + wide[::-1]


def prepare(options, work):
    """Tiles to tune on, one whole picture that times are measured on, and the one to test with; made once."""
    for kind, scalars in (("chain", {}), ("edge", {"theta": 0.12})):
        folder = os.path.join(work, kind)
        if os.path.exists(os.path.join(folder, "done")):
            continue
        os.makedirs(os.path.join(folder, "tune"), exist_ok=True)
        for name in TUNE_ON:
            rows = read_picture(options, name)
            for y in range(0, len(rows) - TILE + 1, TILE):
                for x in range(0, len(rows[0]) - TILE + 1, TILE):
                    write_sample(os.path.join(folder, "tune", f"{name}-{y}-{x}"), [row[x:x + TILE] for row in rows[y:y + TILE]], scalars)
            if name == TUNE_ON[0]:
                write_sample(os.path.join(folder, "tune", name), mirrored(rows), scalars)
        png.write_npy(os.path.join(folder, "image.npy"), read_picture(options, TEST_ON))
        open(os.path.join(folder, "done"), "w").close()


def call(*command, threads=1):
    # Installation chooses by times, so it measures with as many threads as the rows do.
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TESSERA_THREADS": str(threads)})
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return done.stdout


def inputs_of(options, work, name):
    """What a program is tuned on, and the arguments that name the input it is tested with."""
    if name in SIZES:
        folder = os.path.join(work, name)
        if not os.path.exists(folder):
            maker = os.path.join(ROOT, "examples", "science", "data.py")
            call(sys.executable, maker, name, folder, "12", str(SIZES[name]))
            os.rename(os.path.join(folder, "11.npz"), folder + ".npz")
        return folder, ["--input", folder + ".npz"], f"{SIZES[name]} points" if name == "kmeans" else f"{SIZES[name]}x{SIZES[name]}"
    prepare(options, work)
    kind = "edge" if name == "edge" else "chain"
    words = ["--input", "image=" + os.path.join(work, kind, "image.npy"), *(["--input", "theta=0.12"] if kind == "edge" else [])]
    return os.path.join(work, kind, "tune"), words, "1536x2560"


def program(options, work, name, threads):
    tessera = os.path.join(options.build, "bin", "tessera")
    source, chosen, metric, bounds = PROGRAMS[name]
    is_picture = metric.startswith("psnr")
    data, inputs, size = inputs_of(options, work, name)
    base = os.path.join(work, name)
    if options.again or not os.path.exists(base + "-tuned.tsr"):
        call(tessera, "compile", os.path.join(ROOT, source), "-o", base + ".tsr")
        call(tessera, "tune", base + ".tsr", "-o", base + "-tuned.tsr", "--data", data, "--metric", metric,
             "--threads", str(threads), *(["--program", chosen] if chosen else []), *([] if is_picture else ["--loss", ",".join(bounds)]))
    call(tessera, "install", base + "-tuned.tsr", "-o", base + "-exact.tsx")
    rows = []
    for bound in bounds:
        installed = f"{base}-{bound}.tsx"
        call(tessera, "install", base + "-tuned.tsr", "-o", installed, "--min-quality" if is_picture else "--loss", bound, threads=threads)
        ours, exact, found = [], [], {}
        for _ in range(options.rounds):
            found = json.loads(call(tessera, "compare", base + "-exact.tsx", installed, *inputs, "--metric", metric, "--seconds", "0.3",
                                    "--threads", str(threads), "--json"))
            ours.append(found["ms"])
            exact.append(found["golden_ms"])
        verified = claims.verify(tessera, installed, threads, "--data", data)
        figure = found["metrics"][metric]
        figure = None if figure == "inf" else float(figure)
        quality = {"psnr_bound": float(bound), "psnr": figure} if is_picture else {"error_bound": float(bound), "error": figure}
        rows.append({"case": f"{name} {'psnr' if is_picture else 'relative'} {bound}", "config": f"{size}, {threads} thread{'s' if threads > 1 else ''}",
                     "peer": "tessera-exact", "ours": ours, "peer_times": exact,
                     "more": {**quality, "energy_j": found["joules"], "energy_source": found["energy_source"], **claims.verdicts(verified)}})
    return rows


def reports(options):
    work = os.path.join(options.build, "bench", "pipelines")
    os.makedirs(work, exist_ok=True)
    rows, failures = [], []
    for name in PROGRAMS:
        if options.only not in name:
            continue
        try:
            rows += program(options, work, name, max(options.threads))
        except RuntimeError as error:
            failures.append(f"{name}: {error}")
        except OSError as error:
            failures.append(f"{name}: {error}; give --pictures or set TESSERA_DATA")
    return rows, failures


def summary(rows):
    pictures = [r for r in rows if "psnr_bound" in r]
    for bound in sorted({r["psnr_bound"] for r in pictures}, reverse=True):
        own = [r for r in pictures if r["psnr_bound"] == bound]
        broken = [r["case"] for r in own if r["psnr"] is not None and r["psnr"] < bound]
        print(f"at {bound:g} dB: {measure.geometric_mean([r['ratio'] for r in own]):.2f} over {len(own)} programs, "
              f"{len(broken)} below the bound on the photograph that tuning did not see" + (": " + ", ".join(broken) if broken else ""))
    claims.summary(rows)
    for r in rows:
        if "error_bound" in r:
            print(f"{r['case']}: {r['ratio']:.2f}, error {r['error']:.2g}" + (", above the bound" if r["error"] > r["error_bound"] else ""))
