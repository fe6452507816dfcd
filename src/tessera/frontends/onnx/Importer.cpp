// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Importer.h. Operators are in the files of their families; here is what every node goes through.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Loops.h"
#include "tessera/frontends/onnx/Ratio.h"

#include "tessera/base/Check.h"
#include "tessera/base/Progress.h"
#include "tessera/ir/dfg/Dfg.h"
#include "tessera/ir/dfg/DfgPorts.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

/// Functions that call functions, and graphs within graphs.
static constexpr unsigned maxDepth = 200;

Val Scope::find(const std::string &name) const {
  for (const Scope *s = this; s; s = s->outer)
    if (auto it = s->values.find(name); it != s->values.end())
      return it->second;
  return nullptr;
}

Importer::Importer(const ox::Model &model, const ImportOptions &options, MLIRContext *context,
                   Decisions decisions)
    : model(model), options(options), b(context), decisions(std::move(decisions)) {
  for (ArrayRef<OperatorEntry> family :
       {elementwiseOperators(), reduceOperators(),       contractOperators(),
        poolOperators(),        normOperators(),         moveOperators(),
        partOperators(),        reshapeOperators(),      shapeOperators(),
        indexOperators(),       resampleOperators(),     quantOperators(),
        sequenceOperators(),    attentionOperators(),    lossOperators(),
        signalOperators(),      controlOperators(),      selectionOperators(),
        contribOperators(),     contribQuantOperators(), contribAttentionOperators(),
        learnedOperators(),     treeOperators(),         encoderOperators(),
        listOperators()})
    for (const OperatorEntry &entry : family)
      operators[{entry.domain, entry.name}].push_back(&entry);
}

void Importer::problem(std::string text) {
  if (problemCount++ < options.maxProblems)
    result.problems.push_back(std::move(text));
}

void Importer::forgive(size_t count) {
  problemCount = count;
  result.problems.resize(std::min(result.problems.size(), count));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Val Importer::fromTensor(const ox::Tensor &tensor) {
  auto val = std::make_shared<Entity>();
  val->name = tensor.name;
  val->type = tensor.type;
  val->dims.assign(tensor.dims.begin(), tensor.dims.end());
  val->tensor = &tensor;
  return val;
}

// The whole of a sparse tensor, with its zeros.
Val Importer::fromSparse(const ox::SparseTensor &sparse) {
  ox::Tensor dense;
  dense.name = sparse.values.name;
  dense.type = sparse.values.type;
  dense.dims = sparse.dims;
  unsigned bits = ox::dataTypeBits(dense.type);
  std::optional<int64_t> count = ox::elementCount(sparse.dims);
  if (bits < 8 || !count || *count > (int64_t(1) << 32)) {
    problem("initializer '" + ox::printable(dense.name) +
            "': a sparse tensor of this type or size is not supported");
    auto val = std::make_shared<Entity>();
    val->poison = true;
    return val;
  }
  size_t width = bits / 8;
  auto bytes = std::make_shared<std::vector<std::byte>>(*count * width);
  std::optional<std::vector<int64_t>> indices = ox::integerValues(sparse.indices);
  int64_t values = sparse.values.count(), rank = sparse.dims.size();
  for (int64_t i = 0; indices && i < values; ++i) {
    int64_t at = 0;
    if (sparse.indices.dims.size() == 1)
      at = (*indices)[i];
    else
      for (int64_t d = 0; d < rank; ++d)
        at = at * sparse.dims[d] + (*indices)[i * rank + d];
    std::copy_n(sparse.values.data.begin() + i * width, width, bytes->begin() + at * width);
  }
  dense.data = std::span<const std::byte>(*bytes);
  dense.owner = bytes;
  return fromTensor(keep(std::move(dense)));
}

Val Importer::fromKnown(Known known) {
  auto val = std::make_shared<Entity>();
  val->type = known.type;
  val->dims = known.dims;
  val->known = std::make_shared<const Known>(std::move(known));
  return val;
}

Val Importer::fromValue(Value value, DataType type) {
  auto val = std::make_shared<Entity>();
  val->type = type;
  val->value = value;
  val->dims = llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
  return val;
}

KnownPtr Importer::known(const Val &val) {
  if (!val || val->poison)
    return nullptr;
  if (val->known || !val->tensor)
    return val->known;
  const ox::Tensor &tensor = *val->tensor;
  int64_t count = tensor.count();
  if (count > maxKnown || (!isFloat(tensor.type) && !isInteger(tensor.type)))
    return nullptr;
  Known known;
  known.type = tensor.type;
  known.dims = val->dims;
  known.elements.resize(count);
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(tensor.type))
      known.elements[i].f = *ox::numberAt(tensor, i);
    else if (tensor.type == DataType::U64)
      known.elements[i].i = static_cast<int64_t>(ox::elementBits(tensor, i));
  }
  if (!isFloat(tensor.type) && tensor.type != DataType::U64) {
    std::optional<std::vector<int64_t>> values = ox::integerValues(tensor);
    if (!values)
      return nullptr;
    for (int64_t i = 0; i < count; ++i)
      known.elements[i].i = (*values)[i];
  }
  val->known = std::make_shared<const Known>(std::move(known));
  return val->known;
}

