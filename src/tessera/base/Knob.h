// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A knob: how an operation may be computed other than exactly. One spelling in the IR, in JSON, on the
// command line and in reports: a precision, a structure, or both joined by '+' ("int8+perforate-rows:1/2@1").
#pragma once

#include "tessera/base/Status.h"

#include <map>

namespace tessera {

struct Knob {
  /// The precision of the operands (int4: of the weights alone). Sums are kept in f32, or exact in 32 bits
  /// for int8 and int7; int7 is int8 with weights of seven bits. For graph nodes F16 and BF16 are how results
  /// are stored, and F16Math is also the precision of all arithmetic.
  enum class Precision : uint8_t { F32, F16, BF16, Int8, Int7, Int4, F16Math };
  enum class Structure : uint8_t {
    None,
    PerforateRows, ///< `skip` of every `rate` rows of the result are interpolated, not computed
    PerforateCols,
    PerforateBoth,
    CubicRows,    ///< as PerforateRows, interpolated by cubics through four rows; graph nodes alone
    SampleFilter, ///< one of every `rate` weights of a filter is left out, the others are scaled up
    Sample,       ///< one of every `rate` elements of a sum, a mean or a window is left out
    LowRank,      ///< weights as a product of two matrices, with `value` columns and rows between
    Prune,        ///< of every `rate` weights in a row the `value` largest stay
    PruneBlocks,  ///< `share` of the blocks of weights go, the smallest first
    Direct,       ///< a convolution by its definition
    Winograd,     ///< by Winograd's F(value, 3)
    Split,        ///< f32 by products of its parts in bf16
    Promise,      ///< on the analog accelerator PROMISE, at swing level `value`; modelled
    // For graph nodes only:
    Reuse,     ///< in `skip` of every `rate` activations of a stream its last results serve again
    Version,   ///< the graph that is the `value`th of its `dfg.versions` is called instead
    Stale,     ///< readers get the results of `value` activations before, and wait for none of this one
    BitErrors, ///< each bit of a stored result is wrong with probability `share`
  };

  Precision precision = Precision::F32;
  Structure structure = Structure::None;
  int64_t rate = 0, offset = 0, value = 0;
  double share = 0;
  int64_t skip = 1; ///< more than one for graph nodes alone

  /// The knob with this spelling; the error says what a knob looks like.
  static Result<Knob> parse(std::string_view text);
  /// The one spelling of this knob: parse(str()) is the same knob, and equal knobs have equal texts.
  std::string str() const;

  /// Operands are integers of a byte.
  bool isBytes() const { return precision == Precision::Int8 || precision == Precision::Int7; }
  /// Needs the range of its activation, for example from nn.range.
  bool needsRange() const { return isBytes() || structure == Structure::Promise; }
  bool isExact() const { return precision == Precision::F32 && structure == Structure::None; }
  bool perforatesRows() const {
    return structure == Structure::PerforateRows || structure == Structure::PerforateBoth;
  }
  bool perforatesCols() const {
    return structure == Structure::PerforateCols || structure == Structure::PerforateBoth;
  }
  bool perforates() const { return perforatesRows() || perforatesCols(); }
  /// Has an effect only in streams: a single launch computes the exact result.
  bool isOfStreams() const { return structure == Structure::Reuse || structure == Structure::Stale; }
  /// Allowed only for data that the program marks as approximate.
  bool needsMark() const { return structure == Structure::Stale || structure == Structure::BitErrors; }
  /// A knob of a graph node that leaves out rows.
  bool skipsRows() const {
    return structure == Structure::PerforateRows || structure == Structure::CubicRows;
  }

  friend bool operator==(const Knob &, const Knob &) = default;
};

/// Operation → knob; "all" stands for every operation that has the knob.
using KnobMap = std::map<std::string, std::string>;

/// Reads "all=int8" or "conv1=bf16,conv2=int8+perforate-rows:1/2@0". No name may come twice.
Result<KnobMap> parseKnobMap(std::string_view text);

} // namespace tessera
