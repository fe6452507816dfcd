// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The node's side of NodeContext: attributes, inputs, outputs, failures and extents. Builders are in
// Build.cpp.
#include "tessera/base/Check.h"
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/ir/note/Notes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

NodeContext::NodeContext(Importer &importer, const Node &node, Scope &scope, int64_t opset, Location loc)
    : importer(importer), node(node), scope(scope), opset(opset), loc(loc), b(importer.b) {}

std::nullptr_t NodeContext::fail(const Twine &text) {
  if (bad)
    return nullptr;
  bad = true;
  std::string where = "node '" + ox::printable(cast<NameLoc>(loc).getName().getValue()) + "' (" +
                      ox::printable(node.opType) + " of " +
                      (node.domain.empty() ? "ai.onnx" : ox::printable(node.domain)) + ", opset " +
                      std::to_string(opset) + "): ";
  importer.problem(where + text.str());
  return nullptr;
}

void NodeContext::failInference() {
  StringRef said = importer.said;
  // "'nn.conv' op expected …": the user knows the node, not the operation.
  if (said.consume_front("'"))
    said = said.substr(said.find('\'') + 1).ltrim();
  said.consume_front("op ");
  fail(said.empty() ? Twine("the types of its operands do not fit together") : Twine(said));
  importer.said.clear();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const ox::Attribute *NodeContext::attr(StringRef name) const {
  const ox::Attribute *found = node.find(std::string_view(name.data(), name.size()));
  if (!found || found->reference.empty())
    return found;
  if (!scope.attributes)
    return nullptr;
  auto it = scope.attributes->find(found->reference);
  return it == scope.attributes->end() ? nullptr : it->second;
}

static bool check(NodeContext &c, const ox::Attribute &a, ox::AttributeType type) {
  if (a.type == type)
    return true;
  c.fail("attribute '" + Twine(ox::printable(a.name)) + "': expected " +
         std::string(ox::attributeTypeName(type)) + ", but got " +
         std::string(ox::attributeTypeName(a.type)));
  return false;
}

int64_t NodeContext::attrInt(StringRef name, int64_t otherwise) {
  const ox::Attribute *a = attr(name);
  return a && check(*this, *a, ox::AttributeType::Int) ? a->i : otherwise;
}
double NodeContext::attrFloat(StringRef name, double otherwise) {
  const ox::Attribute *a = attr(name);
  return a && check(*this, *a, ox::AttributeType::Float) ? a->f : otherwise;
}
std::string NodeContext::attrString(StringRef name, StringRef otherwise) {
  const ox::Attribute *a = attr(name);
  return a && check(*this, *a, ox::AttributeType::String) ? a->s : otherwise.str();
}
Ints NodeContext::attrInts(StringRef name) {
  const ox::Attribute *a = attr(name);
  return a && check(*this, *a, ox::AttributeType::Ints) ? Ints(a->ints.begin(), a->ints.end()) : Ints();
}
SmallVector<double> NodeContext::attrFloats(StringRef name) {
  const ox::Attribute *a = attr(name);
  return a && check(*this, *a, ox::AttributeType::Floats)
             ? SmallVector<double>(a->floats.begin(), a->floats.end())
             : SmallVector<double>();
}
std::vector<std::string> NodeContext::attrStrings(StringRef name) {
  const ox::Attribute *a = attr(name);
  return a && check(*this, *a, ox::AttributeType::Strings) ? a->strings : std::vector<std::string>();
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

Value NodeContext::v(unsigned i) {
  if (!has(i))
    return fail("input " + Twine(i) + " is missing"), Value();
  return importer.materialise(in[i], this);
}

bool NodeContext::wants(unsigned i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
unsigned NodeContext::numOutputs() const { return node.outputs.size(); }

KnownPtr NodeContext::tryKnown(unsigned i) { return has(i) ? importer.known(in[i]) : nullptr; }

KnownPtr NodeContext::known(unsigned i, StringRef what) {
  if (!has(i))
    return fail("input " + Twine(i) + " (" + what + ") is missing"), nullptr;
  if (KnownPtr k = importer.known(in[i]))
    return k;
  std::set<std::string> roots = importer.roots(in[i]);
  importer.needs(roots);
  std::string names, first;
  for (const std::string &name : roots) {
    names += (names.empty() ? "'" : ", '") + ox::printable(name) + "'";
    if (first.empty())
      first = ox::printable(name);
  }
  if (roots.empty())
    return fail(what + " (input " + Twine(i) + ") must be known when compiling"), nullptr;
  return fail(what + " (input " + Twine(i) + ") must be known when compiling, but depends on " + names +
              "; give its content with --frontend-option bind=" + first + ":FILE.npy"),
         nullptr;
}

std::optional<Ints> NodeContext::ints(unsigned i, StringRef what) {
  KnownPtr k = known(i, what);
  if (!k)
    return std::nullopt;
  if (!isInteger(k->type))
    return fail(what + " (input " + Twine(i) + "): expected integers"), std::nullopt;
  if (!k->isStatic())
    return fail(what + " (input " + Twine(i) + ") depends on an extent that is not known when compiling"),
           std::nullopt;
  Ints list;
  for (const Scalar &s : k->elements)
    list.push_back(s.i);
  return list;
}

std::optional<int64_t> NodeContext::oneInt(unsigned i, StringRef what) {
  std::optional<Ints> list = ints(i, what);
  if (!list)
    return std::nullopt;
  if (list->size() != 1)
    return fail(what + " (input " + Twine(i) + "): expected one element, but got " + Twine(list->size())),
           std::nullopt;
  return list->front();
}

std::optional<double> NodeContext::oneFloat(unsigned i, StringRef what) {
  KnownPtr k = known(i, what);
  if (!k)
    return std::nullopt;
  if (k->count() != 1 || !k->isStatic())
    return fail(what + " (input " + Twine(i) + "): expected one element, but got " + Twine(k->count())),
           std::nullopt;
  return isFloat(k->type) ? k->elements[0].f : double(k->elements[0].i);
}

std::optional<Ints> NodeContext::attrOrInput(StringRef name, unsigned i) {
  if (hasAttr(name))
    return attrInts(name);
  if (has(i))
    return ints(i, name);
  return std::nullopt;
}

void NodeContext::set(unsigned i, Value value, DataType type) {
  if (!value) {
    // Either a failure was recorded, or a builder met its null.
    if (!bad)
      fail("cannot be converted");
    return;
  }
  if (type == DataType::String)
    return void(
        fail("tensors of string are not supported here; expected an operator that moves or encodes them"));
  if (i < out.size())
    out[i] = importer.fromValue(value, type);
}
void NodeContext::set(unsigned i, Val value) {
  if (i < out.size())
    out[i] = std::move(value);
}
void NodeContext::set(unsigned i, Known known) {
  if (i < out.size())
    out[i] = importer.fromKnown(std::move(known));
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

int64_t NodeContext::dim(Value v, int64_t i) {
  if (!v)
    return 1;
  if (i < 0 || i >= rank(v))
    return fail("expected a tensor with more than " + Twine(i) + " dimensions, but got " + Twine(rank(v))), 1;
  return tt(v).getDimSize(i);
}

bool NodeContext::needStatic(Value v, int64_t i, StringRef what) {
  if (!ShapedType::isDynamic(dim(v, i)))
    return !bad;
  fail("a dynamic extent " + Twine(i) + " is not supported here: " + what + " depends on it");
  return false;
}

Ext NodeContext::ext(Value v, int64_t i) {
  int64_t size = dim(v, i);
  return ShapedType::isDynamic(size) ? Ext(importer.dimValue(v, i)) : Ext(size);
}

Exts NodeContext::exts(Value v) {
  Exts list;
  for (int64_t i = 0; i < rank(v); ++i)
    list.push_back(ext(v, i));
  return list;
}

Value NodeContext::index(Ext e) {
  return e.value ? e.value : Value(arith::ConstantIndexOp::create(b, loc, e.size));
}

Ext NodeContext::mul(Ext x, Ext y) {
  if (x.isStatic() && y.isStatic()) {
    int64_t product;
    if (__builtin_mul_overflow(x.size, y.size, &product) || product > maxElements)
      return fail("a tensor has too many elements"), Ext(1);
    return product;
  }
  if (x.is(1) || y.is(0))
    return y;
  if (y.is(1) || x.is(0))
    return x;
  return Ext(arith::MulIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::add(Ext x, Ext y) {
  if (x.isStatic() && y.isStatic())
    return x.size + y.size;
  if (x.is(0) || y.is(0))
    return x.is(0) ? y : x;
  return Ext(arith::AddIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::sub(Ext x, Ext y) {
  if (x.isStatic() && y.isStatic())
    return x.size - y.size;
  if (y.is(0))
    return x;
  return Ext(arith::SubIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::floordiv(Ext x, Ext y) {
  if (y.is(1))
    return x;
  TESSERA_CHECK(!y.is(0)) << "an extent of node '" << node.name << "' is divided by zero";
  if (x.isStatic() && y.isStatic())
    return x.size / y.size;
  return Ext(arith::FloorDivSIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::ceildiv(Ext x, Ext y) {
  if (y.is(1))
    return x;
  TESSERA_CHECK(!y.is(0)) << "an extent of node '" << node.name << "' is divided by zero";
  if (x.isStatic() && y.isStatic())
    return (x.size + y.size - 1) / y.size;
  return Ext(arith::CeilDivSIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::min(Ext x, Ext y) {
  if (x.isStatic() && y.isStatic())
    return std::min(x.size, y.size);
  return same(x, y) ? x : Ext(arith::MinSIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::max(Ext x, Ext y) {
  if (x.isStatic() && y.isStatic())
    return std::max(x.size, y.size);
  return same(x, y) ? x : Ext(arith::MaxSIOp::create(b, loc, index(x), index(y)).getResult());
}
Ext NodeContext::wider(Ext x, Ext y) {
  // A static extent other than 1 is certain.
  if (x.is(1) || same(x, y) || (y.isStatic() && y.size != 1))
    return y;
  if (y.is(1) || x.isStatic())
    return x;
  Value one = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index(x),
                                    arith::ConstantIndexOp::create(b, loc, 1));
  return Ext(arith::SelectOp::create(b, loc, one, index(y), index(x)).getResult());
}
Ext NodeContext::product(Value v, int64_t from, int64_t to) {
  Ext result(1);
  for (int64_t i = from; i < to; ++i)
    result = mul(result, ext(v, i));
  return result;
}
bool NodeContext::same(const Ext &x, const Ext &y) const {
  return x.isStatic() == y.isStatic() && (x.isStatic() ? x.size == y.size : x.value == y.value);
}

void NodeContext::require(Ext got, Ext expected, const Twine &text, bool ifKnown) {
  if (bad || same(got, expected))
    return;
  Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index(got), index(expected));
  auto check = cf::AssertOp::create(b, loc, equal, text.str());
  if (ifKnown)
    SharedNotes::ifKnown.set(check);
}

std::optional<int64_t> NodeContext::axis(int64_t a, int64_t rank) {
  if (a < -rank || a >= rank)
    return fail("axis " + Twine(a) + " is not one of a tensor with " + Twine(rank) + " dimensions"),
           std::nullopt;
  return a < 0 ? a + rank : a;
}
std::optional<Ints> NodeContext::axes(ArrayRef<int64_t> list, int64_t rank) {
  Ints result;
  for (int64_t a : list) {
    std::optional<int64_t> at = axis(a, rank);
    if (!at)
      return std::nullopt;
    if (llvm::is_contained(result, *at))
      return fail("axis " + Twine(a) + " is given twice"), std::nullopt;
    result.push_back(*at);
  }
  return result;
}

bool NodeContext::sane(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t d : type.getShape()) {
    if (ShapedType::isDynamic(d))
      continue;
    if (d < 0 || __builtin_mul_overflow(count, std::max<int64_t>(d, 1), &count) || count > maxElements)
      return fail("a tensor has too many elements"), false;
  }
  return true;
}
