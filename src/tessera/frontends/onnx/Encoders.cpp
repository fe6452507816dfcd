// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands before and behind learned models (ai.onnx.ml): scaling, filling gaps, categories and labels.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Learned.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;
namespace ox = tessera::onnx;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static void scaler(NodeContext &c) {
  std::vector<double> offset = numbersOf(c, "offset"), scale = numbersOf(c, "scale");
  DataType f = DataType::F32;
  Value x = c.castTo(c.v(0), c.type(0), f);
  if (offset.empty() || scale.empty())
    return void(c.fail("expected 'offset' and 'scale'"));
  c.set(0, c.mul(c.sub(x, listOf(c, offset, f)), listOf(c, scale, f)), f);
}

static void normalizer(NodeContext &c) {
  DataType f = DataType::F32;
  std::string norm = c.attrString("norm", "MAX");
  Value x = c.castTo(c.v(0), c.type(0), f);
  if (c.rank(x) != 1 && c.rank(x) != 2)
    return void(c.fail("expected rows of features, but got " + Twine(c.rank(x)) + " dimensions"));
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return void(c.fail("norm '" + ox::printable(norm) + "' is not supported"));
  ReduceKind kind = norm == "L1" ? ReduceKind::l1 : norm == "L2" ? ReduceKind::l2 : ReduceKind::max;
  Value size = c.reduce(kind, x, {c.rank(x) - 1}, true);
  // A row of zeros stays one.
  Value none = c.binary(BinaryKind::eq, size, c.scalar(0, f));
  c.set(0, c.div(x, c.select(none, c.scalar(1, f), size)), f);
}

static void binarizer(NodeContext &c) {
  DataType type = c.type(0);
  Value above = c.binary(BinaryKind::gt, c.v(0), c.scalar(c.attrFloat("threshold", 0), type));
  c.set(0, c.castTo(above, DataType::Bool, type), type);
}

static void imputer(NodeContext &c) {
  DataType type = c.type(0);
  bool isFloating = isFloat(type);
  std::vector<double> values = numbersOf(c, isFloating ? "imputed_value_floats" : "imputed_value_int64s");
  Value x = c.v(0);
  if (values.empty())
    return void(c.fail("expected a value, or one for each feature, to put in"));
  double gap =
      isFloating ? c.attrFloat("replaced_value_float", 0) : double(c.attrInt("replaced_value_int64", 0));
  Value missing =
      std::isnan(gap) ? c.unary(UnaryKind::isnan, x) : c.binary(BinaryKind::eq, x, c.scalar(gap, type));
  c.set(0, c.select(missing, listOf(c, values, type), x), type);
}

static void featureVectorizer(NodeContext &c) {
  Ints wanted = c.attrInts("inputdimensions");
  SmallVector<Value> parts;
  for (unsigned i = 0; i < c.numInputs(); ++i) {
    Value x = c.castTo(rowsOf(c, c.v(i), c.type(i)), rowType(c.type(i)), DataType::F32);
    if (!x || c.bad)
      return c.set(0, Value(), DataType::F32);
    int64_t have = c.dim(x, 1);
    if (i < wanted.size() && have != wanted[i]) {
      if (ShapedType::isDynamic(have) || have < wanted[i])
        return void(c.fail("input " + Twine(i) + " does not have the " + Twine(wanted[i]) +
                           " features of 'inputdimensions'"));
      x = c.slice(x, 1, 0, wanted[i]);
    }
    parts.push_back(x);
  }
  c.set(0, c.concat(parts, 1), DataType::F32);
}

static void arrayFeatures(NodeContext &c) {
  Value x = c.v(0), indices = c.v(1);
  if (c.rank(x) < 1 || !indices)
    return void(c.fail("expected an operand of at least one dimension"));
  if (c.rank(x) == 1)
    x = c.unsqueeze(x, {0});
  c.set(0, c.gather(x, c.reshape(indices, {c.product(indices, 0, c.rank(indices))}), c.rank(x) - 1),
        c.type(0));
}

//===----------------------------------------------------------------------===//
// Categories
//===----------------------------------------------------------------------===//

// For each element its place among the keys, from 1 on; 0 where it is none of them. The first of equal keys
// counts.
static Value placeAmong(NodeContext &c, Value x, Value keys, bool nan) {
  if (!x || !keys)
    return {};
  Value column = c.unsqueeze(x, {c.rank(x)});
  Value hit = c.binary(BinaryKind::eq, column, keys);
  if (nan)
    hit = c.binary(
        BinaryKind::or_, hit,
        c.binary(BinaryKind::and_, c.unary(UnaryKind::isnan, column), c.unary(UnaryKind::isnan, keys)));
  Value places = c.iota(c.ext(keys, 0), DataType::I64, 1);
  Value behind = c.scalar(double(c.dim(keys, 0) + 1), DataType::I64);
  Value first = c.reduce(ReduceKind::min, c.select(hit, places, behind), {c.rank(x)}, false);
  return c.select(c.binary(BinaryKind::lt, first, behind), first, c.scalar(0, DataType::I64));
}

