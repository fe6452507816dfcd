// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear models, support vectors and what is shared by the operators of ai.onnx.ml. See Learned.h.
#include "tessera/frontends/onnx/Learned.h"
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;
namespace ox = tessera::onnx;

std::vector<double> onnximport::numbersOf(NodeContext &c, StringRef name) {
  std::vector<double> values;
  if (const ox::Attribute *a = c.attr((name + "_as_tensor").str()); a && a->tensors.size() == 1) {
    const ox::Tensor &t = a->tensors[0];
    for (int64_t i = 0; i < t.count(); ++i)
      values.push_back(ox::numberAt(t, i).value_or(0));
    return values;
  }
  const ox::Attribute *a = c.attr(name);
  if (a && a->type == ox::AttributeType::Ints)
    values.assign(a->ints.begin(), a->ints.end());
  else if (a)
    llvm::append_range(values, c.attrFloats(name));
  return values;
}

Value onnximport::listOf(NodeContext &c, ArrayRef<double> values, DataType type) {
  return c.constant(type, {int64_t(values.size())}, values);
}

DataType onnximport::rowType(DataType type) { return type == DataType::F64 ? DataType::F64 : DataType::F32; }

Value onnximport::rowsOf(NodeContext &c, Value x, DataType type) {
  if (!x)
    return {};
  if (c.rank(x) == 1)
    x = c.unsqueeze(x, {0});
  if (c.rank(x) != 2)
    return c.fail("expected rows of features, but got " + Twine(c.rank(x)) + " dimensions"), Value();
  return c.castTo(x, type, rowType(type));
}

std::optional<Labels> onnximport::labelsOf(NodeContext &c, StringRef ints, StringRef strings) {
  Labels labels;
  Ints numbers = c.attrInts(ints);
  labels.ints.assign(numbers.begin(), numbers.end());
  labels.strings = c.attrStrings(strings);
  if (labels.ints.empty() == labels.strings.empty() || c.bad)
    return c.fail("expected labels as '" + ints + "' or as '" + strings + "'"), std::nullopt;
  return labels;
}

void onnximport::setLabels(NodeContext &c, unsigned i, Value indices, const Labels &labels) {
  if (!indices || c.bad)
    return c.set(i, Value(), DataType::I64);
  if (!labels.strings.empty())
    return c.set(i, c.importer.fromWords(indices, labels.strings));
  c.set(i, c.gather(c.constInts(labels.ints), indices, 0), DataType::I64);
}

Value onnximport::transformed(NodeContext &c, Value scores, StringRef transform) {
  if (transform == "NONE" || transform.empty())
    return scores;
  if (transform == "LOGISTIC")
    return c.unary(UnaryKind::sigmoid, scores);
  if (transform == "SOFTMAX")
    return c.softmax(scores, 1);
  return c.fail("post_transform '" + ox::printable(transform.str()) +
                "' is not supported; expected NONE, LOGISTIC or SOFTMAX"),
         Value();
}

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

// x times the rows of coefficients, plus intercepts: N x targets.
static Value linear(NodeContext &c, int64_t targets) {
  std::vector<double> coefficients = numbersOf(c, "coefficients"), intercepts = numbersOf(c, "intercepts");
  Value x = rowsOf(c, c.v(0), c.type(0));
  if (!x || c.bad)
    return {};
  DataType type = rowType(c.type(0));
  int64_t features = targets > 0 ? int64_t(coefficients.size()) / targets : 0;
  if (features < 1 || features * targets != int64_t(coefficients.size()) ||
      (c.dim(x, 1) != features && !ShapedType::isDynamic(c.dim(x, 1))))
    return c.fail("its " + Twine(coefficients.size()) + " coefficients do not fit " + Twine(targets) +
                  " results of the operand's features"),
           Value();
  Value y = c.matmul(x, c.constant(type, {targets, features}, coefficients), false, true);
  if (intercepts.empty())
    return y;
  if (int64_t(intercepts.size()) != targets)
    return c.fail("expected " + Twine(targets) + " intercepts, but got " + Twine(intercepts.size())), Value();
  return c.add(y, listOf(c, intercepts, type));
}

static void linearRegressor(NodeContext &c) {
  Value y = linear(c, c.attrInt("targets", 1));
  c.set(
      0,
      c.castTo(transformed(c, y, c.attrString("post_transform", "NONE")), rowType(c.type(0)), DataType::F32),
      DataType::F32);
}

