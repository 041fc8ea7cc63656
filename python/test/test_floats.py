"""Floats that a model is called with: those of a site are numbers of its kernels, all others stay open."""

import modules
import pytest
import torch
from comparing import compare, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.utils.checkpoint import checkpoint

SITE = {"pre": 1, "post": 1}
SCHEDULE = [0.5 + step / 10 for step in range(14)]


class Weighted(nn.Module):
    """A weight of the result, and an eps of the coefficients."""

    def __init__(self):
        super().__init__()
        self.layer = modules.Layer(modules.Coefficients(4, 16))

    def forward(self, x, weight, eps=1e-6):
        self.layer.coefficients.eps = eps
        return self.layer(x) * weight + (1 - weight)


class Inside(Weighted):
    """A weight of what the sublayer gives to the streams, and of u."""

    def forward(self, x, weight):
        pre, post, res = self.layer.coefficients(x)
        f = self.layer.linear((pre.unsqueeze(-1) * x).sum(-2) * weight) * weight
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


class Checkpointed(Weighted):
    def forward(self, x, weight):
        run = lambda x, weight: self.layer(x) * weight
        return checkpoint(run, x, weight, use_reentrant=False) * weight


def graphs_of_stock(module, calls):
    """How many graphs PyTorch's own backends get."""
    made = []
    torch._dynamo.reset()
    run = torch.compile(module, backend=lambda graph, inputs: made.append(graph) or graph)
    for args in calls:
        run(*args)
    torch._dynamo.reset()
    return len(made)


@pytest.mark.parametrize("kind", [Weighted, Inside, Checkpointed])
@pytest.mark.parametrize("inner", ["aot_eager", "eager"])
def test_schedule(kind, inner):
    """The first of its values is a number of a graph, all others share one."""
    module, x = kind(), torch.randn(2, 3, 4, 16)
    assert graphs_of_stock(module, [(x, weight) for weight in SCHEDULE]) == 2
    run = compiled(module, dynamic=None, inner=inner, require="all")
    for weight in SCHEDULE:
        compare(module, run, x, weight)
    assert counts() == [SITE] * 2


def test_weight_that_is_one_at_first():
    """Arithmetic leaves it out then, and not later."""
    module, x = Weighted(), torch.randn(2, 3, 4, 16)
    run = compiled(module, dynamic=True, require="all")
    for weight in (1.0, *SCHEDULE):
        compare(module, run, x, weight)
    assert counts() == [SITE]


@pytest.mark.parametrize("dynamic", [None, True])
def test_eps(dynamic):
    """An eps inside is found, and a graph is made for each of its values; a weight stays open beside it."""
    module, x = Weighted(), torch.randn(2, 3, 4, 16)
    run = compiled(module, dynamic=dynamic, require="all")
    for eps in (1e-6, 1e-1, 0.5):
        for weight in (1.0, 0.7, 0.8, 0.9):
            compare(module, run, x, weight, eps)
    assert counts() == [SITE] * (3 if dynamic else 4)
