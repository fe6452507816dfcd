// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions without undefined behaviour.
#include "RandomBody.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"

using namespace tessera;
using namespace tessera::conformance;

bool conformance::isFloatType(const std::string &type) { return type[0] == 'f' || type[0] == 'b'; }

unsigned conformance::bitWidth(const std::string &type) {
  if (type == "index")
    return 64;
  return static_cast<unsigned>(std::stoul(type.substr(type[0] == 'b' ? 2 : 1)));
}

oracle::Array conformance::randomArray(MLIRContext &context, Random &random, const std::string &element,
                                       std::vector<int64_t> shape) {
  oracle::Array array;
  array.elementType = parseType(element, &context);
  array.shape = std::move(shape);
  int64_t count = 1;
  for (int64_t extent : array.shape)
    count *= extent;
  size_t size = oracle::elementBytes(array.elementType);
  array.bytes.resize(size * count);
  for (int64_t e = 0; e < count; ++e) {
    uint64_t bits = random.next();
    // Small numbers collide and compare more often than large ones.
    if (!isFloatType(element) && random.below(2))
      bits = static_cast<uint64_t>(random.range(-9, 9));
    if (auto type = dyn_cast<FloatType>(array.elementType)) {
      double value = static_cast<double>(random.range(-4096, 4096)) / 1024.0;
      if (random.below(8) == 0)
        value = random.below(2) ? 0.0 : -0.0;
      APFloat number(value);
      bool lost;
      number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      bits = number.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(&array.bytes[e * size], &bits, size);
  }
  return array;
}

std::string Body::op(const std::string &operation) {
  std::string name = "%t" + std::to_string(names++);
  line(name + " = " + operation);
  return name;
}

std::string Body::constant(const std::string &type) {
  if (isFloatType(type)) {
    static const char *numbers[] = {"0.0", "-0.0", "1.0", "-1.5", "0.375", "3.25", "-2.0"};
    return op("arith.constant " + std::string(numbers[random.below(7)]) + " : " + type);
  }
  return op("arith.constant " + std::to_string(random.range(-9, 9)) + " : " + type);
}

std::string Body::bounded(const std::string &value, const std::string &type) {
  if (!isFloatType(type))
    return value;
  std::string low = op("arith.constant -8.0 : " + type), high = op("arith.constant 8.0 : " + type);
  std::string lower = op("arith.maximumf " + value + ", " + low + " : " + type);
  return op("arith.minimumf " + lower + ", " + high + " : " + type);
}

std::string Body::convert(std::string value, const std::string &from, const std::string &to) {
  if (from == to)
    return value;
  bool isFromFloat = isFloatType(from), isToFloat = isFloatType(to);
  unsigned a = bitWidth(from), b = bitWidth(to);
  if (!isFromFloat && !isToFloat) {
    if (from == "index" || to == "index")
      return op("arith.index_cast " + value + " : " + from + " to " + to);
    if (a == b)
      return value;
    std::string word = a < b ? (random.below(2) ? "extsi" : "extui") : "trunci";
    return op("arith." + word + " " + value + " : " + from + " to " + to);
  }
  if (isFromFloat && isToFloat) {
    if (a == b)
      return convert(convert(value, from, "f32"), "f32", to);
    return op(std::string(a < b ? "arith.extf " : "arith.truncf ") + value + " : " + from + " to " + to);
  }
  if (isFromFloat) {
    // Within [-8, 8] it fits into every integer.
    std::string small = bounded(value, from), type = to == "index" ? "i64" : to;
    std::string integer = op("arith.fptosi " + small + " : " + from + " to " + type);
    return convert(integer, type, to);
  }
  if (from == "index")
    return convert(convert(value, from, "i64"), "i64", to);
  std::string seven = op("arith.constant 7 : " + from);
  std::string small = op("arith.andi " + value + ", " + seven + " : " + from);
  return op("arith.sitofp " + small + " : " + from + " to " + to);
}

std::string Body::leaf(const std::string &type) {
  if (values.empty() || random.below(6) == 0)
    return constant(type);
  const Value value = values[random.below(values.size())];
  return convert(value.name, value.type, type);
}

std::string Body::condition(unsigned depth) {
  std::string type = values.empty() ? "i32" : values[random.below(values.size())].type;
  std::string a = expression(type, depth), b = expression(type, depth);
  if (isFloatType(type)) {
    static const char *predicates[] = {"olt", "oge", "oeq", "une", "ugt"};
    return op("arith.cmpf " + std::string(predicates[random.below(5)]) + ", " + a + ", " + b + " : " + type);
  }
  static const char *predicates[] = {"eq", "ne", "slt", "sge", "ult", "ugt"};
  return op("arith.cmpi " + std::string(predicates[random.below(6)]) + ", " + a + ", " + b + " : " + type);
}

std::string Body::integerOperation(const std::string &type, unsigned depth) {
  std::string a = expression(type, depth), b = expression(type, depth), suffix = " : " + type;
  static const char *safe[] = {"addi", "subi",  "muli",  "andi",  "ori",
                               "xori", "minsi", "maxsi", "minui", "maxui"};
  unsigned kind = random.below(14);
  if (kind < 10)
    return op("arith." + std::string(safe[kind]) + " " + a + ", " + b + suffix);
  if (kind < 12) {
    // A divisor from 1 to 8.
    std::string seven = op("arith.constant 7" + suffix), one = op("arith.constant 1" + suffix);
    std::string low = op("arith.andi " + b + ", " + seven + suffix),
                divisor = op("arith.addi " + low + ", " + one + suffix);
    static const char *divisions[] = {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"};
    return op("arith." + std::string(divisions[random.below(6)]) + " " + a + ", " + divisor + suffix);
  }
  std::string last = op("arith.constant " + std::to_string(bitWidth(type) - 1) + suffix);
  std::string amount = op("arith.andi " + b + ", " + last + suffix);
  static const char *shifts[] = {"shli", "shrsi", "shrui"};
  return op("arith." + std::string(shifts[random.below(3)]) + " " + a + ", " + amount + suffix);
}

std::string Body::floatOperation(const std::string &type, unsigned depth) {
  std::string a = expression(type, depth), suffix = " : " + type;
  unsigned kind = random.below(9);
  if (kind == 0)
    return op("arith.negf " + a + suffix);
  if (kind == 1)
    return op("math.absf " + a + suffix);
  if (kind == 2) {
    std::string magnitude = op("math.absf " + a + suffix);
    return op("math.sqrt " + magnitude + suffix);
  }
  std::string b = expression(type, depth);
  if (kind == 3) {
    // A divisor of at least one.
    std::string one = op("arith.constant 1.0" + suffix), magnitude = op("math.absf " + b + suffix);
    std::string divisor = op("arith.addf " + magnitude + ", " + one + suffix);
    return op("arith.divf " + a + ", " + divisor + suffix);
  }
  if (kind == 4)
    return bounded(op("arith.mulf " + a + ", " + b + suffix), type);
  static const char *safe[] = {"addf", "subf", "minimumf", "maximumf"};
  return op("arith." + std::string(safe[kind - 5]) + " " + a + ", " + b + suffix);
}

std::string Body::expression(const std::string &type, unsigned depth) {
  if (depth == 0)
    return leaf(type);
  unsigned kind = random.below(10);
  if (kind == 0) {
    std::string c = condition(depth - 1), a = expression(type, depth - 1), b = expression(type, depth - 1);
    return op("arith.select " + c + ", " + a + ", " + b + " : " + type);
  }
  if (kind == 1 && controlFlow) {
    std::string c = condition(depth - 1), result = "%t" + std::to_string(names++);
    line(result + " = scf.if " + c + " -> (" + type + ") {");
    std::string a = expression(type, depth - 1);
    line("scf.yield " + a + " : " + type);
    line("} else {");
    std::string b = expression(type, depth - 1);
    line("scf.yield " + b + " : " + type);
    line("}");
    return result;
  }
  return isFloatType(type) ? floatOperation(type, depth - 1) : integerOperation(type, depth - 1);
}
