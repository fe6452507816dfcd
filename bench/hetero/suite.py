# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of examples/hetero against their OpenMP rivals, and `tessera cc` against clang's compile time."""
import os
import shutil
import subprocess
import time

import measure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(ROOT, "examples", "hetero")
FLAGS = ["-std=c++20", "-O3", "-march=native"]


def compile_time(name, tessera, clang, work, rounds):
    """Both compilers on the same file, by turns."""
    source, output = os.path.join(PROGRAMS, name, "hetero.cpp"), os.path.join(work, name + ".time.o")
    include = "-I" + os.path.join(ROOT, "src", "include")
    times = {"ours": [], "peer_times": []}
    for _ in range(rounds):
        for key, command in (("ours", [tessera, "cc"]), ("peer_times", [clang, include])):
            start = time.perf_counter()
            done = subprocess.run([*command, *FLAGS, "-c", source, "-o", output], capture_output=True, text=True)
            if done.returncode:
                return None, f"{name}: '{command[0]}' cannot compile it: {(done.stderr.strip().splitlines() or ['no message'])[0]}"
            times[key].append(1000 * (time.perf_counter() - start))
    return {"case": name, "config": "compile", "peer": "clang", **times}, None


def reports(options):
    binaries, work = os.path.join(options.build, "bin"), os.path.join(options.build, "bench-hetero")
    os.makedirs(work, exist_ok=True)
    tessera, clang = os.path.join(binaries, "tessera"), shutil.which("clang++-22")
    names = sorted(d for d in os.listdir(PROGRAMS) if os.path.exists(os.path.join(PROGRAMS, d, "hetero.cpp")))
    found, failures = [], []
    for name in names:
        if options.only not in name:
            continue
        built = subprocess.run(["make", "-s", "-C", PROGRAMS, f"TESSERA={tessera}", f"OUT={work}", f"{work}/{name}"], capture_output=True, text=True)
        if built.returncode:
            failures.append(f"{name}: {(built.stderr.strip().splitlines() or ['make failed'])[0]}")
            continue
        for threads in options.threads:
            # Threads of OpenMP that spin after their loop would take the other's processor: both sides run by turns in one process.
            env = {"KMP_BLOCKTIME": "0", "TESSERA": tessera, "TESSERA_THREADS": str(threads), "OMP_NUM_THREADS": str(threads),
                   "TESSERA_CACHE": os.path.join(work, "cache")}
            got = measure.run_driver([os.path.join(work, name), "--bench", str(options.rounds)], env=env)
            for report in got:
                report["config"] = f"{threads} thread" + ("s" if threads > 1 else "")
            found += got
            if not got:
                failures.append(f"{name}, {threads} threads: no result")
        if clang:
            report, why = compile_time(name, tessera, clang, work, 3)
            found += [report] if report else []
            failures += [why] if why else []
    return found, failures


def summary(rows):
    ran = [r["ratio"] for r in rows if r["peer"] == "openmp"]
    cost = [1 / r["ratio"] for r in rows if r["peer"] == "clang"]
    if ran:
        print(f"against OpenMP: geometric mean {measure.geometric_mean(ran):.2f}, worst {min(ran):.2f} of {len(ran)} rows")
    if cost:
        print(f"compile time over clang's: geometric mean {measure.geometric_mean(cost):.2f}, worst {max(cost):.2f}")
