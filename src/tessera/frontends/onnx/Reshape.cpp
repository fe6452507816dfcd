// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same elements in another shape.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

// The extent that -1 stands for: what is left of x's elements. Extents that appear on both sides cancel.
static Ext remaining(NodeContext &c, Value x, ArrayRef<Ext> others) {
  int64_t above = 1, below = 1;
  SmallVector<Value> up, down;
  auto collect = [&](const Ext &e, int64_t &product, SmallVector<Value> &dynamic) {
    if (e.isStatic())
      product = c.mul(Ext(product), e).size;
    else
      dynamic.push_back(e.value);
  };
  for (const Ext &e : c.exts(x))
    collect(e, above, up);
  for (const Ext &e : others)
    collect(e, below, down);
  for (Value v : SmallVector<Value>(down)) {
    auto *it = llvm::find(up, v);
    if (it == up.end())
      continue;
    up.erase(it);
    down.erase(llvm::find(down, v));
  }
  if (below == 0)
    return c.fail("cannot work out -1 beside an extent of 0"), Ext(1);
  if (up.empty() && down.empty() && above % below)
    return c.fail("cannot reshape: its elements do not divide by " + Twine(below)), Ext(1);
  if (above % below == 0) {
    above /= below;
    below = 1;
  }
  Ext result(above), divisor(below);
  for (Value v : up)
    result = c.mul(result, Ext(v));
  for (Value v : down)
    divisor = c.mul(divisor, Ext(v));
  return c.floordiv(result, divisor);
}

// The factors of a product that are not known.
static void collectFactors(Value v, SmallVector<Value> &factors) {
  if (auto product = v.getDefiningOp<arith::MulIOp>()) {
    collectFactors(product.getLhs(), factors);
    collectFactors(product.getRhs(), factors);
  } else if (!getConstantIntValue(v)) {
    factors.push_back(v);
  }
}

// Dimension `i` of a reshaped tensor, whose extent is computed. Where it comes out as 0, it is as large as
// that of the operand.
static Ext computedExtent(NodeContext &c, Value x, unsigned i, Value extent) {
  Value zero = arith::ConstantIndexOp::create(c.b, c.loc, 0);
  auto ifZero = [&](const Ext &then, const Ext &otherwise) -> Ext {
    Value isZero = arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::eq, extent, zero);
    return arith::SelectOp::create(c.b, c.loc, isZero, c.index(then), c.index(otherwise)).getResult();
  };
  if (int64_t(i) >= c.rank(x)) {
    c.require(
        ifZero(Ext(1), Ext(0)), Ext(0),
        "the number of zeros in the computed shape that have no extent of the operand to copy (allowzero=1 "
        "keeps them)",
        /*ifKnown=*/true);
    return extent;
  }
  Ext copied = c.ext(x, i);
  SmallVector<Value> own, factors;
  collectFactors(extent, own);
  auto areFactors = [&] {
    return llvm::all_of(own, [&](Value f) { return llvm::is_contained(factors, f); });
  };
  if (copied.value)
    collectFactors(copied.value, factors);
  // 0 only where that of the operand is, too.
  if (copied.is(0) || areFactors())
    return extent;
  for (const Ext &e : c.exts(x))
    if (e.value)
      collectFactors(e.value, factors);
  if (!areFactors())
    return ifZero(copied, extent);
  // 0 only where there are no elements. A copied extent would hardly ever fit them, and a choice would hide
  // which extents are equal: those of all layers behind `x.view(batch, length, width)`.
  c.require(ifZero(copied, Ext(0)), Ext(0),
            "extent " + Twine(i) +
                " of the operand, which a computed 0 in the shape copies (allowzero=1 keeps the 0),",
            /*ifKnown=*/true);
  return extent;
}

