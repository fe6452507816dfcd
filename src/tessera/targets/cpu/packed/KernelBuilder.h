// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernels share: index arithmetic, loops, views of memory by a pointer and constant distances, and
// the stores of results with everything that follows the layer. Only this folder's sources include this.
#pragma once

#include "tessera/targets/cpu/packed/Packed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tessera::cpu::packed {

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

/// Makes code at one place.
struct Gen {
  OpBuilder &b;
  Location loc;

  Value index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, index(y)) : x; }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value mul(Value x, int64_t y) { return y == 1 ? x : b.createOrFold<arith::MulIOp>(loc, x, index(y)); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value sub(Value x, int64_t y) { return y ? sub(x, index(y)) : x; }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(loc, x, y); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(loc, x, y); }
  /// Rounded up.
  Value parts(Value x, int64_t y) { return div(add(x, y - 1), y); }
  Value div(Value x, int64_t y) { return y == 1 ? x : b.createOrFold<arith::DivUIOp>(loc, x, index(y)); }
  Value rem(Value x, int64_t y) {
    return y == 1 ? index(0) : b.createOrFold<arith::RemUIOp>(loc, x, index(y));
  }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
  Value less(Value x, Value y) { return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y); }
  Value equal(Value x, Value y) { return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y); }
  Value equal(Value x, int64_t y) { return equal(x, index(y)); }
  Value negate(Value x) {
    return b.createOrFold<arith::XOrIOp>(loc, x, arith::ConstantIntOp::create(b, loc, 1, 1));
  }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value splat(Type type, double v);
  /// x * y + z, in one instruction where the machine has one.
  Value fma(Value x, Value y, Value z) {
    auto contract = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
    return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, y, contract), z, contract);
  }

  using Body = function_ref<SmallVector<Value>(Value iv, ValueRange carried)>;
  /// A loop that carries values; one that runs once is its body.
  SmallVector<Value> loop(Value from, Value to, int64_t step, ValueRange init, Body body);
  SmallVector<Value> loop(int64_t from, int64_t to, int64_t step, ValueRange init, Body body) {
    return loop(index(from), index(to), step, init, body);
  }
  /// One that carries nothing.
  void each(Value from, Value to, int64_t step, function_ref<void(Value)> body);
  void each(int64_t from, int64_t to, int64_t step, function_ref<void(Value)> body) {
    each(index(from), index(to), step, body);
  }
  void when(Value condition, function_ref<void()> then);
  /// Covers [from, to), however long, by tiles of `size` places from `at` on, then by such of half as many,
  /// and so on. Of each size the last one may overlap what is there already.
  void cover(Value from, Value to, int64_t size, function_ref<void(Value at, int64_t size)> body);
  /// The outermost loop, over tasks.
  void tasks(ArrayRef<OpFoldResult> extents, function_ref<void(ValueRange)> body);
  /// Tasks of a convolution: its images, groups of channels and parts of the rows, in the order that
  /// `split` (Tiles.h) asks for.
  void tasks(int64_t split, Value images, int64_t channels, OpFoldResult parts,
             function_ref<void(Value image, Value channel, Value part)> body);
};

/// Memory N x … in rows of the innermost extent.
struct Memory {
  Value buffer;
  SmallVector<int64_t> shape;
  SmallVector<Value> extents = {}; ///< of dimensions behind the first that are open; null for others
  /// Elements to the place of these indices.
  Value offset(Gen &g, ValueRange at) const;
  /// Elements from one index to the next; as a number where no open extent stands behind.
  int64_t stride(unsigned dim) const;
  Value strideAt(Gen &g, unsigned dim) const;
  Value extent(Gen &g, unsigned dim) const;
  /// An extent behind the first is open.
  bool isOpen() const { return llvm::any_of(ArrayRef(shape).drop_front(), ShapedType::isDynamic); }
};

/// A pointer into memory: elements at constant distances from it are one instruction away.
struct Cursor {
  Value view;
  Value load(Gen &g, int64_t distance, int64_t lanes) const;
  Value scalar(Gen &g, int64_t distance) const;
  void store(Gen &g, Value v, int64_t distance) const;
};
Cursor cursorAt(Gen &g, const Memory &memory, ValueRange at);
Cursor cursorAt(Gen &g, const Memory &memory, Value offset);

