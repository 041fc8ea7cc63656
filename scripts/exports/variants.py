"""One plain sublayer, and what public projects change at one point of it: layouts, logits, sublayers, precisions."""

import torch
from torch import nn

import sinkhorn
from base import Attention, Site, SwiGLU, module
from sizes import C, N, ROWS


class Plain(Site):
    """The plain form [B, T, n, C] that the others change."""

    def __init__(self, bias=False):
        super().__init__(bias)
        self.weights(phi=(N * C, ROWS), alpha=(3,), beta=(ROWS,))

    def normed(self, flat):
        return flat * torch.rsqrt(flat.pow(2).mean(-1, keepdim=True) + 1e-6)

    def logits(self, x):
        h = self.normed(x.flatten(-2)) @ self.phi
        groups = h.split([N, N, N * N], dim=-1)
        return [a * g + b for a, g, b in zip(self.alpha, groups, self.beta.split([N, N, N * N]))]

    def residual(self, z):
        return sinkhorn.rows_columns(torch.exp(z), 1e-6)

    def coefficients(self, x):
        pre, post, res = self.logits(x)
        return torch.sigmoid(pre), 2 * torch.sigmoid(post), self.residual(res.unflatten(-1, (N, N)))

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        y = self.f(torch.einsum("btn,btnc->btc", pre, x))
        return torch.einsum("btij,btjc->btic", res, x) + post.unsqueeze(-1) * y.unsqueeze(-2)


@module
class Paper(Plain):
    """The paper's order: columns, then rows, without an eps."""

    def residual(self, z):
        return sinkhorn.columns_rows(z)


@module
class Unrounded(Plain):
    """Coefficients and Sinkhorn in the type of the streams, whatever it is; a Linear with bias behind."""

    def __init__(self):
        super().__init__(bias=True)


@module
class Rounded(Plain):
    """Mappings in f32, each rounded to the type of the streams before it is used."""

    def coefficients(self, x):
        return [c.to(x.dtype) for c in super().coefficients(x)]

    def normed(self, flat):
        return super().normed(flat.float())

    def logits(self, x):
        h = self.normed(x.flatten(-2)) @ self.phi.float()
        groups = h.split([N, N, N * N], dim=-1)
        return [a * g + b for a, g, b in zip(self.alpha.float(), groups, self.beta.float().split([N, N, N * N]))]


@module
class RoundedMlp(Rounded):
    """The same around a gated MLP with biases."""

    def __init__(self):
        super().__init__()
        self.f = SwiGLU(bias=True)


@module
class Temperature(Plain):
    """All three logits over a temperature."""

    def logits(self, x):
        return [z / 0.05 for z in super().logits(x)]

    def residual(self, z):
        return sinkhorn.softmax_eps(z)


@module
class SoftmaxLog(Plain):
    """A softmax of the logarithm as each step of Sinkhorn."""

    def residual(self, z):
        return sinkhorn.of_softmax_log(z)


@module
class Cleaned(Rounded):
    """Logarithms, and a last turn of rows and columns with bounded sums."""

    def residual(self, z):
        return sinkhorn.of_logsumexp_cleaned(z)


@module
class Marginals(Plain):
    """Potentials with marginals of 1 / n."""

    def residual(self, z):
        return sinkhorn.of_marginals(z)


@module
class Images(Rounded):
    """Streams [B, T, W, n, C] of images, mixed by matmul."""

    inputs = ("B T W n C",)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        y = self.f(torch.matmul(pre.unsqueeze(-2), x).squeeze(-2))
        return torch.matmul(res, x) + post.unsqueeze(-1) * y.unsqueeze(-2)


@module
class StaticStreamsFirst(Site):
    """[n, B, T, C], one matrix and one vector of gates for all tokens."""

    inputs = ("n B T C",)
    fused = ("aggregate", "post")

    def __init__(self):
        super().__init__()
        self.weights(pre=(N,), post=(N,), res=(N, N))

    def forward(self, x):
        y = self.f(torch.einsum("s,sbtc->btc", self.pre.softmax(0), x))
        mix = sinkhorn.of_potentials(self.res, tau=0.05, iterations=10)
        return torch.einsum("sr,sbtc->rbtc", mix, x) + torch.einsum("s,btc->sbtc", self.post.softmax(0), y)


@module
class Potentials(Rounded):
    """Potentials of rows and columns."""

    def residual(self, z):
        return sinkhorn.of_potentials(z)


@module
class WholeMaximum(Rounded):
    """One maximum of each matrix subtracted, in f32."""

    def residual(self, z):
        return sinkhorn.of_whole_maximum(z)


@module
class NoBias(Plain):
    """Neither bias nor alpha: the projection alone."""

    def logits(self, x):
        return (self.normed(x.flatten(-2)) @ self.phi).split([N, N, N * N], dim=-1)


