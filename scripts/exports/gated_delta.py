"""Front ends of gated delta net layers, in the spellings of public projects and in variants of them.

Where a module has a parent, it changes that at one point. q, k, v, z, beta and alpha are of one tensor qkvzba, but in the
modules with projections of their own.
"""

import torch
from torch import nn
from torch.nn import functional as F

from base import module
from sizes import C, CONVOLVED, FRONT, HEADS, KEY_HEADS, KEY_SIZE, TAPS, VALUE_SIZE

QC, VC, REPEATS = KEY_HEADS * KEY_SIZE, HEADS * VALUE_SIZE, HEADS // KEY_HEADS


def l2norm(x, eps=1e-6):
    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + eps)


class FrontEnd(nn.Module):
    """One front end, which nothing but its op should be left of."""

    fused = ("pre_gated_delta_rule",)
    chain = FRONT


@module
class MegatronGatedDelta(FrontEnd):
    """As Megatron-LM without its fused kernel: tokens first, Conv1d of all channels, each head repeated, then normed."""

    inputs = ("T B D",)
    taps, bias = TAPS, False

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(CONVOLVED, CONVOLVED, self.taps, groups=CONVOLVED, padding=self.taps - 1, bias=self.bias)
        self.A_log = nn.Parameter(torch.rand(HEADS))
        self.dt_bias = nn.Parameter(torch.rand(HEADS))

    def first(self, qkvzba):
        return qkvzba.transpose(0, 1)

    def parts(self, x):
        return x.split([CONVOLVED, VC, HEADS, HEADS], dim=-1)

    def convolved(self, qkv):
        return F.silu(self.conv(qkv.transpose(1, 2))[..., :qkv.shape[1]]).transpose(1, 2)

    def repeated(self, heads):
        return heads.repeat_interleave(REPEATS, dim=2)

    def normed(self, heads):
        return l2norm(heads)

    def heads(self, u):
        heads = u.reshape(*u.shape[:2], KEY_HEADS, KEY_SIZE)
        return self.normed(self.repeated(heads))

    def beta(self, beta):
        return beta.sigmoid()

    def softplus(self, p):
        return F.softplus(p)

    def decay(self, alpha):
        return -self.A_log.float().exp() * self.softplus(alpha.float() + self.dt_bias.float())

    def forward(self, qkvzba):
        qkv, gate, beta, alpha = self.parts(self.first(qkvzba))
        q, k, v = self.convolved(qkv).split([QC, QC, VC], dim=-1)
        shape = (*v.shape[:2], HEADS, VALUE_SIZE)
        return self.heads(q), self.heads(k), v.reshape(shape), gate.reshape(shape), self.beta(beta), self.decay(alpha)


class BatchFirst(MegatronGatedDelta):
    """The same with sequences first, which the others change."""

    inputs = ("B T D",)

    def first(self, qkvzba):
        return qkvzba


@module
class NormFirst(BatchFirst):
    """Normed in f32, rounded, and then repeated."""

    def heads(self, u):
        heads = u.reshape(*u.shape[:2], KEY_HEADS, KEY_SIZE)
        return self.repeated(l2norm(heads.float()).to(u.dtype))


@module
class Qwen3Next(FrontEnd):
    """Transformers' Qwen3-Next: two projections whose channels are grouped by heads of k, and joined for the Conv1d;
    heads before the tokens, as the recurrence takes them."""

    inputs = ("B T C",)

    def __init__(self):
        super().__init__()
        self.qkvz = nn.Linear(C, 2 * QC + 2 * VC, bias=False)
        self.ba = nn.Linear(C, 2 * HEADS, bias=False)
        self.conv1d = nn.Conv1d(CONVOLVED, CONVOLVED, TAPS, groups=CONVOLVED, padding=TAPS - 1, bias=False)
        self.A_log = nn.Parameter(torch.rand(HEADS))
        self.dt_bias = nn.Parameter(torch.rand(HEADS))

    def parts(self, hidden):
        each = self.qkvz(hidden).view(*hidden.shape[:-1], KEY_HEADS, 2 * KEY_SIZE + 2 * REPEATS * VALUE_SIZE)
        gates = self.ba(hidden).view(*hidden.shape[:-1], KEY_HEADS, 2 * REPEATS)
        q, k, v, z = each.split([KEY_SIZE, KEY_SIZE, REPEATS * VALUE_SIZE, REPEATS * VALUE_SIZE], dim=3)
        b, a = gates.split([REPEATS, REPEATS], dim=3)
        shape = (*hidden.shape[:-1], HEADS)
        return q, k, v.reshape(*shape, VALUE_SIZE), z.reshape(*shape, VALUE_SIZE), b.reshape(shape), a.reshape(shape)

    def forward(self, hidden):
        q, k, v, z, b, a = self.parts(hidden)
        q, k, v = (x.reshape(*x.shape[:2], -1) for x in (q, k, v))
        mixed = torch.cat((q, k, v), dim=-1).transpose(1, 2)
        mixed = F.silu(self.conv1d(mixed)[:, :, :hidden.shape[1]]).transpose(1, 2)
        q, k, v = mixed.split([QC, QC, VC], dim=-1)
        q, k = (x.reshape(*x.shape[:2], KEY_HEADS, KEY_SIZE) for x in (q, k))
        v = v.reshape(*v.shape[:2], HEADS, VALUE_SIZE)
        beta = b.sigmoid()
        g = -self.A_log.float().exp() * F.softplus(a.float() + self.dt_bias)
        q, k = (x.repeat_interleave(REPEATS, dim=2) for x in (q, k))
        q, k = l2norm(q), l2norm(k)
        q, k, v, beta, g = (x.transpose(1, 2).contiguous() for x in (q, k, v, beta, g))
        return q, k, v, beta, g, z


