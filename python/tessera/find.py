# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the programs and the library are. Looked for in this order, the first that has them counts:

1. the folder $TESSERA_HOME: an installation or a build, with bin/tessera and lib/libtessera.so;
2. beside this package: tessera/_native, as a wheel would carry them;
3. the build folder of the source tree that this package lies in (build/default);
4. `tessera` on PATH, with the library in ../lib of it; the loader's own paths.
"""
import ctypes.util
import glob
import os
import shutil

from .errors import TesseraError

HERE = os.path.dirname(os.path.abspath(__file__))


def _library_in(folder):
    for place in ("lib", "lib64", "bin"):
        found = sorted(glob.glob(os.path.join(folder, place, "libtessera.so*")), key=len)
        if found:
            return found[0]
    return None


def _homes():
    """Folders that may hold bin/ and lib/, in order."""
    home = os.environ.get("TESSERA_HOME")
    if home:
        yield home
        return  # A wish is not second-guessed.
    yield os.path.join(HERE, "_native")
    root = os.path.dirname(os.path.dirname(HERE))
    if os.path.exists(os.path.join(root, "ARCHITECTURE.md")):
        yield os.path.join(root, "build", "default")
    program = shutil.which("tessera")
    if program:
        # A virtual environment or a package manager may have put a link there.
        yield os.path.dirname(os.path.dirname(os.path.realpath(program)))


def _missing(what):
    home = os.environ.get("TESSERA_HOME")
    if home:
        return TesseraError(f"{what} is not in '{home}'; TESSERA_HOME must name a folder with bin/tessera and lib/libtessera.so")
    return TesseraError(f"{what} was not found; set TESSERA_HOME to the build folder (build/default) or the installation's folder, "
                        "or put its bin folder on PATH")


def tessera_program():
    """The path of the program `tessera`."""
    for home in _homes():
        path = os.path.join(home, "bin", "tessera")
        if os.access(path, os.X_OK):
            return path
    raise _missing("the program 'tessera'")


def runtime_library():
    """The path of libtessera.so."""
    for home in _homes():
        path = _library_in(home)
        if path:
            return path
    if not os.environ.get("TESSERA_HOME"):
        path = ctypes.util.find_library("tessera")
        if path:
            return path
    raise _missing("the library libtessera.so")