Value Importer::constant(TypedAttr attr, Location loc) {
  Value &slot = constants[attr];
  if (slot)
    return slot;
  OpBuilder::InsertionGuard guard(b);
  if (lastConstant)
    b.setInsertionPointAfter(lastConstant);
  else
    b.setInsertionPointToStart(leaf);
  auto op = arith::ConstantOp::create(b, loc, attr);
  lastConstant = op;
  return slot = op;
}

static RankedTensorType staticType(ArrayRef<int64_t> dims, Type element) {
  return RankedTensorType::get(dims, element);
}

// Elements as bytes, in the element type of the graph.
static std::vector<char> knownBytes(const Known &known, MLIRContext *context) {
  Type element = elementType(known.type, context);
  std::vector<char> bytes;
  auto push = [&](auto value) {
    const char *p = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), p, p + sizeof(value));
  };
  for (const Scalar &s : known.elements) {
    if (known.type == DataType::F32)
      push(static_cast<float>(s.f));
    else if (known.type == DataType::F64)
      push(s.f);
    else if (isFloat(known.type)) {
      llvm::APFloat number(s.f);
      bool inexact;
      number.convert(cast<FloatType>(element).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                     &inexact);
      push(static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue()));
    } else if (element.getIntOrFloatBitWidth() <= 8)
      push(static_cast<int8_t>(s.i));
    else if (element.isInteger(16))
      push(static_cast<int16_t>(s.i));
    else if (element.isInteger(32))
      push(static_cast<int32_t>(s.i));
    else
      push(s.i);
  }
  return bytes;
}

Value Importer::materialise(const Val &val, NodeContext *context) {
  if (!val || val->poison)
    return {};
  if (val->items) {
    if (context)
      context->fail("a sequence is not supported here; expected a tensor");
    return {};
  }
  if (val->value)
    return val->value;
  Location loc = NameLoc::get(b.getStringAttr(val->name.empty() ? "constant" : val->name));
  Type element = elementType(val->type, b.getContext());
  if (!element) {
    if (context)
      context->fail("tensors of " + Twine(std::string(ox::dataTypeName(val->type))) + " are not supported");
    return {};
  }
  RankedTensorType type = staticType(val->dims, element);
  if (val->known && !val->known->isStatic()) {
    // Extents that are computed: they may stand in a loop, so they are not shared.
    if (isFloat(val->type)) {
      // Exact quotients (Ratio.h), and numbers beside them.
      Known over = *val->known, under = over, fixed = over;
      over.type = DataType::I64;
      for (auto [o, u, f] : llvm::zip(over.elements, under.elements, fixed.elements)) {
        bool isRatio(f.dynamic);
        o = {0, 0, f.dynamic};
        u = {0, isRatio ? f.f : 1, {}};
        f = {0, isRatio ? 0 : f.f, {}};
      }
      Value x = nn::CastOp::create(b, loc, type, materialise(fromKnown(over), context), nn::Format::plain,
                                   nn::Format::plain, false, "nearest");
      x = nn::BinaryOp::create(b, loc, type, nn::BinaryKind::div, x, materialise(fromKnown(under), context),
                               false);
      return nn::BinaryOp::create(b, loc, type, nn::BinaryKind::add, x,
                                  materialise(fromKnown(fixed), context), false);
    }
    SmallVector<Value> elements;
    for (const Scalar &s : val->known->elements) {
      if (!s.dynamic)
        elements.push_back(arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, s.i)));
      else if (element.isInteger(1))
        elements.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, s.dynamic,
                                                 arith::ConstantIndexOp::create(b, loc, 0)));
      else
        elements.push_back(arith::IndexCastOp::create(b, loc, element, s.dynamic));
    }
    return tensor::FromElementsOp::create(b, loc, type, elements);
  }
  if (val->tensor) {
    const ox::Tensor &tensor = *val->tensor;
    std::vector<int8_t> unpacked = ox::unpackSubByte(tensor);
    ArrayRef<char> bytes =
        unpacked.empty()
            ? ArrayRef<char>(reinterpret_cast<const char *>(tensor.data.data()), tensor.data.size())
            : ArrayRef<char>(reinterpret_cast<const char *>(unpacked.data()), unpacked.size());
    return val->value = constant(denseAttr(type, bytes), loc);
  }
  if (!val->known)
    return {};
  return val->value = constant(denseAttr(type, knownBytes(*val->known, b.getContext())), loc);
}

