"""Times the mHC of one sublayer as DeepSeek-V4 of transformers writes it, with the gradients of all that it reads."""

import time

import torch

_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


class Sublayer(torch.nn.Module):
    """The sublayer itself is left out: its output is its input."""

    def __init__(self, channels, n=4):
        super().__init__()
        self.n = n
        self.phi = torch.nn.Parameter(torch.randn(2 * n + n * n, n * channels) / (n * channels) ** 0.5)
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.base = torch.nn.Parameter(torch.zeros(2 * n + n * n))

    def forward(self, x):
        n = self.n
        flat = x.flatten(-2).float()
        flat = flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        pre, post, res = torch.nn.functional.linear(flat, self.phi).split([n, n, n * n], -1)
        pre = torch.sigmoid(pre * self.scale[0] + self.base[:n]) + 1e-6
        post = 2 * torch.sigmoid(post * self.scale[1] + self.base[n : 2 * n])
        res = (res * self.scale[2] + self.base[2 * n :]).unflatten(-1, (n, n)).softmax(-1) + 1e-6
        res = res / (res.sum(-2, keepdim=True) + 1e-6)
        for _ in range(19):
            res = res / (res.sum(-1, keepdim=True) + 1e-6)
            res = res / (res.sum(-2, keepdim=True) + 1e-6)
        u = (pre.unsqueeze(-1) * x).sum(-2).to(x.dtype)
        mixed = torch.matmul(res.to(x.dtype), x)
        return post.to(x.dtype).unsqueeze(-1) * u.unsqueeze(-2) + mixed


def _seconds(call, x, gradient, repeat):
    """The fastest call, behind two that compile and warm up."""
    best = float("inf")
    for i in range(repeat + 2):
        start = time.perf_counter()
        torch.autograd.backward(call(x), gradient)
        if i >= 2:
            best = min(best, time.perf_counter() - start)
    return best


def run(shapes, dtype, repeat):
    print(f"{'shape':12} {'dtype':6} {'eager':>10} {'compiled':>10} {'mhc':>10}   ms; times faster than each")
    for shape in shapes.split(","):
        tokens, channels = map(int, shape.split("x"))
        for word in dtype.split(","):
            torch.manual_seed(0)
            torch._dynamo.reset()
            module = Sublayer(channels)
            x = torch.randn(tokens, module.n, channels, dtype=_TYPES[word], requires_grad=True)
            gradient = torch.randn_like(x)
            calls = module, torch.compile(module), torch.compile(module, backend="mhc", options={"require": "all"})
            eager, compiled, ours = (1e3 * _seconds(call, x, gradient, repeat) for call in calls)
            print(f"{shape:12} {word:6} {eager:10.1f} {compiled:10.1f} {ours:10.1f}   "
                  f"{eager / ours:.1f} {compiled / ours:.1f}")  # fmt: skip
