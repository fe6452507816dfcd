# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the program `tessera`: compile, install, explain."""
import os
import subprocess

import numpy as np

from . import find
from .errors import TesseraError


def tessera(words):
    """Runs `tessera WORDS...` and returns what it printed; a failure becomes an exception with its message."""
    program = find.tessera_program()
    try:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise TesseraError(f"cannot start '{program}': {error}") from None
    if done.returncode:
        text = done.stderr.strip()
        raise TesseraError(text.removeprefix("error: ") or f"'tessera {words[0]}' failed with status {done.returncode}")
    return done.stdout


def _words(value):
    return [value] if isinstance(value, str) else list(value)


INSTALL_OPTIONS = ("mode", "target", "cpu", "features", "triple", "without")


def build(source, folder, name, bind=None, schedule=None, frontend_options=None, **options):
    """Compiles the file `source` into `folder`; returns the paths of the portable object and the installed program."""
    unknown = [option for option in options if option not in INSTALL_OPTIONS]
    if unknown:
        raise TesseraError(f"unknown option '{unknown[0]}'; options: bind, schedule, frontend_options, program, threads, profile, "
                           + ", ".join(INSTALL_OPTIONS))
    portable, installed = os.path.join(folder, name + ".tsr"), os.path.join(folder, name + ".tsx")
    if str(source).endswith(".tsr"):
        portable = str(source)
    else:
        words = ["compile", source, "-o", portable]
        if schedule:
            words += ["--schedule", schedule]
        for i, (port, value) in enumerate((bind or {}).items()):
            # What decides shapes must be known when compiling.
            path = os.path.join(folder, f"bind{i}.npy")
            np.save(path, np.asarray(value))
            words += ["--frontend-option", f"bind={port}:{path}"]
        for key, value in (frontend_options or {}).items():
            words += ["--frontend-option", f"{key}={value}"]
        tessera(words)
    words = ["install", portable, "-o", installed]
    for option, value in options.items():
        if option == "without":
            for part in _words(value):
                words += ["--without", part]
        elif value is not None:
            words += ["--" + option, ",".join(_words(value)) if option == "target" else value]
    tessera(words)
    return portable, installed
