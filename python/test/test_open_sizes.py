"""Tokens in front of sequences whose length is open, and parts of such sequences."""

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
