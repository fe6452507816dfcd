// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single operations on constants, for those who fold them.
#include "tessera/oracle/Interpreter.h"

#include "llvm/Support/Threading.h"

using namespace tessera;
using namespace tessera::oracle;

// Elements as the attribute's bytes; i1 takes a byte each.
static TypedAttr makeDense(RankedTensorType type, const Elements &elements) {
  type = RankedTensorType::get(elements.shape, type.getElementType());
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> flags(elements.data.begin(), elements.data.end());
    return DenseElementsAttr::get(type, flags);
  }
  size_t size = elementBytes(type.getElementType());
  std::vector<char> bytes(elements.data.size() * size);
  for (size_t i = 0; i < elements.data.size(); ++i)
    std::memcpy(bytes.data() + i * size, &elements.data[i], size);
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

static TypedAttr makeAttribute(Type type, const Val &value) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    ElementInfo info = ElementInfo::get(type);
    if (value.getTag() != Val::Tensor || !value.elements().defined.empty() || info.isWide())
      return {};
    return makeDense(tensor, value.elements());
  }
  if (value.getTag() != Val::Scalar && value.getTag() != Val::Wide)
    return {};
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(floating, value.getFloat(floating.getFloatSemantics()));
  if (isa<IntegerType, IndexType>(type))
    return IntegerAttr::get(type, value.getInt(ElementInfo::get(type).width));
  return {};
}

FailureOr<SmallVector<TypedAttr>> oracle::evaluate(Operation *op, ArrayRef<Attribute> operands) {
  if (op->getNumRegions() || !isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
    return failure();
  Vals values, results;
  for (auto [operand, attribute] : llvm::zip_equal(op->getOperands(), operands)) {
    std::optional<Val> value = attribute ? constantValue(attribute, operand.getType()) : std::nullopt;
    if (!value)
      return failure();
    values.push_back(std::move(*value));
  }
  // What goes wrong here goes wrong again, with a message, when the program runs. Others may have something
  // to say meanwhile.
  uint64_t self = llvm::get_threadid();
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [=](Diagnostic &) { return success(llvm::get_threadid() == self); });
  Interpreter interpreter{Options()};
  if (failed(interpreter.runAlone(op, values, results)))
    return failure();
  SmallVector<TypedAttr> attributes;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results)) {
    attributes.push_back(makeAttribute(result.getType(), value));
    if (!attributes.back())
      return failure();
  }
  return attributes;
}
