"""Batches of no tokens."""

import warnings

import mhcc
import modules
import pytest
import torch
from comparing import compiled, counts, fresh  # noqa: F401
from torch import nn

SITE = {"pre": 1, "post": 1}


def layer():
    return modules.Layer(modules.Coefficients(4, 16))


def run_quietly(module, run, x):
    """Results and gradients as PyTorch's, and no graph that is left with a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="mhcc")
        out = run(x)
        out.sum().backward()
    assert out.shape == module(x).shape
    assert all(not parameter.grad.any() for parameter in module.parameters())


def test_no_tokens():
    module, x = layer(), torch.randn(0, 4, 16)
    run_quietly(module, compiled(module, require="all"), x)
    assert counts() == [SITE]
    report = mhcc.explain(module, x)
    assert [one.op for one in report.found] == ["pre", "post"] and not report.missed


def test_no_tokens_after_some():
    module = layer()
    run = compiled(module, dynamic=True, require="all")
    run(torch.randn(5, 4, 16))
    run_quietly(module, run, torch.randn(0, 4, 16))
    assert counts() == [SITE] * 2


@pytest.mark.parametrize("finish", [nn.Identity(), nn.Flatten(0, -1)], ids=["streams", "flat"])
def test_batch_of_no_tokens(finish):
    """Two times none is not known to be none: sites may be left, and are not told as missed."""
    module = nn.Sequential(layer(), finish)
    run_quietly(module, compiled(module, require="all"), torch.randn(2, 0, 4, 16))
    assert not mhcc.explain(module, torch.randn(2, 0, 4, 16)).missed


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = layer()

    def forward(self, x):
        return self.layer(x).square().sum()


def test_loss_of_no_tokens():
    run_quietly(module := Loss(), compiled(module), torch.randn(0, 4, 16))
