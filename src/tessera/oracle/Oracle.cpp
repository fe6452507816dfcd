// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The oracle's front: arrays in, arrays out.
#include "tessera/oracle/Oracle.h"

#include "tessera/oracle/Interpreter.h"
#include "llvm/Support/MathExtras.h"

using namespace tessera;
using namespace tessera::oracle;

size_t oracle::elementBytes(Type elementType) {
  return llvm::PowerOf2Ceil(llvm::divideCeil(ElementInfo::get(elementType).width, 8));
}

static InFlightDiagnostic reportArray(Operation *op, StringRef name) {
  return op->emitOpError() << "'" << name << "' ";
}

LogicalResult Interpreter::import(Operation *op, StringRef name, Type type, const Array &array, Val &value) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  ElementInfo info = ElementInfo::get(type);
  if (info.kind == ElementInfo::None)
    return reportArray(op, name) << "has type " << type << ", which the oracle cannot represent";
  if (array.elementType != element)
    return reportArray(op, name) << "expected elements of type " << element << ", but got "
                                 << array.elementType;
  bool fits = shaped ? shaped.hasRank() && shaped.getRank() == static_cast<int64_t>(array.shape.size())
                     : array.shape.empty();
  for (size_t d = 0; fits && d < array.shape.size(); ++d)
    fits = shaped.isDynamicDim(d) ? array.shape[d] >= 0 : shaped.getDimSize(d) == array.shape[d];
  if (!fits)
    return reportArray(op, name) << "expected extents of " << type << ", but got "
                                 << formatIndex(array.shape);
  size_t size = elementBytes(element);
  int64_t count = countElements(array.shape);
  if (array.bytes.size() != size * count)
    return reportArray(op, name) << "expected " << size * count << " bytes, but got " << array.bytes.size();
  Ref<Elements> elements = new Elements(info, array.shape);
  for (int64_t e = 0; e < count; ++e) {
    SmallVector<uint64_t, 2> words(std::max<size_t>(1, (size + 7) / 8), 0);
    std::memcpy(words.data(), &array.bytes[e * size], size);
    elements->store(e,
                    Val::integer(APInt(static_cast<unsigned>(words.size() * 64), words).trunc(info.width)));
  }
  if (!shaped) {
    value = elements->load(0);
  } else if (isa<MemRefType>(type)) {
    Ref<Buffer> buffer = new Buffer(info, count, /*level=*/0, ("'" + name + "'").str());
    for (int64_t e = 0; e < count; ++e)
      buffer->store(e, elements->load(e));
    value = Val::of(MemRef::dense(buffer, array.shape));
  } else {
    value = Val::of(elements.get());
  }
  return success();
}

FailureOr<Array> Interpreter::exportValue(Operation *op, StringRef name, Type type, const Val &value) {
  Array array;
  array.elementType = getElementTypeOrSelf(type);
  ElementInfo info = ElementInfo::get(type);
  if (info.kind == ElementInfo::None)
    return reportArray(op, name) << "has type " << type << ", which the oracle cannot represent", failure();
  SmallVector<int64_t, 4> shape;
  if (value.getTag() == Val::Tensor)
    shape = value.elements().shape;
  else if (value.getTag() == Val::Memory)
    shape = value.memory().sizes;
  array.shape.assign(shape.begin(), shape.end());
  size_t size = elementBytes(array.elementType);
  int64_t count = countElements(shape);
  array.bytes.resize(size * count);
  SmallVector<int64_t, 4> index(shape.size());
  for (int64_t e = 0; e < count; ++e, nextIndex(index, shape)) {
    Val element = value;
    if (value.getTag() == Val::Tensor) {
      element = value.elements().load(e);
    } else if (value.getTag() == Val::Memory) {
      const MemRef &view = value.memory();
      int64_t at = view.position(index);
      element = view.buffer->defined[at] ? view.buffer->load(at) : Val();
    }
    if (element.isUndef())
      return reportArray(op, name) << "has an undefined element " << formatIndex(index), failure();
    APInt bits = element.getInt(info.width);
    std::memcpy(&array.bytes[e * size], bits.getRawData(), std::min<size_t>(size, info.words() * 8));
  }
  return array;
}

FailureOr<std::vector<Array>> Interpreter::activate(dfg::GraphOp graph, ArrayRef<Array> inputs,
                                                    GraphStates &states) {
  if (inputs.size() != graph.getArgumentTypes().size())
    return graph.emitOpError() << "expected " << graph.getArgumentTypes().size() << " inputs, but got "
                               << inputs.size(),
           failure();
  Vals args(inputs.size()), results;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (failed(import(graph, cast<StringAttr>(graph.getArgNames()[i]).getValue(), graph.getArgumentTypes()[i],
                      inputs[i], args[i])))
      return failure();
  Exec x(*this);
  x.states = &states;
  if (failed(callGraph(x, graph, args, results)))
    return failure();
  for (auto &[key, value] : states.next)
    states.values[key] = std::move(value);
  states.next.clear();
  std::vector<Array> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    FailureOr<Array> array = exportValue(graph, cast<StringAttr>(graph.getResultNames()[i]).getValue(),
                                         graph.getResultTypes()[i], results[i]);
    if (failed(array))
      return failure();
    outputs.push_back(std::move(*array));
  }
  return outputs;
}

FailureOr<std::vector<Array>> Interpreter::callHost(func::FuncOp function, ArrayRef<Array> inputs) {
  FunctionType type = function.getFunctionType();
  if (inputs.size() != type.getNumInputs())
    return function.emitOpError() << "expected " << type.getNumInputs() << " inputs, but got "
                                  << inputs.size(),
           failure();
  Vals args(inputs.size()), results;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (failed(import(function, "argument " + std::to_string(i), type.getInput(i), inputs[i], args[i])))
      return failure();
  Exec x(*this);
  GraphStates states;
  x.states = &states;
  Inst inst;
  inst.op = function;
  if (failed(callFunction(x, inst, function, args, results)))
    return failure();
  std::vector<Array> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    FailureOr<Array> array =
        exportValue(function, "result " + std::to_string(i), type.getResult(i), results[i]);
    if (failed(array))
      return failure();
    outputs.push_back(std::move(*array));
  }
  return outputs;
}

FailureOr<std::vector<Array>> oracle::runGraph(dfg::GraphOp graph, ArrayRef<Array> inputs,
                                               const Options &options) {
  Interpreter interpreter(options);
  GraphStates states;
  return interpreter.activate(graph, inputs, states);
}

FailureOr<std::vector<Array>> oracle::runFunction(func::FuncOp function, ArrayRef<Array> inputs,
                                                  const Options &options) {
  Interpreter interpreter(options);
  return interpreter.callHost(function, inputs);
}

Stream::Stream(dfg::GraphOp graph, const Options &options)
    : graph(graph), interpreter(std::make_unique<Interpreter>(options)),
      states(std::make_unique<GraphStates>()) {}
Stream::Stream(Stream &&) noexcept = default;
Stream::~Stream() = default;

LogicalResult Stream::push(ArrayRef<Array> inputs) {
  FailureOr<std::vector<Array>> outputs = interpreter->activate(graph, inputs, *states);
  if (failed(outputs))
    return failure();
  ready.push_back(std::move(*outputs));
  return success();
}

FailureOr<std::vector<Array>> Stream::pop() {
  if (ready.empty())
    return graph.emitOpError("pops from a stream with no activation in flight"), failure();
  std::vector<Array> outputs = std::move(ready.front());
  ready.pop_front();
  return outputs;
}
