"""Code that all modules of the corpus share, and the list that they enter by `@module`."""

import torch
from torch import nn

from sizes import C, N, ROWS

MODULES = {}


def module(cls):
    """Enters a class by its name, in small letters with underscores."""
    name = "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__).strip("_")
    MODULES[name] = cls
    return cls


class Site(nn.Module):
    """One sublayer f between pre and post. `inputs` are the layouts of forward's arguments, a colon before a type of
    their own; `fused` are the ops that nothing but the sublayer should be left beside."""

    inputs = ("B T n C",)
    fused = ("pre", "post")

    def __init__(self, bias=False):
        super().__init__()
        self.f = nn.Linear(C, C, bias=bias)

    def weights(self, **shapes):
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.randn(shape) * 0.1))

    def linears(self, bias=False, **rows):
        for name, count in rows.items():
            setattr(self, name, nn.Linear(N * C, count, bias=bias))


class RMSNorm(nn.Module):
    """The norm of Llama: statistics in f32, the result in the type of x."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


class SwiGLU(nn.Module):
    """A norm and a gated MLP, as sublayers are in practice."""

    def __init__(self, bias=False):
        super().__init__()
        self.norm = RMSNorm(C)
        self.up, self.gate = nn.Linear(C, 2 * C, bias=bias), nn.Linear(C, 2 * C, bias=bias)
        self.down = nn.Linear(2 * C, C, bias=bias)

    def forward(self, u):
        u = self.norm(u)
        return self.down(nn.functional.silu(self.gate(u)) * self.up(u))


class Attention(nn.Module):
    """Causal attention of one head behind a norm."""

    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(C)
        self.qkv, self.out = nn.Linear(C, 3 * C, bias=False), nn.Linear(C, C, bias=False)

    def forward(self, u):
        q, k, v = self.qkv(self.norm(u)).split(C, dim=-1)
        hidden = torch.ones(u.shape[1], u.shape[1], dtype=torch.bool).triu(1)
        scores = ((q @ k.transpose(-2, -1)).float() * C ** -0.5).masked_fill(hidden, float("-inf"))
        return self.out(torch.softmax(scores, dim=-1).to(v.dtype) @ v)
