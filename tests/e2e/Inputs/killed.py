#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a command in the middle and runs it again beside a stopped one.
usage: killed.py FOLDER COMMAND...        FOLDER: where its temporary folders are"""
import fcntl
import os
import signal
import subprocess
import sys
import time


def is_locked(path):
    """Its owner holds the folder: before that it may be taken for one that somebody left."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def begin(folder, command, started):
    """Starts the command in a group of its own and waits until it has a temporary folder."""
    known = set(os.listdir(folder))
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    started.append(child)
    while child.poll() is None and not any(is_locked(os.path.join(folder, name)) for name in set(os.listdir(folder)) - known):
        time.sleep(0.001)
    os.killpg(child.pid, signal.SIGSTOP)
    return child, set(os.listdir(folder)) - known


def test(started):
    folder, command = sys.argv[1], sys.argv[2:]
    killed, orphans = begin(folder, command, started)
    running, own = begin(folder, command, started)
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


def main():
    started = []
    try:
        test(started)
    finally:
        # A stopped process would be waited for by whoever runs this.
        for child in started:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)


main()
