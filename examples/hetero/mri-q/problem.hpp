// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Q matrix of a magnetic-resonance reconstruction: a sum of cosines and sines for each voxel (Parboil's
// mri-q).
#pragma once
#include "../common/harness.hpp"

struct MriQ {
  int samples, voxels;
  std::vector<float> kx, ky, kz, phiR, phiI, x, y, z;
  std::vector<float> magnitude, real, imaginary;
  std::vector<float> reference;

  static MriQ load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    std::vector<char> bytes = harness::readFile(dir + "/parboil/mri-q/small/input/32_32_32_dataset.bin");
    MriQ p;
    p.samples = harness::takeArray<int>(bytes, 0, 1)[0];
    p.voxels = harness::takeArray<int>(bytes, 4, 1)[0];
    size_t at = 8;
    auto take = [&](std::vector<float> &v, int n) {
      v = harness::takeArray<float>(bytes, at, n);
      at += size_t(n) * 4;
    };
    take(p.kx, p.samples), take(p.ky, p.samples), take(p.kz, p.samples);
    take(p.x, p.voxels), take(p.y, p.voxels), take(p.z, p.voxels);
    take(p.phiR, p.samples), take(p.phiI, p.samples);
    p.reference = harness::takeArray<float>(
        harness::readFile(dir + "/parboil/mri-q/small/output/32_32_32_dataset.out"), 4, size_t(2) * p.voxels);
    return p;
  }
  static MriQ generate(long scale) {
    MriQ p;
    p.samples = 512, p.voxels = int(scale) * 1024;
    harness::Random random(5);
    auto fill = [&](std::vector<float> &v, int n, float range) {
      v.resize(n);
      for (float &e : v)
        e = random.real(-range, range);
    };
    fill(p.kx, p.samples, 4), fill(p.ky, p.samples, 4), fill(p.kz, p.samples, 4);
    fill(p.x, p.voxels, .5f), fill(p.y, p.voxels, .5f), fill(p.z, p.voxels, .5f);
    fill(p.phiR, p.samples, 1), fill(p.phiI, p.samples, 1);
    return p;
  }
  void reset() {
    magnitude.assign(samples, 0);
    real.assign(voxels, 0);
    imaginary.assign(voxels, 0);
  }
  void hetero();
  void openmp();
  std::string check() const {
    if (!reference.empty()) {
      std::vector<float> got = real;
      got.insert(got.end(), imaginary.begin(), imaginary.end());
      return harness::compare(got, reference, 2e-3, 2e-2, "q");
    }
    for (int v = 0; v < voxels; v += 7) {
      double r = 0, i = 0;
      for (int s = 0; s < samples; ++s) {
        double angle = 2 * M_PI * (double(kx[s]) * x[v] + double(ky[s]) * y[v] + double(kz[s]) * z[v]);
        double weight = double(phiR[s]) * phiR[s] + double(phiI[s]) * phiI[s];
        r += weight * std::cos(angle), i += weight * std::sin(angle);
      }
      if (std::fabs(r - real[v]) > 2e-3 || std::fabs(i - imaginary[v]) > 2e-3)
        return "voxel " + std::to_string(v) + " is wrong";
    }
    return "";
  }
};
