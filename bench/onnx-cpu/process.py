# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other end of worker.py: starts an engine's process, asks it, ends it."""
import functools
import json
import os
import select
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def preload(build):
    """What LD_PRELOAD has to name so that OpenVINO finds the tiles of AMX on virtual machines that hide them: amx_leaves.c, compiled once; else nothing."""
    source, library = os.path.join(HERE, "amx_leaves.c"), os.path.abspath(os.path.join(build, "bench", "libamx_leaves.so"))
    with open("/proc/cpuinfo") as f:
        flags = f.read().split()
    if "amx_tile" not in flags or "cpuid_fault" not in flags:
        return {}
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        subprocess.run(["clang-22", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": library}


class Engine:
    def __init__(self, python, build, threads=1, timeout=300):
        self.timeout = timeout
        self.dead = False
        self.once = self.setup = 0.0
        self.best, self.rounds, self.memory = float("inf"), [], {"failed": "not asked"}
        count = str(threads)
        env = {**os.environ, "TESSERA_HOME": build, "OMP_NUM_THREADS": count, "TVM_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": "1",
               **preload(build)}
        self.process = subprocess.Popen([python, os.path.join(HERE, "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=env)

    def ask(self, **command):
        """The worker's answer, with "failed" when there is none."""
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except OSError:
            return {"failed": f"its process ended with status {self.process.wait()}"}
        if not select.select([self.process.stdout], [], [], self.timeout)[0]:
            self.process.kill()
            return {"failed": f"no answer in {self.timeout} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": f"its process ended with status {self.process.wait()}"}

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
