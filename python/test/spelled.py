"""Modules with mHC whose every step is written in one of several ways, drawn at random.

`python spelled.py FIRST COUNT` compares as many seeds with eager PyTorch and prints those that differ, with their ways.
"""

import collections
import random
import sys

import comparing
import torch
from torch import nn
from torch.nn import functional as F


class Ways:
    """The ways that a seed has drawn, by name."""

    def __init__(self, seed):
        self.seed, self.random, self.drawn = seed, random.Random(seed), {}

    def pick(self, name, *options):
        if name not in self.drawn:
            self.drawn[name] = self.random.choice(options)
        return self.drawn[name]

    def pick_apart(self, name, *options):
        """Draws what leaves all other draws of the seed as they are."""
        self.drawn[name] = random.Random(f"{name} {self.seed}").choice(options)
        return self.drawn[name]

    def __str__(self):
        return ", ".join(f"{name}={value}" for name, value in self.drawn.items())


def root_mean_square(flat, ways, eps):
    way = ways.pick("square", "square", "pow", "product", "vector_norm")
    if way == "vector_norm":
        return torch.linalg.vector_norm(flat, dim=-1, keepdim=True) / flat.shape[-1] ** 0.5 + eps
    square = {"square": torch.square, "pow": lambda v: v.pow(2), "product": lambda v: v * v}[way](flat)
    if ways.pick("mean", True, False):
        return (square.mean(-1, keepdim=True) + eps).sqrt()
    return (square.sum(-1, keepdim=True) / flat.shape[-1] + eps).sqrt()


class Projection(nn.Module):
    """The logits of all coefficients from normalised streams."""

    def __init__(self, ways, n, channels):
        super().__init__()
        self.ways, self.n = ways, n
        self.sizes, wide = (n, n, n * n), n * channels
        scale = wide**-0.5
        self.kind = ways.pick("phi", "joint", "transposed", "three", "einsum")
        if ways.pick_apart("phi of each stream", False, False, False, True):
            self.kind = "streams"
            self.parts = nn.ModuleList(nn.Linear(channels, sum(self.sizes), bias=False) for _ in range(n))
        elif self.kind == "three":
            self.parts = nn.ModuleList(nn.Linear(wide, size, bias=False) for size in self.sizes)
        else:
            shape = (wide, sum(self.sizes)) if self.kind in ("transposed", "einsum") else (sum(self.sizes), wide)
            self.weight = nn.Parameter(torch.randn(shape) * scale)
        if ways.pick("gamma", False, True):
            self.gamma = nn.Parameter(1 + 0.1 * torch.randn(wide))

    def project(self, flat):
        if self.kind == "three":
            return torch.cat([F.linear(flat, part.weight.float()) for part in self.parts], dim=-1)
        if self.kind == "streams":
            rows = flat.unflatten(-1, (self.n, -1)).unbind(-2)
            return sum(F.linear(row, part.weight.float()) for row, part in zip(rows, self.parts))
        weight = self.weight.float()
        return {
            "joint": lambda: F.linear(flat, weight),
            "transposed": lambda: flat @ weight,
            "einsum": lambda: torch.einsum("...k,kn->...n", flat, weight),
        }[self.kind]()

    def forward(self, x):
        flat = x.flatten(-2) if self.ways.pick("flat", True, False) else x.reshape(*x.shape[:-2], -1)
        flat, eps = flat.float(), 1e-6
        gamma = self.gamma.float() if hasattr(self, "gamma") else None
        way = self.ways.pick("norm", "before", "behind", "function")
        if way == "function":
            return self.project(F.rms_norm(flat, flat.shape[-1:], gamma, eps))
        if gamma is None:
            scaled = flat
        else:
            scaled = flat * gamma
        if way == "behind":
            return self.project(scaled) / root_mean_square(flat, self.ways, eps)
        return self.project(scaled * (1 / root_mean_square(flat, self.ways, eps)))


def sigmoid(v, ways):
    return torch.sigmoid(v) if ways.pick("sigmoid", True, False) else 1 / (1 + torch.exp(-v))


