"""Models that mix no streams: nothing of them is told to be missed."""

import mhcc
import pytest
import torch
from torch import nn
from torch.nn import functional as F

CHANNELS = 32


class Block(nn.Module):
    """Attention written out, in front of what pools its tokens."""

    def __init__(self):
        super().__init__()
        self.qkv, self.weight = nn.Linear(CHANNELS, 3 * CHANNELS), nn.Linear(CHANNELS, 1)

    def forward(self, x):
        q, k, v = self.qkv(F.layer_norm(x, (CHANNELS,))).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        x = x + ((q @ k.mT / 8**0.5).softmax(-1) @ v).transpose(1, 2).flatten(-2)
        return (x * self.weight(x).softmax(1)).sum(1)


class Pooled(nn.Module):
    """Outputs of layers, weighed one by one or by a product of all."""

    def __init__(self, weigh):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(CHANNELS, CHANNELS) for _ in range(4))
        self.one, self.all, self.weigh = nn.Linear(CHANNELS, 1), nn.Linear(4 * CHANNELS, 4), weigh

    def forward(self, x):
        outputs = []
        for layer in self.layers:
            x = x + layer(x).tanh()
            outputs.append(x)
        outputs = torch.stack(outputs, -2)
        return (outputs * self.weigh(self, outputs)).sum(-2)


class Experts(Pooled):
    """A router of sigmoids."""

    def __init__(self):
        super().__init__(None)
        self.router = nn.Linear(CHANNELS, 4)

    def forward(self, x):
        outputs = torch.stack([layer(x) for layer in self.layers], -2)
        return (outputs * self.router(x).sigmoid().unsqueeze(-1)).sum(-2)


class Heads(nn.Module):
    """Maps of heads, made of the token that they are parts of."""

    def __init__(self):
        super().__init__()
        self.maps, self.out = nn.Linear(CHANNELS, 16), nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x):
        mixed = self.maps(x).unflatten(-1, (4, 4)).softmax(-1) @ x.unflatten(-1, (4, -1))
        return x + self.out(mixed.flatten(-2))


class Matched(nn.Module):
    """Points of two pictures, by Sinkhorn iterations of all pairs."""

    def forward(self, x):
        scores = x[:, :4] @ x[:, 4:].mT
        for _ in range(3):
            scores = scores.log_softmax(-1).log_softmax(-2)
        return scores.exp() @ x[:, 4:]


MODELS = {
    "tokens": Block,
    "layers, one by one": lambda: Pooled(lambda self, x: self.one(x).softmax(-2)),
    "layers, sigmoids": lambda: Pooled(lambda self, x: self.one(x).sigmoid()),
    "layers, all": lambda: Pooled(lambda self, x: self.all(x.flatten(-2)).softmax(-1).unsqueeze(-1)),
    "experts": Experts,
    "heads": Heads,
    "points": Matched,
}


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_missed(model):
    torch._dynamo.reset()
    assert mhcc.explain(MODELS[model](), torch.randn(2, 8, CHANNELS)).missed == []
