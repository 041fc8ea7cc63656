"""Tokens in front of sequences whose length is open, and parts of such sequences."""

import functools

import mhcc
import modules
import pytest
import torch
from comparing import compare, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F

N, CHANNELS = 4, 16


class Sequences(nn.Module):
    """Channels of sequences as streams of two layers, and their mean."""

    def __init__(self, start, between=None, finish=None):
        super().__init__()
        self.layers = nn.ModuleList(modules.Sublayer(N, CHANNELS) for _ in range(2))
        self.token = nn.Parameter(torch.randn(1, 1, CHANNELS))
        self.start, self.between, self.finish = start, between, finish

    def forward(self, x):
        x = self.start(self, x).unsqueeze(-2).repeat(1, 1, N, 1)
        x = self.layers[0](x)
        x = self.layers[1](self.between(x) if self.between else x)
        return (self.finish(x) if self.finish else x).mean(-2) + self.token.sum()


@pytest.mark.parametrize("start", [
    lambda self, x: torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1),
    lambda self, x: torch.cat([x, self.token.repeat(x.shape[0], 3, 1)], 1),
    lambda self, x: torch.cat([self.token.expand(-1, x.shape[1], -1), x]),
    lambda self, x: F.pad(x, (0, 0, 2, 0)),
    lambda self, x: torch.cat([x, x[:, :-1]], 1),
])  # fmt: skip
@pytest.mark.parametrize("dynamic", [False, True])
def test_more_tokens(start, dynamic):
    module = Sequences(start)
    compare(module, compiled(module, dynamic=dynamic, require="all"), torch.randn(2, 5, CHANNELS))
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


CUTS = {
    "select": lambda x: x[:, -1],
    "from the end": lambda x: x[:, -3:],
    "before the end": lambda x: x[:, -3:-1],
    "behind the first": lambda x: x[:, 1:],
    "sequence": lambda x: x[-1:],
    "all but the last": lambda x: x[:, :-1],
}
BETWEEN = {
    **CUTS,
    "first half": lambda x: x[:, : x.shape[1] // 2],
    "second half": lambda x: x[:, x.shape[1] // 2 :],
}


@pytest.mark.parametrize("cut", CUTS)
def test_parts_are_contracted(cut):
    """Counted from the end of sequences whose length is open. Equal streams leave next to nothing to some gradients."""
    module = Sequences(lambda self, x: x, finish=CUTS[cut])
    compare(module, compiled(module, dynamic=True, require="all"), torch.randn(2, 5, CHANNELS), tolerance=1e-3)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


@pytest.mark.parametrize("cut", BETWEEN)
def test_parts_go_on(cut):
    module = Sequences(lambda self, x: x, between=BETWEEN[cut])
    compare(module, compiled(module, dynamic=True, require="all"), torch.randn(2, 5, CHANNELS), tolerance=1e-3)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


@pytest.mark.parametrize("cut", [None, "all but the last", "second half"])
def test_batches_of_a_known_size(cut):
    """Streams that are repeated keep the order of their tokens, whichever size of these is open."""
    module = Sequences(lambda self, x: x, between=BETWEEN.get(cut))
    x = torch.randn(2, 5, CHANNELS)
    torch._dynamo.mark_dynamic(x, 1)
    compiled(module, dynamic=None, require="all")(x)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


class Broken(modules.Layer):
    """A graph behind a break has nothing that says how many streams there are."""

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = (pre.unsqueeze(-1) * x).sum(-2)
        torch._dynamo.graph_break()
        return res @ x + post.unsqueeze(-1) * self.linear(u).unsqueeze(-2)


def test_streams_behind_a_break():
    module = Broken(modules.Coefficients(N, CHANNELS))
    other = compiled(module, dynamic=True, require="all")
    for length in (5, 7):  # which stays open
        compare(module, other, torch.randn(2, length, N, CHANNELS))
        assert [ops for ops in counts() if ops] == [{"pre": 1}, {"post": 1}]


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(CHANNELS, CHANNELS)

    def forward(self, res, x, post, u):
        return res @ x + post.unsqueeze(-1) * self.linear(u).unsqueeze(-2)


@pytest.mark.parametrize("marked", [False, True])
def test_other_numbers_of_streams(marked):
    """A number that is marked as open stays so. Where it changes, Dynamo opens rows and columns apart."""
    module = Mixed()
    other = compiled(module, dynamic=True)
    for n in (4, 3):
        res, x, post = torch.rand(2, 5, n, n), torch.randn(2, 5, n, CHANNELS), torch.rand(2, 5, n)
        if marked:
            torch._dynamo.mark_dynamic(res, 2)
        compare(module, other, res, x, post, torch.randn(2, 5, CHANNELS))
    assert counts() == ([{}] if marked else [{"post": 1}, {}])


class Penalised(Sequences):
    """A loss reads the logits of the residual maps as well."""

    def __init__(self, penalty):
        super().__init__(lambda self, x: x)
        self.penalty = penalty

    def forward(self, x):
        kept = []
        for layer in self.layers:
            layer.coefficients.residual = functools.partial(self.keep, kept, layer.coefficients)
        return super().forward(x) + sum(map(self.penalty, kept))

    @staticmethod
    def keep(kept, coefficients, logits):
        kept.append(logits)
        return type(coefficients).residual(coefficients, logits)


@pytest.mark.parametrize("penalty", [
    lambda z: z.square().mean(),
    lambda z: z.flatten(-2).logsumexp(-1).square().mean(),
    lambda z: z.diagonal(dim1=-2, dim2=-1).mean(),
])  # fmt: skip
def test_penalty_of_logits(penalty):
    """It was told as another residual map, and nothing of the layers was one op."""
    module = Penalised(penalty)
    compare(module, compiled(module, dynamic=True, require="all"), torch.randn(2, 5, CHANNELS))
    assert counts() == [{"expand": 1, "pre": 2, "sinkhorn": 2, "post": 2, "contract": 1}]


@pytest.mark.parametrize("penalty", [
    lambda z: z.abs().mean(),
    lambda z: -(z.softmax(-1) * z.log_softmax(-1)).sum(-1).mean(),
    lambda z: z.tanh().mean(),
])  # fmt: skip
def test_penalty_misses_nothing(penalty):
    """Functions for a loss, beside the layers, were told as gates by another function."""
    assert mhcc.explain(Penalised(penalty), torch.randn(2, 5, CHANNELS)).missed == []