namespace {
/// Keys or values of an encoder, of one type.
struct Words {
  DataType type = DataType::Undefined;
  std::vector<int64_t> ints;
  std::vector<double> numbers;
  std::vector<std::string> strings;
  size_t size() const {
    return type == DataType::String ? strings.size() : isFloat(type) ? numbers.size() : ints.size();
  }
};
} // namespace

static Words wordsOf(NodeContext &c, const std::string &stem) {
  Words words;
  if (const ox::Attribute *a = c.attr(stem + "_tensor"); a && a->tensors.size() == 1) {
    const ox::Tensor &t = a->tensors[0];
    words.type = t.type;
    if (t.type == DataType::String) {
      words.strings.assign(t.strings.begin(), t.strings.end());
    } else {
      for (int64_t i = 0; i < t.count(); ++i)
        words.numbers.push_back(ox::numberAt(t, i).value_or(0));
      words.ints = ox::integerValues(t).value_or(std::vector<int64_t>());
    }
  } else if (c.hasAttr(stem + "_int64s")) {
    words.type = DataType::I64;
    Ints list = c.attrInts(stem + "_int64s");
    words.ints.assign(list.begin(), list.end());
  } else if (c.hasAttr(stem + "_floats")) {
    words.type = DataType::F32;
    words.numbers = numbersOf(c, stem + "_floats");
  } else if (c.hasAttr(stem + "_strings")) {
    words.type = DataType::String;
    words.strings = c.attrStrings(stem + "_strings");
  }
  return words;
}

static Value keyList(NodeContext &c, const Words &words) {
  return isFloat(words.type) ? listOf(c, words.numbers, words.type)
                             : c.constInts({int64_t(words.ints.size())}, words.ints, words.type);
}

// For each element its place among the keys; 0 for none. Strings are looked up here, in their table.
static Value placesOf(NodeContext &c, unsigned input, const Words &keys) {
  if (keys.type == DataType::String) {
    std::optional<WordTable> x = c.words(input);
    if (!x)
      return {};
    Ints places;
    for (const std::string &word : x->table) {
      auto it = llvm::find(keys.strings, word);
      places.push_back(it == keys.strings.end() ? 0 : it - keys.strings.begin() + 1);
    }
    if (places.empty())
      places.push_back(0);
    return c.gather(c.constInts(places), x->indices, 0);
  }
  if (c.type(input) == DataType::String)
    return c.fail("expected keys of the operand's type"), Value();
  DataType type = c.type(input);
  Words own = keys;
  if (type != keys.type) {
    // Keys of another width hold the same numbers.
    if (isFloat(type) != isFloat(keys.type))
      return c.fail("expected keys of the operand's type"), Value();
    own.type = type;
  }
  // Since version 4 a key may be what is no number.
  return placeAmong(c, c.v(input), keyList(c, own), isFloat(type) && c.opset >= 4);
}

static void labelEncoder(NodeContext &c) {
  Words keys, values;
  if (c.hasAttr("classes_strings")) {
    // The first version: a class and its number, either way.
    std::vector<std::string> classes = c.attrStrings("classes_strings");
    Words names, numbers;
    names.type = DataType::String;
    names.strings = classes;
    numbers.type = DataType::I64;
    for (size_t i = 0; i < classes.size(); ++i)
      numbers.ints.push_back(int64_t(i));
    bool toNumber = c.type(0) == DataType::String;
    keys = toNumber ? names : numbers;
    values = toNumber ? numbers : names;
  } else {
    keys = wordsOf(c, "keys");
    values = wordsOf(c, "values");
  }
  if (keys.type == DataType::Undefined || keys.size() != values.size() || keys.size() == 0)
    return void(c.fail("expected as many keys as values"));
  Value places = placesOf(c, 0, keys);
  if (!places || c.bad)
    return c.set(0, Value(), DataType::I64);
  // The default stands in front.
  if (values.type == DataType::String) {
    std::vector<std::string> table{c.attrString("default_string", "_Unused")};
    if (const ox::Attribute *a = c.attr("default_tensor");
        a && a->tensors.size() == 1 && !a->tensors[0].strings.empty())
      table[0] = std::string(a->tensors[0].strings[0]);
    table.insert(table.end(), values.strings.begin(), values.strings.end());
    return c.set(0, c.importer.fromWords(places, table));
  }
  const ox::Attribute *given = c.attr("default_tensor");
  bool tensor = given && given->tensors.size() == 1 && given->tensors[0].count() == 1;
  if (isFloat(values.type))
    values.numbers.insert(values.numbers.begin(), tensor ? ox::numberAt(given->tensors[0], 0).value_or(0)
                                                         : c.attrFloat("default_float", -0.0));
  else
    values.ints.insert(values.ints.begin(), tensor ? int64_t(ox::numberAt(given->tensors[0], 0).value_or(0))
                                                   : c.attrInt("default_int64", -1));
  c.set(0, c.gather(keyList(c, values), places, 0), values.type);
}

