# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The core suite: six computations against hand-written OpenMP, the cost of a graph and of a stream against oneTBB."""
import os
import shutil
import subprocess

import measure

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ["saxpy", "stencil", "mandelbrot", "sum", "histogram", "matmul"]


def compile_case(name, tessera, work):
    """(path, None), or (None, why not)."""
    portable, installed = os.path.join(work, name + ".tsr"), os.path.join(work, name + ".tsx")
    for command in ([tessera, "compile", os.path.join(HERE, name + ".mlir"), "-o", portable], [tessera, "install", portable, "-o", installed]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            first = (done.stderr.strip().splitlines() or ["no message"])[0]
            return None, f"{name}: '{os.path.basename(command[0])} {command[1]}' failed: {first}"
    return installed, None


def reports(options):
    binaries = os.path.join(options.build, "bin")
    work = os.path.join(options.build, "bench")
    os.makedirs(work, exist_ok=True)
    found, failures = [], []

    def wanted(name):
        return options.only in name

    def run(program, arguments, label):
        path = os.path.join(binaries, program)
        if not os.path.exists(path):
            failures.append(f"{label}: '{program}' is not built; build the target bench_core")
            return
        got = measure.run_driver([path, *map(str, arguments)])
        found.extend(got)
        if not got:
            failures.append(f"{label}: '{program}' gave no result")

    tessera = os.path.join(binaries, "tessera")
    for name in filter(wanted, KERNELS):
        if not os.path.exists(tessera):
            failures.append(f"{name}: 'tessera' is not built")
            continue
        installed, why = compile_case(name, tessera, work)
        if why:
            failures.append(why)
            continue
        for threads in options.threads:
            run("bench_core_driver", [name, installed, os.path.join(options.build, "lib", "libbench_core_peers.so"), threads, options.rounds], name)
    if wanted("graph") or wanted("stream"):
        clang = shutil.which("clang-22") or shutil.which("clang")
        if not clang:
            failures.append("graph and stream: no clang to compile their kernels with")
            return found, failures
        subprocess.run(["python3", os.path.join(HERE, "handmade.py"), clang, os.path.join(HERE, "kernels.c"), work], check=True)
        for threads in options.threads:
            if wanted("graph"):
                run("bench_core_graph_overhead", [os.path.join(work, "layers.tsx"), os.path.join(work, "six.tsx"), threads, options.rounds], "graph")
            if wanted("stream"):
                for name in ("stream_empty.tsx", "stream.tsx", "stream_long.tsx"):
                    run("bench_core_stream", [os.path.join(work, name), threads, options.rounds], "stream")
    return found, failures