// The scores of two classes, from that of the second one.
static Value bothScores(NodeContext &c, Value score, StringRef transform) {
  Value other = transform == "LOGISTIC" ? transformed(c, c.unary(UnaryKind::neg, score), transform)
                                        : c.unary(UnaryKind::neg, score);
  return c.concat({other, transform == "LOGISTIC" ? transformed(c, score, transform) : score}, 1);
}

static void linearClassifier(NodeContext &c) {
  std::optional<Labels> labels = labelsOf(c, "classlabels_ints", "classlabels_strings");
  if (!labels)
    return;
  DataType type = rowType(c.type(0));
  int64_t rows = std::max<int64_t>(numbersOf(c, "intercepts").size(), 1);
  std::string transform = c.attrString("post_transform", "NONE");
  Value scores = linear(c, rows);
  if (!scores || c.bad)
    return c.set(0, Value(), type);
  bool two = rows == 1 && labels->size() == 2;
  if (!two && rows != int64_t(labels->size()))
    return void(
        c.fail("expected scores for each of " + Twine(labels->size()) + " classes, but got " + Twine(rows)));
  if (two) {
    Value positive =
        c.castTo(c.binary(BinaryKind::gt, scores, c.scalar(0, type)), DataType::Bool, DataType::I64);
    setLabels(c, 0, c.squeeze(positive, {1}), *labels);
    if (transform != "NONE" && transform != "LOGISTIC")
      return void(c.fail("post_transform '" + ox::printable(transform) +
                         "' of one score for two classes is not supported"));
    c.set(1, c.castTo(bothScores(c, scores, transform), type, DataType::F32), DataType::F32);
    return;
  }
  setLabels(c, 0, c.one<nn::ArgReduceOp>(scores, uint64_t(1), false, false, false, false), *labels);
  c.set(1, c.castTo(transformed(c, scores, transform), type, DataType::F32), DataType::F32);
}

//===----------------------------------------------------------------------===//
// Support vectors
//===----------------------------------------------------------------------===//

// Kernel values N x vectors.
static Value kernel(NodeContext &c, Value x, ArrayRef<double> vectors, int64_t count) {
  DataType type = DataType::F32;
  std::vector<double> parameters = numbersOf(c, "kernel_params");
  parameters.resize(3, 0);
  std::string name = c.attrString("kernel_type", "LINEAR");
  int64_t features = int64_t(vectors.size()) / count;
  Value table = c.constant(type, {count, features}, vectors);
  Value products = c.matmul(x, table, false, true);
  double gamma = parameters[0], offset = parameters[1], degree = parameters[2];
  auto affine = [&] { return c.add(c.mul(products, c.scalar(gamma, type)), c.scalar(offset, type)); };
  if (name == "LINEAR")
    return products;
  if (name == "POLY")
    return c.binary(BinaryKind::pow, affine(), c.scalar(degree, type));
  if (name == "SIGMOID")
    return c.unary(UnaryKind::tanh, affine());
  if (name == "RBF") {
    Value apart = c.sub(c.unsqueeze(x, {1}), c.unsqueeze(table, {0}));
    Value distance = c.reduce(ReduceKind::sum_square, apart, {2}, false);
    return c.unary(UnaryKind::exp, c.mul(distance, c.scalar(-gamma, type)));
  }
  return c.fail("kernel_type '" + ox::printable(name) + "' is not supported"), Value();
}

static void svmRegressor(NodeContext &c) {
  std::vector<double> coefficients = numbersOf(c, "coefficients"), vectors = numbersOf(c, "support_vectors"),
                      rho = numbersOf(c, "rho");
  int64_t count = c.attrInt("n_supports", 0);
  Value x = c.castTo(rowsOf(c, c.v(0), c.type(0)), rowType(c.type(0)), DataType::F32);
  if (!x || c.bad)
    return c.set(0, Value(), DataType::F32);
  int64_t features = count > 0 ? int64_t(vectors.size()) / count : int64_t(coefficients.size());
  if (rho.size() != 1 || features < 1 || (count > 0 && features * count != int64_t(vectors.size())) ||
      (count > 0 && int64_t(coefficients.size()) != count) ||
      (c.dim(x, 1) != features && !ShapedType::isDynamic(c.dim(x, 1))))
    return void(c.fail("its support vectors, coefficients and rho do not fit the operand's features"));
  Value values = count > 0 ? kernel(c, x, vectors, count) : x;
  Value y = c.matmul(values, c.constant(DataType::F32, {int64_t(coefficients.size()), 1}, coefficients));
  y = c.add(y, c.scalar(rho[0], DataType::F32));
  if (c.attrInt("one_class", 0)) {
    Value inside = c.binary(BinaryKind::gt, y, c.scalar(0, DataType::F32));
    y = c.select(inside, c.scalar(1, DataType::F32), c.scalar(-1, DataType::F32));
  }
  c.set(0, transformed(c, y, c.attrString("post_transform", "NONE")), DataType::F32);
}

