# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Takes the image of machine code out of an installed program: elf.py X.tsx OUT.elf
import struct
import sys

data = open(sys.argv[1], "rb").read()
(count,) = struct.unpack_from("<I", data, 20)
for i in range(count):
    name, offset, size = struct.unpack_from("<40sQQ", data, 64 + 96 * i)
    if name.rstrip(b"\0") == b"code":
        open(sys.argv[2], "wb").write(data[offset : offset + size])