def sinkhorn(logits, ways, iterations=5, eps=1e-6):
    rows = ways.pick("order", (-1, -2), (-2, -1))
    if ways.pick("start", "exp", "softmax", "shifted", "log") == "log":
        for _ in range(iterations):
            for dim in rows:
                logits = logits - torch.logsumexp(logits, dim, keepdim=True)
        return logits.exp()
    start = ways.pick("start")
    if start == "softmax":
        mix = torch.softmax(logits, -1) + eps
        mix = mix / (mix.sum(-2, keepdim=True) + eps)
        for _ in range(iterations - 1):
            for dim in (-1, -2):
                mix = mix / (mix.sum(dim, keepdim=True) + eps)
        return mix
    shifted = logits - logits.amax(-1, keepdim=True) if start == "shifted" else logits
    mix = torch.exp(shifted)
    for _ in range(iterations):
        for dim in rows:
            if ways.pick("denominator", "add", "clamp", "none") == "add":
                mix = mix / (mix.sum(dim, keepdim=True) + eps)
            elif ways.pick("denominator") == "clamp":
                mix = mix / mix.sum(dim, keepdim=True).clamp_min(eps)
            else:
                mix = mix / mix.sum(dim, keepdim=True)
    return mix


class Coefficients(nn.Module):
    def __init__(self, ways, n, channels):
        super().__init__()
        self.ways, self.n = ways, n
        self.projection = Projection(ways, n, channels)
        if ways.pick("scalars", "vector", "three") == "vector":
            self.alpha = nn.Parameter(torch.rand(3) + 0.2)
        else:
            self.alpha = nn.ParameterList(nn.Parameter(torch.rand(()) + 0.2) for _ in range(3))
        if ways.pick("beta", "joint", "parts") == "joint":
            self.beta = nn.Parameter(torch.randn(2 * n + n * n))
        else:
            self.beta = nn.ParameterList(nn.Parameter(torch.randn(shape)) for shape in ((n,), (n,), (n, n)))

    def forward(self, x):
        n, ways = self.n, self.ways
        logits = self.projection(x)
        if ways.pick("parts", "split", "slices", "chunks") == "split":
            pre, post, res = logits.split([n, n, n * n], dim=-1)
        elif ways.pick("parts") == "slices":
            pre, post, res = logits[..., :n], logits[..., n : 2 * n], logits[..., 2 * n :]
        else:
            both, res = torch.tensor_split(logits, (2 * n,), dim=-1)
            pre, post = both.chunk(2, dim=-1)
        res = res.unflatten(-1, (n, n)) if ways.pick("square_map", True, False) else res.reshape(*res.shape[:-1], n, n)
        if isinstance(self.beta, nn.ParameterList):
            beta = [part.float() for part in self.beta]
        else:
            beta = [self.beta[:n].float(), self.beta[n : 2 * n].float(), self.beta[2 * n :].view(n, n).float()]
        pre, post, res = (a.float() * v + b for a, v, b in zip(self.alpha, (pre, post, res), beta))
        gates = ways.pick("gates", "apart", "columns", "rows", "scaled")
        if gates == "columns":
            pre, post = sigmoid(torch.cat([pre, post], dim=-1), ways).chunk(2, dim=-1)
        elif gates == "apart":
            pre, post = sigmoid(pre, ways), sigmoid(post, ways)
        else:
            both = sigmoid(torch.stack([pre, post], dim=-2), ways)
            if gates == "scaled":
                pre, post = (both * torch.tensor([[1.0], [2.0]], device=both.device)).unbind(dim=-2)
                return pre, post, sinkhorn(res, ways)
            pre, post = both[..., 0, :], both[..., 1, :]
        post = 2 * post if ways.pick("two", True, False) else post * 2.0
        return pre, post, sinkhorn(res, ways)


def aggregate(x, pre, ways):
    wide = x.float()
    u = {
        "sum": lambda: (pre.unsqueeze(-1) * wide).sum(-2),
        "einsum": lambda: torch.einsum("...n,...nc->...c", pre, wide),
        "matmul": lambda: torch.matmul(pre.unsqueeze(-2), wide).squeeze(-2),
        "loop": lambda: sum(pre[..., i, None] * wide[..., i, :] for i in range(x.shape[-2])),
        "unbind": lambda: sum(h.unsqueeze(-1) * s for h, s in zip(pre.unbind(-1), wide.unbind(-2))),
    }[ways.pick("aggregate", "sum", "einsum", "matmul", "loop", "unbind")]()
    return u.to(x.dtype)


