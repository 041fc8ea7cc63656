"""The front end of a gated delta net in a model."""

import mhcc
import pytest
import torch
from comparing import compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F

KEY_HEADS, HEADS, WIDTH, TAPS = 2, 4, 16, 4
KEYS, VALUES = KEY_HEADS * WIDTH, HEADS * WIDTH


class GatedDelta(nn.Module):
    """A layer whose recurrence forgets all at each token, and goes backwards, by an op that is PyTorch's own."""

    def __init__(self, channels=24, bias=False):
        super().__init__()
        self.inside = nn.Linear(channels, 2 * KEYS + 2 * VALUES + 2 * HEADS, bias=False)
        self.conv = nn.Conv1d(2 * KEYS + VALUES, 2 * KEYS + VALUES, TAPS, groups=2 * KEYS + VALUES, padding=TAPS - 1,
                              bias=bias)
        self.A_log, self.dt_bias = nn.Parameter(torch.rand(HEADS)), nn.Parameter(torch.ones(HEADS))
        self.outside = nn.Linear(VALUES, channels, bias=False)

    def project(self, x):
        return self.inside(x)

    def front(self, x):
        qkv, z, b, a = self.project(x).split([2 * KEYS + VALUES, VALUES, HEADS, HEADS], dim=-1)
        qkv = F.silu(self.conv(qkv.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)
        q, k, v = qkv.split([KEYS, KEYS, VALUES], dim=-1)
        q, k = (self.unit(t.unflatten(-1, (KEY_HEADS, WIDTH))) for t in (q, k))
        q, k = (t.repeat_interleave(HEADS // KEY_HEADS, dim=2) for t in (q, k))
        g = -self.A_log.float().exp() * F.softplus(a.float() + self.dt_bias)
        return q, k, v.unflatten(-1, (HEADS, WIDTH)), z.unflatten(-1, (HEADS, WIDTH)), b.sigmoid(), g

    @staticmethod
    def unit(heads):
        wide = heads.float()
        return (wide * torch.rsqrt(wide.square().sum(-1, keepdim=True) + 1e-6)).to(heads.dtype)

    def forward(self, x):
        x = x.to(self.A_log.dtype)
        q, k, v, z, beta, g = (part.flip(1) for part in self.front(x))
        found = (q * k).sum(-1, keepdim=True) * v * (beta * g.exp()).unsqueeze(-1)
        return self.outside((found * F.silu(z)).to(x.dtype).flatten(-2))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_found(dtype, bias, dynamic):
    module, x = GatedDelta(bias=bias).to(dtype), torch.randn(2, 9, 24, dtype=dtype)
    (compare if dtype is torch.float32 else compare_rounded)(module, compiled(module, dynamic, require="all"), x)
    assert counts() == [{"pre_gated_delta_rule": 1}]


class Watched(GatedDelta):
    """Something else reads what the norm reads, which the kernel has no gradient for."""

    @staticmethod
    def unit(heads):
        return GatedDelta.unit(heads) + 0.5 * heads.square()


def test_read_by_something_else():
    module, x = Watched(), torch.randn(2, 9, 24)
    compare(module, compiled(module), x)
    assert "pre_gated_delta_rule" not in str(counts())
    with torch.no_grad():
        torch.testing.assert_close(compiled(module)(x), module(x), rtol=1e-4, atol=1e-5)


class Plain(GatedDelta):
    """Readers of the parts are all known: heads of q and k are multiplied before they are repeated."""

    def forward(self, x):
        q, k, v, z, beta, g = self.front(x)
        found = (q * k).sum(-1, keepdim=True) * v * (beta * g.exp()).unsqueeze(-1)
        return self.outside((found * F.silu(z)).flatten(-2))


def test_without_repeated_heads():
    """That is no fault of a norm."""
    assert mhcc.explain(Plain(), torch.randn(2, 9, 24)).missed == []


class Apart(GatedDelta):
    """Two projections, whose results come together for the convolution."""

    def project(self, x):
        weights = self.inside.weight.split([KEYS, KEYS + 2 * VALUES + 2 * HEADS])
        return torch.cat([F.linear(x, weight) for weight in weights], -1)


def test_channels_of_several_tensors():
    module, x = Apart(), torch.randn(2, 9, 24)
    compare(module, compiled(module), x)
    assert counts() == [{}]


def test_one_graph_for_all_token_counts():
    torch._dynamo.reset()
    operands = [torch.randn(128, TAPS), torch.rand(HEADS), torch.ones(HEADS)]
    run = torch.compile(lambda x: mhcc.pre_gated_delta_rule(x, *operands, num_key_heads=KEY_HEADS), fullgraph=True,
                        dynamic=True)
    for tokens in (7, 64, 33):
        x = torch.randn(2, tokens, 200)
        with torch._dynamo.config.patch(error_on_recompile=True):
            found = run(x)
        torch.testing.assert_close(found, mhcc.pre_gated_delta_rule(x, *operands, num_key_heads=KEY_HEADS))