/// An operand as memory; a crop on the way is a distance that `top` and `left` tell.
struct Input {
  Memory memory;
  int64_t top = 0, left = 0;
  std::array<int64_t, 2> cropped = {0, 0}; ///< rows and columns that are not seen, on both sides together
  /// Rows and columns that are seen.
  Value rows(Gen &g) const { return g.sub(memory.extent(g, 2), cropped[0]); }
  Value columns(Gen &g) const { return g.sub(memory.extent(g, 3), cropped[1]); }
};
/// How many windows there are over rows (`dim` 2) or columns (3) of what an operation takes.
Value placesOf(Gen &g, Operation *op, const Input &x, unsigned dim);
Input inputOf(RewriterBase &rewriter, Value tensor);

/// Two elements of a window as one.
Value combine(Gen &g, ReduceKind kind, Value a, Value b);

/// Who alone reads what comes of an operation element by element; null when there are several. `v` becomes
/// what it reads.
Operation *findReader(Operation *op, Value &v);

/// Memory of a task or, outside of tasks, of the node. Open extents behind the first are in `extents`.
Memory allocate(Gen &g, ArrayRef<int64_t> shape, Type element, Value first = {},
                ArrayRef<Value> extents = {});

/// Where results go: the elementwise operations behind a layer, its halo, and the memory at the end. Where
/// several readers want the result in different forms (as it is and quantised, say), each form is a branch.
class Output {
public:
  /// Looks at what follows `op`, which has one result, up to what others have `taken`; changes nothing. A
  /// layer that stores by tiles takes a pool along, too (findPool).
  static FailureOr<Output> find(Operation *op, std::string &why, bool byTiles = false,
                                const Taken *taken = nullptr);
  /// The same, and everything is ready for the loops: the insertion point is where they belong, and nobody
  /// asks for extents of what will not exist.
  static FailureOr<Output> follow(RewriterBase &rewriter, Operation *op, std::string &why,
                                  bool byTiles = false);
  /// The layer and what follows it.
  SmallVector<Operation *> taken() const {
    SmallVector<Operation *> all = {layer};
    collect(all);
    return all;
  }

