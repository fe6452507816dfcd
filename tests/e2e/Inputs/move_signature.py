"""Puts the signature of one container into another: move_signature.py TO FROM OUT."""

import hashlib
import struct
import sys


def sections(data):
    count = struct.unpack_from("<I", data, 20)[0]
    for i in range(count):
        at = 64 + 96 * i
        name = data[at : at + 40].rstrip(b"\0").decode()
        yield name, at, *struct.unpack_from("<QQ", data, at + 40)


to, source = (open(path, "rb").read() for path in sys.argv[1:3])
signature = next(source[offset : offset + size] for name, _, offset, size in sections(source) if name == "signature")
out = bytearray(to)
for name, at, offset, size in sections(to):
    if name == "signature":
        out[offset : offset + size] = signature
        out[at + 56 : at + 88] = hashlib.sha256(signature).digest()
count = struct.unpack_from("<I", to, 20)[0]
out[32:64] = hashlib.sha256(out[64 : 64 + 96 * count]).digest()
open(sys.argv[3], "wb").write(out)