std::set<std::string> Importer::roots(const Val &val) const {
  std::set<std::string> names;
  std::set<const Entity *> seen;
  std::vector<Val> work{val};
  while (!work.empty()) {
    Val v = work.back();
    work.pop_back();
    if (!v || !seen.insert(v.get()).second)
      continue;
    if (v->isInput)
      names.insert(v->name);
    work.insert(work.end(), v->from.begin(), v->from.end());
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void Importer::importNodes(const std::vector<Node> &nodes, Scope &scope) {
  for (auto [index, node] : llvm::enumerate(nodes))
    importNode(node, index, scope);
}

static std::string displayName(const Node &node, size_t index) {
  if (!node.name.empty())
    return node.name;
  for (const std::string &output : node.outputs)
    if (!output.empty())
      return output;
  return node.opType + "_" + std::to_string(index);
}

void Importer::importNode(const Node &node, size_t index, Scope &scope) {
  std::string label = displayName(node, index);
  notePlace("node", label);
  Location loc =
      NameLoc::get(b.getStringAttr(label), FileLineColLoc::get(b.getStringAttr(options.file), 0, 0));
  int64_t opset = 1;
  for (const ox::OpsetImport &import : *scope.opsets)
    if (import.domain == node.domain)
      opset = import.version;
  NodeContext c(*this, node, scope, opset, loc);
  if (++converted > options.maxNodes) {
    if (converted == options.maxNodes + 1)
      c.fail("the model has more than " + Twine(options.maxNodes) +
             " nodes once its functions and loops are written out");
    c.bad = true;
  }
  bool poisoned = c.bad;
  for (const std::string &name : node.inputs) {
    Val val = name.empty() ? nullptr : scope.find(name);
    // An input of a function that its caller left out is found as null.
    c.in.push_back(val);
    poisoned |= val && val->poison;
  }
  c.out.resize(node.outputs.size());
  const ox::Function *function = model.function(node);
  const OperatorEntry *entry = nullptr;
  auto it = operators.find({node.domain, node.opType});
  if (it != operators.end())
    for (const OperatorEntry *candidate : it->second)
      if (opset >= candidate->since && std::min(opset, lastOpset) <= candidate->until)
        entry = candidate;
  if (!function && !entry) {
    // All of them are named, also those behind another one.
    unsupported.insert(node.opType);
    if (it == operators.end())
      c.fail("the operator is not supported" +
             Twine(node.domain.empty() ? "" : "; no function of the model defines it either"));
    else
      c.fail("the operator is supported from opset " + Twine(it->second.front()->since) +
             ", but the model imports " + Twine(opset));
  } else if (!poisoned) {
    if (function)
      call(c, *function);
    else if (node.domain.empty() && opset > lastOpset)
      c.fail("opset " + Twine(opset) + " is newer than the newest that is supported, " + Twine(lastOpset));
    else if (llvm::any_of(c.in, [](const Val &v) { return v && v->type == DataType::String; }) &&
             !takesStrings(node))
      c.fail("tensors of string are not supported here; expected an operator that moves or encodes them");
    else if (llvm::any_of(c.in, [](const Val &v) { return v && v->type == DataType::String; }))
      convertStrings(c, entry->convert);
    else if (!(node.domain.empty() && evaluate(c)) && !c.bad)
      entry->convert(c);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty())
      continue;
    Val &val = c.out[i];
    if (!val && !poisoned && !c.bad)
      c.fail("output " + Twine(i) + " is not supported");
    if (!val || c.bad) {
      val = std::make_shared<Entity>();
      val->poison = true;
    }
    if (val->name.empty())
      val->name = node.outputs[i];
    if (val->from.empty() && !val->isInput && !val->tensor)
      val->from = c.in;
    scope.values[node.outputs[i]] = val;
  }
}

void Importer::call(NodeContext &c, const ox::Function &function) {
  if (c.scope.depth >= maxDepth) {
    c.fail("calls are nested more than " + Twine(maxDepth) + " deep");
    return;
  }
  std::unordered_map<std::string, const ox::Attribute *> attributes;
  for (const ox::Attribute &attribute : function.defaults)
    attributes[attribute.name] = &attribute;
  for (const ox::Attribute &attribute : c.node.attributes)
    if (const ox::Attribute *resolved = c.attr(attribute.name))
      attributes[attribute.name] = resolved;
  Scope inner;
  inner.attributes = &attributes;
  inner.opsets = &function.opsets;
  inner.depth = c.scope.depth + 1;
  for (auto [i, name] : llvm::enumerate(function.inputs))
    inner.values[name] = c.val(i);
  importNodes(function.nodes, inner);
  for (size_t i = 0; i < c.out.size() && i < function.outputs.size(); ++i)
    c.out[i] = inner.find(function.outputs[i]);
}

std::vector<Val> Importer::importBody(const ox::Graph &graph, ArrayRef<Val> inputs, Scope &outer) {
  Scope scope;
  scope.outer = &outer;
  scope.attributes = outer.attributes;
  scope.opsets = outer.opsets;
  scope.depth = outer.depth + 1;
  for (const ox::Tensor &tensor : graph.initializers)
    scope.values[tensor.name] = fromTensor(tensor);
  for (const ox::SparseTensor &sparse : graph.sparseInitializers)
    scope.values[sparse.values.name] = fromSparse(sparse);
  for (auto [i, input] : llvm::enumerate(graph.inputs))
    if (i < inputs.size() && inputs[i])
      scope.values[input.name] = inputs[i];
  importNodes(graph.nodes, scope);
  std::vector<Val> outputs;
  for (const ox::ValueInfo &output : graph.outputs)
    outputs.push_back(scope.find(output.name));
  return outputs;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Value onnximport::extentOperand(Operation *def, int64_t d) {
  auto type = cast<RankedTensorType>(def->getResult(0).getType());
  unsigned before = llvm::count_if(type.getShape().take_front(d), ShapedType::isDynamic);
  if (isa<nn::ReshapeOp, nn::BroadcastOp>(def))
    return def->getOperand(1 + before);
  if (auto iota = dyn_cast<nn::IotaOp>(def))
    return iota.getExtents()[before];
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def);
      slice && slice.getType().getRank() == slice.getSourceType().getRank())
    return slice.getDynamicSize(d);
  return {};
}

