#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a command that writes a file (its last argument), sends it a signal after various times, and checks that it
either finished with a whole file or failed with none.
usage: interrupt.py INT|TERM alone|group COMMAND...        (to the process alone, or to its group as a terminal does)"""
import os
import signal
import subprocess
import sys
import time


def defaults():
    # A test run in the background may have been told to ignore these.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def main():
    number = getattr(signal, "SIG" + sys.argv[1])
    group, command = sys.argv[2] == "group", sys.argv[3:]
    target, stopped, failures = command[-1], 0, []
    for delay in (0.0, 0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35):
        if os.path.exists(target):
            os.remove(target)
        child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=defaults)
        time.sleep(delay)
        (os.killpg if group else os.kill)(child.pid, number)
        errors = child.communicate(timeout=60)[1]
        written = os.path.exists(target)
        if child.returncode == 0 and written:
            continue
        stopped += 1
        # Before the program has taken over its signals it dies of them, which is not 0 either.
        message = "error: interrupted; nothing was written\n"
        if written or not (child.returncode == -number and errors == "" or child.returncode == 1 and errors == message):
            failures.append((delay, child.returncode, errors, written))
    if os.path.exists(target):
        os.remove(target)
    print(f"{stopped} interrupted", *failures, sep="\n")
    return 1 if failures or not stopped else 0


sys.exit(main())
