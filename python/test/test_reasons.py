"""Layers that are nearly mHC: what is told of them."""

import mhcc
import pytest
import torch
from torch import nn
from torch.nn import functional as F

N, CHANNELS = 4, 32


class Layer(nn.Module):
    """Streams are scaled by `norm` where they are projected, and nowhere else."""

    def __init__(self, norm):
        super().__init__()
        rows = N * (N + 2)
        self.phi = nn.Parameter(torch.randn(rows, N * CHANNELS) / (N * CHANNELS) ** 0.5)
        self.alpha, self.beta = nn.Parameter(torch.rand(3)), nn.Parameter(torch.randn(rows))
        self.linear, self.norm = nn.Linear(CHANNELS, CHANNELS), norm

    def forward(self, x):
        z = F.linear(self.norm(x.flatten(-2)), self.phi).split([N, N, N * N], -1)
        pre, post, res = (a * part + b for part, a, b in zip(z, self.alpha.unbind(), self.beta.split([N, N, N * N])))
        res = res.unflatten(-1, (N, N)).exp()
        for _ in range(2):
            res = res / res.sum(-1, keepdim=True)
            res = res / res.sum(-2, keepdim=True)
        u = (pre.sigmoid().unsqueeze(-1) * x).sum(-2)
        return res @ x + 2 * post.sigmoid().unsqueeze(-1) * self.linear(u).unsqueeze(-2)


def rms(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


@pytest.mark.parametrize("norm, code", [
    (lambda x: x / x.abs().amax(-1, keepdim=True), "norm-form"),  # as many tokens as logits: phi is no streams
    (lambda x: rms(x.detach()), "projection-behind-call"),
    (lambda x: F.dropout(rms(x), 0.1), "projection-behind-call"),
    (lambda x: F.layer_norm(x, x.shape[-1:]), "projection-behind-call"),
])  # fmt: skip
def test_norm(norm, code):
    torch._dynamo.reset()
    x = torch.randn(2, 8, CHANNELS).unsqueeze(-2) * torch.ones(N, 1)
    assert [miss.code for miss in mhcc.explain(Layer(norm), x).missed] == [code]
