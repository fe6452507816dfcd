// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences and optionals. Neither exists in a program: how many values a sequence has, and whether an
// optional has one, is known when importing.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

Val Importer::fromItems(std::vector<Val> items) {
  auto val = std::make_shared<Entity>();
  val->items = std::make_shared<const std::vector<Val>>(std::move(items));
  return val;
}

static const std::vector<Val> *items(NodeContext &c, unsigned i) {
  Val val = c.val(i);
  if (val && val->items)
    return val->items.get();
  c.fail("expected a sequence as input " + Twine(i) + ", whose length is known when compiling");
  return nullptr;
}

// A place in a sequence of n values, or behind them with `open`.
static std::optional<int64_t> position(NodeContext &c, unsigned input, int64_t n, bool open) {
  std::optional<int64_t> at = c.oneInt(input, "position");
  if (!at)
    return std::nullopt;
  int64_t last = open ? n : n - 1;
  if (*at < -n || *at > last)
    return c.fail("position " + Twine(*at) + " is not one of a sequence of " + Twine(n)), std::nullopt;
  return *at < 0 ? *at + n : *at;
}

static void construct(NodeContext &c) {
  for (unsigned i = 0; i < c.numInputs(); ++i)
    if (c.has(i) && c.type(i) != c.type(0))
      return void(c.fail("its inputs have different element types"));
  c.set(0, c.importer.fromItems(c.in));
}
static void empty(NodeContext &c) { c.set(0, c.importer.fromItems({})); }

static void at(NodeContext &c) {
  const std::vector<Val> *list = items(c, 0);
  std::optional<int64_t> place = list ? position(c, 1, list->size(), false) : std::nullopt;
  if (place)
    c.set(0, (*list)[*place]);
}

static void insert(NodeContext &c) {
  const std::vector<Val> *list = items(c, 0);
  if (!list || !c.has(1))
    return void(c.fail("input 1 is missing"));
  std::optional<int64_t> place = c.has(2) ? position(c, 2, list->size(), true) : int64_t(list->size());
  if (!place)
    return;
  std::vector<Val> longer = *list;
  longer.insert(longer.begin() + *place, c.val(1));
  c.set(0, c.importer.fromItems(std::move(longer)));
}

static void erase(NodeContext &c) {
  const std::vector<Val> *list = items(c, 0);
  if (!list)
    return;
  std::optional<int64_t> place = c.has(1)        ? position(c, 1, list->size(), false)
                                 : list->empty() ? std::nullopt
                                                 : std::optional<int64_t>(list->size() - 1);
  if (!place)
    return void(c.fail("cannot take a value out of an empty sequence"));
  std::vector<Val> shorter = *list;
  shorter.erase(shorter.begin() + *place);
  c.set(0, c.importer.fromItems(std::move(shorter)));
}

static Known one(int64_t value, DataType type) {
  Known k;
  k.type = type;
  k.elements.push_back({value, 0, {}});
  return k;
}

static void length(NodeContext &c) {
  if (const std::vector<Val> *list = items(c, 0))
    c.set(0, one(list->size(), DataType::I64));
}

static void splitToSequence(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  if (!axis)
    return;
  int64_t extent = c.dim(x, *axis);
  bool single = !c.has(1), keep = !single || c.attrInt("keepdims", 1);
  Ints sizes;
  KnownPtr given = single ? nullptr : c.known(1, "split");
  if (!single && !given)
    return;
  bool parts = given && given->rank() == 1;
  if (parts) {
    std::optional<Ints> list = c.ints(1, "split");
    if (!list)
      return;
    sizes = *list;
  } else {
    std::optional<int64_t> size = single ? 1 : c.oneInt(1, "split");
    if (!size || !c.needStatic(x, *axis, "the length of the sequence"))
      return;
    if (*size < 1)
      return void(c.fail("expected parts of at least one element, but got " + Twine(*size)));
    for (int64_t from = 0; from < extent; from += *size)
      sizes.push_back(std::min(*size, extent - from));
  }
  int64_t total = 0;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_add_overflow(total, size, &total))
      return void(c.fail("expected sizes that are the parts of an extent, but got " + Twine(size)));
  if (!c.needStatic(x, *axis, "whether its parts make it up"))
    return;
  if (total != extent)
    return void(c.fail("the sizes add up to " + Twine(total) + ", expected " + Twine(extent)));
  std::vector<Val> list;
  int64_t from = 0;
  for (int64_t size : sizes) {
    Value part = c.slice(x, *axis, from, size);
    from += size;
    if (!keep)
      part = c.squeeze(part, {*axis});
    if (!part)
      return;
    list.push_back(c.importer.fromValue(part, c.type(0)));
  }
  c.set(0, c.importer.fromItems(std::move(list)));
}

