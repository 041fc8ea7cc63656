"""mHC modules as a model's author writes them, which the backend has to find."""

import torch
from torch import nn
from torch.nn import functional as F


class Twice(torch.autograd.Function):
    """Has a derivative of its own, which is another."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


class Coefficients(nn.Module):
    """Mixing coefficients in the notation of the paper, in f32."""

    def __init__(self, n, channels, iterations=4, eps=1e-6):
        super().__init__()
        self.n, self.iterations, self.eps = n, iterations, eps
        self.phi = nn.Parameter(torch.randn(n * n + 2 * n, n * channels) / (n * channels) ** 0.5)
        self.alpha = nn.Parameter(torch.full((3,), 0.5))
        self.beta = nn.Parameter(torch.randn(n * n + 2 * n))

    def forward(self, x):
        n = self.n
        flat = x.flatten(-2).float()
        t = F.linear(flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + self.eps), self.phi.float())
        pre, post, res = t.split([n, n, n * n], dim=-1)
        alpha, beta = self.alpha.float(), self.beta.float()
        pre = torch.sigmoid(alpha[0] * pre + beta[:n])
        post = 2 * torch.sigmoid(alpha[1] * post + beta[n : 2 * n])
        res = (alpha[2] * res + beta[2 * n :]).unflatten(-1, (n, n))
        return pre, post, self.residual(res)

    def residual(self, logits):
        mix = torch.exp(logits)
        for _ in range(self.iterations):
            mix = mix / (mix.sum(-1, keepdim=True) + self.eps)
            mix = mix / (mix.sum(-2, keepdim=True) + self.eps)
        return mix


class Numbered(Coefficients):
    """The three scalars are chosen by a tensor of numbers, which is a constant of the graph."""

    def __init__(self, n, channels, repeats):
        super().__init__(n, channels)
        self.repeats = repeats

    def alphas(self, sizes):
        if self.repeats:
            counts = torch.tensor(sizes, device=self.alpha.device)
            return torch.repeat_interleave(self.alpha, counts, output_size=sum(sizes))
        return self.alpha[torch.tensor([number for number, size in enumerate(sizes) for _ in range(size)])]

    def forward(self, x):
        n, flat = self.n, x.flatten(-2)
        sizes = [n, n, n * n]
        t = F.linear(flat, self.phi) / (flat.square().mean(-1, keepdim=True) + self.eps).sqrt()
        pre, post, res = (self.alphas(sizes) * t + self.beta).split(sizes, dim=-1)
        return pre.sigmoid(), 2 * post.sigmoid(), self.residual(res.unflatten(-1, (n, n)))


class Layer(nn.Module):
    def __init__(self, coefficients):
        super().__init__()
        self.coefficients, self.linear = coefficients, nn.Linear(16, 16)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        f = self.linear((pre.unsqueeze(-1) * x).sum(-2))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


class Split(torch.autograd.Function):
    """Three of one, whose gradients are added at once."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x), x.view_as(x), x.view_as(x)

    @staticmethod
    def backward(ctx, *gradients):
        return sum(one for one in gradients if one is not None)


class Recomputed(torch.autograd.Function):
    """Sinkhorn that runs again for its gradient, in a way that Dynamo does not follow."""

    factor = 1.0  # of the gradient

    @staticmethod
    def forward(ctx, logits, run):
        ctx.run = run
        ctx.save_for_backward(logits)
        return run(logits)

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            logits = ctx.saved_tensors[0].detach().requires_grad_(True)
            ctx.run(logits).backward(gradient)
        return logits.grad * Recomputed.factor, None


