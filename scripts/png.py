# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Just enough PNG and .npy for pictures in and out of our programs, with nothing but Python's own library.

Reads 8-bit grey, grey with alpha, RGB and RGBA without interlacing; writes 8-bit grey. Arrays have rank 2, or 0 for a number.
"""
import array
import ast
import struct
import sys
import zlib


def fail(text):
    sys.exit(f"error: {text}")


def paeth(left, up, corner):
    p = left + up - corner
    a, b, c = abs(p - left), abs(p - up), abs(p - corner)
    return left if a <= b and a <= c else up if b <= c else corner


def unfilter(data, height, stride, step):
    rows, previous = [], bytearray(stride)
    for y in range(height):
        kind = data[y * (stride + 1)]
        row = bytearray(data[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - step] if i >= step else 0
            corner = previous[i - step] if i >= step else 0
            up = previous[i]
            if kind == 1:
                row[i] = row[i] + left & 255
            elif kind == 2:
                row[i] = row[i] + up & 255
            elif kind == 3:
                row[i] = row[i] + (left + up) // 2 & 255
            elif kind == 4:
                row[i] = row[i] + paeth(left, up, corner) & 255
        rows.append(row)
        previous = row
    return rows


def read_png(path):
    """Rows of grey values from 0 to 255."""
    data = open(path, "rb").read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        fail(f"'{path}' is not a PNG file")
    at, packed, header = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        at += 12 + size
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
    width, height, depth, colour, _, _, interlace = header
    channels = {0: 1, 2: 3, 4: 2, 6: 4}.get(colour)
    if depth != 8 or channels is None or interlace:
        fail(f"'{path}': expected 8-bit grey or RGB without interlacing, but got depth {depth}, colour type {colour}")
    rows = unfilter(zlib.decompress(packed), height, width * channels, channels)
    if channels < 3:
        return [row[::channels] for row in rows]
    # The luminance of ITU-R BT.601.
    return [
        bytearray(round(0.299 * row[i] + 0.587 * row[i + 1] + 0.114 * row[i + 2]) for i in range(0, len(row), channels))
        for row in rows
    ]


def write_png(path, rows):
    """Rows of bytes as a grey picture; each row takes the filter whose result looks smallest."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packed, previous = bytearray(), bytes(len(rows[0]))
    for row in rows:
        shifted, corner = b"\0" + bytes(row[:-1]), b"\0" + bytes(previous[:-1])
        candidates = [
            bytes(row),
            bytes(v - l & 255 for v, l in zip(row, shifted)),
            bytes(v - u & 255 for v, u in zip(row, previous)),
            bytes(v - (l + u) // 2 & 255 for v, l, u in zip(row, shifted, previous)),
            bytes(v - paeth(l, u, c) & 255 for v, l, u, c in zip(row, shifted, previous, corner)),
        ]
        cost = [sum(min(v, 256 - v) for v in c) for c in candidates]
        best = cost.index(min(cost))
        packed += bytes([best]) + candidates[best]
        previous = row
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(packed), 9)) + chunk(b"IEND", b""))


def write_npy(path, rows):
    """Rows of numbers as a float32 array; a number as one of rank 0."""
    scalar = isinstance(rows, float)
    shape = "()" if scalar else f"({len(rows)}, {len(rows[0])})"
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        for row in [[rows]] if scalar else rows:
            values = array.array("f", row)
            if sys.byteorder == "big":
                values.byteswap()
            f.write(values.tobytes())


def read_npy(path):
    """Rows of numbers; any plain numeric type that Python's arrays have."""
    data = open(path, "rb").read()
    if data[:6] != b"\x93NUMPY":
        fail(f"'{path}' is not an .npy file")
    wide = data[6] > 1
    size = struct.unpack("<I" if wide else "<H", data[8 : 12 if wide else 10])[0]
    start = (12 if wide else 10) + size
    header = ast.literal_eval(data[start - size : start].decode())
    code = {"|i1": "b", "|u1": "B", "|b1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<i8": "q", "<f4": "f", "<f8": "d"}
    if header["descr"] not in code or header["fortran_order"] or len(header["shape"]) != 2:
        fail(f"'{path}': expected a row-major array of rank 2, but got {header}")
    height, width = header["shape"]
    values = array.array(code[header["descr"]])
    values.frombytes(data[start : start + height * width * values.itemsize])
    return [values[y * width : (y + 1) * width] for y in range(height)]
