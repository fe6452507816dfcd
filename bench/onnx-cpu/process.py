# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other end of worker.py: starts an engine's process, asks it, ends it."""
import json
import os
import select
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Engine:
    def __init__(self, python, build, threads=1, timeout=300):
        self.timeout = timeout
        self.dead = False
        self.once = self.setup = 0.0
        self.best, self.rounds, self.memory = float("inf"), [], {"failed": "not asked"}
        count = str(threads)
        env = {**os.environ, "TESSERA_HOME": build, "OMP_NUM_THREADS": count, "TVM_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": "1"}
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
