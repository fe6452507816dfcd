// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect, its attributes and types, and the attributes' own syntax.
#include "tessera/ir/dfg/Dfg.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::dfg;

#include "tessera/ir/dfg/DfgDialect.cpp.inc"
#include "tessera/ir/dfg/DfgEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tessera/ir/dfg/DfgTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tessera/ir/dfg/DfgAttrs.cpp.inc"

void DfgDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tessera/ir/dfg/DfgTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tessera/ir/dfg/DfgAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tessera/ir/dfg/Dfg.cpp.inc"
      >();
}

// `<addf>` or `<@combiner>`.
Attribute ReductionAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FlatSymbolRefAttr combiner;
  auto parsed = parser.parseOptionalAttribute(combiner);
  if (parsed.has_value()) {
    if (failed(*parsed) || parser.parseGreater())
      return {};
    return get(parser.getContext(), std::nullopt, combiner);
  }
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<ReductionKind> kind = symbolizeReductionKind(keyword);
  if (!kind) {
    std::string names;
    for (uint32_t i = 0; i <= getMaxEnumValForReductionKind(); ++i)
      names += (i ? ", " : "") + stringifyReductionKind(static_cast<ReductionKind>(i)).str();
    parser.emitError(loc) << "unknown reduction '" << keyword << "'; expected one of " << names
                          << ", or a combiner '@name'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), kind, FlatSymbolRefAttr());
}

void ReductionAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getKind())
    printer << stringifyReductionKind(*getKind());
  else
    printer << getCombiner();
  printer << ">";
}

// Rule dfg-r8.
LogicalResult ReductionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    std::optional<ReductionKind> kind, FlatSymbolRefAttr combiner) {
  if (kind.has_value() == bool(combiner))
    return emitError() << "expected a reduction to be named or a combiner, but got "
                       << (kind ? "both" : "neither") << " (dfg-r8)";
  return success();
}

// Rule dfg-d1.
LogicalResult DemandAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef norm,
                                 FloatAttr bound) {
  if (norm != "l1" && norm != "l2")
    return emitError() << "expected the norm of a demand to be 'l1' or 'l2', but got '" << norm
                       << "' (dfg-d1)";
  if (!(bound.getValueAsDouble() > 0))
    return emitError() << "expected the bound of a demand to be positive, but got "
                       << bound.getValueAsDouble() << " (dfg-d1)";
  return success();
}
