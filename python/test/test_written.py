"""Modules that write tensors in place, against eager PyTorch."""

import copy

import modules
import pytest
import torch
from comparing import TOKENS, compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from torch import nn
from torch.nn import functional as F


class StreamByStream(nn.Module):
    """A layer whose streams are written one by one."""

    def __init__(self):
        super().__init__()
        self.coefficients = modules.Coefficients(4, 16)
        self.layer = nn.Sequential(nn.RMSNorm(16), nn.Linear(16, 16))

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u, out = (pre.unsqueeze(-2) @ x.float()).squeeze(-2), torch.empty_like(x)
        f = self.layer(u.to(x.dtype)).float()
        for i in range(4):
            out[..., i, :] = (res[..., i, :, None] * x.float()).sum(-2) + post[..., i, None] * f
        return out


@pytest.mark.parametrize("shape", [(2, 3, 4, 16), (1, 1, 4, 16)])
def test_streams_that_are_written(shape):
    module = StreamByStream()
    compare(module, compiled(module, require="all"), torch.randn(shape))
    assert counts() == [{"pre": 1, "post": 1}]


def test_streams_that_are_rounded_when_they_are_written():
    module = nn.Sequential(nn.Embedding(7, 64), nn.Unflatten(-1, (4, 16)), StreamByStream()).bfloat16()
    compare_rounded(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"pre": 1, "post": 1}]


class Copying(modules.Layer):
    """The sublayer copies its parts into a tensor that is made for them."""

    def __init__(self, coefficients):
        super().__init__(coefficients)
        self.halves = nn.Linear(16, 8)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = (pre.unsqueeze(-1) * x).sum(-2)
        f = torch.empty_like(u)
        f[..., :8].copy_(self.halves(u))
        f[..., 8:].copy_(u[..., :8])
        f[..., :].mul_(2)
        return res @ x + post.unsqueeze(-1) * self.linear(f).unsqueeze(-2)


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_copies_into_slices():
    module = Copying(modules.Coefficients(4, 16))
    compare(module, compiled(module, require="all"), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


class Writing(nn.Module):
    """Fills a buffer, and adds in place."""

    def __init__(self):
        super().__init__()
        self.layer = modules.Layer(modules.Coefficients(4, 16))
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x):
        self.calls.add_(1)
        out = torch.zeros_like(x)
        out[:, :1] = x[:, :1] * 2
        out.add_(x)
        return self.layer(out) * self.calls[0]


def test_writes_in_place():
    module = Writing()
    run = compiled(module)
    x = torch.randn(2, 3, 4, 16)
    first = run(x)
    assert module.calls.tolist() == [1, 1] and counts() == [{"pre": 1, "post": 1}]
    second = run(x)
    assert module.calls.tolist() == [2, 2]
    torch.testing.assert_close(second, 2 * first)
    module.calls.zero_()
    torch.testing.assert_close(first, module(x), rtol=1e-5, atol=1e-5)


class LateBias(nn.Module):
    """A part of the biases is made behind the sublayer, and a buffer is read before it is written."""

    def __init__(self):
        super().__init__()
        self.coefficients = modules.Coefficients(4, 16)
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x):
        made = self.coefficients
        flat = x.flatten(-2)
        t = F.linear(flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + made.eps), made.phi)
        pre, post, res = t.split([4, 4, 16], -1)
        u = (torch.sigmoid(made.alpha[0] * pre + made.beta[:4]).unsqueeze(-1) * x).sum(-2)
        f = torch.tanh(u) + self.calls[0]
        self.calls.add_(1)
        late = made.beta[4:].cos()
        post = 2 * torch.sigmoid(made.alpha[1] * post + late[:4])
        res = made.residual((made.alpha[2] * res + late[4:]).unflatten(-1, (4, 4)))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


def test_order_and_writes():
    """Nodes move behind the fused op that they read, and arguments are written behind all that read them."""
    module = LateBias()
    run, x = compiled(module, require="all"), torch.randn(2, 3, 4, 16)
    for calls in (1, 2):
        first = run(x)
        assert module.calls.tolist() == [calls, calls] and counts() == [{"pre": 1, "post": 1}]
        module.calls.fill_(calls - 1)
        torch.testing.assert_close(first, module(x), rtol=1e-5, atol=1e-5)


class Written(nn.Module):
    def forward(self, x):
        detached = x.detach()
        detached.view(-1).mul_(2)
        return x + 1


def test_detached_tensor_that_is_written():
    x = torch.randn(4)
    wanted = Written()(x.clone())
    with pytest.warns(UserWarning, match="written in place"):
        torch.testing.assert_close(compiled(Written())(x.clone()), wanted)


class Counting(modules.Layer):
    """A batch norm writes its running statistics, which autograd has kept; of tokens that lie in another order."""

    def __init__(self):
        super().__init__(modules.Coefficients(4, 16))
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = self.norm((pre.unsqueeze(-1) * x).sum(-2).transpose(1, 2)).transpose(1, 2)
        return res @ x + post.unsqueeze(-1) * self.linear(u).unsqueeze(-2)


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_running_statistics():
    module, x = Counting(), torch.randn(2, 3, 4, 16)
    other = copy.deepcopy(module)
    run = compiled(other, require="all", inner="eager")
    for _ in range(2):  # statistics of two steps
        wanted = torch.autograd.grad(module(x).square().sum(), list(module.parameters()))
        found = torch.autograd.grad(run(x).square().sum(), list(other.parameters()))
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(dict(other.norm.named_buffers()), dict(module.norm.named_buffers()))
    assert counts() == [{"pre": 1, "post": 1}]