static void categoryMapper(NodeContext &c) {
  Words names, numbers;
  names.type = DataType::String;
  names.strings = c.attrStrings("cats_strings");
  numbers.type = DataType::I64;
  for (int64_t n : c.attrInts("cats_int64s"))
    numbers.ints.push_back(n);
  if (names.strings.empty() || names.strings.size() != numbers.ints.size())
    return void(c.fail("expected as many keys as values"));
  if (c.type(0) == DataType::String) {
    Value places = placesOf(c, 0, names);
    numbers.ints.insert(numbers.ints.begin(), c.attrInt("default_int64", -1));
    return c.set(0, c.gather(c.constInts(numbers.ints), places, 0), DataType::I64);
  }
  Value places = placesOf(c, 0, numbers);
  if (!places || c.bad)
    return c.set(0, Value(), DataType::I64);
  names.strings.insert(names.strings.begin(), c.attrString("default_string", "_Unused"));
  c.set(0, c.importer.fromWords(places, names.strings));
}

static void oneHotEncoder(NodeContext &c) {
  Words keys;
  keys.strings = c.attrStrings("cats_strings");
  for (int64_t n : c.attrInts("cats_int64s"))
    keys.ints.push_back(n);
  keys.type = !keys.strings.empty() ? DataType::String : DataType::I64;
  if (keys.size() == 0)
    return void(c.fail("expected categories as 'cats_int64s' or as 'cats_strings'"));
  // Numbers are compared as integers.
  if (c.type(0) != DataType::String && c.type(0) != DataType::I64) {
    Value whole = c.castTo(c.v(0), c.type(0), DataType::I64);
    if (!whole)
      return;
    c.in[0] = c.importer.fromValue(whole, DataType::I64);
  }
  Value places = placesOf(c, 0, keys);
  if (!places || c.bad)
    return c.set(0, Value(), DataType::F32);
  int64_t count = keys.size();
  if (!c.attrInt("zeros", 1)) {
    // What is no category is an error: there is no such place in a table of places from 1 on.
    Ints row = range(1, count + 1);
    Value checked = c.sub(places, c.scalar(1, DataType::I64));
    // -1 would count from the end.
    checked = c.select(c.binary(BinaryKind::lt, checked, c.scalar(0, DataType::I64)),
                       c.scalar(double(count), DataType::I64), checked);
    places = c.gather(c.constInts(row), checked, 0);
  }
  Value columns = c.iota(Ext(count), DataType::I64, 1);
  Value hit = c.binary(BinaryKind::eq, c.unsqueeze(places, {c.rank(places)}), columns);
  c.set(0, c.castTo(hit, DataType::Bool, DataType::F32), DataType::F32);
}

// A map of each row from class to score: the scores, a column for each class.
static void zipMap(NodeContext &c) {
  if (c.has(0))
    c.set(0, c.val(0));
  else
    c.fail("input 0 is missing");
}

ArrayRef<OperatorEntry> onnximport::encoderOperators() {
  static const OperatorEntry entries[] = {
      {"Scaler", 1, lastOpset, scaler, machineLearning},
      {"Normalizer", 1, lastOpset, normalizer, machineLearning},
      {"Binarizer", 1, lastOpset, binarizer, machineLearning},
      {"Imputer", 1, lastOpset, imputer, machineLearning},
      {"FeatureVectorizer", 1, lastOpset, featureVectorizer, machineLearning},
      {"ArrayFeatureExtractor", 1, lastOpset, arrayFeatures, machineLearning},
      {"LabelEncoder", 1, lastOpset, labelEncoder, machineLearning},
      {"CategoryMapper", 1, lastOpset, categoryMapper, machineLearning},
      {"OneHotEncoder", 1, lastOpset, oneHotEncoder, machineLearning},
      {"ZipMap", 1, lastOpset, zipMap, machineLearning},
  };
  return entries;
}
