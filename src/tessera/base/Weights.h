// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What knobs do to weights, once, before a program runs. These functions are the definition: the oracle and
// the compiler call them both, so that a program has the weights that its knobs say.
#pragma once

#include "tessera/base/Knob.h"

#include <span>
#include <vector>

namespace tessera {

/// Weights as a matrix: row r holds the weights of result r. A column is the element (channel, tap) of a
/// filter, channels outermost; `taps` is 1 for a matrix product.
struct WeightShape {
  int64_t rows = 0, channels = 0, taps = 1;
  int64_t width = 1; ///< of the filter: taps in one of its rows
  int64_t columns() const { return channels * taps; }
};

/// Whether sample-filter leaves this column out: its number is the knob's offset modulo the rate. Where
/// filter rows are a multiple of the rate wide, that would be the same column of each filter, so the offset
/// moves on with the channel.
bool isSampledOut(int64_t column, const WeightShape &shape, const Knob &knob);

/// Changes weights as the knob's structure says (sample-filter, prune, prune-blocks), and rounds them to
/// int4; other knobs leave them as they are.
///   sample-filter: those left out are 0, the others times rate / (rate - 1).
///   prune: of every `rate` neighbouring channels of one tap the `value` largest in magnitude stay; the first
///   among equals. prune-blocks: blocks of 16 rows by 4 channels of one tap; `share` of them, rounded down,
///   with the least sum of
///     magnitudes become 0; the first among equals.
///   int4: in each row, groups of 32 columns: scale = largest magnitude / 7, w = scale * round(w / scale),
///   halves to even.
void changeWeights(std::span<float> weights, const WeightShape &shape, const Knob &knob);

/// The group of columns that share a scale, and the rows and channels of a pruned block.
inline constexpr int64_t int4Group = 32, pruneRows = 16, pruneChannels = 4;

/// The largest weight as an integer, and the scale of each row: largest magnitude over that; 1 for a row of
/// zeros.
inline constexpr int32_t int8Most = 127, int7Most = 63;
inline int32_t mostOf(Knob::Precision precision) {
  return precision == Knob::Precision::Int7 ? int7Most : int8Most;
}
std::vector<float> int8Scales(std::span<const float> weights, int64_t rows, int32_t most);

/// What an f32 becomes as int8: zero, and the distance between neighbours. The range is extended to hold 0.
struct Int8Range {
  float scale = 1;
  int32_t zero = 0;
};
Int8Range int8Range(float low, float high);

/// left: rows x rank, right: rank x columns, with left * right the best approximation of the matrix of that
/// rank.
void factorise(std::span<const float> matrix, int64_t rows, int64_t columns, int64_t rank,
               std::vector<float> &left, std::vector<float> &right);

/// The number, rounded to nearest even, as the given precision has it (f32, f16 or bf16).
float roundTo(Knob::Precision precision, float value);

/// Four numbers of 32 bits from a counter and a key (Philox 4x32, ten rounds).
struct PhiloxBlock {
  uint32_t word[4];
};
PhiloxBlock philox(uint64_t counter, uint64_t key);
/// A normally distributed number from them, as nn.noise says.
double philoxNormal(uint64_t counter, uint64_t key);
/// The key of an operation of this name.
int64_t noiseKey(std::string_view name);
/// The bits, of the lowest `width`, that are wrong in element `index`: each with probability `rate`. Bit b is
/// when word b % 4 of the block with the counter 16 * index + b / 4 is below rate * 2^32.
uint64_t bitErrors(uint64_t index, unsigned width, double rate, uint64_t key);
/// The number that a word is compared with.
uint32_t bitErrorThreshold(double rate);

/// PROMISE's noise at a swing level (1 to 7) in units of the value.
double promiseSigma(int64_t level);
/// A number on one of 256 levels of a range.
float promiseLevel(float value, float low, float high);

} // namespace tessera
