// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the importer says about nodes of ai.onnx.ml, strings, sequences and optionals that it cannot convert.
#include "tessera/frontends/onnx/ImportErrors.h"

using namespace tessera;
using namespace tessera::onnximport::testing;

static void expectLearned(std::initializer_list<Case> cases) {
  for (Case c : cases) {
    std::string op = std::string("ai.onnx.ml:") + c.op;
    c.op = op.c_str();
    expectProblems(c);
  }
}

TEST(OnnxLearnedErrors, LinearModelsAndVectors) {
  expectLearned({
      {"LinearRegressor", "f2x3", "coefficients=[1.0,2.0] targets=1",
       "its 2 coefficients do not fit 1 results of the operand's features"},
      {"LinearRegressor", "f2x2", "coefficients=[1.0,2.0] intercepts=[1.0,2.0]",
       "expected 1 intercepts, but got 2"},
      {"LinearRegressor", "f2x2x2", "coefficients=[1.0,2.0]",
       "expected rows of features, but got 3 dimensions"},
      {"LinearRegressor", "f2x2", "coefficients=[1.0,2.0] post_transform='PROBIT'",
       "post_transform 'PROBIT' is not supported; expected NONE, LOGISTIC or SOFTMAX"},
      {"LinearClassifier", "f2x2", "coefficients=[1.0,2.0]",
       "expected labels as 'classlabels_ints' or as 'classlabels_strings'"},
      {"LinearClassifier", "f2x2", "coefficients=[1.0,2.0] intercepts=[1.0] classlabels_ints=[1,2,3]",
       "expected scores for each of 3 classes, but got 1", 2},
      {"LinearClassifier", "f2x2",
       "coefficients=[1.0,2.0] intercepts=[1.0] classlabels_ints=[1,2] post_transform='SOFTMAX'",
       "post_transform 'SOFTMAX' of one score for two classes is not supported", 2},
      {"SVMRegressor", "f2x3", "coefficients=[1.0] support_vectors=[1.0,2.0] rho=[0.0] n_supports=1",
       "its support vectors, coefficients and rho do not fit the operand's features"},
      {"SVMRegressor", "f2x2",
       "coefficients=[1.0] support_vectors=[1.0,2.0] rho=[0.0] n_supports=1 kernel_type='OWN'",
       "kernel_type 'OWN' is not supported"},
      {"SVMClassifier", "f2x2", "classlabels_ints=[0,1] prob_a=[1.0]",
       "probabilities of support vectors are not supported; train without them (probability=False)"},
      {"SVMClassifier", "f2x2",
       "classlabels_ints=[0,1] coefficients=[1.0,2.0] support_vectors=[1.0,2.0,3.0,4.0] rho=[0.0] "
       "vectors_per_class=[1,1] post_transform='LOGISTIC'",
       "post_transform of decisions is not supported; expected NONE"},
  });
}

/// One node that asks and two leaves, with something else.
static std::string small(std::string mode, std::string more) {
  return "nodes_treeids=[0,0,0] nodes_nodeids=[0,1,2] nodes_featureids=[0,0,0] nodes_values=[1.0,0.0,0.0] "
         "nodes_truenodeids=[1,0,0] nodes_falsenodeids=[2,0,0] nodes_modes=['" +
         mode + "','LEAF','LEAF'] " + more;
}

