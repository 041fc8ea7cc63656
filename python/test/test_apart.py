"""Sublayers with what is no graph of ATen ops: functions of autograd, branches, attention of PyTorch's own."""

import modules
import pytest
import torch
from comparing import compare, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn.attention.flex_attention import flex_attention


class Rounded(torch.autograd.Function):
    """Has the derivative of the identity."""

    @staticmethod
    def forward(ctx, x):
        return (4 * x).round() / 4

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Quantised(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(Rounded.apply(x), Rounded.apply(self.weight), self.bias)


class Choosing(nn.Linear):
    def forward(self, x):
        return self.bias + torch.cond(x.sum() > 0, lambda x: x @ self.weight, lambda x: (x @ self.weight).tanh(), (x,))


class Attending(nn.Linear):
    """The mask that PyTorch makes is written, but read nowhere else."""

    def forward(self, x):
        heads = x.unflatten(-1, (2, -1)).transpose(1, 2)
        return super().forward(flex_attention(heads, heads, heads).transpose(1, 2).flatten(-2))


def made(sublayer):
    module = nn.Sequential(*(modules.Layer(modules.Coefficients(4, 16)) for _ in range(2)))
    for layer in module:
        layer.linear = sublayer(16, 16)
    return module, compiled(module), torch.randn(2, 3, 4, 16)


@pytest.mark.parametrize("sublayer", [Quantised, Choosing])
@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_sites_around_it(sublayer):
    compare(*made(sublayer))
    assert counts() == [{"pre": 2, "post": 2}]


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_sites_around_attention():
    """It has no derivative on a CPU."""
    module, run, x = made(Attending)
    with torch.no_grad():
        torch.testing.assert_close(run(x), module(x))
    assert counts() == [{"pre": 2, "post": 2}]
