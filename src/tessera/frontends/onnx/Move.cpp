// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape and data movement.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

static void transpose(NodeContext &c) {
  Value x = c.v(0);
  Ints permutation = c.attrInts("perm");
  if (permutation.empty())
    permutation = llvm::to_vector(llvm::reverse(range(0, c.rank(x))));
  if (int64_t(permutation.size()) != c.rank(x) || !c.axes(permutation, c.rank(x))) {
    c.fail("'perm' is not a permutation of " + Twine(c.rank(x)) + " dimensions");
    return;
  }
  c.set(0, c.transpose(x, *c.axes(permutation, c.rank(x))), c.type(0));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static void concatenate(NodeContext &c) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < c.numInputs(); ++i) {
    values.push_back(c.v(i));
    if (c.type(i) != c.type(0)) {
      c.fail("its inputs have different element types");
      return;
    }
  }
  if (values.empty()) {
    c.fail("expected at least one input");
    return;
  }
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 1), c.rank(values[0]));
  if (axis)
    c.set(0, c.concat(values, *axis), c.type(0));
}

static void expand(NodeContext &c) {
  Value x = c.v(0);
  KnownPtr k = c.known(1, "shape");
  if (!k || !x)
    return;
  int64_t rank = std::max<int64_t>(c.rank(x), k->count());
  Exts shape(rank, Ext(1));
  for (int64_t i = 0; i < c.rank(x); ++i)
    shape[rank - c.rank(x) + i] = c.ext(x, i);
  for (int64_t i = 0; i < k->count(); ++i) {
    const Scalar &s = k->elements[i];
    Ext &have = shape[rank - k->count() + i];
    if (!s.dynamic && s.i != 1 && have.isStatic() && !have.is(1) && have.size != s.i) {
      c.fail("cannot expand an extent of " + Twine(have.size) + " to " + Twine(s.i));
      return;
    }
    have = c.wider(have, s.dynamic ? Ext(s.dynamic) : Ext(s.i));
    // What is asked for is what comes of it, or 1.
    if (s.dynamic && !c.same(have, Ext(s.dynamic))) {
      Value one = arith::ConstantIndexOp::create(c.b, c.loc, 1);
      Value isOne = arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::eq, s.dynamic, one);
      Value wanted = arith::SelectOp::create(c.b, c.loc, isOne, c.index(have), s.dynamic);
      c.require(wanted, have, "extent " + Twine(i) + " of the shape to expand to", /*ifKnown=*/true);
    }
  }
  c.set(0, c.broadcast(x, shape), c.type(0));
}

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

static void depthToSpace(NodeContext &c) {
  Value x = c.v(0);
  int64_t block = c.attrInt("blocksize", 0);
  if (c.rank(x) != 4 || block < 1 || block > (1 << 16) || ShapedType::isDynamic(c.dim(x, 1)) ||
      c.dim(x, 1) % (block * block)) {
    c.fail("expected four dimensions and channels that 'blocksize' squared divides");
    return;
  }
  Ext n = c.ext(x, 0), depth(c.dim(x, 1) / (block * block)), h = c.ext(x, 2), w = c.ext(x, 3), k(block);
  bool crd = c.attrString("mode", "DCR") == "CRD";
  Value y = crd ? c.transpose(c.reshape(x, {n, depth, k, k, h, w}), {0, 1, 4, 2, 5, 3})
                : c.transpose(c.reshape(x, {n, k, k, depth, h, w}), {0, 3, 4, 1, 5, 2});
  c.set(0, c.reshape(y, {n, depth, c.mul(h, k), c.mul(w, k)}), c.type(0));
}

static void spaceToDepth(NodeContext &c) {
  Value x = c.v(0);
  int64_t block = c.attrInt("blocksize", 0);
  if (c.rank(x) != 4 || block < 1 || block > (1 << 16)) {
    c.fail("expected four dimensions and a positive 'blocksize'");
    return;
  }
  Ext n = c.ext(x, 0), depth = c.ext(x, 1), k(block), h = c.floordiv(c.ext(x, 2), k),
      w = c.floordiv(c.ext(x, 3), k);
  Value y = c.transpose(c.reshape(x, {n, depth, h, k, w, k}), {0, 3, 5, 1, 2, 4});
  c.set(0, c.reshape(y, {n, c.mul(depth, Ext(block * block)), h, w}), c.type(0));
}

static void trilu(NodeContext &c) {
  Value x = c.v(0);
  int64_t k = 0;
  if (c.has(1)) {
    std::optional<int64_t> given = c.oneInt(1, "k");
    if (!given)
      return;
    k = *given;
  }
  bool upper = c.attrInt("upper", 1);
  c.set(0, c.one<nn::TriluOp>(x, uint64_t(k), upper), c.type(0));
}

static void reverseSequence(NodeContext &c) {
  c.set(0,
        c.one<nn::ReverseSequenceOp>(c.v(0), c.v(1), uint64_t(c.attrInt("time_axis", 0)),
                                     uint64_t(c.attrInt("batch_axis", 1))),
        c.type(0));
}

static void centerCropPad(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> shape = c.ints(1, "shape");
  std::optional<Ints> axes = c.axes(c.hasAttr("axes") ? c.attrInts("axes") : range(0, c.rank(x)), c.rank(x));
  if (!shape || !axes)
    return;
  if (shape->size() != axes->size()) {
    c.fail("expected as many extents as axes");
    return;
  }
  Ints lows(c.rank(x), 0), highs(c.rank(x), 0);
  for (auto [wanted, axis] : llvm::zip(*shape, *axes)) {
    int64_t have = c.dim(x, axis);
    if (ShapedType::isDynamic(have)) {
      c.fail("a dynamic extent is not supported");
      return;
    }
    if (have > wanted) {
      x = c.slice(x, axis, (have - wanted) / 2, wanted);
    } else {
      lows[axis] = (wanted - have) / 2;
      highs[axis] = wanted - have - lows[axis];
    }
  }
  c.set(0, c.pad(x, lows, highs), c.type(0));
}

ArrayRef<OperatorEntry> onnximport::moveOperators() {
  static const OperatorEntry entries[] = {
      {"Transpose", 1, lastOpset, transpose},
      {"Concat", 1, lastOpset, concatenate},
      {"Expand", 8, lastOpset, expand},
      {"DepthToSpace", 1, lastOpset, depthToSpace},
      {"SpaceToDepth", 1, lastOpset, spaceToDepth},
      {"Trilu", 14, lastOpset, trilu},
      {"Trilu", 1, lastOpset, trilu, microsoft},
      {"ReverseSequence", 10, lastOpset, reverseSequence},
      {"CenterCropPad", 18, lastOpset, centerCropPad},
  };
  return entries;
}
