// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network as the tuner sees it: cut in front of each operation that has knobs, so that a change of one
// operation is run from there on only. The compiler makes the cuts (driver/Segments.h) and a program for each
// piece under each knob.
#pragma once

#include "tessera/base/Knob.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::tune {

/// How far the result of an operation may be off, whatever computes it: ‖A−G‖₁ / ‖G‖₁ and the same in the
/// norm 2.
struct Demand {
  double l1 = 0, l2 = 0;
};
using Demands = std::map<std::string, Demand>;

/// Whether the knob that is spelt so computes with bytes.
inline bool isBytes(std::string_view knob) { return knob.starts_with("int8") || knob.starts_with("int7"); }

/// An operation with what follows it up to the next one that can be tuned. Values that cross cuts have
/// numbers; 0 is the network's input.
struct Segment {
  std::string name;                     ///< of the operation; "" for what stands before the first one
  std::string kind;                     ///< "conv", "matmul", …
  std::string shape;                    ///< equal text: the same work
  double flops = 0;                     ///< for one sample
  int32_t activation = -1;              ///< the value whose range int8 needs
  std::vector<int32_t> inputs, outputs; ///< in the order of the programs' ports
  std::vector<std::string> knobs;       ///< the first one is exact
  std::vector<double> work;             ///< of each knob: arithmetic in units of f32, whatever the machine
  std::optional<std::pair<float, float>> range; ///< of the activation, where the program knows it
  std::optional<Demand> demand; ///< the error budget of the operation, where the program has one

  /// A sum of activations behind the operation: its operand in memory is narrow when the operation is.
  struct Sum {
    std::string name;
    std::string half, bytes; ///< its knob beside one in bf16, and beside one in bytes; "" for none

    const std::string &knobBeside(const std::string &knob) const {
      static const std::string none;
      return knob.starts_with("bf16") ? half : isBytes(knob) ? bytes : none;
    }
  };
  std::vector<Sum> sums;

  /// Adds a knob for the operation, and what its sums have beside it, to a configuration.
  void give(KnobMap &configuration, const std::string &knob) const {
    configuration[name] = knob;
    for (const Sum &sum : sums)
      if (const std::string &own = sum.knobBeside(knob); !own.empty())
        configuration[sum.name] = own;
  }
};

struct Network {
  std::string name;
  std::vector<Segment> segments; ///< in order
  int32_t values = 1, output = 0;

  /// The program that runs segment `segment` under its knob `knob`.
  static std::string programName(size_t segment, size_t knob) {
    return "s" + std::to_string(segment) + "k" + std::to_string(knob);
  }
};

/// A node of a graph, or an operation of a network, that is tuned in the whole program.
struct TunableNode {
  std::string name, kind, shape;  ///< kind: "node", or the operation's mnemonic
  double flops = 0;               ///< of a node for one element
  std::vector<std::string> knobs; ///< the first one is exact
};

/// A piece under a knob, the one of this index in the segment's list.
struct PieceName {
  size_t segment, index;
  std::string knob;
};

/// Ranges of activations by operation, for knobs that need one.
using Ranges = std::map<std::string, std::pair<float, float>>;

} // namespace tessera::tune
