#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The five filters and their chains in NumPy, written from their definitions and not from filters.mlir.

    reference.py CHAIN IN.npy OUT.npy            a chain, by its letters: geo, gemo, gsm, gsme, gsmo
    reference.py psnr A.npy B.npy [LEAST [MOST]]  prints the PSNR of two pictures with values up to 1; fails outside the bounds
"""
import sys

import numpy as np


def window(image, kernel):
    """Correlation with a kernel of odd size; pixels outside are those nearest inside."""
    radius = len(kernel) // 2
    padded = np.pad(image.astype(np.float64), radius, mode="edge")
    views = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape)
    return np.einsum("yxij,ij->yx", views, kernel)


binomial = np.array([1, 4, 6, 4, 1]) / 16
FILTERS = {
    "g": lambda x: window(x, np.outer(binomial, binomial)),
    "m": lambda x: window(x, np.eye(9) / 9),
    "s": lambda x: np.clip(window(x, np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])), 0, 1),
    "o": lambda x: np.clip(window(x, 9 * (np.arange(9).reshape(3, 3) == 4) - 1), 0, 1),
    "e": lambda x: np.clip(window(x, np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])), 0, 1),
}


def psnr(a, b):
    error = np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2)
    return np.inf if error == 0 else -10 * np.log10(error)


if __name__ == "__main__":
    if sys.argv[1] == "psnr":
        value = psnr(np.load(sys.argv[2]), np.load(sys.argv[3]))
        print(f"{value:.2f} dB")
        bounds = [float(v) for v in sys.argv[4:]] + [-np.inf, np.inf][len(sys.argv) - 4:]
        sys.exit(0 if bounds[0] <= value <= bounds[1] else 1)
    picture = np.load(sys.argv[2])
    for letter in sys.argv[1]:
        picture = FILTERS[letter](picture)
    np.save(sys.argv[3], picture.astype(np.float32))
