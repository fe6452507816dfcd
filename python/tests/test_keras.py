# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keras models, layer by layer: our answer against Keras's own."""
import importlib.util

import numpy as np
import pytest

import models
import tessera

pytestmark = pytest.mark.keras
HAVE = importlib.util.find_spec("keras") is not None


def compare(model, batches=(1, 3), **options):
    program = tessera.compile(model, **options)
    for batch in batches:
        inputs = models.random_inputs(model, batch)
        want = model.predict_on_batch(inputs if len(inputs) > 1 else inputs[0])
        want = want if isinstance(want, (list, tuple)) else [want]
        got = program.run(*inputs)
        got = list(got.values()) if isinstance(got, dict) else [got]
        assert len(got) == len(want)
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", list(models.cases()) if HAVE else ["keras"])
def test_layer(name):
    compare(models.unsettle(models.cases()[name]()))


def test_no_more_transposes_than_needed():
    from tessera.keras_export import export
    # One at the head; the pool's result is no image any more. A node's type is field 4.
    assert export(models.residual()).count(b"\x22\x09Transpose") == 1


def test_unbuilt_sequential():
    import keras
    model = keras.Sequential([keras.layers.Dense(3)])
    with pytest.raises(tessera.TesseraError, match="does not know its input's shape"):
        tessera.compile(model)
    program = tessera.compile(model, np.zeros((1, 4), np.float32))
    x = np.ones((2, 4), np.float32)
    np.testing.assert_allclose(program.run(x), model.predict_on_batch(x), rtol=1e-4, atol=1e-5)


def test_all_that_is_missing_is_named_at_once():
    import keras
    L = keras.layers
    model = keras.Sequential([keras.Input((8, 8, 3)), L.RandomFlip(name="flip"), L.Conv2D(2, 3, activation="relu"),
                              L.ReLU(threshold=1.0, name="above"), L.UpSampling2D(interpolation="bicubic", name="up")])
    with pytest.raises(tessera.TesseraError) as error:
        tessera.compile(model)
    assert "'flip' (RandomFlip): layers of this kind are not known" in str(error.value)


def test_messages_of_layers():
    import keras
    from tessera.keras_export import export
    L = keras.layers
    for shape, layer, words in (
        ((8,), L.ReLU(threshold=1.0), "ReLU with a threshold"),
        ((8,), L.Activation("sparsemax"), "activation 'sparsemax'"),
        ((4, 4, 2), L.UpSampling2D(interpolation="bicubic"), "interpolation 'bicubic'"),
        ((4, 2), L.Softmax(axis=[1, 2]), "Softmax over several axes"),
        ((4, 4, 2), L.LayerNormalization(axis=1), "only the last ones can be normalised"),
        ((4, 4, 4, 2), L.BatchNormalization(axis=2), "axis 2 of 5"),
        ((4, 2), L.LSTM(3, stateful=True), "return_state or stateful"),
        ((4, 2), L.LSTM(3, activation="gelu"), "activation 'gelu' in a recurrent layer"),
        ((4, 4, 2), L.Conv2DTranspose(2, 3, strides=2, output_padding=1), "output_padding"),
        ((4, 4, 2), L.TimeDistributed(L.Conv1D(2, 3)), "TimeDistributed around Conv1D"),
    ):
        try:
            model = keras.Sequential([keras.Input(shape, batch_size=1 if getattr(layer, "stateful", False) else None), layer])
        except ValueError:
            continue  # This version of Keras refuses it itself.
        with pytest.raises(tessera.TesseraError) as error:
            export(model)
        assert words in str(error.value)


def test_subclasses_are_refused():
    import keras

    class Own(keras.Model):
        def call(self, x):
            return x

    with pytest.raises(tessera.TesseraError, match="expected a Sequential or functional model"):
        tessera.compile(Own())
