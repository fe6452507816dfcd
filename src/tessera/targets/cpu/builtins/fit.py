#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes the polynomials of Math32.c, Math64.c and Fast32.c and writes Coefficients.h.

Each is the interpolant at Chebyshev nodes of a smooth function, in 80 digits, so it is within a small factor of the
best polynomial of its degree. The error printed beside each is measured on a dense grid after the coefficients were
rounded, relative to the function of interest. Needs mpmath; the build does not run it, its output is committed.
"""
import struct
import sys

from mpmath import mp, mpf, cos, pi, sin, exp, log, atanh, asin, atan, erf, erfc, sqrt, tanh, matrix, lu_solve

mp.dps = 80


def to_double(v):
    return float(v)


def to_single(v):
    return struct.unpack("f", struct.pack("f", float(v)))[0]


def interpolate(f, lo, hi, degree):
    n = degree + 1
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    a, b = matrix(n, n), matrix(n, 1)
    for i, x in enumerate(nodes):
        for j in range(n):
            a[i, j] = x**j
        b[i] = f(x)
    return list(lu_solve(a, b))



def rational(f, lo, hi, top, bottom):
    """The quotient of two polynomials that equals f at Chebyshev nodes; the lower one begins with 1."""
    n = top + bottom + 1
    a, b = matrix(n, n), matrix(n, 1)
    for i in range(n):
        x = (lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (2 * i + 1) / (2 * n))
        for j in range(n):
            a[i, j] = x**j if j <= top else -f(x) * x ** (j - top)
        b[i] = f(x)
    solved = list(lu_solve(a, b))
    return solved[: top + 1], [mpf(1)] + solved[top + 1 :]


def horner(c, x):
    r = mpf(0)
    for k in reversed(c):
        r = r * x + k
    return r


def text_of(c, suffix=""):
    text = ""
    for k in reversed(c):
        word = float(k).hex() + suffix
        text = word if not text else f"({text}) * (x) + {word}"
    return text


def emit_rational(out, name, f, hi, top, bottom):
    """In single precision throughout, on [0, hi]."""
    parts = [[mpf(to_single(v)) for v in c] for c in rational(f, mpf(0), mpf(hi), top, bottom)]
    worst = mpf(0)
    for i in range(1, 401):
        x = mpf(hi) * i / 400
        worst = max(worst, abs(horner(parts[0], x) / horner(parts[1], x) / f(x) - 1))
    bits = float(log(worst, 2))
    out.append(f"// Degrees {top} and {bottom} on [0, {float(hi):.6g}], relative error 2^{bits:.1f}.")
    for word, c in zip(("TOP", "BOTTOM"), parts):
        out.append(f"#define {word}_{name}(x) ({text_of(c, 'f')})")
    print(f"{name:12s} degrees {top} and {bottom} error 2^{bits:.1f}", file=sys.stderr)


def emit(out, name, f, lo, hi, degree, whole, single=False):
    """`whole(x, p)` is the function computed with p in place of f(x): the error is relative to it."""
    lo, hi = mpf(lo), mpf(hi)
    c = interpolate(f, lo, hi, degree)
    c = [mpf((to_single if single else to_double)(v)) for v in c]
    worst = mpf(0)
    for i in range(401):
        x = lo + (hi - lo) * i / 400
        if x == 0:
            continue
        exact, ours = whole(x, f(x)), whole(x, horner(c, x))
        if exact != 0:
            worst = max(worst, abs(ours / exact - 1))
    bits = float(log(worst, 2)) if worst else -999.0
    out.append(f"// Degree {degree} on [{float(lo):.6g}, {float(hi):.6g}], relative error 2^{bits:.1f}.")
    out.append(f"#define POLY_{name}(x) ({text_of(c, 'f' if single else '')})")
    print(f"{name:12s} degree {degree:2d} error 2^{bits:.1f}", file=sys.stderr)


def safe(f, at_zero):
    return lambda x: at_zero if abs(x) < mpf(10) ** -30 else f(x)


third = mpf(1) / 3
EXP_Q = safe(lambda r: (exp(r) - 1 - r) / r**2, mpf(1) / 2)
LOG_P = safe(lambda z: (2 * atanh(sqrt(z)) - 2 * sqrt(z)) / sqrt(z) ** 3, 2 * third)
# The logarithm's tail after three terms of the series, for pow.
LOG_T = safe(lambda z: (atanh(sqrt(z)) / sqrt(z) - 1 - z / 3 - z**2 / 5) / z**3, mpf(1) / 7)
SIN_P = safe(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 6)
COS_P = safe(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24)
ASIN_P = safe(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6)
ATAN_P = safe(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, -third)
ERF_P = safe(lambda z: erf(sqrt(z)) / sqrt(z) - 1, 2 / sqrt(pi) - 1)
TANH_P = safe(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, -third)


def erfcx_of(t):
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def position(x):
    return (mpf(x) - 4) / (mpf(x) + 4)


out = [
    "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
    "// Written by fit.py; edit that. POLY_X(x) is a polynomial in Horner's form; 32 marks those short enough for",
    "// single precision computed in double, F and FAST those in single precision throughout. TOP_X over BOTTOM_X",
    "// is a quotient.",
    "#pragma once",
    "// clang-format off",
    "",
]
half_ln2 = log(2) / 2 * mpf("1.001")
s_max = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")
quarter = (pi / 4 * mpf("1.0001")) ** 2
tan8 = (sqrt(2) - 1) ** 2 * mpf("1.001")


def exp_w(r, q):
    return 1 + r + r**2 * q


def log_w(z, p):
    return 2 + z * p


for name, degree, single in [("EXP", 11, 0), ("EXP32", 6, 0), ("EXPF", 5, 1)]:
    emit(out, name, EXP_Q, -half_ln2, half_ln2, degree, exp_w, single)
for name, degree in [("EXPM1", 12), ("EXPM132", 6)]:
    emit(out, name, EXP_Q, -half_ln2, half_ln2, degree, lambda r, q: r + r**2 * q)
for name, degree, single in [("LOG", 7, 0), ("LOG32", 3, 0), ("LOGF", 3, 1)]:
    emit(out, name, LOG_P, 0, s_max, degree, log_w, single)
emit(out, "LOGTAIL", LOG_T, 0, s_max, 8, lambda z, t: 1 + z / 3 + z * z / 5 + z**3 * t)
for name, degree in [("SIN", 7), ("SIN32", 3)]:
    emit(out, name, SIN_P, 0, quarter, degree, lambda z, p: 1 + z * p)
for name, degree in [("COS", 6), ("COS32", 3)]:
    emit(out, name, COS_P, 0, quarter, degree, lambda z, p: 1 - z / 2 + z * z * p)
for name, degree in [("ASIN", 13), ("ASIN32", 7)]:
    emit(out, name, ASIN_P, 0, mpf("0.2501"), degree, lambda z, p: 1 + z * p)
for name, degree in [("ATAN", 11), ("ATAN32", 6)]:
    emit(out, name, ATAN_P, 0, tan8, degree, lambda z, p: 1 + z * p)
for name, degree in [("ERF", 14), ("ERF32", 8)]:
    emit(out, name, ERF_P, 0, 1, degree, lambda z, p: 1 + p)
emit(out, "ERFCX32", erfcx_of, position("0.75"), position("10.5"), 11, lambda t, p: p)
erfcx0 = erfcx_of(mpf(0))
emit(out, "ERFCX", lambda t: (erfcx_of(t) - erfcx0) / t, position("0.75"), position(28), 23, lambda t, p: erfcx0 + t * p)
emit(out, "TANHF", TANH_P, 0, mpf("1.01"), 8, lambda z, p: 1 + z * p, True)
emit(out, "EXPFAST", exp, -half_ln2, half_ln2, 6, lambda r, p: p, True)
emit_rational(out, "TANHFAST", lambda z: tanh(sqrt(z)) / sqrt(z), mpf("9.02") ** 2, 5, 5)
emit_rational(out, "ERFFAST", lambda z: erf(sqrt(z)) / sqrt(z), mpf("3.925") ** 2, 6, 5)
emit(out, "CBRT", lambda m: m**third, 1, 2, 4, lambda m, p: p)

# 2/pi in words of 64 bits, for arguments of sin and cos that no subtraction can reduce.
mp.dps = 500
bits = int(mp.floor(2 / pi * mpf(2) ** 1280))
words = [(bits >> (1280 - 64 * (i + 1))) & (2**64 - 1) for i in range(20)]
out.append("// 2/pi, the most significant word first.")
out.append("#define TWO_OVER_PI_WORDS " + ", ".join(f"0x{w:016x}ull" for w in words))

# For single precision: what is left of 2/pi when x is a multiple of 2^(first - 23), so that multiples of 4 drop out;
# as 27 + 27 + 53 bits. Row 0 is for all x below 2^26.
rows = []
for row in range(5):
    first = None if row == 0 else 26 * row
    value = 2 / pi
    if first is not None:
        unit = mpf(2) ** (25 - first)
        value = value - mp.floor(value / unit) * unit
    parts = []
    for width in (27, 27, 53):
        top = int(mp.floor(log(value, 2)))
        if width == 53:
            parts.append(float(value))
        else:
            scale = mpf(2) ** (width - 1 - top)
            head = mp.floor(value * scale) / scale
            parts.append(float(head))
            value = value - head
    rows.append(parts)
for part, letter in enumerate("ABC"):
    out.append(f"#define TWO_OVER_PI_{letter} " + ", ".join(rows[r][part].hex() for r in range(5)))


# Constants as a head of the given bits and the rest.
def constant(name, value, *widths):
    rest, parts = value, []
    for width in widths:
        top = int(mp.floor(log(abs(rest), 2)))
        scale = mpf(2) ** (width - 1 - top)
        head = mp.floor(rest * scale) / scale
        parts.append(head)
        rest -= head
    parts.append(mpf(float(rest)))
    for i, p in enumerate(parts):
        out.append(f"#define {name}_{i} {float(p).hex()}")


out.append("// Constants in parts: _0 has few enough bits that a product with a small integer is exact.")
constant("LN2", log(2), 32)
constant("LN2H", log(2), 26)
constant("PIO2", pi / 2, 33, 33, 33)
constant("PIO2D", pi / 2, 53)
constant("PIO4X3D", 3 * pi / 4, 53)
constant("LOG2E", 1 / log(2), 27)
constant("LOG2ED", 1 / log(2), 53)
constant("LOG10E", 1 / log(10), 27)
constant("LOG10_2", log(2) / log(10), 32)
constant("LN2D", log(2), 53)
constant("THIRDD", mpf(1) / 3, 53)
constant("FIFTHD", mpf(1) / 5, 53)
constant("ERFCX0", erfcx0, 53)
constant("LN10D", log(10), 53)
open(sys.argv[1] if len(sys.argv) > 1 else "Coefficients.h", "w").write("\n".join(out) + "\n")
