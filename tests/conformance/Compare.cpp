// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running and comparing. The bound for float sums is explained in RandomGraph.h.
#include "RandomGraph.h"

#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace tessera;
using namespace tessera::conformance;
using oracle::Array;

FailureOr<std::vector<Array>> conformance::runOracle(ModuleOp module, ArrayRef<Array> inputs) {
  auto graph = module.lookupSymbol<dfg::GraphOp>("main");
  if (!graph)
    return module.emitError("expected a graph '@main'"), failure();
  return oracle::runGraph(graph, inputs);
}

static APInt elementBits(const Array &array, size_t e) {
  size_t size = oracle::elementBytes(array.elementType);
  uint64_t words[2] = {0, 0};
  std::memcpy(words, &array.bytes[e * size], std::min<size_t>(size, 16));
  unsigned width = array.elementType.isIndex() ? 64 : array.elementType.getIntOrFloatBitWidth();
  return APInt(128, words).trunc(width);
}

static double elementValue(const Array &array, size_t e) {
  APInt bits = elementBits(array, e);
  auto type = dyn_cast<FloatType>(array.elementType);
  if (!type)
    return static_cast<double>(bits.getSExtValue());
  APFloat number(type.getFloatSemantics(), bits);
  bool lost;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

static std::string describe(const Array &array, size_t e) {
  APInt bits = elementBits(array, e);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isa<FloatType>(array.elementType))
    os << elementValue(array, e) << " (0x" << llvm::toString(bits, 16, /*Signed=*/false) << ")";
  else
    os << llvm::toString(bits, 10, /*Signed=*/true);
  return text;
}

// The allowed difference for element `e` of a sum with its companions; none when only finiteness can be asked
// for.
static std::optional<double> sumBound(FloatType type, const Array &magnitudes, const Array &counts,
                                      size_t e) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  double u = std::ldexp(1.0, -static_cast<int>(APFloat::semanticsPrecision(semantics)));
  double n = elementValue(counts, e);
  if (n * u > 0.09)
    return std::nullopt;
  double smallest = std::ldexp(1.0, APFloat::semanticsMinExponent(semantics) -
                                        static_cast<int>(APFloat::semanticsPrecision(semantics)) + 1);
  return 1.1 * n * u * elementValue(magnitudes, e) + smallest;
}

std::optional<std::string> conformance::compareOutputs(dfg::GraphOp graph, ArrayRef<Array> expected,
                                                       ArrayRef<Array> actual) {
  if (expected.size() != actual.size())
    return "expected " + std::to_string(expected.size()) + " outputs, but got " +
           std::to_string(actual.size());
  llvm::StringMap<size_t> byName;
  for (auto [i, name] : llvm::enumerate(graph.getResultNames()))
    byName[cast<StringAttr>(name).getValue()] = i;
  for (size_t i = 0; i < expected.size(); ++i) {
    StringRef name = cast<StringAttr>(graph.getResultNames()[i]).getValue();
    const Array &a = expected[i], &b = actual[i];
    std::string place = "output '" + name.str() + "'";
    if (a.elementType != b.elementType || a.shape != b.shape)
      return place + ": expected other extents or another element type";
    // The magnitudes are a sum in free order themselves.
    StringRef stem = name.ends_with("_abs") ? name.drop_back(4) : name;
    auto magnitudes = byName.find((stem + "_abs").str()), counts = byName.find((stem + "_count").str());
    bool isSum = magnitudes != byName.end() && counts != byName.end();
    size_t count = a.bytes.size() / oracle::elementBytes(a.elementType);
    for (size_t e = 0; e < count; ++e) {
      if (elementBits(a, e) == elementBits(b, e))
        continue;
      auto type = dyn_cast<FloatType>(a.elementType);
      if (type) {
        double p = elementValue(a, e), q = elementValue(b, e);
        if (std::isnan(p) && std::isnan(q))
          continue;
        if (isSum && std::isfinite(p) && std::isfinite(q)) {
          std::optional<double> bound =
              sumBound(type, expected[magnitudes->second], expected[counts->second], e);
          if (!bound || std::fabs(p - q) <= *bound)
            continue;
        }
      }
      return place + ", element " + std::to_string(e) + ": expected " + describe(a, e) + ", but got " +
             describe(b, e);
    }
  }
  return std::nullopt;
}