TEST(OnnxLearnedErrors, Trees) {
  std::string weights = "target_treeids=[0] target_nodeids=[1] target_ids=[0] target_weights=[1.0]";
  std::string strange = small("BRANCH_MEMBER", weights), few = small("BRANCH_LEQ", "target_treeids=[0]"),
              nowhere = small("BRANCH_LEQ",
                              "target_treeids=[0] target_nodeids=[7] target_ids=[0] target_weights=[1.0]"),
              how = small("BRANCH_LEQ", weights + " aggregate_function='MEDIAN'"),
              base = small("BRANCH_LEQ", weights + " base_values=[1.0,2.0]"),
              huge = small("BRANCH_LEQ", weights + " n_targets=100000000");
  std::string twice = small("BRANCH_LEQ", weights), circle = twice, far = twice, negative = twice;
  twice.replace(twice.find("nodeids=[0,1,2]"), 15, "nodeids=[0,1,1]");
  circle.replace(circle.find("falsenodeids=[2"), 15, "falsenodeids=[1");
  far.replace(far.find("featureids=[0"), 13, "featureids=[9");
  negative.replace(negative.find("featureids=[0"), 13, "featureids=[-1");
  std::string classes = small("BRANCH_LEQ", "class_treeids=[0] class_nodeids=[1] class_ids=[0] "
                                            "class_weights=[1.0] classlabels_int64s=[0,1]"),
              softmax = classes + " post_transform='SOFTMAX'", bases = classes + " base_values=[1.0,2.0]";
  expectLearned({
      {"TreeEnsembleRegressor", "f2x3", "", "its lists of nodes differ in length"},
      {"TreeEnsembleRegressor", "f2x3", strange.c_str(), "a node of mode 'BRANCH_MEMBER' is not supported"},
      {"TreeEnsembleRegressor", "f2x3", twice.c_str(), "node 1 of tree 0 is there twice"},
      {"TreeEnsembleRegressor", "f2x3", circle.c_str(), "its nodes do not make up trees"},
      {"TreeEnsembleRegressor", "f2x3", negative.c_str(), "a node asks for feature -1"},
      {"TreeEnsembleRegressor", "f2x3", far.c_str(), "a node asks for feature 9 of 3"},
      {"TreeEnsembleRegressor", "f2x3", few.c_str(), "its lists of weights differ in length"},
      {"TreeEnsembleRegressor", "f2x3", nowhere.c_str(), "a weight is for no node, or for none of 1 results"},
      {"TreeEnsembleRegressor", "f2x3", how.c_str(), "aggregate_function 'MEDIAN' is not supported"},
      {"TreeEnsembleRegressor", "f2x3", base.c_str(), "expected 1 base values, but got 2"},
      {"TreeEnsembleRegressor", "f2x3", huge.c_str(),
       "an ensemble of 3 nodes and 100000000 results is too large"},
      {"TreeEnsembleClassifier", "f2x3", softmax.c_str(),
       "post_transform 'SOFTMAX' of one score for two classes is not supported", 2},
      {"TreeEnsembleClassifier", "f2x3", bases.c_str(),
       "base values for two classes that share a score are not supported", 2},
      {"TreeEnsemble@5", "f2x3", "aggregate_function=9", "aggregate_function or post_transform name nothing"},
      {"TreeEnsemble", "f2x3", "", "the operator is supported from opset 5, but the model imports 1"},
  });
}

TEST(OnnxLearnedErrors, Encoders) {
  expectLearned({
      {"Scaler", "f2x3", "scale=[1.0]", "expected 'offset' and 'scale'"},
      {"Normalizer", "f2x3x4", "", "expected rows of features, but got 3 dimensions"},
      {"Normalizer", "f2x3", "norm='L7'", "norm 'L7' is not supported"},
      {"Imputer", "f2x3", "", "expected a value, or one for each feature, to put in"},
      {"FeatureVectorizer", "f2x3", "inputdimensions=[4]",
       "input 0 does not have the 4 features of 'inputdimensions'"},
      {"ArrayFeatureExtractor", "f l2", "", "expected an operand of at least one dimension"},
      {"LabelEncoder", "l2", "keys_int64s=[1] values_int64s=[1,2]", "expected as many keys as values"},
      {"LabelEncoder", "f2", "keys_int64s=[1] values_int64s=[1]", "expected keys of the operand's type"},
      {"LabelEncoder", "l2", "keys_strings=['a'] values_int64s=[1]", "expected strings as input 0"},
      {"CategoryMapper", "l2", "cats_int64s=[1]", "expected as many keys as values"},
      {"OneHotEncoder", "l2", "", "expected categories as 'cats_int64s' or as 'cats_strings'"},
      {"ZipMap", "-", "", "input 0 is missing"},
  });
}

/// Nodes apart by ';', each 'result Operator operands | attributes'. x is an input of 2x3, o one of ?x3;
/// operands like 'l=1' are constants.
static Proto chain(StringRef text) {
  Proto graph;
  graph.add(11, input("x", 1, "2x3")).add(11, input("o", 1, "?x3"));
  SmallVector<StringRef> nodes;
  text.split(nodes, ';');
  StringRef last;
  int count = 0;
  for (StringRef node : nodes) {
    auto [head, attributes] = node.split('|');
    SmallVector<StringRef> words, list;
    head.split(words, ' ', -1, /*KeepEmpty=*/false);
    attributes.split(list, ' ', -1, /*KeepEmpty=*/false);
    Proto made;
    for (StringRef operand : ArrayRef(words).drop_front(2)) {
      StringRef rest = operand.drop_front();
      bool vector = rest.consume_front("[") && rest.consume_back("]");
      std::string name = operand.str();
      if (vector || rest.consume_front("=")) {
        name = "c" + std::to_string(count++);
        graph.add(5, constant(name, typeNumber(operand[0]), rest, vector));
      }
      made.add(1, operand == "-" ? std::string() : name);
    }
    last = words[0];
    made.add(2, std::string_view(last)).add(3, "layer").add(4, std::string_view(words[1]));
    for (StringRef a : list)
      made.add(5, attribute(a));
    graph.add(1, made);
  }
  graph.add(12, Proto().add(1, std::string_view(last)));
  return Proto().add(1, 10).add(8, opsetProto(21)).add(7, graph);
}