@module
class StaticPre(Plain):
    """h_pre from a parameter alone; the others from the streams."""

    def __init__(self):
        super().__init__()
        self.weights(phi=(N * C, N + N * N), pre=(N,), beta=(N + N * N,))

    def coefficients(self, x):
        h = self.normed(x.flatten(-2)) @ self.phi
        post = self.alpha[1] * h[..., :N] + self.beta[:N]
        res = self.alpha[2] * h[..., N:] + self.beta[N:]
        pre = torch.sigmoid(self.pre).expand(*x.shape[:-2], N)
        return pre, 2 * torch.sigmoid(post), self.residual(res.unflatten(-1, (N, N)))


@module
class DoubleStatistic(Rounded):
    """The root mean square in f64, the product in f32."""

    def normed(self, flat):
        scale = torch.rsqrt(flat.double().pow(2).mean(-1, keepdim=True) + 1e-6)
        return flat.float() * scale.float()


@module
class RmsNormWeight(Plain):
    """torch.nn.functional.rms_norm with a weight in front of the projection."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(N * C, eps=1e-6)

    def normed(self, flat):
        return self.norm(flat)


@module
class GammaFirst(Plain):
    """gamma x rsqrt, multiplied from the left."""

    def __init__(self):
        super().__init__()
        self.weights(gamma=(N * C,))

    def normed(self, flat):
        return self.gamma * flat * torch.rsqrt(flat.pow(2).mean(-1, keepdim=True) + 1e-6)


@module
class StreamsFirst(Plain):
    """Streams in the first dimension, [n, B, T, C]."""

    inputs = ("n B T C",)

    def forward(self, x):
        pre, post, res = self.coefficients(x.permute(1, 2, 0, 3))
        y = self.f(torch.einsum("btn,nbtc->btc", pre, x))
        return torch.einsum("btij,jbtc->ibtc", res, x) + post.permute(2, 0, 1).unsqueeze(-1) * y.unsqueeze(0)


@module
class StreamsBeforeTokens(Plain):
    """Streams before tokens, [B, n, T, C], permuted to and fro."""

    inputs = ("B n T C",)

    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2).contiguous()


@module
class StreamList(Plain):
    """Streams as n tensors, stacked for the coefficients, summed one by one."""

    inputs = ("B T C",) * N

    def forward(self, *streams):
        pre, post, res = self.coefficients(torch.stack(streams, dim=2))
        u = sum(pre[..., i:i + 1] * x for i, x in enumerate(streams))
        y = self.f(u)
        return tuple(sum(res[..., i, j, None] * x for j, x in enumerate(streams)) + post[..., i, None] * y
                     for i in range(N))


@module
class StreamStack(Plain):
    """Streams as n tensors, stacked once, mixed as one, taken apart at the end."""

    inputs = ("B T C",) * N

    def forward(self, *streams):
        return super().forward(torch.stack(streams, dim=-2)).unbind(-2)


@module
class StreamsInFront(Plain):
    """Streams as n tensors, stacked as [n, B, T, C]."""

    inputs = ("B T C",) * N

    def forward(self, *streams):
        pre, post, res = self.coefficients(torch.stack(streams).permute(1, 2, 0, 3))
        y = self.f(sum(pre[..., i, None] * x for i, x in enumerate(streams)))
        return tuple(sum(res[..., i, j, None] * x for j, x in enumerate(streams)) + post[..., i, None] * y
                     for i in range(N))


@module
class ChunkedStreams(Plain):
    """Streams [B, T, n*C] cut by chunk, stacked and mixed as one; the result is cut and joined again."""

    inputs = ("B T nC",)

    def forward(self, x):
        out = super().forward(torch.stack(x.chunk(N, dim=-1), dim=2))
        return torch.cat([stream.squeeze(2) for stream in out.split(1, dim=2)], dim=-1)


@module
class FlatTokens(Plain):
    """Tokens already flat, [T, n, C]; sums of products in place of einsum."""

    inputs = ("T n C",)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        y = self.f((pre[:, :, None] * x).sum(1))
        return (res[:, :, :, None] * x[:, None, :, :]).sum(2) + post[:, :, None] * y[:, None, :]


@module
class AroundAttention(Rounded):
    """Around causal attention, with matmul in place of einsum."""

    def __init__(self):
        super().__init__()
        self.f = Attention()

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        y = self.f(torch.matmul(pre.unsqueeze(-2), x).squeeze(-2))
        return torch.matmul(res, x) + post.unsqueeze(-1) * y.unsqueeze(-2)


@module
class TwoSites(Site):
    """Two sublayers in turn, each with weights of its own."""

    fused = ("pre", "post", "pre", "post")

    def __init__(self):
        super().__init__()
        del self.f
        self.first, self.second = Rounded(), RoundedMlp()

    def forward(self, x):
        return self.second(self.first(x))


@module
class ListLayers(Plain):
    """Two sublayers of streams that are n tensors, added up at the end."""

    inputs = ("B T C",) * N
    fused = ("pre", "post", "contract")

    def __init__(self):
        super().__init__()
        self.g = nn.Linear(C, C, bias=False)

    def forward(self, *streams):
        for f in (self.f, self.g):
            pre, post, res = self.coefficients(torch.stack(streams, dim=2))
            y = f(sum(pre[..., i, None] * x for i, x in enumerate(streams)))
            streams = [sum(res[..., i, j, None] * x for j, x in enumerate(streams)) + post[..., i, None] * y
                       for i in range(N)]
        return sum(streams)


@module
class AddedInPlace(Plain):
    """Each new stream begins with its part of the branch; the others are added to it one by one."""

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = torch.zeros_like(x[:, :, 0])
        for i in range(N):
            u = torch.addcmul(u, pre[..., i, None], x[:, :, i])
        y = self.f(u)
        streams = []
        for i in range(N):
            stream = post[..., i, None] * y
            for j in range(N):
                stream = torch.addcmul(stream, res[..., i, j, None], x[:, :, j])
            streams.append(stream)
        return torch.stack(streams, dim=2)


@module
class AddedProduct(Rounded):
    """The mix as a batched product that begins with the branch."""

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        y = self.f((pre.unsqueeze(-2) @ x).squeeze(-2))
        branch = (post.unsqueeze(-1) * y.unsqueeze(-2)).flatten(0, 1)
        return torch.baddbmm(branch, res.flatten(0, 1), x.flatten(0, 1)).view(x.shape)


@module
class BoundedAlpha(Plain):
    """Each alpha bounded by a hyperbolic tangent, or made positive by a softplus."""

    def logits(self, x):
        h = self.normed(x.flatten(-2)) @ self.phi
        groups = zip(h.split([N, N, N * N], dim=-1), self.beta.split([N, N, N * N]))
        alphas = torch.tanh(self.alpha[0]), nn.functional.softplus(self.alpha[1]), torch.exp(self.alpha[2])
        return [a * g + b for a, (g, b) in zip(alphas, groups)]


@module
class ShiftedNarrow(Plain):
    """The maximum of each row subtracted in the type of the streams, an iteration in f32 behind it."""

    def residual(self, z):
        shifted = z - z.amax(dim=-1, keepdim=True)
        return sinkhorn.rows_columns(shifted.float().exp(), 1e-6).to(z.dtype)


@module
class OneStream(Plain):
    """Streams that begin as the input and zeros."""

    inputs = ("B T C",)

    def forward(self, x):
        streams = torch.zeros(*x.shape[:2], N, C, dtype=x.dtype)
        streams[:, :, 0] = x
        return super().forward(streams)


@module
class Convolutions(Plain):
    """Images: channels before rows and columns, a convolution of one pixel as projection."""

    inputs = ("B n C T",)

    def forward(self, x):
        flat = x.flatten(1, 2)
        normed = flat * torch.rsqrt(flat.pow(2).mean(1, keepdim=True) + 1e-6)
        h = nn.functional.conv1d(normed, self.phi.t().unsqueeze(-1))
        groups = zip(self.alpha, h.split([N, N, N * N], dim=1), self.beta.split([N, N, N * N]))
        pre, post, res = (a * g + b.unsqueeze(-1) for a, g, b in groups)
        res = self.residual(res.unflatten(1, (N, N)).permute(0, 3, 1, 2))
        y = self.f((torch.sigmoid(pre).unsqueeze(2) * x).sum(1).transpose(1, 2)).transpose(1, 2)
        mixed = torch.matmul(res, x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return mixed + 2 * torch.sigmoid(post).unsqueeze(2) * y.unsqueeze(1)


@module
class ResidualKept(Plain):
    """The matrix acts on the difference: x + (H - 1) x."""

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        y = self.f(torch.einsum("btn,btnc->btc", pre, x))
        return x + (res - torch.eye(N, dtype=x.dtype)) @ x + post.unsqueeze(-1) * y.unsqueeze(-2)


@module
class SoftmaxThenSums(Plain):
    """A softmax without an eps, then rows and columns with one that f32 loses beside a sum of 1."""

    def residual(self, z):
        return sinkhorn.rows_columns(z.float().softmax(-1), 1e-8).to(z.dtype)


@module
class VectorsInTheirType(Plain):
    """Vectors that scale the matrix, in the type of the streams."""

    def residual(self, z):
        return sinkhorn.of_scaling_sums(z)
