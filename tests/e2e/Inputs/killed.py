#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a command in the middle and runs it again beside a stopped one.
usage: killed.py FOLDER COMMAND...        FOLDER: where its temporary folders are"""
import os
import signal
import subprocess
import sys
import time


def begin(folder, command):
    """Starts the command in a group of its own and waits until it has a temporary folder."""
    known = set(os.listdir(folder))
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while not set(os.listdir(folder)) - known and child.poll() is None:
        time.sleep(0.001)
    os.killpg(child.pid, signal.SIGSTOP)
    return child, set(os.listdir(folder)) - known


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    killed, orphans = begin(folder, command)
    running, own = begin(folder, command)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    # The second one began while the first one was there.
    if not orphans or not own or not orphans | own <= set(os.listdir(folder)):
        sys.exit(f"expected a folder of each, but got {orphans} and {own}, of which {os.listdir(folder)} are there")
    subprocess.run(command, check=True)
    left = set(os.listdir(folder))
    if left != own:
        sys.exit(f"expected {own} to be left, but got {left}")
    os.killpg(running.pid, signal.SIGCONT)
    if running.wait():
        sys.exit("the command that was stopped in between failed")


main()
