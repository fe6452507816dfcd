# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keras models for the tests: each layer in a small network, and two networks of the usual kinds."""
import os

os.environ.setdefault("KERAS_BACKEND", "jax")


def sequential(shape, *layers, dtype="float32"):
    import keras
    return keras.Sequential([keras.Input(shape, dtype=dtype), *layers])


def cases():
    """name → a function that makes the model."""
    import keras
    L = keras.layers
    made = {}

    def case(name, shape, *makers, dtype="float32"):
        made[name] = lambda: sequential(shape, *(make() for make in makers), dtype=dtype)

    case("dense", (7,), lambda: L.Dense(5, activation="relu"), lambda: L.Dense(3, activation="softmax"))
    case("dense_nobias_3d", (4, 7), lambda: L.Dense(5, use_bias=False, activation="tanh"))
    # "same" puts the odd element at the end, which only strides show; the rest is for the full count.
    full = bool(os.environ.get("TESSERA_FULL"))
    for padding in ("valid", "same"):
        for stride in (1, 2, 3) if full else (2, 3) if padding == "same" else (1,):
            case(f"conv2d_{padding}_{stride}", (11, 10, 3),
                 lambda padding=padding, stride=stride: L.Conv2D(6, 3, strides=stride, padding=padding, activation="relu"))
            case(f"conv2d_even_{padding}_{stride}", (9, 12, 4),
                 lambda padding=padding, stride=stride: L.Conv2D(6, (4, 2), strides=stride, padding=padding))
            case(f"depthwise_{padding}_{stride}", (11, 11, 4),
                 lambda padding=padding, stride=stride: L.DepthwiseConv2D(3, strides=stride, padding=padding, depth_multiplier=2))
            case(f"separable_{padding}_{stride}", (9, 9, 4),
                 lambda padding=padding, stride=stride: L.SeparableConv2D(6, 3, strides=stride, padding=padding, activation="silu"))
            case(f"transposed_{padding}_{stride}", (5, 6, 3),
                 lambda padding=padding, stride=stride: L.Conv2DTranspose(4, 3, strides=stride, padding=padding))
            case(f"transposed_two_{padding}_{stride}", (5, 6, 3),
                 lambda padding=padding, stride=stride: L.Conv2DTranspose(4, 2, strides=stride, padding=padding))
            case(f"maxpool_{padding}_{stride}", (10, 11, 3), lambda padding=padding, stride=stride: L.MaxPooling2D(3, strides=stride, padding=padding))
            case(f"avgpool_{padding}_{stride}", (10, 11, 3),
                 lambda padding=padding, stride=stride: L.AveragePooling2D((2, 3), strides=stride, padding=padding))
    case("conv2d_dilated", (12, 12, 3), lambda: L.Conv2D(4, 3, dilation_rate=2, padding="same"))
    case("conv2d_groups", (8, 8, 4), lambda: L.Conv2D(6, 3, groups=2))
    case("conv1d_causal", (12, 3), lambda: L.Conv1D(4, 3, dilation_rate=2, padding="causal"))
    case("conv1d_same", (12, 3), lambda: L.Conv1D(4, 4, strides=2, padding="same"), lambda: L.MaxPooling1D(2))
    case("conv3d", (6, 7, 8, 2), lambda: L.Conv3D(3, 3, strides=2, padding="same"), lambda: L.AveragePooling3D(2))
    case("pool_default", (8, 8, 2), lambda: L.MaxPooling2D())
    for name in ("relu", "relu6", "sigmoid", "tanh", "softplus", "softsign", "elu", "selu", "exponential", "silu", "gelu", "leaky_relu",
                 "hard_sigmoid", "hard_silu", "mish", "softmax", "log_softmax", "linear"):
        case(f"activation_{name}", (5, 3), lambda name=name: L.Activation(name))
    case("relu_options", (9,), lambda: L.ReLU(max_value=6.0, negative_slope=0.1))
    case("leaky", (9,), lambda: L.LeakyReLU(negative_slope=0.3))
    case("elu_layer", (9,), lambda: L.ELU(alpha=0.7))
    case("prelu", (4, 3), lambda: L.PReLU(alpha_initializer="uniform"))
    case("softmax_layer", (4, 3), lambda: L.Softmax(axis=-1))
    case("batchnorm_image", (5, 6, 3), lambda: L.Conv2D(4, 3), lambda: L.BatchNormalization(), lambda: L.Activation("relu"))
    case("batchnorm_vector", (6,), lambda: L.BatchNormalization(scale=False))
    case("layernorm", (5, 6), lambda: L.LayerNormalization())
    case("global_average", (5, 6, 3), lambda: L.GlobalAveragePooling2D())
    case("global_max_keep", (5, 6, 3), lambda: L.GlobalMaxPooling2D(keepdims=True))
    case("zero_padding", (5, 6, 3), lambda: L.ZeroPadding2D(((1, 2), (0, 3))), lambda: L.Conv2D(2, 3))
    case("cropping", (8, 9, 3), lambda: L.Cropping2D(((1, 2), (0, 3))))
    case("upsampling_nearest", (4, 5, 3), lambda: L.UpSampling2D((2, 3)))
    case("upsampling_bilinear", (4, 5, 3), lambda: L.UpSampling2D(2, interpolation="bilinear"))
    case("upsampling1d", (4, 3), lambda: L.UpSampling1D(3))
    case("flatten_image", (4, 5, 3), lambda: L.Conv2D(2, 3), lambda: L.Flatten(), lambda: L.Dense(4))
    case("reshape", (12,), lambda: L.Reshape((3, -1)), lambda: L.Permute((2, 1)), lambda: L.Dropout(0.5))
    case("repeat_vector", (4,), lambda: L.RepeatVector(3))
    case("rescaling", (4, 5, 3), lambda: L.Rescaling(1 / 127.5, offset=-1))
    case("embedding", (6,), lambda: L.Embedding(10, 4), lambda: L.GlobalAveragePooling1D(), dtype="int32")
    for sequences in (False, True):
        for back in (False, True):
            end = f"{'seq' if sequences else 'last'}_{'back' if back else 'forth'}"
            case(f"lstm_{end}", (5, 3), lambda s=sequences, b=back: L.LSTM(4, return_sequences=s, go_backwards=b, bias_initializer="uniform"))
            case(f"gru_{end}", (5, 3), lambda s=sequences, b=back: L.GRU(4, return_sequences=s, go_backwards=b, bias_initializer="uniform"))
    case("gru_before", (5, 3), lambda: L.GRU(4, reset_after=False, bias_initializer="uniform"))
    case("rnn", (5, 3), lambda: L.SimpleRNN(4))
    case("bidirectional", (5, 3), lambda: L.Bidirectional(L.LSTM(4, return_sequences=True)), lambda: L.Bidirectional(L.GRU(3), merge_mode="sum"))
    case("time_distributed", (5, 3), lambda: L.TimeDistributed(L.Dense(2)))
    made["residual"] = residual
    made["merges"] = merges
    made["nested"] = nested
    made["mobile"] = mobile
    return made


