// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compressible flow on an unstructured mesh of cells with four faces: a mesh made from a seed, constants, and
// a reference in double precision (Rodinia's cfd solves the same equations).
#pragma once
#include "harness.hpp"

namespace cfd {
constexpr int faces = 4, variables = 5; // density, momentum x y z, energy
constexpr int wall = -1, far = -2;
constexpr float gamma = 1.4f, smoothing = 0.2f;

struct Mesh {
  int cells = 0;
  std::vector<int> neighbour; // faces x cells
  std::vector<float> normal;  // faces x 3 x cells
  std::vector<float> area;
  std::vector<float> farField; // variables of the free stream
  std::vector<float> start;    // variables x cells

  /// A grid of rows x columns bent by random numbers, with walls below and above and the free stream at the
  /// ends; cells are numbered at random, so that neighbours are not neighbours in memory.
  static Mesh make(int rows, int columns) {
    Mesh m;
    m.cells = rows * columns;
    harness::Random random(19);
    std::vector<int> number(m.cells);
    for (int i = 0; i < m.cells; ++i)
      number[i] = i;
    for (int i = m.cells - 1; i > 0; --i) // near ones only: meshes are numbered with some care
      std::swap(number[i], number[std::max(0, i - random.below(64))]);
    m.neighbour.resize(size_t(faces) * m.cells);
    m.normal.assign(size_t(faces) * 3 * m.cells, 0);
    m.area.resize(m.cells);
    const int dr[] = {0, 0, 1, -1}, dc[] = {1, -1, 0, 0};
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        int cell = number[r * columns + c];
        m.area[cell] = random.real(0.9f, 1.1f);
        for (int f = 0; f < faces; ++f) {
          int nr = r + dr[f], nc = c + dc[f];
          m.neighbour[size_t(f) * m.cells + cell] = nr < 0 || nr >= rows      ? wall
                                                    : nc < 0 || nc >= columns ? far
                                                                              : number[nr * columns + nc];
          float bend = 0.1f * float((r * 7 + c * 3) % 5 - 2);
          m.normal[(size_t(f) * 3 + 0) * m.cells + cell] = float(dc[f]) + (f < 2 ? 0 : bend * float(dr[f]));
          m.normal[(size_t(f) * 3 + 1) * m.cells + cell] = float(dr[f]);
          m.normal[(size_t(f) * 3 + 2) * m.cells + cell] = f < 2 ? 0.05f * float(dc[f]) : 0.0f;
        }
      }
    float pressure = 1, sound = std::sqrt(gamma), speed = 1.2f * sound;
    m.farField = {1.4f, 1.4f * speed, 0, 0, 0};
    m.farField[4] = 1.4f * 0.5f * speed * speed + pressure / (gamma - 1);
    m.start.resize(size_t(variables) * m.cells);
    for (int v = 0; v < variables; ++v)
      for (int i = 0; i < m.cells; ++i)
        m.start[size_t(v) * m.cells + i] = m.farField[v] * random.real(0.98f, 1.02f);
    return m;
  }

  /// `steps` steps of three Runge-Kutta stages.
  std::vector<double> reference(int steps) const {
    size_t n = cells;
    std::vector<double> now(start.begin(), start.end()), old, next;
    struct State {
      double d, m[3], e, v[3], speed2, p, sound;
    };
    auto state = [](const double *q, size_t stride, size_t i) {
      State s;
      s.d = q[i], s.e = q[4 * stride + i], s.speed2 = 0;
      for (int k = 0; k < 3; ++k)
        s.m[k] = q[(k + 1) * stride + i], s.v[k] = s.m[k] / s.d, s.speed2 += s.v[k] * s.v[k];
      s.p = (gamma - 1.0) * (s.e - 0.5 * s.d * s.speed2);
      s.sound = std::sqrt(gamma * s.p / s.d);
      return s;
    };
    auto flow = [](const State &s, int variable, int axis) {
      if (variable == 0)
        return s.m[axis];
      if (variable == 4)
        return s.v[axis] * (s.e + s.p);
      return s.m[variable - 1] * s.v[axis] + (variable - 1 == axis ? s.p : 0);
    };
    std::vector<double> outer(farField.begin(), farField.end());
    State stream = state(outer.data(), 1, 0);
    for (int step = 0; step < steps; ++step) {
      old = now;
      std::vector<double> factor(n);
      for (size_t i = 0; i < n; ++i) {
        State s = state(now.data(), n, i);
        factor[i] = 0.5 / (std::sqrt(double(area[i])) * (std::sqrt(s.speed2) + s.sound));
      }
      for (int stage = 0; stage < 3; ++stage) {
        next = now;
        for (size_t i = 0; i < n; ++i) {
          State s = state(now.data(), n, i);
          double flux[variables] = {};
          for (int f = 0; f < faces; ++f) {
            int other = neighbour[f * n + i];
            double normalOf[3], length = 0;
            for (int k = 0; k < 3; ++k)
              normalOf[k] = normal[(size_t(f) * 3 + k) * n + i], length += normalOf[k] * normalOf[k];
            length = std::sqrt(length);
            if (other == wall) {
              for (int k = 0; k < 3; ++k)
                flux[k + 1] += normalOf[k] * s.p;
              continue;
            }
            State o = other == far ? stream : state(now.data(), n, other);
            if (other >= 0) {
              double damp =
                  -length * smoothing * 0.5 * (std::sqrt(s.speed2) + std::sqrt(o.speed2) + s.sound + o.sound);
              flux[0] += damp * (s.d - o.d), flux[4] += damp * (s.e - o.e);
              for (int k = 0; k < 3; ++k)
                flux[k + 1] += damp * (s.m[k] - o.m[k]);
            }
            for (int v = 0; v < variables; ++v)
              for (int k = 0; k < 3; ++k)
                flux[v] += 0.5 * normalOf[k] * (flow(s, v, k) + flow(o, v, k));
          }
          // Fluxes leave the cell.
          for (int v = 0; v < variables; ++v)
            next[v * n + i] = old[v * n + i] - factor[i] / (3 - stage) * flux[v];
        }
        now = next;
      }
    }
    return now;
  }
};

// What the equations need of one cell.
struct Cell {
  float density, momentumX, momentumY, momentumZ, energy, velocityX, velocityY, velocityZ, speed, pressure,
      sound;
};

inline Cell readCell(const float *values, int cells, int i) {
  Cell c;
  c.density = values[i];
  c.momentumX = values[cells + i];
  c.momentumY = values[2 * cells + i];
  c.momentumZ = values[3 * cells + i];
  c.energy = values[4 * cells + i];
  c.velocityX = c.momentumX / c.density;
  c.velocityY = c.momentumY / c.density;
  c.velocityZ = c.momentumZ / c.density;
  float square = c.velocityX * c.velocityX + c.velocityY * c.velocityY + c.velocityZ * c.velocityZ;
  c.speed = std::sqrt(square);
  c.pressure = (gamma - 1.0f) * (c.energy - 0.5f * c.density * square);
  c.sound = std::sqrt(gamma * c.pressure / c.density);
  return c;
}
} // namespace cfd