SmallVector<DimOf, 2> onnximport::sourcesOf(DimOf of) {
  auto [v, d] = of;
  Operation *def = v.getDefiningOp();
  auto typeOf = [](Value x) { return cast<RankedTensorType>(x.getType()); };
  if (!def || def->getNumOperands() == 0 || d >= typeOf(v).getRank() || !typeOf(v).isDynamicDim(d))
    return {};
  int64_t fromEnd = typeOf(v).getRank() - d;
  auto aligned = [&](ValueRange operands) {
    SmallVector<DimOf, 2> found;
    for (Value x : operands)
      if (int64_t at = typeOf(x).getRank() - fromEnd; at >= 0 && typeOf(x).isDynamicDim(at))
        found.push_back({x, at});
    return found;
  };
  if (isa<nn::UnaryOp, nn::ActivationOp, nn::CastOp, nn::BitcastOp, nn::SoftmaxOp, nn::CumulativeOp,
          nn::TriluOp, nn::LrnOp, nn::BatchNormOp, nn::GroupNormOp, nn::QuantizeOp, nn::DequantizeOp,
          nn::ReverseSequenceOp, nn::ScatterElementsOp, nn::ScatterNdOp>(def))
    return {{def->getOperand(0), d}};
  if (auto norm = dyn_cast<nn::LayerNormOp>(def); norm && v == norm.getY())
    return {{norm.getX(), d}};
  if (isa<nn::BinaryOp, nn::SelectOp>(def))
    return aligned(def->getOperands());
  if (auto transpose = dyn_cast<nn::TransposeOp>(def))
    return {{transpose.getX(), transpose.getPermutation()[d]}};
  if (isa<nn::ConvOp, nn::ConvTransposeOp, nn::PoolOp>(def) && d == 0)
    return {{def->getOperand(0), d}};
  if (auto concat = dyn_cast<nn::ConcatOp>(def); concat && int64_t(concat.getAxis()) != d)
    return {{concat.getInputs()[0], d}};
  if (auto slice = dyn_cast<nn::SliceOp>(def))
    return {{slice.getX(), d}};
  if (auto pad = dyn_cast<nn::PadOp>(def); pad && !pad.getLows()[d] && !pad.getHighs()[d])
    return {{pad.getX(), d}};
  if (auto matmul = dyn_cast<nn::MatmulOp>(def)) {
    if (fromEnd > 2)
      return aligned(def->getOperands());
    Value x = fromEnd == 2 ? matmul.getA() : matmul.getB();
    bool second = fromEnd == 2 ? matmul.getTransposeA() : !matmul.getTransposeB();
    return {{x, typeOf(x).getRank() - (second ? 1 : 2)}};
  }
  if (auto gather = dyn_cast<nn::GatherOp>(def)) {
    int64_t axis = gather.getAxis(), r = typeOf(gather.getIndices()).getRank();
    if (d >= axis && d < axis + r)
      return {{gather.getIndices(), d - axis}};
    return {{gather.getX(), d < axis ? d : d - r + 1}};
  }
  if (auto reduce = dyn_cast<nn::ReduceOp>(def)) {
    SmallVector<int64_t> kept;
    for (int64_t i = 0; i < typeOf(reduce.getX()).getRank(); ++i)
      if (reduce.getKeep() || !llvm::is_contained(reduce.getAxes(), i))
        kept.push_back(i);
    return {{reduce.getX(), kept[d]}};
  }
  if (Value extent = extentOperand(def, d)) {
    // It may itself be the extent of another tensor.
    auto dim = extent.getDefiningOp<tensor::DimOp>();
    if (std::optional<int64_t> at = dim ? dim.getConstantIndex() : std::nullopt)
      return {{dim.getSource(), *at}};
  }
  return {};
}