TEST(OnnxLearnedErrors, SequencesAndOptionals) {
  static const std::pair<const char *, const char *> cases[] = {
      {"y SequenceAt x l=0", "expected a sequence as input 0, whose length is known when compiling"},
      {"s SequenceConstruct x;y SequenceAt s l=1", "position 1 is not one of a sequence of 1"},
      {"n Cast x | to=7;s SequenceConstruct x n;y SequenceLength s",
       "its inputs have different element types"},
      {"s SequenceConstruct x;y SequenceInsert s -", "input 1 is missing"},
      {"s SequenceEmpty;y SequenceErase s", "cannot take a value out of an empty sequence"},
      {"y SplitToSequence x l=0", "expected parts of at least one element, but got 0"},
      {"y SplitToSequence x l[-1,3]", "expected sizes that are the parts of an extent, but got -1"},
      {"y SplitToSequence x l[1,3]", "the sizes add up to 4, expected 2"},
      {"y SplitToSequence o",
       "a dynamic extent 0 is not supported here: the length of the sequence depends on it"},
      {"s SequenceEmpty;y ConcatFromSequence s | axis=0", "cannot join the values of an empty sequence"},
      {"s SequenceConstruct x;y SequenceMap s", "attribute 'body' is missing or no graph"},
      {"s SequenceConstruct x;y Relu s", "a sequence is not supported here; expected a tensor"},
      {"s SequenceConstruct x;y SequenceConstruct s",
       "output 'y.0': sequences of sequences are not supported"},
      {"s Optional;y OptionalGetElement s", "takes the value of an optional that has none"},
      {"w Constant | value_strings=['a','b'];y Cast w | to=7",
       "tensors of string are not supported here; expected an operator that moves or encodes them"},
  };
  for (auto [text, problem] : cases) {
    SCOPED_TRACE(text);
    expectProblem(chain(text), problem);
  }
}

TEST(OnnxLearnedErrors, SequencesOfDifferentLengths) {
  Proto body = Proto()
                   .add(1, nodeProto("Add", "add", {"a", "b"}, {"sum"}))
                   .add(11, input("a", 1, "2x3"))
                   .add(11, input("b", 1, "2x3"))
                   .add(12, input("sum", 1, "2x3"));
  Proto graph = Proto()
                    .add(11, input("x", 1, "2x3"))
                    .add(1, nodeProto("SequenceConstruct", "two", {"x", "x"}, {"s"}))
                    .add(1, nodeProto("SequenceConstruct", "one", {"x"}, {"t"}))
                    .add(1, nodeProto("SequenceMap", "layer", {"s", "t"}, {"y"})
                                .add(5, attributeProto("body", 5).add(6, body)))
                    .add(12, Proto().add(1, "y"));
  expectProblem(Proto().add(1, 10).add(8, opsetProto(21)).add(7, graph), "its sequences differ in length");
}

TEST(OnnxLearnedErrors, StringsOfBranches) {
  auto branch = [](const char *word, const char *result) {
    return Proto()
        .add(1, nodeProto("Constant", "word", {}, {result})
                    .add(5, attribute("value_string='" + std::string(word) + "'")))
        .add(12, Proto().add(1, result));
  };
  Proto graph = Proto()
                    .add(11, input("c", 9, ""))
                    .add(1, nodeProto("If", "layer", {"c"}, {"y"})
                                .add(5, attributeProto("then_branch", 5).add(6, branch("yes", "a")))
                                .add(5, attributeProto("else_branch", 5).add(6, branch("no", "b"))))
                    .add(12, Proto().add(1, "y"));
  expectProblem(Proto().add(1, 10).add(8, opsetProto(21)).add(7, graph),
                "tensors of string are not supported");
}