@module
class FlashLinearAttention(FrontEnd):
    """flash-linear-attention without its kernels: a projection and a convolution for each of q, k and v."""

    inputs = ("B T C",)

    def __init__(self):
        super().__init__()
        for name, width in (("q", QC), ("k", QC), ("v", VC), ("g", VC), ("a", HEADS), ("b", HEADS)):
            setattr(self, name, nn.Linear(C, width, bias=False))
        for name, width in (("q_conv", QC), ("k_conv", QC), ("v_conv", VC)):
            setattr(self, name, nn.Conv1d(width, width, TAPS, groups=width, padding=TAPS - 1, bias=False))
        self.A_log = nn.Parameter(torch.rand(HEADS))
        self.dt_bias = nn.Parameter(torch.rand(HEADS))

    def short(self, conv, x):
        return F.silu(conv(x.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))

    def forward(self, x):
        q, k, v = (self.short(conv, linear(x)) for conv, linear in
                   ((self.q_conv, self.q), (self.k_conv, self.k), (self.v_conv, self.v)))
        q, k = (u.view(*u.shape[:2], KEY_HEADS, KEY_SIZE) for u in (q, k))
        q, k = (u.repeat_interleave(REPEATS, dim=2) for u in (q, k))
        v = v.view(*v.shape[:2], HEADS, VALUE_SIZE)
        beta = self.b(x).sigmoid()
        g = -self.A_log.float().exp() * F.softplus(self.a(x).float() + self.dt_bias)
        z = self.g(x)
        return l2norm(q.float()).to(q.dtype), l2norm(k.float()).to(k.dtype), v, z.view(v.shape), beta, g


@module
class PaddedSlices(BatchFirst):
    """The taps written out as slices of a padded tensor."""

    bias = True

    def convolved(self, qkv):
        padded = F.pad(qkv, (0, 0, TAPS - 1, 0))
        taps = [padded[:, j:j + qkv.shape[1]] * self.conv.weight[:, 0, j] for j in range(TAPS)]
        return F.silu(sum(taps) + self.conv.bias)


@module
class Unfold(BatchFirst):
    """Windows by unfold, and an einsum with the weight."""

    bias = True

    def convolved(self, qkv):
        windows = F.pad(qkv, (0, 0, TAPS - 1, 0)).unfold(1, TAPS, 1)
        return F.silu(torch.einsum("btck,ck->btc", windows, self.conv.weight[:, 0]) + self.conv.bias)


@module
class UnfoldSum(BatchFirst):
    """Windows by unfold, and a sum over them."""

    def convolved(self, qkv):
        windows = F.pad(qkv, (0, 0, TAPS - 1, 0)).unfold(1, TAPS, 1)
        return F.silu((windows * self.conv.weight[:, 0]).sum(-1))


@module
class StackedWindows(BatchFirst):
    """Windows by a stack of slices behind concatenated zeros."""

    def convolved(self, qkv):
        padded = torch.cat([qkv.new_zeros(qkv.shape[0], TAPS - 1, qkv.shape[2]), qkv], dim=1)
        windows = torch.stack([padded[:, j:j + qkv.shape[1]] for j in range(TAPS)], dim=-1)
        return F.silu((windows * self.conv.weight[:, 0]).sum(-1))


@module
class Left(BatchFirst):
    """The tokens before the first one are those that another device has: concatenated, and a Conv1d without padding."""

    inputs = ("B T D", "B L E")

    def forward(self, qkvzba, left):
        self.left = left
        return super().forward(qkvzba)

    def convolved(self, qkv):
        x = torch.cat([self.left, qkv], dim=1).transpose(1, 2)
        return F.silu(F.conv1d(x, self.conv.weight, groups=CONVOLVED)).transpose(1, 2)


@module
class LeftSlices(Left):
    """The same with its taps written out."""

    def convolved(self, qkv):
        x = torch.cat([self.left, qkv], dim=1)
        return F.silu(sum(x[:, j:j + qkv.shape[1]] * self.conv.weight[:, 0, j] for j in range(TAPS)))


@module
class LeftWindows(Left):
    """Windows of both by a stack of slices."""

    def convolved(self, qkv):
        x = torch.cat([self.left, qkv], dim=1)
        windows = torch.stack([x[:, j:j + qkv.shape[1]] for j in range(TAPS)], dim=-1)
        return F.silu((windows * self.conv.weight[:, 0]).sum(-1))