// Networks part and join: each dimension is looked at once, however many paths lead to it.
DimOf Importer::traceDim(Value tensor, int64_t dim) {
  SmallVector<DimOf> open = {{tensor, dim}};
  while (!open.empty()) {
    DimOf of = open.back();
    if (traced.count(of)) {
      open.pop_back();
      continue;
    }
    SmallVector<DimOf, 2> sources = sourcesOf(of);
    size_t before = open.size();
    llvm::copy_if(sources, std::back_inserter(open), [&](const DimOf &s) { return !traced.count(s); });
    if (open.size() != before)
      continue;
    ++traceSteps;
    DimOf root = sources.empty() ? of : traced.lookup(sources[0]);
    bool agree = llvm::all_of(sources, [&](const DimOf &s) { return traced.lookup(s) == root; });
    traced[of] = agree ? root : of;
    open.pop_back();
  }
  return traced.lookup({tensor, dim});
}

Value Importer::dimValue(Value tensor, int64_t dim) {
  auto [v, d] = traceDim(tensor, dim);
  Location loc = tensor.getLoc();
  auto type = cast<RankedTensorType>(v.getType());
  if (!type.isDynamicDim(d))
    return arith::ConstantIndexOp::create(b, loc, type.getDimSize(d));
  if (auto arg = dyn_cast<BlockArgument>(v); arg && arg.getOwner() == leaf) {
    Value &slot = dims[{v, d}];
    if (!slot) {
      OpBuilder::InsertionGuard guard(b);
      if (lastConstant)
        b.setInsertionPointAfter(lastConstant);
      else
        b.setInsertionPointToStart(leaf);
      Value at = arith::ConstantIndexOp::create(b, loc, d);
      slot = tensor::DimOp::create(b, loc, v, at);
      lastConstant = slot.getDefiningOp();
    }
    return slot;
  }
  if (Operation *def = v.getDefiningOp())
    if (Value extent = extentOperand(def, d))
      return extent;
  Value at = arith::ConstantIndexOp::create(b, loc, d);
  return tensor::DimOp::create(b, loc, v, at);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

// The block arguments of the leaf, one for each input that is neither bound nor an initializer.
bool Importer::graphInputs(Scope &scope) {
  for (const ox::Tensor &tensor : model.graph.initializers)
    scope.values[tensor.name] = fromTensor(tensor);
  for (const ox::SparseTensor &sparse : model.graph.sparseInitializers)
    scope.values[sparse.values.name] = fromSparse(sparse);
  DenseSet<const ImportOptions::Extent *> found;
  for (const ox::ValueInfo &input : model.graph.inputs) {
    auto refuse = [&](const Twine &text) {
      problem(("input '" + ox::printable(input.name) + "': " + text).str());
      auto val = std::make_shared<Entity>();
      val->poison = true;
      scope.values[input.name] = val;
    };
    if (auto it = options.bound.find(input.name); it != options.bound.end()) {
      const ox::Tensor &tensor = it->second;
      const std::optional<std::vector<ox::Dim>> &shape = input.type.shape;
      bool fits = input.type.kind == ox::Type::Kind::Tensor && tensor.type == input.type.element &&
                  (!shape || shape->size() == tensor.dims.size());
      for (size_t d = 0; fits && shape && d < shape->size(); ++d)
        fits = !(*shape)[d].value || *(*shape)[d].value == tensor.dims[d];
      if (fits)
        scope.values[input.name] = fromTensor(tensor);
      else
        refuse("what is bound to it has another type or shape");
      continue;
    }
    if (scope.values.count(input.name))
      continue; // an initializer: the default is taken
    // An optional tensor is one that is there.
    bool optional = input.type.kind == ox::Type::Kind::Optional && input.type.inner;
    const ox::Type &type = optional ? *input.type.inner : input.type;
    if (type.kind != ox::Type::Kind::Tensor) {
      refuse("sequences, maps and sparse tensors are not supported as inputs; expected a tensor, or tensors "
             "that the "
             "model joins itself");
      continue;
    }
    Type element = elementType(type.element, b.getContext());
    if (!element) {
      refuse("tensors of " + Twine(std::string(ox::dataTypeName(type.element))) + " are not supported");
      continue;
    }
    if (!type.shape) {
      refuse("its rank is not known; expected a shape");
      continue;
    }
    SmallVector<int64_t> shape;
    for (auto [axis, dim] : llvm::enumerate(*type.shape)) {
      shape.push_back(dim.value.value_or(ShapedType::kDynamic));
      for (const ImportOptions::Extent &extent : options.extents) {
        if (extent.axis ? extent.name != input.name || *extent.axis != int64_t(axis)
                        : extent.name != dim.param)
          continue;
        found.insert(&extent);
        if (ShapedType::isDynamic(shape.back()) || shape.back() == extent.size)
          shape.back() = extent.size;
        else
          refuse("its extent " + Twine(axis) + " is " + Twine(shape.back()) + " already, and cannot be " +
                 Twine(extent.size));
      }
    }
    Value arg =
        leaf->addArgument(RankedTensorType::get(shape, element), NameLoc::get(b.getStringAttr(input.name)));
    ports.push_back({arg, input.name});
    Val val = fromValue(arg, type.element);
    val->name = input.name;
    val->isInput = true;
    scope.values[input.name] = val;
  }
  for (const ImportOptions::Extent &extent : options.extents)
    if (!found.count(&extent))
      problem("no input has the extent '" + ox::printable(extent.name) +
              (extent.axis ? ":" + std::to_string(*extent.axis) : "") + "', which option 'dim' gives");
  for (auto &[name, tensor] : options.bound)
    if (llvm::none_of(model.graph.inputs, [&](const ox::ValueInfo &i) { return i.name == name; }))
      problem("the model has no input '" + ox::printable(name) + "' to bind");
  return true;
}

// Names of graphs and ports are identifiers on the command line; others are kept as they are.
static std::string graphName(const std::string &file) {
  std::string name = llvm::sys::path::stem(file).str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name = "net" + name;
  return name;
}

void Importer::finish(Scope &scope) {
  Location loc = FileLineColLoc::get(b.getStringAttr(options.file), 0, 0);
  SmallVector<Value> results;
  SmallVector<Attribute> argNames, resultNames, unsignedNames;
  SmallVector<NamedAttribute> tables;
  SmallVector<Type> argTypes, resultTypes;
  std::set<std::string> taken;
  for (const ox::ValueInfo &output : model.graph.outputs) {
    Val val = scope.find(output.name);
    if (!val || val->poison)
      continue;
    if (output.type.kind == ox::Type::Kind::Tensor && output.type.element != DataType::Undefined &&
        !val->items && output.type.element != val->type)
      problem("output '" + ox::printable(output.name) + "': expected " +
              std::string(ox::dataTypeName(output.type.element)) + ", but got " +
              std::string(ox::dataTypeName(val->type)));
    // What was decided must lead to what the model promises.
    if (size_t got = val->dims.size(), promised = output.type.shape ? output.type.shape->size() : got;
        decided && !val->items && promised != got)
      problem("output '" + ox::printable(output.name) + "': expected " + std::to_string(promised) +
              " dimensions, but got " + std::to_string(got));
    // A sequence is an output for each of its values.
    std::vector<Val> parts = val->items ? *val->items : std::vector<Val>{val};
    for (auto [i, part] : llvm::enumerate(parts)) {
      std::string name = val->items ? output.name + "." + std::to_string(i) : output.name;
      std::optional<WordTable> words = part->type == DataType::String ? wordTable(part) : std::nullopt;
      Value value = words ? words->indices : materialise(part);
      if (!value) {
        problem("output '" + ox::printable(name) + "': " +
                (part->items
                     ? "sequences of sequences are not supported"
                     : "tensors of " + std::string(ox::dataTypeName(part->type)) + " are not supported"));
        continue;
      }
      results.push_back(value);
      resultTypes.push_back(value.getType());
      resultNames.push_back(b.getStringAttr(name));
      if (words)
        tables.push_back(b.getNamedAttr(
            name, b.getStrArrayAttr(SmallVector<StringRef>(words->table.begin(), words->table.end()))));
      if (isUnsigned(part->type) && part->type != DataType::Bool)
        unsignedNames.push_back(resultNames.back());
    }
  }
  if (problemCount)
    return;
  if (results.empty())
    return problem("the model has no outputs");
  for (auto &[arg, name] : ports) {
    argTypes.push_back(arg.getType());
    argNames.push_back(b.getStringAttr(name));
    if (Val val = scope.find(name); val && isUnsigned(val->type) && val->type != DataType::Bool)
      unsignedNames.push_back(argNames.back());
  }
  dfg::YieldOp::create(b, loc, results);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto graph = dfg::GraphOp::create(b, loc, graphName(options.file), b.getFunctionType(argTypes, resultTypes),
                                    b.getArrayAttr(argNames), b.getArrayAttr(resultNames), StringAttr());
  if (!tables.empty())
    dfg::Notes::words.set(graph, b.getDictionaryAttr(tables));
  if (!unsignedNames.empty())
    dfg::Notes::unsignedPorts.set(graph, b.getArrayAttr(unsignedNames));
  Block *body = graph.getBody().empty() ? &graph.getBody().emplaceBlock() : graph.getBodyBlock();
  SmallVector<Value> arguments;
  for (auto [i, type] : llvm::enumerate(argTypes))
    arguments.push_back(i < body->getNumArguments() ? body->getArgument(i) : body->addArgument(type, loc));
  b.setInsertionPointToEnd(body);
  MLIRContext *context = b.getContext();
  SmallVector<dfg::PortAttr> whole(arguments.size(), dfg::PortAttr::get(context, dfg::PortMode::Whole, {}));
  SmallVector<dfg::ResultAttr> gather(results.size(),
                                      dfg::ResultAttr::get(context, dfg::ResultMode::Gather, {}, {}));
  auto node = dfg::NodeOp::create(b, loc, "net", ValueRange(), arguments, whole, resultTypes, gather);
  // The builder made a block of its own.
  if (!node.getBody().empty()) {
    Block *old = &node.getBody().front();
    node.getBody().push_front(leaf);
    old->erase();
  } else {
    node.getBody().push_back(leaf);
  }
  leaf = nullptr;
  b.setInsertionPointToEnd(body);
  dfg::ReturnOp::create(b, loc, node.getResults());
  result.module = std::move(module);
}

Imported Importer::run() {
  leaf = new Block;
  b.setInsertionPointToEnd(leaf);
  // Operations speak through diagnostics; here they become problems with the name of a node.
  bool verifying = false;
  ScopedDiagnosticHandler handler(b.getContext(), [&](Diagnostic &d) {
    if (d.getSeverity() != DiagnosticSeverity::Error)
      return success();
    std::string text = d.str();
    if (!verifying) {
      said = text;
      return success();
    }
    Location loc = d.getLocation();
    if (auto name = dyn_cast<NameLoc>(loc))
      text = "node '" + ox::printable(name.getName().getValue()) + "': " + text;
    problem(text);
    return success();
  });
  Scope scope;
  scope.opsets = &model.opsets;
  graphInputs(scope);
  importNodes(model.graph.nodes, scope);
  finish(scope);
  verifying = true;
  if (result.module && failed(verify(*result.module))) {
    TESSERA_CHECK(problemCount) << "the imported graph breaks a rule that says nothing";
    result.module = nullptr;
  }
  if (problemCount)
    result.module = nullptr;
  if (problemCount > result.problems.size())
    result.problems.push_back("… and " + std::to_string(problemCount - result.problems.size()) + " more");
  if (leaf) {
    leaf->dropAllReferences();
    leaf->clear();
    delete leaf;
    leaf = nullptr;
  }
  result.unbound.assign(unbound.begin(), unbound.end());
  result.unsupported.assign(unsupported.begin(), unsupported.end());
  return std::move(result);
}

void onnximport::loadDialects(MLIRContext *context) {
  context->loadDialect<dfg::DfgDialect, nn::NnDialect, arith::ArithDialect, cf::ControlFlowDialect,
                       tensor::TensorDialect, scf::SCFDialect>();
}

unsigned Importer::decide(unsigned ways) {
  if (decided == decisions.size())
    decisions.push_back({0, ways});
  return decisions[decided++].way;
}

// Where a rank depends on an extent, a way is taken and the rest of the model shows whether it was the right
// one: from the last decision back, the next way is tried.
Imported onnximport::importModel(const ox::Model &model, const ImportOptions &options, MLIRContext *context) {
  loadDialects(context);
  static constexpr unsigned maxTries = 16;
  Decisions decisions;
  std::optional<Imported> first;
  for (unsigned tries = 0; tries < maxTries; ++tries) {
    Importer importer(model, options, context, decisions);
    Imported result = importer.run();
    if (result.module)
      return result;
    decisions = importer.decisions;
    decisions.resize(importer.decided);
    if (!first)
      first = std::move(result);
    while (!decisions.empty() && decisions.back().way + 1 >= decisions.back().ways)
      decisions.pop_back();
    if (decisions.empty())
      break;
    ++decisions.back().way;
  }
  return std::move(*first);
}
