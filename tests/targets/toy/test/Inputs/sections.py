# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: sections.py A B NAME...   The sections of these names have the same checksum in both files."""
import struct
import sys


def sections(path):
    with open(path, "rb") as file:
        data = file.read()
    count = struct.unpack_from("<I", data, 20)[0]
    entries = (data[64 + 96 * i:160 + 96 * i] for i in range(count))
    return {entry[:40].rstrip(b"\0").decode(): entry[56:88] for entry in entries}


a, b = sections(sys.argv[1]), sections(sys.argv[2])
for name in sys.argv[3:]:
    if a[name] != b[name]:
        sys.exit(f"section '{name}' differs")
