# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: interrupt-tune.py LINES JOURNAL COMMAND…: ends the command by SIGTERM once the journal has so many lines. Fails when the
command ended before, or does not say that it can go on."""
import os
import signal
import subprocess
import sys
import time

lines, journal, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
while process.poll() is None:
    if os.path.exists(journal) and sum(1 for _ in open(journal)) >= lines:
        break
    time.sleep(0.005)
if process.poll() is not None:
    sys.exit(f"it ended before it could be interrupted: {process.stderr.read()}")
process.send_signal(signal.SIGTERM)
told = process.communicate(timeout=60)[1]
if process.returncode != 1 or "what was measured is kept, and the same command goes on from it" not in told:
    sys.exit(f"status {process.returncode}: {told}")
