#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the benchmark's own virtual environment, build/bench-venv, with the peers of requirements.txt.

usage: bench/onnx-cpu/environment.py [FOLDER]

Does nothing when it is there and the requirements are the same. Prints what was left out; fails only without the first group.
"""
import hashlib
import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "bench-venv")


def groups():
    with open(os.path.join(HERE, "requirements.txt")) as f:
        for line in f:
            packages, _, names = line.partition("#")
            if packages.strip():
                yield packages.split(), names.strip()


def python(folder=DEFAULT):
    return os.path.join(folder, "bin", "python")


def make(folder=DEFAULT, out=sys.stderr):
    """None when all is well, or why there is no environment."""
    with open(os.path.join(HERE, "requirements.txt"), "rb") as f:
        wanted = hashlib.sha256(f.read()).hexdigest()
    marker = os.path.join(folder, "requirements.sha256")
    if os.path.exists(marker) and open(marker).read() == wanted:
        return None
    print(f"making {folder} (some minutes)", file=out)
    try:
        venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"cannot make '{folder}': {error}; install the package python3-venv"
    for i, (packages, names) in enumerate(groups()):
        done = subprocess.run([python(folder), "-m", "pip", "install", "-q", *packages], capture_output=True, text=True)
        if done.returncode == 0:
            continue
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        if i == 0:
            return f"pip cannot install {' '.join(packages)}: {why}"
        print(f"left out: {names} ({why})", file=out)
    with open(marker, "w") as f:
        f.write(wanted)
    return None


if __name__ == "__main__":
    sys.exit(make(*sys.argv[1:2]))
