// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings. No kernel knows them: a tensor of strings is a tensor of places (i64) in a table that is known
// when importing. Operators that only move elements move places.
#include "tessera/frontends/onnx/Importer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

Val Importer::fromWords(Value indices, std::vector<std::string> table) {
  Val val = fromValue(indices, DataType::String);
  // Tables are part of plans, which are UTF-8.
  for (std::string &word : table)
    word = llvm::json::fixUTF8(word);
  val->words = std::make_shared<const std::vector<std::string>>(std::move(table));
  return val;
}

std::optional<WordTable> Importer::wordTable(const Val &x) {
  if (x->words)
    return WordTable{x->value, *x->words};
  if (!x->tensor)
    return std::nullopt;
  // A constant: each string once.
  WordTable all;
  std::map<std::string_view, int64_t> places;
  Known indices;
  indices.type = DataType::I64;
  indices.dims = x->dims;
  for (std::string_view word : x->tensor->strings) {
    auto [it, isNew] = places.try_emplace(word, int64_t(all.table.size()));
    if (isNew)
      all.table.push_back(llvm::json::fixUTF8(StringRef(word.data(), word.size())));
    indices.elements.push_back({it->second, 0, {}});
  }
  all.indices = materialise(fromKnown(std::move(indices)));
  return all;
}

std::optional<WordTable> NodeContext::words(unsigned i) {
  Val x = val(i);
  if (!x || x->type != DataType::String)
    return fail("expected strings as input " + Twine(i)), std::nullopt;
  return importer.wordTable(x);
}

bool onnximport::takesStrings(const Node &node) {
  static const llvm::StringSet<> moving = {
      "Identity",  "Gather",  "GatherElements", "GatherND", "Reshape", "Squeeze",
      "Unsqueeze", "Flatten", "Transpose",      "Slice",    "Concat",  "Split",
      "Expand",    "Tile",    "Where",          "Equal",    "Shape",   "Size"};
  static const llvm::StringSet<> looking = {"LabelEncoder", "CategoryMapper", "OneHotEncoder"};
  return node.domain.empty()
             ? moving.contains(node.opType) || StringRef(node.opType).starts_with("Sequence") ||
                   StringRef(node.opType).starts_with("Optional")
             : (node.domain == "ai.onnx.ml" &&
                (looking.contains(node.opType) || node.opType == "ArrayFeatureExtractor"));
}

void onnximport::convertStrings(NodeContext &c, Convert convert) {
  StringRef op = c.node.opType;
  if (op == "Shape" || op == "Size" || op == "Identity" || op.starts_with("Sequence") ||
      op.starts_with("Optional") || op == "LabelEncoder" || op == "CategoryMapper" || op == "OneHotEncoder")
    return convert(c);
  // One table for all operands.
  std::vector<std::string> table;
  std::map<std::string, int64_t> places;
  for (unsigned i = 0; i < c.numInputs(); ++i) {
    if (!c.has(i) || c.type(i) != DataType::String)
      continue;
    std::optional<WordTable> part = c.words(i);
    if (!part)
      return;
    Ints there;
    for (const std::string &word : part->table) {
      auto [it, isNew] = places.try_emplace(word, int64_t(table.size()));
      if (isNew)
        table.push_back(word);
      there.push_back(it->second);
    }
    bool same = llvm::equal(there, range(0, there.size()));
    Value indices = same || there.empty() ? part->indices : c.gather(c.constInts(there), part->indices, 0);
    if (!indices)
      return;
    c.in[i] = c.importer.fromValue(indices, DataType::I64);
  }
  convert(c);
  if (c.bad || op == "Equal")
    return;
  for (Val &out : c.out)
    if (out)
      out = c.importer.fromWords(c.importer.materialise(out, &c), table);
}
