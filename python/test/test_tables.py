"""Residual matrices that mix all permutations, whose table is an argument of the graph."""

import itertools

import pytest
import torch
from mhcc import backend, capture, tables
from comparing import compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from torch import nn


class Mixture(nn.Module):
    """A residual matrix that is a mixture of all permutations, whose table is a buffer."""

    def __init__(self, n=3, channels=16):
        super().__init__()
        rows, orders = torch.eye(n), list(itertools.permutations(range(n)))
        self.register_buffer("table", torch.stack([rows[list(order)] for order in orders]).flatten(1))
        self.n, self.phi, self.linear = n, nn.Linear(n * channels, 2 * n + len(orders)), nn.Linear(channels, channels)

    def forward(self, x):
        n, x = self.n, x.to(self.table.dtype)
        flat = x.flatten(-2)
        normed = flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        pre, post, res = self.phi(normed).tensor_split((n, 2 * n), -1)
        mix = (res.softmax(-1) @ self.table).unflatten(-1, (n, n))
        f = self.linear((pre.sigmoid().unsqueeze(-1) * x).sum(-2))
        return mix @ x + (2 * post.sigmoid()).unsqueeze(-1) * f.unsqueeze(-2)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_table_of_permutations(dtype, dynamic):
    module, x = Mixture().to(dtype), torch.randn(2, 5, 3, 16, dtype=dtype)
    run, check = compiled(module, dynamic), compare if dtype is torch.float32 else compare_rounded
    check(module, run, x)
    assert counts() == [{"pre": 1, "post": 1}]
    kept = module.table.clone()
    module.table *= 2  # the numbers that were known are not those of a later call
    torch.testing.assert_close(run(x), module(x), rtol=0, atol=0)
    module.table.data = kept
    check(module, run, x)
    assert len(backend.found) == 1


def test_table_of_some_permutations():
    module = Mixture()
    module.table[0] = module.table[1]
    compiled(module)(torch.randn(2, 5, 3, 16))
    assert counts() == [{"projection": 1, "gates": 1, "aggregate": 1, "post": 1}]


class Divided(nn.Module):
    """Two sites in parts of a graph, whose arguments have other places than those of the whole."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Mixture(), Mixture()

    def forward(self, scale, x):
        return self.second(torch.erf(self.first(scale * x)))


def test_tables_of_parts(monkeypatch):
    monkeypatch.setattr(capture, "is_divided", lambda node: node.target is torch.erf)
    guards, make = [], tables.Guard
    monkeypatch.setattr(tables, "Guard", lambda *args: guards.append(make(*args)) or guards[-1])
    module, scale, x = Divided(), torch.tensor(1.5), torch.randn(2, 5, 3, 16)
    run = compiled(module)
    compare(module, run, scale, x)
    (guard,) = guards
    assert len(guard.checked) == 2  # both are as they were, so that what was compiled ran
    module.second.table *= 2
    torch.testing.assert_close(run(scale, x), module(scale, x), rtol=0, atol=0)
