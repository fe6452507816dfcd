// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ensembles of trees (ai.onnx.ml). All rows go down all trees together, one level a step; a leaf leads to
// itself. Tables hold for each node what it asks and where it leads.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Learned.h"

#include <cmath>

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;
namespace ox = tessera::onnx;

namespace {

struct TreeNode {
  int64_t feature = 0;
  double value = 0;
  /// Asks whether the feature is at most the value; with `equal`, whether it is the value.
  bool equal = false;
  /// Where a feature that is no number leads.
  bool nanYes = false;
  int64_t yes = 0, no = 0;
  bool leaf = true;
  int64_t depth = -1;
  std::vector<std::pair<int64_t, double>> weights;
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<double> roots;
  int64_t depth = 0, targets = 0;
  DataType type = DataType::F32; ///< of features
};

} // namespace

// The word of a node as 'at most' or 'equal', with its children exchanged where that needs it.
static bool setMode(NodeContext &c, TreeNode &node, StringRef mode, bool missingYes, DataType type) {
  node.leaf = false;
  node.nanYes = missingYes;
  auto below = [&] {
    node.value = type == DataType::F64 ? std::nextafter(node.value, -INFINITY)
                                       : double(std::nextafterf(float(node.value), -INFINITY));
  };
  auto exchange = [&] {
    std::swap(node.yes, node.no);
    node.nanYes = !node.nanYes;
  };
  if (mode == "BRANCH_LT") {
    below();
  } else if (mode == "BRANCH_GT") {
    exchange();
  } else if (mode == "BRANCH_GTE") {
    below();
    exchange();
  } else if (mode == "BRANCH_EQ") {
    node.equal = true;
  } else if (mode == "BRANCH_NEQ") {
    // What is no number differs from every value.
    node.equal = true;
    exchange();
    node.nanYes = false;
  } else if (mode != "BRANCH_LEQ") {
    return c.fail("a node of mode '" + ox::printable(mode.str()) + "' is not supported"), false;
  }
  return true;
}

// The depth of the whole; false where a node leads to one above it or to none.
static bool measure(NodeContext &c, Forest &forest) {
  std::vector<int64_t> open;
  for (double root : forest.roots) {
    forest.nodes[size_t(root)].depth = 0;
    open.push_back(int64_t(root));
  }
  while (!open.empty()) {
    TreeNode &node = forest.nodes[open.back()];
    open.pop_back();
    forest.depth = std::max(forest.depth, node.leaf ? node.depth : node.depth + 1);
    if (node.leaf)
      continue;
    for (int64_t child : {node.yes, node.no}) {
      if (child < 0 || child >= int64_t(forest.nodes.size()) || forest.nodes[child].depth >= 0)
        return c.fail("its nodes do not make up trees"), false;
      forest.nodes[child].depth = node.depth + 1;
      open.push_back(child);
    }
  }
  return true;
}

// The attributes of TreeEnsembleRegressor and TreeEnsembleClassifier, whose weights begin with `weights`.
static std::optional<Forest> readForest(NodeContext &c, const std::string &weights, int64_t targets) {
  Forest forest;
  forest.type = rowType(c.type(0));
  forest.targets = targets;
  Ints trees = c.attrInts("nodes_treeids"), ids = c.attrInts("nodes_nodeids"),
       features = c.attrInts("nodes_featureids"), yes = c.attrInts("nodes_truenodeids"),
       no = c.attrInts("nodes_falsenodeids"), missing = c.attrInts("nodes_missing_value_tracks_true");
  std::vector<double> values = numbersOf(c, "nodes_values");
  std::vector<std::string> modes = c.attrStrings("nodes_modes");
  size_t n = ids.size();
  if (n == 0 || trees.size() != n || features.size() != n || yes.size() != n || no.size() != n ||
      values.size() != n || modes.size() != n || (!missing.empty() && missing.size() != n) || targets < 1)
    return c.fail("its lists of nodes differ in length"), std::nullopt;
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t i = 0; i < n; ++i)
    if (!places.try_emplace({trees[i], ids[i]}, i).second)
      return c.fail("node " + Twine(ids[i]) + " of tree " + Twine(trees[i]) + " is there twice"),
             std::nullopt;
  auto place = [&](int64_t tree, int64_t id) {
    auto it = places.find({tree, id});
    return it == places.end() ? int64_t(-1) : it->second;
  };
  forest.nodes.resize(n);
  std::vector<bool> isChild(n);
  for (size_t i = 0; i < n; ++i) {
    TreeNode &node = forest.nodes[i];
    if (modes[i] == "LEAF")
      continue;
    node.feature = features[i];
    node.value = values[i];
    node.yes = place(trees[i], yes[i]);
    node.no = place(trees[i], no[i]);
    for (int64_t child : {node.yes, node.no})
      if (child >= 0)
        isChild[child] = true;
    if (features[i] < 0 || !setMode(c, node, modes[i], !missing.empty() && missing[i], forest.type))
      return c.fail("a node asks for feature " + Twine(features[i])), std::nullopt;
  }
  for (size_t i = 0; i < n; ++i)
    if (!isChild[i])
      forest.roots.push_back(double(i));
  Ints weightTrees = c.attrInts(weights + "_treeids"), weightNodes = c.attrInts(weights + "_nodeids"),
       weightIds = c.attrInts(weights + "_ids");
  std::vector<double> numbers = numbersOf(c, weights + "_weights");
  if (weightTrees.size() != numbers.size() || weightNodes.size() != numbers.size() ||
      weightIds.size() != numbers.size())
    return c.fail("its lists of weights differ in length"), std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) {
    int64_t at = place(weightTrees[i], weightNodes[i]);
    if (at < 0 || weightIds[i] < 0 || weightIds[i] >= targets)
      return c.fail("a weight is for no node, or for none of " + Twine(targets) + " results"), std::nullopt;
    if (forest.nodes[at].leaf)
      forest.nodes[at].weights.push_back({weightIds[i], numbers[i]});
  }
  if (forest.roots.empty() || !measure(c, forest))
    return c.fail("its nodes do not make up trees"), std::nullopt;
  return forest;
}

