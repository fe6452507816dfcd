// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose result's shape depends on elements: what decides it must be known when importing.
#include "tessera/frontends/onnx/Importer.h"

#include <numeric>

using namespace tessera;
using namespace tessera::onnximport;

static bool truthy(const Known &k, int64_t i) {
  return isFloat(k.type) ? k.elements[i].f != 0 : k.elements[i].i != 0;
}

static Known integers(ArrayRef<int64_t> dims, ArrayRef<int64_t> values) {
  Known k;
  k.type = DataType::I64;
  k.dims.assign(dims.begin(), dims.end());
  for (int64_t v : values)
    k.elements.push_back({v, 0, {}});
  return k;
}

static void nonZero(NodeContext &c) {
  KnownPtr x = c.known(0, "the operand");
  if (!x)
    return;
  if (!x->isStatic())
    return void(c.fail("its operand depends on an extent that is not known when compiling"));
  int64_t rank = std::max<int64_t>(x->rank(), 1);
  std::vector<Ints> places(rank);
  for (int64_t i = 0; i < x->count(); ++i) {
    if (!truthy(*x, i))
      continue;
    int64_t rest = i;
    for (int64_t d = x->rank() - 1; d >= 0; --d) {
      places[d].push_back(rest % x->dims[d]);
      rest /= x->dims[d];
    }
    if (!x->rank())
      places[0].push_back(0);
  }
  Ints flat;
  for (const Ints &list : places)
    flat.append(list.begin(), list.end());
  c.set(0, integers({rank, int64_t(places[0].size())}, flat));
}

static void compress(NodeContext &c) {
  KnownPtr condition = c.known(1, "condition");
  if (!condition)
    return;
  if (!condition->isStatic())
    return void(c.fail("condition (input 1) depends on an extent that is not known when compiling"));
  Value x = c.v(0);
  int64_t axis = 0;
  if (c.hasAttr("axis")) {
    std::optional<int64_t> given = c.axis(c.attrInt("axis", 0), c.rank(x));
    if (!given)
      return;
    axis = *given;
  } else {
    x = c.reshape(x, {c.product(x, 0, c.rank(x))});
  }
  Ints kept;
  for (int64_t i = 0; i < condition->count(); ++i)
    if (truthy(*condition, i))
      kept.push_back(i);
  if (!ShapedType::isDynamic(c.dim(x, axis)) && !kept.empty() && kept.back() >= c.dim(x, axis))
    return void(c.fail("the condition is longer than the operand"));
  c.set(0, c.gather(x, c.constInts(kept), axis), c.type(0));
}

static void unique(NodeContext &c) {
  KnownPtr x = c.known(0, "the operand");
  if (!x || !x->isStatic())
    return void(c.fail("its operand must be known when compiling"));
  bool sorted = c.attrInt("sorted", 1), byAxis = c.hasAttr("axis");
  int64_t axis = 0;
  SmallVector<int64_t> dims = x->dims;
  if (byAxis) {
    std::optional<int64_t> given = c.axis(c.attrInt("axis", 0), x->rank());
    if (!given)
      return;
    axis = *given;
  } else {
    dims = {x->count()};
  }
  int64_t n = dims[axis], inner = 1, outer = 1;
  for (int64_t d = axis + 1; d < int64_t(dims.size()); ++d)
    inner *= dims[d];
  for (int64_t d = 0; d < axis; ++d)
    outer *= dims[d];
  auto number = [&](int64_t slice, int64_t at) {
    const Scalar &s = x->elements[((at / inner) * n + slice) * inner + at % inner];
    return isFloat(x->type) ? s.f : double(s.i);
  };
  auto order = [&](int64_t a, int64_t b) {
    for (int64_t at = 0; at < outer * inner; ++at)
      if (number(a, at) != number(b, at))
        return number(a, at) < number(b, at) ? -1 : 1;
    return 0;
  };
  // The first of each kind, in the order of their first appearance, then sorted where asked for.
  Ints firsts, inverse(n, 0), counts;
  for (int64_t i = 0; i < n; ++i) {
    auto *it = llvm::find_if(firsts, [&](int64_t f) { return order(f, i) == 0; });
    inverse[i] = it - firsts.begin();
    if (it == firsts.end()) {
      firsts.push_back(i);
      counts.push_back(0);
    }
    ++counts[inverse[i]];
  }
  Ints ranks = range(0, firsts.size());
  if (sorted)
    llvm::sort(ranks, [&](int64_t a, int64_t b) { return order(firsts[a], firsts[b]) < 0; });
  Ints place(firsts.size(), 0), sortedFirsts, sortedCounts;
  for (auto [i, r] : llvm::enumerate(ranks)) {
    place[r] = i;
    sortedFirsts.push_back(firsts[r]);
    sortedCounts.push_back(counts[r]);
  }
  for (int64_t &i : inverse)
    i = place[i];
  int64_t m = firsts.size();
  Known y;
  y.type = x->type;
  y.dims = dims;
  y.dims[axis] = m;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t f : sortedFirsts)
      for (int64_t i = 0; i < inner; ++i)
        y.elements.push_back(x->elements[(o * n + f) * inner + i]);
  c.set(0, std::move(y));
  c.set(1, integers({m}, sortedFirsts));
  c.set(2, integers({n}, inverse));
  c.set(3, integers({m}, sortedCounts));
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {
struct Box {
  double top, left, bottom, right;
};
} // namespace

