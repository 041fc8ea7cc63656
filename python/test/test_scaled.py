"""Streams that are scaled, masked or added to in front of layers and behind them."""

import modules
import pytest
import torch
from comparing import compare, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F

STREAMS = (2, 3, 4, 16)


class Behind(nn.Module):
    """Streams that two layers give, and a layer's input beside its result."""

    def __init__(self, finish):
        super().__init__()
        self.layers = nn.ModuleList(modules.Sublayer(4, 16) for _ in range(2))
        self.gain, self.weights = nn.Parameter(torch.rand(4, 1)), nn.Parameter(torch.rand(4))
        self.register_buffer("mask", (torch.arange(6).reshape(2, 3, 1, 1) % 3 > 0).float())
        self.finish = finish

    def forward(self, x):
        y = self.layers[1](self.layers[0](x))
        return self.finish(self, x, y) + self.gain.sum() + self.weights.sum()


@pytest.mark.parametrize("finish", [
    lambda self, x, y: y * self.mask,
    lambda self, x, y: y * self.gain,
    lambda self, x, y: y / 2**0.5,
    lambda self, x, y: x + y,
])  # fmt: skip
def test_nothing_is_missed(finish):
    module = Behind(finish)
    compare(module, compiled(module, require="all"), torch.randn(STREAMS))
    assert counts() == [{"pre": 2, "post": 2}]


def test_weights_of_all_tokens_contract():
    module = Behind(lambda self, x, y: (self.weights.softmax(0)[:, None] * y).sum(-2))
    compare(module, compiled(module, require="all"), torch.randn(STREAMS))
    assert counts() == [{"pre": 2, "post": 2, "aggregate": 1}]


class InFront(Behind):
    """Streams are masked or scaled in front of each layer."""

    def forward(self, x):
        for layer in self.layers:
            x = layer(self.finish(self, x))
        return x + self.gain.sum() + self.weights.sum()


@pytest.mark.parametrize("scale", [
    lambda self, x: x * self.mask,
    lambda self, x: x * self.gain,
    lambda self, x: x * self.mask / 0.9,
    lambda self, x: x * 0.5,
])  # fmt: skip
def test_scaled_in_front(scale):
    module = InFront(scale)
    compare(module, compiled(module, require="all"), torch.randn(STREAMS))
    assert counts() == [{"pre": 2, "post": 2}]


class Integers(modules.Coefficients):
    """The scalars, and a temperature, are integers."""

    def __init__(self, n, channels):
        super().__init__(n, channels)
        del self.alpha
        self.register_buffer("alphas", torch.tensor([2, 3, 1]))
        self.register_buffer("temperature", torch.tensor(2))

    def forward(self, x):
        n, flat = self.n, x.flatten(-2)
        sizes = [n, n, n * n]
        t = F.linear(flat, self.phi) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + self.eps) / self.temperature
        parts = zip(t.split(sizes, -1), self.alphas, self.beta.split(sizes))
        pre, post, res = (part * alpha + beta for part, alpha, beta in parts)
        return pre.sigmoid(), 2 * post.sigmoid(), self.residual(res.unflatten(-1, (n, n)))


def test_integers():
    """A tensor of integers was read by no op, and the projection missed."""
    module = modules.Layer(Integers(4, 16))
    compare(module, compiled(module, require="all"), torch.randn(STREAMS))
    assert counts() == [{"pre": 1, "post": 1}]
