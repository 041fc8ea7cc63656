"""Public models' spellings through the backend: single sublayers of scripts/exports, and models of two layers."""

import os
import sys

import modules
import pytest
import torch
from comparing import compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "exports"))
import published  # noqa: E402
import sizes  # noqa: E402

N, C = 4, 32


class Averaged(modules.Model):
    """Streams are made contiguous copies, and averaged at the end."""

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(2).expand(-1, -1, self.n, -1).contiguous()
        for layer in self.layers:
            x = layer(x)
        return self.output(x.mean(dim=2))


def in_f32(x):
    return torch.autocast(x.device.type, enabled=False)


class Gates(nn.Module):
    """The gates of a site whose residual map is the identity, and its input: in f32, whatever autocast says."""

    def __init__(self, rows):
        super().__init__()
        self.fn = nn.Parameter(torch.randn(rows, N * C) / (N * C) ** 0.5)
        self.base, self.scale = nn.Parameter(torch.randn(rows)), nn.Parameter(torch.rand(rows // N))

    def logits(self, x):
        flat = x.flatten(2).float()
        mixes = F.linear(flat, self.fn.float()) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        parts = zip(mixes.split(N, -1), self.scale.float().unbind(0), self.base.float().split(N))
        return [part * scale + base for part, scale, base in parts]

    def forward(self, x):
        with in_f32(x):
            pre, *post = self.logits(x)
            u = ((torch.sigmoid(pre) + 1e-6).unsqueeze(-1) * x).sum(2)
            return u.to(x.dtype), *(2 * torch.sigmoid(one) + 1e-6 for one in post)


class Independent(nn.Module):
    """Four sites without a residual map, and a learned contraction."""

    def __init__(self):
        super().__init__()
        self.sites = nn.ModuleList(Gates(2 * N) for _ in range(4))
        self.layers = nn.ModuleList(nn.Sequential(nn.RMSNorm(C), nn.Linear(C, C)) for _ in range(4))
        self.head = Gates(N)

    def forward(self, x):
        x = x.unsqueeze(2).expand(-1, -1, N, -1).contiguous()
        for site, layer in zip(self.sites, self.layers):
            u, post = site(x)
            x = (post.unsqueeze(-1) * layer(u).float().unsqueeze(-2) + x.float()).to(x.dtype)
        return self.head(x)[0]


class OfAnotherFamily(nn.Module):
    """Streams that are weighed channel by channel, through a projection of low rank."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(C)
        self.down, self.up = nn.Linear(N * C, 8, bias=False), nn.Linear(8, N * C, bias=False)
        self.inject, self.layer = nn.Linear(N * C, N, bias=False), nn.Linear(C, C)

    def forward(self, x):
        x = x.repeat(1, 1, N)
        for _ in range(2):
            normed = self.norm(x.unflatten(-1, (N, C)))
            mix = torch.sigmoid(self.up(F.silu(self.down(normed.flatten(-2)) / N))).unflatten(-1, (N, C))
            gate = 2 * torch.sigmoid(self.inject(normed.flatten(-2)) / N)
            f = self.layer((mix * normed).mean(-2))
            x = x + (f.unsqueeze(-2) * gate.unsqueeze(-1)).flatten(-2)
        return x


class OfEachStream(nn.Module):
    """A site whose coefficients follow from each stream alone; one product makes the layer's input and the streams."""

    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(C) / 8)
        self.alpha, self.dynamic_alpha = nn.Parameter(torch.randn(N, N + 1)), nn.Parameter(torch.randn(C, N + 1) / 8)
        self.beta, self.dynamic_beta = nn.Parameter(torch.randn(N)), nn.Parameter(torch.randn(C) / 8)
        self.scales, self.layer = nn.Parameter(torch.rand(3)), nn.Sequential(nn.LayerNorm(C), nn.Linear(C, C), nn.GELU())

    def forward(self, x):
        streams = x.unflatten(0, (-1, N)).movedim(1, -2)
        normed = (F.normalize(streams, dim=-1) * C**0.5 * (self.gamma + 1)).float()
        scales = self.scales.float()
        alpha = normed @ self.dynamic_alpha.float() * torch.cat([scales[:1], scales[1:2].expand(N)]) + self.alpha.float()
        pre, logits = alpha.tensor_split([1], -1)
        mix = torch.exp(logits - logits.amax(-2, keepdim=True).detach())
        for _ in range(5):
            mix = F.normalize(F.normalize(mix, p=1, dim=-2), p=1, dim=-1)
        gate = 2 * torch.sigmoid(normed @ self.dynamic_beta.float() * scales[2] + self.beta.float())
        mixed = torch.einsum("...st,...sd->...td", torch.cat([pre.sigmoid(), mix], -1), streams.float()).to(x.dtype)
        f = self.layer(mixed[..., 0, :])
        out = (f.float().unsqueeze(-2) * gate.to(x.dtype).float().unsqueeze(-1)).to(x.dtype)
        return (out + mixed[..., 1:, :]).movedim(-2, 1).flatten(0, 1)


class Repeated(nn.Module):
    """Streams in the batch's dimension. Were they all the same, gradients of the first mix would be roundings alone."""

    def __init__(self):
        super().__init__()
        self.sites, self.starts = nn.ModuleList(OfEachStream() for _ in range(2)), nn.Parameter(torch.randn(N, 1, C))

    def forward(self, x):
        x = (x.repeat_interleave(N, 0).unflatten(0, (-1, N)) + self.starts).flatten(0, 1)
        for site in self.sites:
            x = site(x)
        return x.unflatten(0, (-1, N)).sum(1)


SITE = {"pre": 1, "post": 1}
STREAMS, TOKENS = (2, 32, C), torch.arange(24).reshape(3, 8) % 7
PARTLY = ("lucidrains", "qwen4_exp")  # coefficients of each stream, for which there is no kernel
MODELS = {  # what is made, its argument's shape, what is found
    "deepseek_v4": (lambda: modules.Model(channels=C), None, {"expand": 1, "pre": 2, "post": 2, "head": 1}),
    "glm5_next": (lambda: Averaged(channels=C, learned=False), None, {"expand": 1, "pre": 2, "post": 2, "contract": 1}),
    "hy_v4": (Independent, STREAMS, {"expand": 1, "pre": 4, "head": 1}),
    "qwen4_exp": (OfAnotherFamily, STREAMS, {}),
    "lucidrains": (Repeated, STREAMS, {"sinkhorn": 2, "post": 2}),
    "megatron": (published.Megatron, (8, 2, N * sizes.C), SITE),
    "deepseek_v4-own": (published.DeepseekV4, (2, 8, N, sizes.C), SITE),
    "tile_kernels": (published.Tilekernels, (2, 8, N, sizes.C), SITE),
    "liger": (published.Liger, (2, 8, N, sizes.C), SITE),
    "transformer_engine": (published.TransformerEngine, (8, 2, sizes.C, N), SITE),
    "transformer_engine-f64": (published.TransformerEngineF64, (8, 2, sizes.C, N), SITE),
}


@pytest.mark.parametrize("form, dynamic", [("f32", False), ("bf16", True), ("autocast", True)])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_published(name, form, dynamic):
    """Everything is found, with gradients and without, nothing is told as missed beside it, and results and all
    gradients are as near to float64 as eager PyTorch's."""
    make, shape, wanted = MODELS[name]
    dtype = torch.bfloat16 if form == "bf16" else torch.float32
    module = make().to(dtype)
    x = TOKENS if shape is None else torch.randn(shape, dtype=dtype, requires_grad=True)
    run = compiled(module, dynamic, inner="eager", require=None if name in PARTLY else "all")
    with torch.autocast(x.device.type, torch.bfloat16, enabled=form == "autocast"):
        (compare if form == "f32" else compare_rounded)(module, run, x)
        with torch.no_grad():
            out, eager = run(x), module(x)
        assert (out - eager).abs().max() <= (1e-5 if form == "f32" else 0.1) * eager.abs().max()
    for found in counts():
        assert {op: found.get(op, 0) for op in wanted or found} == wanted