// Of TreeEnsemble, whose leaves are lists of their own: they stand behind the nodes.
static std::optional<Forest> readEnsemble(NodeContext &c) {
  static const char *const words[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",   "BRANCH_GT",
                                      "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER"};
  Forest forest;
  forest.type = rowType(c.type(0));
  forest.targets = c.attrInt("n_targets", 0);
  auto tensor = [&](StringRef name) {
    std::vector<double> list;
    if (const ox::Attribute *a = c.attr(name); a && a->tensors.size() == 1)
      for (int64_t i = 0; i < a->tensors[0].count(); ++i)
        list.push_back(ox::numberAt(a->tensors[0], i).value_or(0));
    return list;
  };
  std::vector<double> values = tensor("nodes_splits"), modes = tensor("nodes_modes"),
                      weights = tensor("leaf_weights");
  Ints features = c.attrInts("nodes_featureids"), yes = c.attrInts("nodes_truenodeids"),
       no = c.attrInts("nodes_falsenodeids"), yesLeaf = c.attrInts("nodes_trueleafs"),
       noLeaf = c.attrInts("nodes_falseleafs"), missing = c.attrInts("nodes_missing_value_tracks_true"),
       roots = c.attrInts("tree_roots"), leafTargets = c.attrInts("leaf_targetids");
  size_t n = features.size(), leaves = weights.size();
  if (values.size() != n || modes.size() != n || yes.size() != n || no.size() != n || yesLeaf.size() != n ||
      noLeaf.size() != n || (!missing.empty() && missing.size() != n) || leafTargets.size() != leaves)
    return c.fail("its lists of nodes differ in length"), std::nullopt;
  forest.nodes.resize(n + leaves);
  auto child = [&](int64_t id, int64_t leaf) {
    return id < 0 || id >= int64_t(leaf ? leaves : n) ? int64_t(-1) : leaf ? id + int64_t(n) : id;
  };
  for (size_t i = 0; i < n; ++i) {
    TreeNode &node = forest.nodes[i];
    node.feature = features[i];
    node.value = values[i];
    node.yes = child(yes[i], yesLeaf[i]);
    node.no = child(no[i], noLeaf[i]);
    bool known = modes[i] >= 0 && modes[i] < double(std::size(words));
    if (features[i] < 0 ||
        !setMode(c, node, known ? words[int64_t(modes[i])] : "", !missing.empty() && missing[i], forest.type))
      return c.fail("a node asks for feature " + Twine(features[i])), std::nullopt;
  }
  for (size_t i = 0; i < leaves; ++i) {
    if (leafTargets[i] < 0 || leafTargets[i] >= forest.targets)
      return c.fail("a weight is for no node, or for none of " + Twine(forest.targets) + " results"),
             std::nullopt;
    forest.nodes[n + i].weights.push_back({leafTargets[i], weights[i]});
  }
  for (int64_t root : roots) {
    if (root < 0 || root >= int64_t(n))
      return c.fail("its nodes do not make up trees"), std::nullopt;
    // A tree that is a leaf alone has a node whose children are the same leaf.
    TreeNode &node = forest.nodes[root];
    if (!node.leaf && node.yes == node.no && node.yes >= int64_t(n)) {
      node.leaf = true;
      node.weights = forest.nodes[node.yes].weights;
    }
    forest.roots.push_back(double(root));
  }
  if (forest.roots.empty() || !measure(c, forest))
    return c.fail("its nodes do not make up trees"), std::nullopt;
  return forest;
}

