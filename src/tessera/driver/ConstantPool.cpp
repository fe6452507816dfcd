// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants as the runtime stores them (GraphPlan.h).
#include "tessera/base/Sha256.h"
#include "tessera/driver/GraphPlan.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace tessera;

uint64_t ConstantPool::add(StringRef bytes) {
  Sha256Digest digest = sha256({reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()});
  StringRef key(reinterpret_cast<const char *>(digest.data()), digest.size());
  auto [it, inserted] = known.try_emplace(key, 0);
  if (!inserted) {
    saved += bytes.size();
    return it->second;
  }
  data.resize((data.size() + 63) / 64 * 64);
  it->second = data.size();
  data.append(bytes.data(), bytes.size());
  return it->second;
}

FailureOr<std::string> tessera::storedBytes(ElementsAttr attr, Operation *op) {
  Type element = attr.getElementType();
  unsigned bytes = plan::typeBytes(element);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return op->emitOpError("refers to a resource that is not in the file"), failure();
    if (blob->getData().size() != size_t(attr.getNumElements()) * bytes)
      return op->emitOpError("has a resource of ")
                 << blob->getData().size() << " bytes, but its type needs " << attr.getNumElements() * bytes,
             failure();
    return std::string(blob->getData().data(), blob->getData().size());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return op->emitOpError("expected a dense constant"), failure();
  std::string data;
  data.reserve(size_t(attr.getNumElements()) * bytes);
  auto append = [&](const APInt &bits) {
    data.append(reinterpret_cast<const char *>(bits.getRawData()), bytes);
  };
  if (isa<FloatType>(element))
    for (const APFloat &v : dense.getValues<APFloat>())
      append(v.bitcastToAPInt());
  else
    for (const APInt &v : dense.getValues<APInt>())
      append(v.getBitWidth() == 1 ? v.zext(8) : v);
  return data;
}
