// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "problem.hpp"
#include <cmath>

// What the equations need of one cell.
struct Cell {
  float density, momentumX, momentumY, momentumZ, energy, velocityX, velocityY, velocityZ, speed, pressure,
      sound;
};

static inline Cell readCell(const float *values, int cells, int i) {
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
  c.pressure = (cfd::gamma - 1.0f) * (c.energy - 0.5f * c.density * square);
  c.sound = std::sqrt(cfd::gamma * c.pressure / c.density);
  return c;
}