// One against one: each pair of classes has a decision, and votes for one of them.
static void svmClassifier(NodeContext &c) {
  constexpr DataType f = DataType::F32;
  std::optional<Labels> labels = labelsOf(c, "classlabels_ints", "classlabels_strings");
  if (!labels)
    return;
  std::vector<double> coefficients = numbersOf(c, "coefficients"), vectors = numbersOf(c, "support_vectors"),
                      rho = numbersOf(c, "rho");
  Ints counts = c.attrInts("vectors_per_class");
  int64_t classes = counts.size(), count = 0, pairs = classes * (classes - 1) / 2;
  for (int64_t n : counts)
    count += n > 0 && n < (1 << 24) ? n : 0;
  if (!numbersOf(c, "prob_a").empty())
    return void(
        c.fail("probabilities of support vectors are not supported; train without them (probability=False)"));
  Value x = c.castTo(rowsOf(c, c.v(0), c.type(0)), rowType(c.type(0)), f);
  if (!x || c.bad)
    return c.set(0, Value(), f);
  int64_t features = count > 0 ? int64_t(vectors.size()) / count : 0;
  if (classes < 2 || features < 1 || features * count != int64_t(vectors.size()) ||
      int64_t(coefficients.size()) != (classes - 1) * count || int64_t(rho.size()) != pairs ||
      labels->size() != size_t(classes) || (c.dim(x, 1) != features && !ShapedType::isDynamic(c.dim(x, 1))))
    return void(c.fail("its support vectors, coefficients and rho do not fit the operand's features"));
  if (c.attrString("post_transform", "NONE") != "NONE")
    return void(c.fail("post_transform of decisions is not supported; expected NONE"));
  std::vector<double> weights(count * pairs, 0), moved(pairs * classes, 0), given(classes, 0);
  int64_t pair = 0, first = 0;
  for (int64_t i = 0; i < classes; first += counts[i++])
    for (int64_t j = i + 1, second = first + counts[i]; j < classes; second += counts[j++], ++pair) {
      for (int64_t m = first; m < first + counts[i]; ++m)
        weights[m * pairs + pair] = coefficients[(j - 1) * count + m];
      for (int64_t m = second; m < second + counts[j]; ++m)
        weights[m * pairs + pair] = coefficients[i * count + m];
      moved[pair * classes + i] = 1;
      moved[pair * classes + j] = -1;
      given[j] += 1;
    }
  Value decisions = c.matmul(kernel(c, x, vectors, count), c.constant(f, {count, pairs}, weights));
  decisions = c.add(decisions, listOf(c, rho, f));
  // Each pair gives one vote to its second class, unless it moves it to the first.
  Value won = c.castTo(c.binary(BinaryKind::gt, decisions, c.scalar(0, f)), DataType::Bool, f);
  Value total = c.add(c.matmul(won, c.constant(f, {pairs, classes}, moved)), listOf(c, given, f));
  setLabels(c, 0, total ? c.one<nn::ArgReduceOp>(total, uint64_t(1), false, false, false, false) : Value(),
            *labels);
  c.set(1, pairs == 1 ? bothScores(c, decisions, "NONE") : decisions, f);
}

ArrayRef<OperatorEntry> onnximport::learnedOperators() {
  static const OperatorEntry entries[] = {
      {"LinearRegressor", 1, lastOpset, linearRegressor, machineLearning},
      {"LinearClassifier", 1, lastOpset, linearClassifier, machineLearning},
      {"SVMRegressor", 1, lastOpset, svmRegressor, machineLearning},
      {"SVMClassifier", 1, lastOpset, svmClassifier, machineLearning},
  };
  return entries;
}