// The leaf of each row in each tree: N x trees.
static Value descend(NodeContext &c, const Forest &forest, Value x) {
  size_t n = forest.nodes.size();
  std::vector<double> features(n), values(n), equal(n), nan(n), yes(n), no(n);
  int64_t widest = 0;
  for (auto [i, node] : llvm::enumerate(forest.nodes)) {
    features[i] = double(node.feature);
    values[i] = node.value;
    equal[i] = node.equal;
    nan[i] = node.nanYes;
    yes[i] = double(node.leaf ? int64_t(i) : node.yes);
    no[i] = double(node.leaf ? int64_t(i) : node.no);
    widest = std::max(widest, node.feature);
  }
  if (int64_t have = c.dim(x, 1); !ShapedType::isDynamic(have) && widest >= have)
    return c.fail("a node asks for feature " + Twine(widest) + " of " + Twine(have)), Value();
  DataType i64 = DataType::I64;
  auto any = [](const std::vector<double> &list) {
    return llvm::any_of(list, [](double v) { return v != 0; });
  };
  Value featureTable = listOf(c, features, i64), valueTable = listOf(c, values, forest.type),
        yesTable = listOf(c, yes, i64), noTable = listOf(c, no, i64),
        equalTable = any(equal) ? listOf(c, equal, DataType::Bool) : Value(),
        nanTable = any(nan) ? listOf(c, nan, DataType::Bool) : Value();
  Value at = c.broadcast(listOf(c, forest.roots, i64), {c.ext(x, 0), Ext(int64_t(forest.roots.size()))});
  for (int64_t step = 0; step < forest.depth && !c.bad; ++step) {
    Value feature = c.gather(featureTable, at, 0);
    Value value = feature ? c.one<nn::GatherElementsOp>(x, feature, uint64_t(1)) : Value();
    Value limit = c.gather(valueTable, at, 0);
    Value holds = c.binary(BinaryKind::le, value, limit);
    if (equalTable)
      holds = c.select(c.gather(equalTable, at, 0), c.binary(BinaryKind::eq, value, limit), holds);
    if (nanTable)
      holds =
          c.binary(BinaryKind::or_, holds,
                   c.binary(BinaryKind::and_, c.unary(UnaryKind::isnan, value), c.gather(nanTable, at, 0)));
    at = c.select(holds, c.gather(yesTable, at, 0), c.gather(noTable, at, 0));
  }
  return at;
}

// Scores N x targets without base values.
static Value evaluateForest(NodeContext &c, const Forest &forest, StringRef how) {
  constexpr int64_t maxWeights = int64_t(1) << 26;
  int64_t n = forest.nodes.size();
  if (n > maxWeights / forest.targets)
    return c.fail("an ensemble of " + Twine(n) + " nodes and " + Twine(forest.targets) +
                  " results is too large"),
           Value();
  Value x = rowsOf(c, c.v(0), c.type(0));
  if (!x || c.bad)
    return {};
  Value at = descend(c, forest, x);
  bool least = how == "MIN", most = how == "MAX";
  if (how != "SUM" && how != "AVERAGE" && !least && !most)
    return c.fail("aggregate_function '" + ox::printable(how.str()) + "' is not supported"), Value();
  // What a leaf does not name takes no part.
  double none = least ? INFINITY : most ? -INFINITY : 0;
  std::vector<double> table(n * forest.targets, none);
  for (auto [i, node] : llvm::enumerate(forest.nodes))
    for (auto [target, weight] : node.weights) {
      double &slot = table[i * forest.targets + target];
      slot = least ? std::min(slot, weight) : most ? std::max(slot, weight) : slot + weight;
    }
  Value weights = c.gather(c.constant(forest.type, {n, forest.targets}, table), at, 0); // N x trees x targets
  Value y = c.reduce(least ? ReduceKind::min : most ? ReduceKind::max : ReduceKind::sum, weights, {1}, false);
  if (how == "AVERAGE")
    y = c.div(y, c.scalar(double(forest.roots.size()), forest.type));
  if (least || most)
    y = c.select(c.unary(UnaryKind::isinf, y), c.scalar(0, forest.type), y);
  return y;
}