def join(f, x, post, res, ways):
    wide, n = x.float(), x.shape[-2]
    turned = ways.pick("orientation", False, True)
    way = ways.pick("map", "matmul", "einsum", "sum", "loop")
    if way == "matmul":
        mixed = (res.transpose(-1, -2) if turned else res) @ wide
    elif way == "einsum":
        mixed = torch.einsum("...io,...ic->...oc" if turned else "...oi,...ic->...oc", res, wide)
    elif way == "sum":
        by_output = res.transpose(-1, -2) if turned else res
        mixed = (by_output.unsqueeze(-1) * wide.unsqueeze(-3)).sum(-2)
    else:
        weight = (lambda o, i: res[..., i, o, None]) if turned else (lambda o, i: res[..., o, i, None])
        mixed = torch.stack([sum(weight(o, i) * wide[..., i, :] for i in range(n)) for o in range(n)], dim=-2)
    out = f.float()
    added = {
        "unsqueeze": lambda: post.unsqueeze(-1) * out.unsqueeze(-2),
        "einsum": lambda: torch.einsum("...n,...c->...nc", post, out),
        "index": lambda: post[..., None] * out[..., None, :],
    }[ways.pick("outer", "unsqueeze", "einsum", "index")]()
    return (mixed + added if ways.pick("mixed_first", True, False) else added + mixed).to(x.dtype)


class Layer(nn.Module):
    def __init__(self, ways, n, channels):
        super().__init__()
        self.ways = ways
        self.coefficients = Coefficients(ways, n, channels)
        self.norm, self.linear = nn.RMSNorm(channels), nn.Linear(channels, channels)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = aggregate(x, pre, self.ways)
        return join(self.linear(F.silu(self.norm(u))), x, post, res, self.ways)


class Model(nn.Module):
    def __init__(self, seed, channels=16, layers=2):
        super().__init__()
        self.ways = ways = Ways(seed)
        self.n = n = ways.pick("n", 4, 4, 2, 3)
        # A doubly stochastic map shows in no gradient where it reads equal streams, or where all streams are added.
        self.embedding, self.weight = nn.Embedding(7, n * channels), nn.Parameter(torch.rand(n, 1) + 0.5)
        self.layers = nn.ModuleList(Layer(ways, n, channels) for _ in range(layers))

    def forward(self, tokens):
        x = self.embedding(tokens).unflatten(-1, (self.n, -1))
        for layer in self.layers:
            x = layer(x)
        return (x * self.weight).sum(-2)


def compare(module, other, tokens):
    """Results and gradients of both beside float64: one may be twice as far off as the other, and 64 roundings of the
    largest element further. The scalars are sums over all tokens, whose terms cancel: 4 of the largest gradient."""
    rows = comparing.beside_float64(module, other, tokens)
    unit, most = torch.finfo(rows[0][1].dtype).eps, max(comparing.worst(row)[2] for row in rows)
    for row in rows:
        eager, ours, largest = comparing.worst(row)
        bound = 2 * eager + unit * (64 * largest if row[3].numel() > 3 else 4 * most)
        assert ours <= bound, f"{row[0]}: {ours:.2e} from float64; needed {bound:.2e}"


def check_found(what):
    found = sum((collections.Counter(each) for each in comparing.counts()), collections.Counter())
    assert found["pre"] == 2 and found["post"] == 2, f"{what}: found {dict(found)}; needed 2 pre and 2 post"
    comparing.backend.found.clear()


def check(seed):
    """Sites that are found, which must be all, and results and gradients, which must be those of eager PyTorch."""
    torch.manual_seed(seed)
    torch._dynamo.reset()
    comparing.backend.found.clear()
    module = Model(seed)
    ways = module.ways
    if ways.pick("bf16", False, True):
        module = module.bfloat16()
    try:
        compare(module, comparing.compiled(module, ways.pick("dynamic", False, True)), comparing.TOKENS)
        check_found("training")
        with torch.no_grad():  # where PyTorch takes other forms of a product
            comparing.compiled(module, ways.pick("dynamic"), inner="eager")(comparing.TOKENS)
        check_found("evaluation")
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error}; {ways}") from error


def main(first, count):
    for seed in range(first, first + count):
        try:
            check(seed)
        except AssertionError as error:
            print(error, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
