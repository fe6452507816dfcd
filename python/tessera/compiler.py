# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the program `tessera`: compile, install, tune, explain."""
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


# What the commands take besides files (docs/cli.md). Left out is what makes no program: --stop-after, --part, and --as.
COMPILE_OPTIONS = ("schedule",)
INSTALL_OPTIONS = ("target", "loss", "min_quality", "measured", "budgets", "mode", "check", "portfolio", "without", "knobs", "triple", "cpu", "features",
                   "dump_stages")
TUNE_OPTIONS = ("program", "skip", "limit", "images", "batch", "metric", "normalise", "loss", "budget", "knobs", "candidates", "confidence",
                "seed", "threads", "budgets", "share", "portable", "cpu", "keep")


def _words(value):
    """A list, or what maps to something ({"conv1": "int8"}), as the command line has it: separated by commas."""
    if isinstance(value, dict):
        return ",".join(f"{key}={each}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _flags(options):
    """{"min_quality": 90, "portfolio": True} → --min-quality 90 --portfolio; None and False leave an option out."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif name == "without":
            for part in [value] if isinstance(value, str) else value or []:
                words += [flag, part]
        elif value is not None and value is not False:
            words += [flag, _words(value)]
    return words


def _refuse_unknown(options, known, others):
    for option in options:
        if option not in known:
            raise TesseraError(f"unknown option '{option}'; options: {', '.join((*others, *known))}")


def make_portable(source, folder, name, bind, frontend_options, options):
    """The portable object of the file `source`: itself, or compiled into `folder`."""
    if str(source).endswith(".tsr"):
        for option, value in {"bind": bind, "frontend_options": frontend_options, **options}.items():
            if value:
                raise TesseraError(f"'{option}' is for compiling, but '{source}' is compiled already; give it when that file is made")
        return str(source)
    portable = os.path.join(folder, name + ".tsr")
    words = ["compile", source, "-o", portable, *_flags(options)]
    for i, (port, value) in enumerate((bind or {}).items()):
        # What decides shapes must be known when compiling.
        path = os.path.join(folder, f"bind{i}.npy")
        np.save(path, np.asarray(value))
        words += ["--frontend-option", f"bind={port}:{path}"]
    for key, value in (frontend_options or {}).items():
        words += ["--frontend-option", f"{key}={value}"]
    tessera(words)
    return portable


def build(source, folder, name, bind=None, frontend_options=None, **options):
    """Compiles the file `source` into `folder`; returns the paths of the portable object and the installed program."""
    _refuse_unknown(options, COMPILE_OPTIONS + INSTALL_OPTIONS, ("bind", "frontend_options", "program", "configuration", "threads", "profile"))
    compiling = {option: options.pop(option) for option in COMPILE_OPTIONS if option in options}
    portable = make_portable(source, folder, name, bind, frontend_options, compiling)
    installed = os.path.join(folder, name + ".tsx")
    tessera(["install", portable, "-o", installed, *_flags(options)])
    return portable, installed


def tune(portable, data, output, options):
    """Writes the portable object with its curve to `output`."""
    _refuse_unknown(options, TUNE_OPTIONS, ("bind", "frontend_options", "schedule"))
    tessera(["tune", portable, "-o", output, "--data", data, *_flags(options)])