  /// Applies what follows to a vector of elements along the innermost dimension, from place `at` of the
  /// layer's result on, and stores it.
  void store(Gen &g, ValueRange at, Value v) const;
  /// The same for rows x columns places of whole windows; `v` gives the vector of each.
  void storeTile(Gen &g, Value n, Value block, Value row, Value column, int64_t rows, int64_t columns,
                 function_ref<Value(int64_t, int64_t)> v) const;
  /// Rows and columns that must be stored together: those of a pool's windows.
  std::array<int64_t, 2> window() const { return windowSize; }
  /// The border around the rows [from, to) of one plane (n, block); whoever computes the first and last rows
  /// does those above and below.
  void border(Gen &g, Value n, Value block, Value from, Value to) const;
  bool hasHalo() const {
    auto has = [](const Output &each) { return each.hasHalo(); };
    return hasOwnHalo() || llvm::any_of(branches, has) || llvm::any_of(pooled, has);
  }
  /// Whether rows can be read as one long row: nothing depends on where a row ends.
  bool isFlat() const;
  /// Extent 0 of the result, if it is dynamic: that of `like`.
  /// f32 becomes bf16 by x86's instruction, which takes denormal numbers for zero: for layers whose products
  /// do that, too.
  void roundByInstruction();
  /// Makes the memory (where it is not given), before the loops. Rows and columns of the layer's result are
  /// given where they are open.
  void begin(Gen &g, Value batch, Value rows = {}, Value columns = {});
  /// The same for one whose result is a strip.
  void setExtents(Value rows, Value columns) { layerExtents = {rows, columns}; }
  /// They are.
  bool isOpen() const { return llvm::any_of(ArrayRef(layerShape).drop_front(), ShapedType::isDynamic); }
  Value rows(Gen &g) const { return layerExtent(g, 2); }
  Value columns(Gen &g) const { return layerExtent(g, 3); }
  /// The same for a product with rows in several dimensions, which says how long those are; its places are a
  /// row of all of them and a column.
  void beginRows(Gen &g, Value batch, ArrayRef<Value> extents);
  /// The result goes to a strip of one image instead, from row `firstRow` on, for who reads it there.
  void redirect(const Memory &strip, Value firstRow);
  /// What is stored last, before the copy to where it belongs.
  Value stored() const { return result; }
  /// Replaces what was followed. Call it when the loops stand.
  void finish(RewriterBase &rewriter, Operation *op);
  /// Of the layer's result, as far as somebody reads it.
  const SmallVector<int64_t> &shape() const { return layerShape; }

private:
  struct Step {
    linalg::GenericOp op;
    SmallVector<Input> inputs; ///< of each input; no buffer for the value that comes along
  };
  Value readOperand(Gen &g, const Step &step, unsigned input, ValueRange at, int64_t lanes) const;
  /// Elements to what an operand holds for a row and a column of a product.
  Value offsetInRows(Gen &g, AffineMap map, const Memory &memory, ValueRange at) const;
  /// Follows `v`, through `first` if that is given and through whoever alone reads it otherwise.
  void extend(Value v, Operation *first, const Taken *taken);
  bool absorb(Operation *user, Value v);
  void branch(const Taken *taken);
  void pool(const Taken *taken);
  void answer(RewriterBase &rewriter, Value operand, function_ref<Value(Location, int64_t)> first) const;
  Value layerExtent(Gen &g, unsigned dim) const {
    return ShapedType::isDynamic(layerShape[dim]) ? layerExtents[dim - 2] : g.index(layerShape[dim]);
  }
  Value apply(Gen &g, ValueRange at, Value v) const;
  /// A vector of f32 as bf16 by instructions; null where there are none for so many lanes.
  Value rounded(Gen &g, Value v) const;
  void collect(SmallVectorImpl<Operation *> &all) const;
  void resolve(RewriterBase &rewriter, ArrayRef<Operation *> all);
  void replace(RewriterBase &rewriter, Operation *op);
  bool hasOwnHalo() const {
    return llvm::any_of(pads, [](int64_t p) { return p != 0; });
  }

  Operation *layer = nullptr;
  SmallVector<Value> passed; ///< what is not stored, and what is
  SmallVector<Step> steps;
  SmallVector<int64_t> pads = {0, 0, 0, 0};
  int64_t fill = 0; ///< of the halo
  SmallVector<int64_t> layerShape;
  std::array<Value, 2> layerExtents; ///< rows and columns, if open
  SmallVector<Operation *> absorbed; ///< in order
  Operation *materialize = nullptr;  ///< that copied the result to its destination
  bool byInstruction = false;        ///< roundByInstruction()
  bool byRows = false;               ///< of a product: all dimensions but the innermost are one
  SmallVector<Value> rowExtents;     ///< those dimensions'
  bool splits = false;               ///< an nn.split stands at the end, perhaps with a border
  bool isStored = true;              ///< somebody wants this form, not only a branch of it
  Value stripRow;                    ///< the first row of a strip
  Value result;
  Memory dest;
  RankedTensorType type;
  std::vector<Output> branches;
  std::vector<Output> pooled; ///< what becomes of the pool's result, if there is one
  ReduceKind poolKind = ReduceKind::max;
  std::array<int64_t, 2> windowSize = {1, 1};
};

/// Whether a layer's result gets a border, perhaps behind other operations: then its rows are not one long
/// row.
bool getsHalo(Value result);

/// A vector of `lanes` elements.
inline VectorType vectorOf(Type element, int64_t lanes) { return VectorType::get({lanes}, element); }

/// Extent 0 of a tensor's memory as a value, and as what forall takes.
Value batchOf(Gen &g, const Memory &memory);
/// Any extent of a buffer.
Value extentOf(Gen &g, Value buffer, int64_t dim);

} // namespace tessera::cpu::packed