class Breaking(nn.Module):
    """A site in two methods, with what breaks Dynamo's graph: functions of autograd, a print, functions compiled already."""

    def __init__(self, n, channels):
        super().__init__()
        self.coefficients = Coefficients(n, channels)
        self.up, self.down = nn.Linear(channels, 2 * channels, bias=False), nn.Linear(2 * channels, channels, bias=False)

    def forward(self, x):
        one, two, three = Split.apply(x)
        residual = self.coefficients.residual
        self.coefficients.residual = lambda logits: Recomputed.apply(logits, residual)
        pre, post, res = self.coefficients(one)
        del self.coefficients.residual
        print(end="")
        return self.mix(two, pre), post, res, three

    @staticmethod
    @torch.compile
    def mix(x, pre):
        return (pre.unsqueeze(-1) * x.float()).sum(-2).to(x.dtype)

    def join(self, u, post, res, x):
        f = self.down(F.silu(self.up(u)))
        return (res @ x.float() + post.unsqueeze(-1) * f.unsqueeze(-2).float()).to(x.dtype)


class BreakingTwice(Breaking):
    """The method that joins the streams breaks the graph as well."""

    def join(self, u, post, res, x):
        mixed = res @ x.float()
        print(end="")
        f = self.down(F.silu(self.up(u)))
        return (mixed + post.unsqueeze(-1) * f.unsqueeze(-2).float()).to(x.dtype)


class BreakingInBlock(BreakingTwice):
    """Streams start and end in functions that a block calls between other graphs."""

    @staticmethod
    def repeated(x, n):
        return x.unsqueeze(-2).expand(*x.shape[:-1], n, x.shape[-1]).contiguous().flatten(-2)

    @staticmethod
    def averaged(x, n):
        return x.unflatten(-1, (n, -1)).mean(-2)


class BreakingBlock(nn.Module):
    def __init__(self, n=4, channels=16, layers=2):
        super().__init__()
        self.n, self.norm = n, nn.LayerNorm(channels)
        self.layers = nn.ModuleList(BreakingInBlock(n, channels) for _ in range(layers))

    def forward(self, x):
        x = BreakingInBlock.repeated(x, self.n)
        for layer in self.layers:
            streams = x.unflatten(-1, (self.n, -1))
            x = layer.join(*layer(streams)).flatten(-2)
        return self.norm(BreakingInBlock.averaged(x, self.n))


class BreakingModel(nn.Module):
    def __init__(self, n=4, channels=16, layers=2, kind=Breaking):
        super().__init__()
        self.layers = nn.ModuleList(kind(n, channels) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer.join(*layer(x))
        return x


class Sublayer(nn.Module):
    """A feed-forward sublayer with its hyper-connection."""

    def __init__(self, n, channels):
        super().__init__()
        self.coefficients = Coefficients(n, channels)
        self.norm = nn.RMSNorm(channels)
        self.up, self.down = nn.Linear(channels, 2 * channels), nn.Linear(2 * channels, channels)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = (pre.unsqueeze(-1) * x.float()).sum(-2).to(x.dtype)
        f = self.down(F.silu(self.up(self.norm(u))))
        return (res @ x.float() + post.unsqueeze(-1) * f.unsqueeze(-2).float()).to(x.dtype)


class Head(nn.Module):
    """A learned contraction of the streams."""

    def __init__(self, n, channels):
        super().__init__()
        self.phi = nn.Parameter(torch.randn(n, n * channels) / (n * channels) ** 0.5)
        self.scale, self.base = nn.Parameter(torch.ones(1)), nn.Parameter(torch.randn(n))

    def forward(self, x):
        flat = x.flatten(-2).float()
        t = F.linear(flat, self.phi.float()) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        pre = torch.sigmoid(t * self.scale.float() + self.base.float()) + 1e-6
        return (pre.unsqueeze(-1) * x.float()).sum(-2).to(x.dtype)


class Model(nn.Module):
    """Layers between an embedding, which every stream starts as, and an output."""

    def __init__(self, n=4, channels=16, layers=2, words=32, learned=True, stacked=False):
        super().__init__()
        self.n, self.stacked = n, stacked
        self.embedding = nn.Embedding(words, channels)
        self.layers = nn.ModuleList(Sublayer(n, channels) for _ in range(layers))
        self.head = Head(n, channels) if learned else None
        self.output = nn.Linear(channels, words, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = torch.stack([x] * self.n, -2) if self.stacked else x.unsqueeze(-2).expand(-1, -1, self.n, -1)
        for layer in self.layers:
            x = layer(x)
        return self.output(self.head(x) if self.head else x.sum(-2))
