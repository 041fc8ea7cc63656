"""Projections by one linear layer for each stream, whose results are added up."""

import pytest
import torch
from comparing import TOKENS, compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from mhcc import explain
from torch import nn
from torch.nn import functional as F

N, CHANNELS = 4, 16
ROWS = N * N + 2 * N


def add_in_loop(parts):
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


ADDED = {
    "sum": sum,
    "loop": add_in_loop,
    "stack": lambda parts: torch.stack(parts).sum(0),
    "last stacked": lambda parts: torch.stack(parts, dim=-1).sum(-1),
}


class Layer(nn.Module):
    def __init__(self, added="sum", before=False, bias=False, rows=lambda x: x.unbind(-2)):
        super().__init__()
        self.added, self.before, self.rows = ADDED[added], before, rows
        self.phi = nn.ModuleList(nn.Linear(CHANNELS, ROWS, bias=bias) for _ in range(N))
        self.alpha, self.beta = nn.Parameter(torch.rand(3) + 0.2), nn.Parameter(torch.randn(ROWS))
        self.layer = nn.Linear(CHANNELS, CHANNELS)

    def project(self, x):
        wide = x.to(self.beta.dtype)
        scale = torch.rsqrt(wide.flatten(-2).square().mean(-1, keepdim=True) + 1e-6)
        rows = self.rows(wide * scale.unsqueeze(-1) if self.before else wide)
        logits = self.added([phi(row) for phi, row in zip(self.phi, rows)])
        return logits if self.before else logits * scale

    def coefficients(self, x):
        pre, post, res = self.project(x).split([N, N, N * N], dim=-1)
        pre, post = (part * a + b for part, a, b in zip((pre, post), self.alpha, self.beta.split(N)))
        mix = (res * self.alpha[2] + self.beta[2 * N :]).unflatten(-1, (N, N)).exp()
        for _ in range(5):
            mix = mix / (mix.sum(-1, keepdim=True) + 1e-6)
            mix = mix / (mix.sum(-2, keepdim=True) + 1e-6)
        return pre.sigmoid(), 2 * post.sigmoid(), mix

    def forward(self, x):
        pre, post, mix = self.coefficients(x)
        wide = x.to(mix.dtype)
        out = self.layer((pre.unsqueeze(-1) * wide).sum(-2).to(x.dtype))
        return (mix @ wide + post.unsqueeze(-1) * out.to(mix.dtype).unsqueeze(-2)).to(x.dtype)


class Model(nn.Module):
    def __init__(self, make=Layer, layers=2, **how):
        super().__init__()
        self.embedding = nn.Embedding(7, N * CHANNELS)
        self.layers = nn.ModuleList(make(**how) for _ in range(layers))
        self.weight = nn.Parameter(torch.rand(N, 1) + 0.5)

    def forward(self, tokens):
        x = self.embedding(tokens).unflatten(-1, (N, CHANNELS))
        for layer in self.layers:
            x = layer(x)
        return (x.tanh() * self.weight).sum(-2)


@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("before", [False, True])
def test_layers(added, before):
    module = Model(added=added, before=before)
    compare(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"pre": 2, "post": 2}]


@pytest.mark.parametrize("dynamic", [False, True])
def test_biases_and_sizes(dynamic):
    module = Model(bias=True, before=True)
    compare(module, compiled(module, dynamic=dynamic, require="all"), TOKENS)
    assert counts() == [{"pre": 2, "post": 2}]


def test_bf16():
    module = Model(added="stack")
    for part in (module.embedding, *(layer.layer for layer in module.layers)):
        part.bfloat16()
    module.weight.data = module.weight.bfloat16()
    compare_rounded(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"pre": 2, "post": 2}]


class Narrow(Layer):
    """The products are of bf16, and widened before they are added up, or behind."""

    def __init__(self, widened, **how):
        super().__init__(**how)
        self.widened = widened

    def project(self, x):
        wide = x.to(self.beta.dtype)
        parts = [phi(row) for phi, row in zip(self.phi, self.rows(x))]
        total = self.added([part.to(wide.dtype) if self.widened else part for part in parts]).to(wide.dtype)
        return total * torch.rsqrt(wide.flatten(-2).square().mean(-1, keepdim=True) + 1e-6)


@pytest.mark.parametrize("added, widened", [("sum", False), ("sum", True), ("stack", False), ("stack", True)])
def test_products_of_bf16(added, widened):
    """Products that round were not joined."""
    module = Model(Narrow, added=added, widened=widened)
    for part in (module.embedding, *(part for layer in module.layers for part in (layer.layer, layer.phi))):
        part.bfloat16()
    module.weight.data = module.weight.bfloat16()
    compare_rounded(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"pre": 2, "post": 2}]


NEAR_MISSES = {
    "one twice": (lambda x: [x[..., i, :] for i in (0, 0, 2, 3)], "products of rows 0, 0, 2, 3 of"),
    "one missing": (lambda x: x.unbind(-2)[:3], "products of rows 0, 1, 2 of"),
    "another tensor": (lambda x: [*x.unbind(-2)[:3], x[..., 3, :].tanh()], "products of rows 0, 1, 2 of"),
    "norm of each": (lambda x: [F.rms_norm(y, (CHANNELS,), eps=0) for y in x.unbind(-2)], "norm-per-stream"),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
@pytest.mark.parametrize("before", [False, True])
def test_near_misses(name, before):
    """A factor behind the products would be another one beside the norm of each."""
    rows, why = NEAR_MISSES[name]
    if name == "norm of each" and not before:
        why = "2 factors per token"
    module = Model(layers=1, before=before, rows=rows)
    if name == "one missing":
        module.layers[0].phi = module.layers[0].phi[:3]
    report = str(explain(module, TOKENS))
    torch._dynamo.reset()
    compare(module, compiled(module), TOKENS)
    assert counts() == [{"aggregate": 1, "sinkhorn": 1, "post": 1}] and why in report
