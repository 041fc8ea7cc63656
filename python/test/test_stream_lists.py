"""Streams that are a list of tensors, from layer to layer."""

import modules
import pytest
import torch
from comparing import TOKENS, compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    """The streams are stacked for the projection alone."""

    def __init__(self, n, channels):
        super().__init__()
        self.n = n
        self.phi = nn.Parameter(torch.randn(n * n + 2 * n, n * channels) / 8)
        self.bias = nn.Parameter(torch.randn(n * n + 2 * n))
        self.layer = nn.Linear(channels, channels)

    def coefficients(self, streams):
        flat = torch.cat(streams, -1).to(self.phi.dtype)
        rows = F.linear(flat, self.phi) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6) * 0.5 + self.bias
        pre, post, logits = rows.split([self.n, self.n, self.n * self.n], -1)
        mix = logits.unflatten(-1, (self.n, self.n)).exp()
        for _ in range(5):
            mix = mix / (mix.sum(-1, keepdim=True) + 1e-6)
            mix = mix / (mix.sum(-2, keepdim=True) + 1e-6)
        return pre.sigmoid(), 2 * post.sigmoid(), mix

    def forward(self, streams):
        pre, post, mix = self.coefficients(streams)
        dtype = streams[0].dtype
        out = self.layer(sum(h.unsqueeze(-1) * x for h, x in zip(pre.unbind(-1), streams, strict=True)).to(dtype))
        return [
            (sum(mix[..., i, j, None] * x for j, x in enumerate(streams)) + post[..., i, None] * out).to(dtype)
            for i in range(self.n)
        ]


class Lists(nn.Module):
    """Streams from one embedding each, and what is between two layers."""

    def __init__(self, between, n=4, channels=16):
        super().__init__()
        self.between = between
        self.embeddings = nn.ModuleList(nn.Embedding(100, channels) for _ in range(n))
        self.gains = nn.Parameter(torch.rand(n) + 0.5)
        self.layers = nn.ModuleList(Layer(n, channels) for _ in range(2))

    def forward(self, tokens):
        streams = [embedding(tokens) + gain for embedding, gain in zip(self.embeddings, self.gains, strict=True)]
        for layer in self.layers:
            streams = layer(self.between(streams, self.gains))
        return sum(streams) / len(streams)


