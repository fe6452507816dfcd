# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: kernels.py A.mlir B.mlir NODE...   The kernels of these nodes are the same in both dumps of the stage `lower`."""
import re
import sys


def kernels(path):
    with open(path, encoding="utf-8") as file:
        # The host's module stands first.
        host = re.split(r"^}$", file.read(), flags=re.M)[0]
    parts = re.split(r"^  llvm\.func ", host, flags=re.M)[1:]
    # Numbers at the end of a name count the nodes of the whole program.
    return {re.sub(r"_\d+_", "_", re.match(r"(?:\w+ )*@([^( ]+)", part).group(1)): re.sub(r"@[\w.]+", "@", part.rstrip(" }\n"))
            for part in parts}


a, b = kernels(sys.argv[1]), kernels(sys.argv[2])
for node in sys.argv[3:]:
    own = [name for name in b if f"_{node}_" in name]
    if not own:
        sys.exit(f"no kernel of '{node}'")
    for name in own:
        if a.get(name) != b[name]:
            sys.exit(f"kernel '{name}' differs")
