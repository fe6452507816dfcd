# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suites, folders with a suite.py, and the options that all of them take."""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def names():
    return sorted(d for d in os.listdir(HERE) if os.path.exists(os.path.join(HERE, d, "suite.py")))


def load(name):
    spec = importlib.util.spec_from_file_location(f"suite_{name}", os.path.join(HERE, name, "suite.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def add_options(parser):
    """Adds the options of all suites, and those of the suite that the command line names. Returns that suite."""
    parser.add_argument("suite")
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(HERE), "build", "default"))
    chosen = next((word for word in sys.argv[1:] if word in names()), None)
    suite = load(chosen) if chosen else None
    if suite and hasattr(suite, "add_options"):
        suite.add_options(parser)
    return suite


def check(options):
    """Ends with a message when no suite has the name, and turns words into values."""
    if options.suite not in names():
        sys.exit(f"error: unknown suite '{options.suite}'; there are: {', '.join(names())}")
    options.threads = [int(t) for t in options.threads.split(",")]
    options.build = os.path.abspath(options.build)
