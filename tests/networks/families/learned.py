# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learned models (ai.onnx.ml): ensembles of trees, linear models, support vectors, and what stands before them. The family stands
apart (`--family learned`)."""
import numpy as np

WEIGHT = 0
HERE = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def rows(net, kinds=("f32",), gaps=False):
    kind = net.pick(kinds)
    def draw(shape, launch):
        made = net.draw(kind, shape)
        if gaps and kind in ("f32", "f64"):
            made = np.where(net.numbers.random(shape) < 0.15, np.nan, made).astype(made.dtype)
        return made
    # No launch without rows: ONNX Runtime divides by their number here and there.
    return net.input(kind, [tuple(n or 1 for n in net.extent(True)), net.const_extent(net.pick([1, 3, 5]))], draw)


def tree(net, features, number, modes, depth):
    """The lists of one tree; leaves are (node, weight)."""
    nodes, leaves = [], []
    def grow(level):
        at = len(nodes)
        nodes.append(None)
        if level == 0 or net.chance(0.2):
            nodes[at] = (0, 0.0, "LEAF", 0, 0)
            leaves.append(at)
        else:
            feature, value, mode = net.rng.randrange(features), net.rng.randrange(-8, 9) / 4, net.pick(modes)
            nodes[at] = (feature, value, mode, grow(level - 1), grow(level - 1))
        return at
    grow(depth)
    return [(number, i, *n) for i, n in enumerate(nodes)], [(number, i) for i in leaves]


def forest(net, features, weights):
    modes = [net.pick(MODES)] if net.chance(0.5) else MODES
    nodes, leaves = [], []
    for number in range(net.pick([1, 2, 5])):
        some, ends = tree(net, features, number, modes, net.pick([0, 1, 3, 5]))
        nodes += some
        leaves += ends
    attributes = {"nodes_treeids": [n[0] for n in nodes], "nodes_nodeids": [n[1] for n in nodes], "nodes_featureids": [n[2] for n in nodes],
                  "nodes_values": [n[3] for n in nodes], "nodes_modes": [n[4] for n in nodes], "nodes_truenodeids": [n[5] for n in nodes],
                  "nodes_falsenodeids": [n[6] for n in nodes]}
    if net.chance(0.4):
        attributes["nodes_missing_value_tracks_true"] = [net.rng.randrange(2) if n[4] != "LEAF" else 0 for n in nodes]
    return attributes, leaves


def regressor(net):
    x = rows(net, ("f32", "f32", "f64"), gaps=True)
    targets = net.pick([1, 1, 3])
    attributes, leaves = forest(net, x.dims[1][0], "target")
    weighted = [(t, n, k) for t, n in leaves for k in range(targets) if targets == 1 or net.chance(0.7)] or [(*leaves[0], 0)]
    attributes |= {"target_treeids": [w[0] for w in weighted], "target_nodeids": [w[1] for w in weighted], "target_ids": [w[2] for w in weighted],
                   "target_weights": [net.rng.randrange(-8, 9) / 4 for _ in weighted], "n_targets": targets}
    if net.chance(0.4):
        attributes["base_values"] = [net.rng.randrange(-4, 5) / 4 for _ in range(targets)]
    net.node("TreeEnsembleRegressor", [x], domain=HERE, aggregate_function=net.pick([None, "AVERAGE"]), **attributes)


def classifier(net):
    x = rows(net, gaps=True)
    classes = net.pick([2, 2, 3])
    attributes, leaves = forest(net, x.dims[1][0], "class")
    # Of two classes with weights for both ONNX Runtime takes the second one where its score is positive, and gives its number; the
    # standard asks for the larger score.
    single = classes == 2
    only = 0 if single else None
    weighted = [(t, n, k) for t, n in leaves for k in ([only] if single else range(classes))]
    low = 0 if net.chance(0.5) else -8
    attributes |= {"class_treeids": [w[0] for w in weighted], "class_nodeids": [w[1] for w in weighted], "class_ids": [w[2] for w in weighted],
                   "class_weights": [net.rng.randrange(low, 9) / 8 + 1 / 64 for _ in weighted],
                   "classlabels_int64s": net.rng.sample(range(-3, 20), classes)}
    net.node("TreeEnsembleClassifier", [x], outputs=2, domain=HERE, post_transform=net.pick(["NONE"] if single else ["NONE", "SOFTMAX", "LOGISTIC"]), **attributes)


def linear(net):
    x = rows(net)
    features = x.dims[1][0]
    numbers = lambda n: [net.rng.randrange(-8, 9) / 4 for _ in range(n)]
    if net.chance(0.5):
        targets = net.pick([1, 3])
        net.node("LinearRegressor", [x], domain=HERE, coefficients=numbers(targets * features), intercepts=numbers(targets), targets=targets)
    else:
        count = net.pick([1, 2, 3])
        net.node("LinearClassifier", [x], outputs=2, domain=HERE, coefficients=numbers(count * features), intercepts=[1 / 64 * (i + 1) + v for i, v in enumerate(numbers(count))],
                 classlabels_ints=list(range(5, 5 + max(count, 2))), post_transform=net.pick(["NONE", "LOGISTIC"]), multi_class=0)


def vectors(net):
    x = rows(net)
    features, count = x.dims[1][0], net.pick([1, 3])
    numbers = lambda n: [net.rng.randrange(-8, 9) / 4 for _ in range(n)]
    kernel = net.pick(["LINEAR", "RBF", "SIGMOID", "POLY"])
    net.node("SVMRegressor", [x], domain=HERE, coefficients=numbers(count), support_vectors=numbers(count * features), rho=[0.25], n_supports=count,
             kernel_type=kernel, kernel_params=[0.25, 0.5, 2.0])


def scaled(net):
    x = rows(net, ("f32", "f64", "i64"))
    features = x.dims[1][0]
    numbers = lambda n: [net.rng.randrange(1, 9) / 4 for _ in range(n)]
    count = features if net.chance(0.7) else 1
    net.node("Scaler", [x], domain=HERE, offset=numbers(count), scale=numbers(count))


def rows_of_one(net):
    x = rows(net)
    net.node("Normalizer", [x], domain=HERE, norm=net.pick(["MAX", "L1", "L2"]))


def binary(net):
    net.node("Binarizer", [rows(net)], domain=HERE, threshold=net.pick([None, 0.5]))


def filled(net):
    if net.chance(0.5):
        x = rows(net, gaps=True)
        net.node("Imputer", [x], domain=HERE, imputed_value_floats=[0.5] * net.pick([1, x.dims[1][0]]), replaced_value_float=float("nan"))
    else:
        x = rows(net, ("i64",))
        net.node("Imputer", [x], domain=HERE, imputed_value_int64s=[7], replaced_value_int64=2)


def encoded(net):
    way = net.pick(["ints", "floats", "hot"])
    if way == "ints":
        net.node("LabelEncoder", [rows(net, ("i64",))], domain=HERE, keys_int64s=[1, 2, 5], values_int64s=[10, 20, 50], default_int64=net.pick([None, 3]))
    elif way == "floats":
        net.node("LabelEncoder", [rows(net, gaps=True)], domain=HERE, keys_floats=[1.0, 0.5, float("nan")], values_floats=[10.0, 20.0, 30.0],
                 default_float=net.pick([None, 3.0]))
    else:
        net.node("OneHotEncoder", [rows(net, ("i64", "f32"))], domain=HERE, cats_int64s=[0, 1, 4], zeros=net.pick([None, 1]))


def features(net):
    x = rows(net, ("f32", "i64"))
    if net.chance(0.5):
        picked = net.input("i64", [net.const_extent(2)], lambda shape, launch: net.numbers.integers(0, x.dims[1][0], shape))
        net.node("ArrayFeatureExtractor", [x, picked], domain=HERE)
    else:
        y = net.input("f32", [x.dims[0], net.const_extent(2)])
        net.node("FeatureVectorizer", [x, y], domain=HERE, inputdimensions=[x.dims[1][0], 2])


OPS = {"regressor": (4, regressor), "classifier": (4, classifier), "linear": (2, linear), "vectors": (2, vectors), "scaled": (1, scaled),
       "rows_of_one": (1, rows_of_one), "binary": (1, binary), "filled": (1, filled), "encoded": (2, encoded), "features": (1, features)}
