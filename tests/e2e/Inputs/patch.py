#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites a field of a .tsr or .tsx file and mends the checksums, so that only the field can be what is refused.
usage: patch.py IN OUT FIELD VALUE
FIELD: version, llvm (numbers of the header), plan-version, plan-abi (in the plan's JSON), ir (new bytes)"""
import hashlib
import re
import struct
import sys


def main():
    source, target, field, value = sys.argv[1:5]
    with open(source, "rb") as file:
        data = bytearray(file.read())
    if field in ("version", "llvm"):
        struct.pack_into("<I", data, 12 if field == "version" else 16, int(value))
    else:
        section = {"ir": b"ir"}.get(field, b"plan")
        count = struct.unpack_from("<I", data, 20)[0]
        for i in range(count):
            at = 64 + 96 * i
            if data[at : at + 40].rstrip(b"\0") != section:
                continue
            offset, size = struct.unpack_from("<QQ", data, at + 40)
            text = bytes(data[offset : offset + size])
            if field == "ir":
                text = (value.encode() * size)[:size]
            else:
                name = field.split("-")[1].encode()
                text, changed = re.subn(rb'"%s":\s*\d' % name, b'"%s":%s' % (name, value.encode()), text, count=1)
                text = text.ljust(size)
                assert changed and len(text) == size
            data[offset : offset + size] = text
            data[at + 56 : at + 88] = hashlib.sha256(text).digest()
        data[32:64] = hashlib.sha256(data[64 : 64 + 96 * count]).digest()
    with open(target, "wb") as file:
        file.write(data)


main()