@module
class NoNorm(BatchFirst):
    """q and k as they are."""

    def normed(self, heads):
        return heads


@module
class OneTap(BatchFirst):
    """A window of the token itself."""

    taps = 1


@module
class EightTaps(BatchFirst):
    """A wide window, with a bias."""

    taps, bias = 8, True


@module
class RepeatByExpand(BatchFirst):
    """Heads repeated by a view, which is copied."""

    def repeated(self, heads):
        return heads.unsqueeze(3).expand(-1, -1, -1, REPEATS, -1).reshape(*heads.shape[:2], HEADS, KEY_SIZE)


@module
class RepeatByIndex(BatchFirst):
    """Heads repeated by their numbers."""

    def repeated(self, heads):
        return heads[:, :, torch.tensor([head // REPEATS for head in range(HEADS)])]


@module
class RepeatBySlices(BatchFirst):
    """Heads repeated by slices that are concatenated."""

    def repeated(self, heads):
        return torch.cat([heads[:, :, head // REPEATS:head // REPEATS + 1] for head in range(HEADS)], dim=2)


@module
class RepeatByOneHot(BatchFirst):
    """Heads repeated by a product with ones and zeros."""

    def repeated(self, heads):
        chosen = torch.eye(KEY_HEADS, dtype=heads.dtype).repeat_interleave(REPEATS, dim=0)
        return torch.einsum("bthd,vh->btvd", heads, chosen)


@module
class SoftplusStable(BatchFirst):
    """max(p, 0) + log1p(exp(-|p|))"""

    def softplus(self, p):
        return p.clamp(min=0) + torch.log1p(torch.exp(-p.abs()))


@module
class SoftplusRelu(BatchFirst):
    """The same with relu, and the sigmoid of beta written out."""

    def softplus(self, p):
        return torch.relu(p) + torch.log1p(torch.exp(-p.abs()))

    def beta(self, beta):
        return 1 / (1 + torch.exp(-beta))


@module
class SoftplusLogaddexp(BatchFirst):
    """log(exp(p) + exp(0))"""

    def softplus(self, p):
        return torch.logaddexp(p, torch.zeros_like(p))


@module
class SoftplusWhere(BatchFirst):
    """A threshold of its own."""

    def softplus(self, p):
        return torch.where(p > 15.0, p, torch.log1p(torch.exp(p)))


@module
class SoftplusWhereBelow(BatchFirst):
    """The threshold as the other comparison, with an exponential that does not overflow."""

    def softplus(self, p):
        return torch.where(p <= 20.0, torch.log1p(torch.exp(p.clamp(max=20.0))), p)


@module
class SoftplusLogsigmoid(BatchFirst):
    """-logsigmoid(-p)"""

    def softplus(self, p):
        return -F.logsigmoid(-p)


class NearMiss(BatchFirst):
    """One point that the op does not compute: nothing is found, for a true reason."""

    fused = ()


@module
class HeadsInTurn(NearMiss):
    """Heads in the order h0 h1 h0 h1."""

    def repeated(self, heads):
        return heads.repeat(1, 1, REPEATS, 1)


@module
class Circular(BatchFirst):
    """Each tap rolled: the last tokens are those before the first one."""

    def convolved(self, qkv):
        return F.silu(sum(qkv.roll(TAPS - 1 - j, 1) * self.conv.weight[:, 0, j] for j in range(TAPS)))


@module
class BoundedNorm(NearMiss):
    """F.normalize: the bound is on the norm."""

    def normed(self, heads):
        return F.normalize(heads, dim=-1)


@module
class MeanNorm(NearMiss):
    """The root of a mean."""

    def normed(self, heads):
        return heads * torch.rsqrt(heads.square().mean(-1, keepdim=True) + 1e-6)


@module
class OneSequence(BatchFirst):
    """Tokens of one sequence, without a dimension for it."""

    inputs = ("T D",)

    def forward(self, qkvzba):
        return tuple(part[0] for part in super().forward(qkvzba.unsqueeze(0)))


@module
class Decoding(BatchFirst):
    """A step of decoding: one token, the tokens before it kept with channels first, and those for the next step."""

    inputs = ("B one D", "B E L")

    def forward(self, qkvzba, state):
        self.state = state
        parts = super().forward(qkvzba)
        return *parts, self.state

    def convolved(self, qkv):
        x = torch.cat([self.state, qkv.transpose(1, 2)], dim=-1)
        self.state = x[..., 1:]
        return F.silu((x * self.conv.weight[:, 0]).sum(-1)).unsqueeze(1)


@module
class PerChannel(NearMiss):
    """A decay for each channel of a head, as in Kimi Delta Attention."""

    def decay(self, alpha):
        bias = self.conv.weight[:HEADS * VALUE_SIZE, 0, 0].float().unflatten(0, (HEADS, VALUE_SIZE))
        return -self.A_log.float().exp().unsqueeze(-1) * self.softplus(alpha.float().unsqueeze(-1) + bias)
