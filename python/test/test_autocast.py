"""Autocast around a model, in its forward, and around layers that run again for their gradient."""

import contextlib

import modules
import pytest
import torch
from comparing import TOKENS, compare, compiled, counts, fresh  # noqa: F401


def rounded(enabled=True):
    return torch.autocast(TOKENS.device.type, torch.bfloat16, enabled=enabled)


class Sublayer(modules.Sublayer):
    """Its second product is in f32 whatever autocast says."""

    def __init__(self):
        super().__init__(4, 16)
        self.down = InF32(self.down)


class InF32(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        with rounded(False):
            return self.linear(x.float())


class Model(modules.Model):
    def __init__(self, inside, runs_again):
        super().__init__()
        self.layers = torch.nn.ModuleList(Sublayer() for _ in range(2))
        self.inside, self.runs_again = inside, runs_again

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).expand(-1, -1, self.n, -1)
        with rounded() if self.inside else contextlib.nullcontext():
            for layer in self.layers:
                x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) if self.runs_again else layer(x)
            return self.output(self.head(x))


@pytest.mark.parametrize("inner", ["eager", "aot_eager"])
@pytest.mark.parametrize("runs_again", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_autocast(inside, runs_again, inner):
    module = Model(inside, runs_again)
    with contextlib.nullcontext() if inside else rounded():
        compare(module, compiled(module, inner=inner), TOKENS, tolerance=0.1)
    assert counts() == [{"pre": 2, "post": 2, "head": 1} | ({} if runs_again else {"expand": 1})]
