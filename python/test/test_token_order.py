"""Tokens that lie in another order than where they are made."""

import modules
import pytest
import torch
from comparing import TOKENS, compare, compiled, counts, fresh  # noqa: F401
from torch import nn


class SequenceFirst(modules.Model):
    """Tokens of all sequences at one place are neighbours, as in Megatron."""

    def __init__(self):
        super().__init__(learned=False)

    def forward(self, tokens):
        x = self.embedding(tokens).transpose(0, 1)
        x = x.unsqueeze(-2).repeat(1, 1, self.n, 1)
        for layer in self.layers:
            x = layer(x)
        return self.output(x.mean(-2)).transpose(0, 1)


class Viewing(SequenceFirst):
    """Views by strides behind an op that keeps the order of what the ops return."""

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).repeat(1, 1, self.n, 1)
        for layer in self.layers:
            x = layer(x)
        x = 2 * x.transpose(0, 1).contiguous()
        return self.output(x.view(-1, self.n, x.shape[-1]).sum(-2))


class Turned(SequenceFirst):
    """Streams are added up where their tokens, or they themselves, lie in another order than where they are mixed."""

    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).repeat(1, 1, self.n, 1)
        for layer in self.layers:
            x = layer(x)
        return self.output(x.permute(self.dims).contiguous().sum(self.dims.index(2)))


class Patches(nn.Module):
    """Tokens are the places of a convolution, whose channels stand before them."""

    def __init__(self, n=4, channels=16):
        super().__init__()
        self.n, self.convolution = n, nn.Conv2d(3, channels, 4, 4)
        self.layers = nn.ModuleList(modules.Sublayer(n, channels) for _ in range(2))

    def tokens(self, image):
        return self.convolution(image).flatten(2).transpose(1, 2)

    def forward(self, image):
        x = self.tokens(image)
        x = x.unsqueeze(-2).repeat(1, 1, self.n, 1)
        for layer in self.layers:
            x = layer(x)
        return x.mean(-2)


class Placed(Patches):
    """A table of positions, which says how many tokens there are."""

    def __init__(self):
        super().__init__()
        self.first, self.positions = nn.Parameter(torch.randn(1, 1, 16)), nn.Parameter(torch.randn(1, 5, 16))

    def tokens(self, image):
        return torch.cat([self.first.expand(len(image), -1, -1), super().tokens(image)], 1) + self.positions


class PixelLayer(nn.Module):
    """Streams and channels stand before their pixels, and convolutions of one tap project them."""

    def __init__(self, n=4, channels=16):
        super().__init__()
        self.n, self.coefficients = n, nn.Conv2d(n * channels, 2 * n + n * n, 1)
        self.f = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        n, flat = self.n, x.flatten(1, 2)
        normed = flat * torch.rsqrt(flat.square().mean(1, keepdim=True) + 1e-6)
        pre, post, res = self.coefficients(normed).split([n, n, n * n], 1)
        res = res.unflatten(1, (n, n)).softmax(2) + 1e-6
        res = res / (res.sum(1, keepdim=True) + 1e-6)
        for _ in range(4):
            res = res / (res.sum(2, keepdim=True) + 1e-6)
            res = res / (res.sum(1, keepdim=True) + 1e-6)
        f = self.f(torch.einsum("bnhw,bnchw->bchw", pre.sigmoid(), x))
        return torch.einsum("bijhw,bjchw->bichw", res, x) + 2 * post.sigmoid().unsqueeze(2) * f.unsqueeze(1)


class Pixels(nn.Module):
    def __init__(self, n=4, channels=16):
        super().__init__()
        self.n, self.start = n, nn.Conv2d(3, channels, 3, padding=1)
        self.layers = nn.ModuleList(PixelLayer(n, channels) for _ in range(2))

    def forward(self, image):
        x = self.start(image).unsqueeze(1).repeat(1, self.n, 1, 1, 1)
        for layer in self.layers:
            x = layer(x)
        return x.mean(1)


def check(module, x, dynamic):
    compare(module, compiled(module, dynamic, require="all"), x, tolerance=1e-3)  # scalars' terms cancel
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "contract": 1}]


@pytest.mark.parametrize("dynamic", [False, True])
def test_sequence_first(dynamic):
    check(SequenceFirst(), TOKENS, dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dims", [(1, 0, 2, 3), (0, 2, 1, 3), (2, 1, 0, 3)])
def test_contracted_in_another_order(dims, dynamic):
    """The sum stayed PyTorch's: a transpose was between it and the site."""
    check(Turned(dims), TOKENS, dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_patches(dynamic):
    """Their number is the product of two quotients where sizes are open."""
    check(Patches(), torch.randn(2, 3, 8, 8), dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("height", [3, 5])
def test_pixels(height, dynamic):
    """A square image is no matrix of streams."""
    check(Pixels(), torch.randn(2, 3, height, 5), dynamic)


def test_table_of_positions():
    """Products of a number of tokens that only a guard says have that number, too, and no size is left to infer: a
    quotient of such took PyTorch minutes in training."""
    check(Placed(), torch.randn(2, 3, 8, 8), True)


def test_views_of_what_lies_in_another_order():
    module = Viewing()
    run = compiled(module, inner="eager")
    torch.testing.assert_close(run(TOKENS), module(TOKENS), rtol=1e-4, atol=1e-5)