static Value withBase(NodeContext &c, Value y, const Forest &forest) {
  std::vector<double> base = numbersOf(c, "base_values");
  if (base.empty() || !y)
    return y;
  if (int64_t(base.size()) != forest.targets)
    return c.fail("expected " + Twine(forest.targets) + " base values, but got " + Twine(base.size())),
           Value();
  return c.add(y, listOf(c, base, forest.type));
}

static void finishRegression(NodeContext &c, const Forest &forest, DataType to) {
  std::string how = c.attrString("aggregate_function", "SUM");
  Value y = withBase(c, evaluateForest(c, forest, how), forest);
  c.set(0, c.castTo(transformed(c, y, c.attrString("post_transform", "NONE")), forest.type, to), to);
}

static void treeRegressor(NodeContext &c) {
  if (std::optional<Forest> forest = readForest(c, "target", c.attrInt("n_targets", 1)))
    finishRegression(c, *forest, DataType::F32);
}

// The numbers stand for words here.
static void treeEnsemble(NodeContext &c) {
  static const char *const functions[] = {"AVERAGE", "SUM", "MIN", "MAX"}, *const transforms[] = {
                                                                               "NONE", "SOFTMAX", "LOGISTIC",
                                                                               "SOFTMAX_ZERO", "PROBIT"};
  int64_t function = c.attrInt("aggregate_function", 1), transform = c.attrInt("post_transform", 0);
  if (function < 0 || function > 3 || transform < 0 || transform > 4)
    return void(c.fail("aggregate_function or post_transform name nothing"));
  std::optional<Forest> forest = readEnsemble(c);
  if (!forest)
    return;
  Value y = evaluateForest(c, *forest, functions[function]);
  c.set(0, transformed(c, y, transforms[transform]), forest->type);
}

static void treeClassifier(NodeContext &c) {
  std::optional<Labels> labels = labelsOf(c, "classlabels_int64s", "classlabels_strings");
  std::optional<Forest> forest = labels ? readForest(c, "class", labels->size()) : std::nullopt;
  if (!forest)
    return;
  DataType type = forest->type, f = DataType::F32;
  std::string transform = c.attrString("post_transform", "NONE");
  Ints ids = c.attrInts("class_ids");
  bool oneClass = labels->size() == 2 && llvm::all_of(ids, [&](int64_t id) { return id == ids[0]; });
  if (!oneClass) {
    Value scores = withBase(c, evaluateForest(c, *forest, "SUM"), *forest);
    setLabels(c, 0,
              scores ? c.one<nn::ArgReduceOp>(scores, uint64_t(1), false, false, false, false) : Value(),
              *labels);
    return c.set(1, c.castTo(transformed(c, scores, transform), type, f), f);
  }
  // One score for two classes: a probability where no weight is negative, else a distance.
  std::vector<double> base = numbersOf(c, "base_values"), weights = numbersOf(c, "class_weights");
  if (base.size() > 1)
    return void(c.fail("base values for two classes that share a score are not supported"));
  for (TreeNode &node : forest->nodes)
    for (auto &weight : node.weights)
      weight.first = 0;
  forest->targets = 1;
  Value score = withBase(c, evaluateForest(c, *forest, "SUM"), *forest);
  bool positive = llvm::all_of(weights, [](double w) { return w >= 0; });
  Value second = c.binary(BinaryKind::gt, score, c.scalar(positive ? 0.5 : 0, type));
  if (!second || c.bad)
    return c.set(0, Value(), f);
  setLabels(c, 0, c.squeeze(c.castTo(second, DataType::Bool, DataType::I64), {1}), *labels);
  Value first;
  if (transform != "NONE" && transform != "LOGISTIC")
    return void(c.fail("post_transform '" + ox::printable(transform) +
                       "' of one score for two classes is not supported"));
  if (positive) {
    first = c.sub(c.scalar(1, type), score);
  } else {
    first = c.unary(UnaryKind::neg, score);
    if (transform == "LOGISTIC") {
      first = c.unary(UnaryKind::sigmoid, first);
      score = c.unary(UnaryKind::sigmoid, score);
    }
  }
  c.set(1, c.castTo(c.concat({first, score}, 1), type, f), f);
}

ArrayRef<OperatorEntry> onnximport::treeOperators() {
  static const OperatorEntry entries[] = {
      {"TreeEnsembleRegressor", 1, lastOpset, treeRegressor, machineLearning},
      {"TreeEnsembleClassifier", 1, lastOpset, treeClassifier, machineLearning},
      {"TreeEnsemble", 5, lastOpset, treeEnsemble, machineLearning},
  };
  return entries;
}