BETWEEN = {
    "nothing": lambda streams, gains: streams,
    "gains": lambda streams, gains: [x * gain for x, gain in zip(streams, gains, strict=True)],
    "rotation": lambda streams, gains: streams[1:] + streams[:1],
    "first alone": lambda streams, gains: [streams[0].tanh(), *streams[1:]],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("between", BETWEEN)
def test_layers(between, dtype):
    module = Lists(BETWEEN[between])
    for part in (module.embeddings, *(layer.layer for layer in module.layers)):
        part.to(dtype)
    module.gains.data = module.gains.to(dtype)
    run = compiled(module, require="all")
    (compare if dtype is torch.float32 else compare_rounded)(module, run, TOKENS)
    assert counts() == [{"pre": 2, "post": 2, "contract": 1}]


class BegunByZeros(Lists):
    """Streams of which the first is an embedding, and the others are zeros."""

    def __init__(self, begin):
        super().__init__(BETWEEN["nothing"])
        self.embeddings, self.begin = self.embeddings[:1], begin
        self.gains = None

    def forward(self, tokens):
        streams = self.begin(self.embeddings[0](tokens))
        for layer in self.layers:
            streams = layer(streams)
        return sum(streams) / len(streams)


BEGINNINGS = {
    "one zeros": lambda x: [x] + [torch.zeros_like(x)] * 3,
    "zeros each": lambda x: [x] + [x.new_zeros(x.shape) for _ in range(3)],
    "last": lambda x: [torch.zeros_like(x)] * 3 + [x],
    "stack": lambda x: torch.stack([x] + [torch.zeros_like(x)] * 3, dim=-2).unbind(-2),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("begin", BEGINNINGS)
def test_zeros(begin, dynamic):
    """The first of two layers was missed: its products with zeros told nothing of the streams."""
    module = BegunByZeros(BEGINNINGS[begin])
    compare(module, compiled(module, dynamic, require="all"), TOKENS)
    assert counts() == [{"pre": 2, "post": 2, "contract": 1}]


EQUAL = {
    "scaled": lambda x, gains: x * gains[0],
    "weighed": lambda x, gains: x * gains,
    "function": lambda x, gains: (x * gains).tanh(),
    "norm": lambda x, gains: F.rms_norm(x, gains.shape) * gains,
}


class Equal(BegunByZeros):
    def __init__(self, begin):
        super().__init__(lambda x: [begin(x, self.weight)] * 4)
        self.weight = nn.Parameter(torch.rand(16) + 0.5)


@pytest.mark.parametrize("begin", EQUAL)
def test_equal(begin):
    """The first of two layers was missed: the mix of equal streams that are a product has its factors."""
    module = Equal(EQUAL[begin])
    compare(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


class Widened(Layer):
    """The streams are widened one by one, before they are stacked or what is stacked is wide."""

    def __init__(self, n, channels, before):
        super().__init__(n, channels)
        self.before = before

    def forward(self, streams):
        wide = [x.float() for x in streams]
        pre, post, mix = self.coefficients(streams if self.before else wide)
        out = sum(h.unsqueeze(-1) * x for h, x in zip(pre.unbind(-1), wide, strict=True))
        out = self.layer(out.to(streams[0].dtype))
        return [
            (sum(mix[..., i, j, None] * x for j, x in enumerate(wide)) + post[..., i, None] * out).to(out.dtype)
            for i in range(self.n)
        ]


WIDENED = {"behind the stack": (lambda x: [x] * 4, False),
           "before it": (lambda x: [x, x.tanh(), x.sin(), x.cos()], True)}  # fmt: skip


@pytest.mark.parametrize("where", WIDENED)
def test_widened(where):
    """The streams that were projected were others than those that were mixed."""
    begin, before = WIDENED[where]
    module = BegunByZeros(begin)
    module.layers = nn.ModuleList(Widened(4, 16, before) for _ in range(2))
    for part in (module.embeddings, *(layer.layer for layer in module.layers)):
        part.to(torch.bfloat16)
    compare_rounded(module, compiled(module, require="all"), TOKENS)
    assert [{**found, "expand": 1} for found in counts()] == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


STACKED = {
    "functions": lambda x, linear: [x, x.tanh(), x.relu(), linear(x)],
    "products": lambda x, linear: [linear(x), x @ linear.weight, 2 * x, F.rms_norm(x, (16,))],
}


class Stacked(nn.Module):
    """Streams are made one by one, and are one tensor from there on."""

    def __init__(self, begin):
        super().__init__()
        self.embedding, self.linear = nn.Embedding(100, 16), nn.Linear(16, 16)
        self.layers, self.begin = nn.ModuleList(modules.Sublayer(4, 16) for _ in range(2)), begin

    def forward(self, tokens):
        x = torch.stack(self.begin(self.embedding(tokens), self.linear), dim=-2)
        for layer in self.layers:
            x = layer(x)
        return x.sum(-2)


@pytest.mark.parametrize("begin", STACKED)
def test_stacked(begin):
    """The sum of their squares was read as several, and the first of two layers missed."""
    module = Stacked(STACKED[begin])
    compare(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"pre": 2, "post": 2, "contract": 1}]


def test_streams_of_another_list():
    """The near miss: what is mixed is not what is projected."""

    class Other(Layer):
        def coefficients(self, streams):
            return super().coefficients([streams[0].tanh(), *streams[1:]])

    module = Lists(BETWEEN["nothing"])
    module.layers[1] = Other(4, 16)
    compare(module, compiled(module), TOKENS)
