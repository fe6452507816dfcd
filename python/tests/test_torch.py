# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch modules: our answer against PyTorch's own."""
import numpy as np
import pytest

import tessera

pytestmark = pytest.mark.torch


def network():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
                                      nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))

        def forward(self, x):
            return torch.relu(x + self.body(x))

    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), Block(8), nn.MaxPool2d(2), Block(8), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(8, 10))
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return model


def compare(model, *inputs, program=None, **options):
    import torch
    program = program or tessera.compile(model, inputs if len(inputs) > 1 else inputs[0], **options)
    model.eval()
    with torch.no_grad():
        want = model(*inputs)
    got = program.run(*inputs)
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-3, atol=1e-4)
    return program


def test_a_network_with_any_batch():
    import torch
    model = network()
    model.train()
    program = compare(model.train(), torch.randn(2, 3, 16, 16))
    for batch in (1, 7):
        compare(model, torch.randn(batch, 3, 16, 16), program=program)


def test_the_mode_of_the_module_is_kept():
    import torch
    model = network()
    model.train()
    tessera.compile(model, torch.randn(1, 3, 16, 16))
    assert model.training


def test_numpy_example_and_fixed_batch():
    import torch
    program = tessera.compile(network(), np.zeros((2, 3, 16, 16), np.float32), dynamic_batch=False)
    assert program.inputs[0].shape == (2, 3, 16, 16)
    assert program.run(torch.zeros(2, 3, 16, 16)).shape == (2, 10)


def test_inputs_are_named_like_the_parameters():
    import torch

    class Sum(torch.nn.Module):
        def forward(self, left, right):
            return left + 2 * right, left * right

    program = tessera.compile(Sum(), (torch.zeros(1, 3), torch.zeros(1, 3)))
    assert [p.name for p in program.inputs] == ["left", "right"]
    result = program.run(left=np.float32([[1, 2, 3]]), right=np.float32([[1, 0, 2]]))
    np.testing.assert_allclose(list(result.values())[0], [[3, 2, 7]])
    np.testing.assert_allclose(list(result.values())[1], [[1, 0, 6]])


def test_lstm_and_attention_like_products():
    import torch

    class Words(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.lstm, self.out = torch.nn.Embedding(20, 8), torch.nn.LSTM(8, 6, batch_first=True), torch.nn.Linear(6, 4)

        def forward(self, ids):
            states, _ = self.lstm(self.embed(ids))
            weight = torch.softmax(states @ states.transpose(1, 2) / 6**0.5, dim=-1)
            return self.out((weight @ states).mean(dim=1))

    compare(Words(), torch.randint(0, 20, (1, 5)), dynamic_batch=False)


def test_an_example_is_needed():
    with pytest.raises(tessera.TesseraError, match="give an example"):
        tessera.compile(network())


def test_what_cannot_be_exported_is_named():
    import torch

    class Odd(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.svd(x)[1]

    with pytest.raises(tessera.TesseraError, match="PyTorch cannot export this module to ONNX"):
        tessera.compile(Odd(), torch.zeros(3, 3))
