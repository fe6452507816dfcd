// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal shapes; integers and truth values bit for bit; floats within the case's tolerance, NaN equal to NaN.
#include "Suite.h"

#include <cmath>
#include <cstring>

using namespace tessera;
using namespace tessera::suite;
using onnx::DataType;

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string suite::compareOutput(const onnx::Tensor &expected, const std::vector<int64_t> &shape,
                                 const std::vector<char> &bytes, double relative, double absolute) {
  if (shape != expected.dims)
    return "shape " + shapeText(shape) + ", expected " + shapeText(expected.dims);
  // A tensor of ours of the same type, sub-byte types a byte each.
  std::vector<int8_t> unpacked = onnx::unpackSubByte(expected);
  int64_t count = expected.count();
  bool subByte = onnx::dataTypeBits(expected.type) < 8;
  size_t wanted = subByte ? size_t(count) : expected.data.size();
  if (bytes.size() != wanted)
    return std::to_string(bytes.size()) + " bytes, expected " + std::to_string(wanted);
  onnx::Tensor ours = expected;
  ours.data = std::as_bytes(std::span(bytes.data(), bytes.size()));
  bool floating = expected.type == DataType::F32 || expected.type == DataType::F64 ||
                  expected.type == DataType::F16 || expected.type == DataType::BF16 ||
                  (expected.type >= DataType::F8E4M3FN && expected.type <= DataType::F8E5M2FNUZ) ||
                  expected.type == DataType::F8E8M0;
  int64_t wrong = 0, first = -1;
  std::string detail;
  for (int64_t i = 0; i < count; ++i) {
    bool same;
    if (subByte) {
      same =
          bytes[i] == unpacked[i] || (expected.type == DataType::F4E2M1 && !((bytes[i] | unpacked[i]) & 7));
    } else if (!floating) {
      same = onnx::elementBits(ours, i) == onnx::elementBits(expected, i);
      if (expected.type == DataType::Bool)
        same = (bytes[i] != 0) == (onnx::elementBits(expected, i) != 0);
    } else {
      double a = onnx::numberAt(ours, i).value_or(0), b = onnx::numberAt(expected, i).value_or(0);
      same = a == b || (std::isnan(a) && std::isnan(b)) ||
             std::fabs(a - b) <= absolute + relative * std::fabs(b);
    }
    if (same)
      continue;
    if (!wrong++) {
      first = i;
      double a = subByte ? double(bytes[i]) : onnx::numberAt(ours, i).value_or(0),
             b = subByte ? double(unpacked[i]) : onnx::numberAt(expected, i).value_or(0);
      char text[96];
      std::snprintf(text, sizeof text, "%.9g, expected %.9g", a, b);
      detail = text;
    }
  }
  if (!wrong)
    return "";
  return "element " + std::to_string(first) + " is " + detail + " (" + std::to_string(wrong) + " of " +
         std::to_string(count) + " differ)";
}