static double overlap(const Box &a, const Box &b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0)
    return 0;
  double shared = height * width;
  auto area = [](const Box &x) { return (x.bottom - x.top) * (x.right - x.left); };
  double all = area(a) + area(b) - shared;
  return area(a) <= 0 || area(b) <= 0 || all <= 0 ? 0 : shared / all;
}

static void nonMaxSuppression(NodeContext &c) {
  KnownPtr boxes = c.known(0, "boxes"), scores = boxes ? c.known(1, "scores") : nullptr;
  if (!scores)
    return;
  int64_t limit = 0;
  double overlapLimit = 0, scoreLimit = -INFINITY;
  if (c.has(2)) {
    std::optional<int64_t> given = c.oneInt(2, "max_output_boxes_per_class");
    if (!given)
      return;
    limit = *given;
  }
  for (unsigned i : {3u, 4u})
    if (c.has(i)) {
      std::optional<double> given = c.oneFloat(i, i == 3 ? "iou_threshold" : "score_threshold");
      if (!given)
        return;
      (i == 3 ? overlapLimit : scoreLimit) = *given;
    }
  if (boxes->rank() != 3 || boxes->dims[2] != 4 || scores->rank() != 3 || scores->dims[0] != boxes->dims[0] ||
      scores->dims[2] != boxes->dims[1])
    return void(c.fail("expected boxes N x M x 4 and scores N x classes x M"));
  bool centred = c.attrInt("center_point_box", 0);
  int64_t batches = boxes->dims[0], n = boxes->dims[1], classes = scores->dims[1];
  auto box = [&](int64_t batch, int64_t i) {
    const Scalar *e = &boxes->elements[(batch * n + i) * 4];
    if (centred)
      return Box{e[1].f - e[3].f / 2, e[0].f - e[2].f / 2, e[1].f + e[3].f / 2, e[0].f + e[2].f / 2};
    return Box{std::min(e[0].f, e[2].f), std::min(e[1].f, e[3].f), std::max(e[0].f, e[2].f),
               std::max(e[1].f, e[3].f)};
  };
  Ints chosen;
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t k = 0; k < classes; ++k) {
      auto score = [&](int64_t i) { return scores->elements[(batch * classes + k) * n + i].f; };
      Ints order = range(0, n), kept;
      llvm::sort(order,
                 [&](int64_t a, int64_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
      for (int64_t i : order) {
        if (int64_t(kept.size()) >= limit || score(i) <= scoreLimit)
          break;
        if (llvm::none_of(kept,
                          [&](int64_t j) { return overlap(box(batch, i), box(batch, j)) > overlapLimit; }))
          kept.push_back(i);
      }
      for (int64_t i : kept)
        chosen.append({batch, k, i});
    }
  c.set(0, integers({int64_t(chosen.size()) / 3, 3}, chosen));
}

//===----------------------------------------------------------------------===//
// Counts of n-grams
//===----------------------------------------------------------------------===//

// For each length and skip all windows are compared with all n-grams of the pool.
static void tfIdf(NodeContext &c) {
  DataType f = DataType::F32;
  Value x = c.v(0);
  Ints starts = c.attrInts("ngram_counts"), indexes = c.attrInts("ngram_indexes"),
       pool = c.attrInts("pool_int64s");
  SmallVector<double> weights = c.attrFloats("weights");
  int64_t shortest = c.attrInt("min_gram_length", 1), longest = c.attrInt("max_gram_length", 1),
          skips = c.attrInt("max_skip_count", 0);
  std::string mode = c.attrString("mode", "TF");
  bool vector = c.rank(x) == 1;
  if (c.hasAttr("pool_strings") || !x || (!vector && c.rank(x) != 2))
    return void(c.fail("only integers in one or two dimensions are supported"));
  x = c.castTo(x, c.type(0), DataType::I64);
  if (vector)
    x = c.unsqueeze(x, {0});
  int64_t length = c.dim(x, 1), outputs = 0;
  for (int64_t i : indexes)
    outputs = std::max(outputs, i + 1);
  if (ShapedType::isDynamic(length) || outputs < 1 || outputs > maxKnown || skips < 0 || skips > maxKnown ||
      longest > int64_t(starts.size()) || shortest < 1 || longest > 64)
    return void(c.fail("its pool or lengths are not supported"));
  // Where each n-gram of the pool counts: one row each.
  Value total;
  int64_t gram = 0;
  for (int64_t n = 1; n <= int64_t(starts.size()); ++n) {
    int64_t from = starts[n - 1], to = n < int64_t(starts.size()) ? starts[n] : int64_t(pool.size());
    if (from < 0 || to < from || to > int64_t(pool.size()) || (to - from) % n)
      return void(c.fail("its pool does not fit 'ngram_counts'"));
    int64_t grams = (to - from) / n, first = gram;
    gram += grams;
    if (gram > int64_t(indexes.size()) || (!weights.empty() && weights.size() != indexes.size()))
      return void(c.fail("its pool does not fit 'ngram_indexes' or 'weights'"));
    if (n < shortest || n > longest || !grams)
      continue;
    Ints list(pool.begin() + from, pool.begin() + to);
    Value wanted = c.constInts({grams, n}, list, DataType::I64), counts;
    for (int64_t skip = 0; skip <= (n == 1 ? 0 : skips); ++skip) {
      int64_t windows = length - (n - 1) * (skip + 1);
      if (windows < 1)
        break;
      Ints places;
      for (int64_t i = 0; i < windows; ++i)
        for (int64_t j = 0; j < n; ++j)
          places.push_back(i + j * (skip + 1));
      Value seen =
          c.unsqueeze(c.gather(x, c.constInts({windows, n}, places, DataType::I64), 1), {2}); // N W 1 n
      Value hit = c.castTo(c.binary(nn::BinaryKind::eq, seen, wanted), DataType::Bool, f);    // N W G n
      Value all = c.reduce(nn::ReduceKind::min, hit, {3}, false);
      Value count = c.reduce(nn::ReduceKind::sum, all, {1}, false); // N G
      counts = counts ? c.add(counts, count) : count;
    }
    if (!counts)
      continue;
    std::vector<double> spread(grams * outputs);
    for (int64_t g = 0; g < grams; ++g) {
      if (indexes[first + g] < 0)
        return void(c.fail("an index is negative"));
      spread[g * outputs + indexes[first + g]] = mode == "TF" || weights.empty() ? 1 : weights[first + g];
    }
    if (mode == "IDF")
      counts = c.castTo(c.binary(nn::BinaryKind::gt, counts, c.scalar(0, f)), DataType::Bool, f);
    Value part = c.matmul(counts, c.constant(f, {grams, outputs}, spread));
    total = total ? c.add(total, part) : part;
  }
  if (!total)
    total = c.full({c.ext(x, 0), Ext(outputs)}, 0, f);
  c.set(0, vector ? c.squeeze(total, {0}) : total, f);
}

ArrayRef<OperatorEntry> onnximport::selectionOperators() {
  static const OperatorEntry entries[] = {
      {"NonZero", 9, lastOpset, nonZero},       {"Compress", 9, lastOpset, compress},
      {"Unique", 11, lastOpset, unique},        {"NonMaxSuppression", 10, lastOpset, nonMaxSuppression},
      {"TfIdfVectorizer", 9, lastOpset, tfIdf},
  };
  return entries;
}
