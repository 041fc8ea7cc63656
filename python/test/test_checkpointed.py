"""Layers and branches that run again for their gradient."""

import modules
import pytest
import torch
from comparing import TOKENS, compare, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F


class Checkpointed(modules.Model):
    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).expand(-1, -1, self.n, -1)
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        return self.output(self.head(x))


@pytest.mark.parametrize("repeats", [None, True])
def test_checkpointed_layers(repeats):
    """Layers that are graphs of their own, with constants of their own."""
    module = Checkpointed()
    for layer in module.layers if repeats else []:
        layer.coefficients = modules.Numbered(4, 16, repeats)
    compare(module, compiled(module), TOKENS)
    assert counts() == [{"head": 1, "pre": 2, "post": 2}]


@pytest.mark.parametrize("inner", ["aot_eager", "inductor"])
def test_checkpoint_around_what_is_compiled(inner):
    """Its hooks do not see what is kept while the graph is made, by which a second run would differ from the first."""
    layer = modules.Sublayer(4, 16)
    run, x = compiled(layer, inner=inner), torch.randn(2, 3, 4, 16, requires_grad=True)
    gradients = [torch.autograd.grad(call(x).square().sum(), [x, *layer.parameters()]) for call in (
        layer, *2 * [lambda x: torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)])]  # fmt: skip
    for wanted, first, second in zip(*gradients):
        assert torch.equal(first, second) and torch.allclose(first, wanted, rtol=1e-4, atol=1e-4)
    assert counts() == [{"pre": 1, "post": 1}]


class CheckpointedBranch(modules.Sublayer):
    """The branch alone runs again for its gradient: a site is on both sides of it."""

    def branch(self, u):
        return self.down(F.silu(self.up(self.norm(u))))

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        f = torch.utils.checkpoint.checkpoint(self.branch, (pre.unsqueeze(-1) * x).sum(-2), use_reentrant=False)
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


@pytest.mark.parametrize("dynamic", [False, True])
def test_checkpointed_branches(dynamic):
    module = nn.Sequential(CheckpointedBranch(4, 16), CheckpointedBranch(4, 16))
    compare(module, compiled(module, dynamic), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 2, "post": 2}]


class WrittenBeside(modules.Model):
    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).repeat(1, 1, self.n, 1)
        x[..., 0, :] += 1.0
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        return self.output(self.head(x))


def test_checkpointed_layers_beside_what_is_written():
    """Parts between the layers cannot be graphs of their own: they stay, and the layers have their sites."""
    module = WrittenBeside()
    compare(module, compiled(module), TOKENS)
    assert counts() == [{"pre": 2, "post": 2}]
