// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout assignment: which activations are stored in blocks of channels, and how many channels a block has.
// Decided for the whole network before any code is made, so that no layer looks at layouts when it runs.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/transforms/nn/graph/Constants.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::cpu {

/// What layouts are made for.
struct LayoutOptions {
  int64_t lanes = 8;      ///< of f32 in a vector register
  bool winograd = true;   ///< algorithms that round differently are allowed
  int64_t bytes = 0;      ///< unsigned times signed bytes that one step of a sum takes; 0: not worth it
  int64_t smallBytes = 0; ///< the same where weights are small (packed::fitsPairs); 0: no other
  int64_t halves = 0;     ///< bf16 alike
  int64_t tileBytes = 0, tileHalves = 0; ///< channels of either that one product of matrices takes; 0: none
};

/// Convolutions with the knob `split` as ones of parts in bf16, where a machine multiplies matrices of those.
void splitLayers(dfg::NodeOp node, const LayoutOptions &options);

/// Convolutions along lines (N C T), and what stands between them, as ones on planes of one row.
void widenLines(dfg::NodeOp node, const LayoutOptions &options);

/// Gives activations blocked layouts where that pays, and makes packed layers of those that read or write
/// them. Weights are packed here.
LogicalResult assignLayouts(dfg::NodeOp node, const LayoutOptions &options);

/// An activation with static channels, of f32 or narrower, or sums of bytes: N C H W. Only f32 may have open
/// planes.
bool isActivation(Value v);
/// Its rows or columns are known only when it is computed.
bool hasOpenPlane(Value v);
/// Places of its plane: a guess where that is open.
int64_t placesOf(Value v);

/// How a convolution runs on blocks.
enum class ConvKind { None, Direct, Depthwise, Winograd };
ConvKind classifyConv(ConvOp op, const LayoutOptions &options);

/// The operation takes and gives blocked activations as they are, element by element, when its operands have
/// one layout.
bool isBlockwise(Operation *op);
/// A pool that cpu.packed_pool can do.
bool isPackedPool(Operation *op);
/// A mean over planes.
bool isPlaneMean(Operation *op);

/// The decision. Values that must agree (operands and results of elementwise operations, pools) form a class
/// with one block.
class Layouts {
public:
  Layouts(dfg::NodeOp node, const LayoutOptions &options);
  /// Channels in a block of this value; 0 when it stays plain.
  int64_t blockOf(Value v) const;

private:
  struct Class {
    SmallVector<Value> values;
    bool blocked = false; ///< a layer that needs blocks makes or takes a member
    bool exact = false;   ///< spare lanes would do harm: the block must divide the channels
    int64_t block = 0;
    int64_t most = 0; ///< channels of a block; more than a vector's only where all layers multiply matrices
  };
  void join(dfg::NodeOp node);
  /// The least work over all classes: each is chosen given its neighbours, until nothing changes. Chains of
  /// layers come out as by dynamic programming, since a class sees all layers that it touches.
  void choose(dfg::NodeOp node);
  double cost(unsigned index, int64_t block) const;
  double convCost(ConvOp op, int64_t from, int64_t to) const;
  bool fits(const Class &c, int64_t block) const;

  const LayoutOptions &options;
  std::vector<Class> classes;
  DenseMap<Value, unsigned> classOf;
};

} // namespace tessera::cpu