static void concatFromSequence(NodeContext &c) {
  const std::vector<Val> *list = items(c, 0);
  if (!list)
    return;
  if (list->empty())
    return void(c.fail("cannot join the values of an empty sequence"));
  bool stacked = c.attrInt("new_axis", 0);
  SmallVector<Value> parts;
  for (const Val &item : *list) {
    if (item->type != list->front()->type || item->type == DataType::String)
      return void(c.fail("its inputs have different element types"));
    Value part = c.importer.materialise(item, &c);
    if (!part)
      return;
    parts.push_back(part);
  }
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(parts[0]) + stacked);
  if (!axis)
    return;
  if (stacked)
    for (Value &part : parts)
      part = c.unsqueeze(part, {*axis});
  c.set(0, c.concat(parts, *axis), list->front()->type);
}

// A graph for each value of the sequences; other operands are the same each time.
static void sequenceMap(NodeContext &c) {
  const ox::Attribute *a = c.attr("body");
  const std::vector<Val> *first = items(c, 0);
  if (!first)
    return;
  if (!a || a->graphs.size() != 1)
    return void(c.fail("attribute 'body' is missing or no graph"));
  std::vector<std::vector<Val>> results(c.numOutputs());
  for (size_t i = 0; i < first->size(); ++i) {
    std::vector<Val> inputs;
    for (unsigned k = 0; k < c.numInputs(); ++k) {
      Val operand = c.val(k);
      if (operand && operand->items && operand->items->size() <= i)
        return void(c.fail("its sequences differ in length"));
      inputs.push_back(operand && operand->items ? (*operand->items)[i] : operand);
    }
    std::vector<Val> outputs = c.importer.importBody(a->graphs[0], inputs, c.scope);
    for (size_t k = 0; k < results.size() && k < outputs.size(); ++k) {
      if (!outputs[k] || outputs[k]->poison) {
        c.bad = true;
        return;
      }
      results[k].push_back(outputs[k]);
    }
  }
  for (size_t k = 0; k < results.size(); ++k)
    c.set(k, c.importer.fromItems(std::move(results[k])));
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

// An optional without a value is a sequence that is marked as none.
static bool isNone(const Val &v) { return !v || v->isNone; }

static void optional(NodeContext &c) {
  if (c.has(0))
    return c.set(0, c.val(0));
  Val none = c.importer.fromItems({});
  none->isNone = true;
  c.set(0, none);
}
static void hasElement(NodeContext &c) { c.set(0, one(!isNone(c.val(0)), DataType::Bool)); }
static void getElement(NodeContext &c) {
  if (isNone(c.val(0)))
    return void(c.fail("takes the value of an optional that has none"));
  c.set(0, c.val(0));
}

ArrayRef<OperatorEntry> onnximport::listOperators() {
  static const OperatorEntry entries[] = {
      {"SequenceConstruct", 11, lastOpset, construct},
      {"SequenceEmpty", 11, lastOpset, empty},
      {"SequenceAt", 11, lastOpset, at},
      {"SequenceInsert", 11, lastOpset, insert},
      {"SequenceErase", 11, lastOpset, erase},
      {"SequenceLength", 11, lastOpset, length},
      {"SequenceMap", 17, lastOpset, sequenceMap},
      {"SplitToSequence", 11, lastOpset, splitToSequence},
      {"ConcatFromSequence", 11, lastOpset, concatFromSequence},
      {"Optional", 15, lastOpset, optional},
      {"OptionalHasElement", 15, lastOpset, hasElement},
      {"OptionalGetElement", 15, lastOpset, getElement},
  };
  return entries;
}
