# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: data.py hotspot|kmeans FOLDER COUNT SIZE: samples for tuning as .npz files, and what NumPy computes of each in FOLDER.answers.

hotspot: a chip of SIZE x SIZE cells, warm around a few blocks that take power. kmeans: SIZE points of 34 features around five centres.
"""
import os
import sys

import numpy


def hotspot(draw, size):
    y, x = numpy.mgrid[0:size, 0:size] / size
    warm, power = numpy.full((size, size), 330.0), numpy.zeros((size, size))
    for _ in range(6):
        cy, cx, width = draw.uniform(0, 1), draw.uniform(0, 1), draw.uniform(0.03, 0.2)
        warm += draw.uniform(2, 15) * numpy.exp(-((y - cy) ** 2 + (x - cx) ** 2) / width ** 2)
        power += (numpy.abs(y - cy) < width / 2) * (numpy.abs(x - cx) < width / 2) * draw.uniform(0.001, 0.02)
    return {"temperature": warm.astype("f4"), "power": power.astype("f4")}


def hotspot_answer(temperature, power):
    v, power = temperature.astype("f8"), power.astype("f8")
    for _ in range(4):
        p = numpy.pad(v, 1, mode="edge")
        v = v + (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * v) * 0.1 + (80 - v) * 4.8828125e-05 + power
    return v.astype("f4")


def kmeans(draw, size):
    middle = draw.uniform(0, 11, (5, 34))
    points = middle[draw.integers(0, 5, size)] + draw.uniform(-2, 2, (size, 34))
    return {"points": points.astype("f4"), "centres": (middle + draw.uniform(-1, 1, (5, 34))).astype("f4")}


def kmeans_answer(points, centres):
    points, centres = points.astype("f8"), centres.astype("f8")
    for _ in range(2):
        nearest = ((points[:, None] - centres[None]) ** 2).sum(2).argmin(1)
        centres = numpy.array([points[nearest == k].mean(0) if (nearest == k).any() else centres[k] for k in range(len(centres))])
    return centres.astype("f4")


def main():
    name, folder, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for path in (folder, folder + ".answers"):
        os.makedirs(path, exist_ok=True)
    draw = numpy.random.default_rng(7)
    for i in range(count):
        sample = globals()[name](draw, size)
        numpy.savez(os.path.join(folder, f"{i}.npz"), **sample)
        numpy.save(os.path.join(folder + ".answers", f"{i}.npy"), globals()[name + "_answer"](**sample))


if __name__ == "__main__":
    main()