def residual():
    import keras
    L = keras.layers
    x = image = keras.Input((16, 16, 3), name="image")
    x = L.Conv2D(8, 3, padding="same", use_bias=False)(x)
    x = L.BatchNormalization()(x)
    x = L.ReLU()(x)
    y = L.Conv2D(8, 3, strides=1, padding="same")(x)
    x = L.Add()([x, y])
    z = L.Conv2D(8, 1, strides=2, padding="same")(x)
    y = L.MaxPooling2D(3, strides=2, padding="same")(x)
    x = L.Concatenate()([y, z])
    x = L.GlobalAveragePooling2D()(x)
    return keras.Model(image, L.Dense(10, activation="softmax", name="classes")(x))


def merges():
    import keras
    L = keras.layers
    a, b = keras.Input((4, 5), name="a"), keras.Input((4, 5), name="b")
    parts = [L.Add()([a, b]), L.Subtract()([a, b]), L.Multiply()([a, b]), L.Average()([a, b]), L.Maximum()([a, b]), L.Minimum()([a, b])]
    return keras.Model([a, b], [L.Concatenate(axis=1)(parts), a + b])


def nested():
    import keras
    L = keras.layers
    inner = keras.Sequential([keras.Input((6, 6, 2)), L.Conv2D(3, 3, activation="relu"), L.Flatten()])
    x = keras.Input((6, 6, 2))
    return keras.Model(x, L.Dense(2)(inner(x)))


def mobile():
    import keras
    L = keras.layers
    x = image = keras.Input((32, 32, 3))
    x = L.Rescaling(1 / 255.0)(x)
    for filters, stride in ((8, 2), (16, 1), (24, 2)):
        x = L.ZeroPadding2D(((0, 1), (0, 1)))(x) if stride == 2 else x
        x = L.DepthwiseConv2D(3, strides=stride, padding="valid" if stride == 2 else "same", use_bias=False)(x)
        x = L.BatchNormalization()(x)
        x = L.ReLU(6.0)(x)
        x = L.Conv2D(filters, 1, use_bias=False)(x)
        x = L.BatchNormalization()(x)
        x = L.ReLU(6.0)(x)
    return keras.Model(image, L.Dense(10)(L.Flatten()(L.GlobalAveragePooling2D(keepdims=True)(x))))


def unsettle(model, seed=1):
    """Gives each weight a random value, so that none is what its layer begins with; variances stay positive."""
    import numpy as np
    random = np.random.default_rng(seed)
    for layer in model.layers:
        weights = layer.get_weights()
        layer.set_weights([np.abs(w) + random.uniform(0.5, 1, w.shape) if "variance" in v.path else w + random.normal(0, 0.1, w.shape)
                           for w, v in zip(weights, layer.weights)])
    return model


def random_inputs(model, batch, seed=2):
    import numpy as np
    random = np.random.default_rng(seed)
    return [random.integers(0, 10, (batch, *t.shape[1:])).astype(t.dtype) if "int" in str(t.dtype)
            else random.normal(0, 1, (batch, *t.shape[1:])).astype(np.float32) for t in model.inputs]
