// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/memory/Arrays.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Half.h"

#include <cstring>
#include <map>

namespace tessera {

std::string declared(const ValueInfo &value) {
  return concat(elementTypeName(value.type), value.shape.empty() ? " " : " of shape ",
                formatShape(value.shape));
}

Result<BufferRef> bindArray(const ProgramPlan &plan, size_t i, const NpyArray &array,
                            const std::string &file) {
  const Port &port = plan.inputs[i];
  const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
  bool shapeFits = array.shape.size() == value.shape.size();
  for (size_t d = 0; shapeFits && d < value.shape.size(); ++d)
    shapeFits = value.shape[d] < 0 || value.shape[d] == array.shape[d];
  bool typeFits = npyHolds(array.type, value.type);
  if (!shapeFits || !typeFits) {
    std::string remedy;
    if (!typeFits && value.type == ElementType::BF16)
      remedy = "; numpy has no bf16: store its bits as uint16";
    else if (!typeFits) {
      static const std::map<std::string, std::string> names = {
          {"i1", "bool"},     {"i8", "int8"},     {"i16", "int16"},   {"i32", "int32"},  {"i64", "int64"},
          {"index", "int64"}, {"f16", "float16"}, {"f32", "float32"}, {"f64", "float64"}};
      remedy = concat("; convert it with array.astype(numpy.",
                      names.at(std::string(elementTypeName(value.type))), ")");
    } else if (array.elements() == 1 && value.shape.empty())
      remedy = "; make it a scalar with array.reshape(())";
    return fail(StatusCode::InvalidArgument, "input '", port.name, "': expected ", declared(value), ", but ",
                file, " holds ", npyTypeName(array.type), array.shape.empty() ? " " : " of ",
                formatShape(array.shape), remedy);
  }
  if (port.written || reinterpret_cast<uintptr_t>(array.data.data()) % 64 != 0) {
    // The program changes this input, and the file must not change.
    auto buffer = Buffer::create(value.type, array.shape);
    if (!buffer.ok())
      return buffer;
    auto memory = (*buffer)->hostWrite();
    if (!memory.ok())
      return memory.status();
    if (!array.data.empty())
      std::memcpy(*memory, array.data.data(), array.data.size());
    return buffer;
  }
  return Buffer::wrap(value.type, array.shape, const_cast<std::byte *>(array.data.data()), /*readOnly=*/true);
}

double elementAsDouble(const Buffer &buffer, const std::byte *memory, size_t i) {
  switch (buffer.type()) {
  case ElementType::F32: {
    float x;
    std::memcpy(&x, memory + 4 * i, 4);
    return x;
  }
  case ElementType::F64: {
    double x;
    std::memcpy(&x, memory + 8 * i, 8);
    return x;
  }
  case ElementType::F16:
  case ElementType::BF16: {
    uint16_t x;
    std::memcpy(&x, memory + 2 * i, 2);
    return buffer.type() == ElementType::F16 ? halfToFloat(x) : bfloatToFloat(x);
  }
  case ElementType::I1:
  case ElementType::I8: {
    int8_t x;
    std::memcpy(&x, memory + i, 1);
    return x;
  }
  case ElementType::I16: {
    int16_t x;
    std::memcpy(&x, memory + 2 * i, 2);
    return x;
  }
  case ElementType::I32: {
    int32_t x;
    std::memcpy(&x, memory + 4 * i, 4);
    return x;
  }
  default: {
    int64_t x;
    std::memcpy(&x, memory + 8 * i, 8);
    return static_cast<double>(x);
  }
  }
}

} // namespace tessera