static void reshape(NodeContext &c) {
  Value x = c.v(0);
  bool zeroIsZero = c.attrInt("allowzero", 0);
  SmallVector<Scalar> wanted;
  if (c.opset < 5) {
    for (int64_t n : c.attrInts("shape"))
      wanted.push_back({n, 0, {}});
  } else {
    KnownPtr k = c.known(1, "shape");
    if (!k)
      return;
    wanted.assign(k->elements.begin(), k->elements.end());
  }
  Exts shape;
  std::optional<unsigned> open;
  for (auto [i, s] : llvm::enumerate(wanted)) {
    if (s.dynamic) {
      shape.push_back(zeroIsZero ? Ext(s.dynamic) : computedExtent(c, x, i, s.dynamic));
    } else if (s.i == 0 && !zeroIsZero) {
      shape.push_back(c.ext(x, i));
    } else if (s.i == -1) {
      if (open) {
        c.fail("expected at most one -1 in the shape");
        return;
      }
      open = i;
      shape.push_back(Ext(1));
    } else {
      shape.push_back(Ext(s.i));
    }
  }
  if (c.bad)
    return;
  if (open)
    shape[*open] = remaining(c, x, shape);
  c.set(0, c.reshape(x, shape), c.type(0));
}

static void flatten(NodeContext &c) {
  Value x = c.v(0);
  int64_t axis = c.attrInt("axis", 1), rank = c.rank(x);
  if (axis < -rank || axis > rank) {
    c.fail("axis " + Twine(axis) + " is not one of a tensor with " + Twine(rank) + " dimensions");
    return;
  }
  axis = axis < 0 ? axis + rank : axis;
  Ext outer = c.product(x, 0, axis), inner = c.product(x, axis, rank);
  c.set(0, c.reshape(x, {outer, inner}), c.type(0));
}

// 1 where the extent is 1, 0 elsewhere.
static Ext isOne(NodeContext &c, const Ext &extent) {
  Value one = arith::ConstantIndexOp::create(c.b, c.loc, 1),
        zero = arith::ConstantIndexOp::create(c.b, c.loc, 0);
  Value same = arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::eq, c.index(extent), one);
  return arith::SelectOp::create(c.b, c.loc, same, one, zero).getResult();
}

static void squeeze(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> given = c.attrOrInput("axes", 1);
  if (c.bad)
    return;
  Ints axes;
  if (given) {
    std::optional<Ints> checked = c.axes(*given, c.rank(x));
    if (!checked)
      return;
    axes = *checked;
  } else {
    Ints open;
    for (int64_t i = 0; i < c.rank(x); ++i) {
      if (c.dim(x, i) == 1)
        axes.push_back(i);
      else if (ShapedType::isDynamic(c.dim(x, i)))
        open.push_back(i);
    }
    // Open extents stay, unless only a tensor without them fits what follows. One that is 1 would change the
    // rank.
    Ext ones(0);
    if (!open.empty() && c.importer.decide(2))
      axes.append(open);
    else
      for (int64_t i : open)
        ones = c.add(ones, isOne(c, c.ext(x, i)));
    c.require(ones, Ext(0),
              "the number of open extents of 1, which Squeeze without axes would take away (give it axes, or "
              "compile "
              "with --frontend-option dim=INPUT:AXIS=1),");
  }
  c.set(0, c.squeeze(x, axes), c.type(0));
}

static void unsqueeze(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> given = c.attrOrInput("axes", 1);
  if (!given) {
    c.fail("axes are missing");
    return;
  }
  std::optional<Ints> axes = c.axes(*given, c.rank(x) + given->size());
  if (axes)
    c.set(0, c.unsqueeze(x, *axes), c.type(0));
}

ArrayRef<OperatorEntry> onnximport::reshapeOperators() {
  static const OperatorEntry entries[] = {
      {"Reshape", 1, lastOpset, reshape},
      {"Flatten", 1, lastOpset, flatten},
      {"Squeeze", 1, lastOpset, squeeze},
      {"Unsqueeze", 1, lastOpset, unsqueeze},
  };
  return entries;
}
