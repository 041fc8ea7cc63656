"""One sublayer with its hyper-connection, as the paper writes it, in plain PyTorch: nothing here knows of mhcc."""

import torch
from torch.nn import functional as F


class Sublayer(torch.nn.Module):
    def __init__(self, n=4, C=64):
        super().__init__()
        self.n = n
        self.phi = torch.nn.Parameter(torch.randn(2 * n + n * n, n * C) / (n * C) ** 0.5)
        self.alpha = torch.nn.Parameter(torch.full((3,), 0.1))
        self.beta = torch.nn.Parameter(torch.zeros(2 * n + n * n))
        self.norm = torch.nn.RMSNorm(C)
        self.up, self.down = torch.nn.Linear(C, 4 * C), torch.nn.Linear(4 * C, C)

    def coefficients(self, x):
        n = self.n
        flat = x.flatten(-2)
        t = F.linear(flat, self.phi) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        pre, post, res = t.split([n, n, n * n], -1)
        pre = torch.sigmoid(pre * self.alpha[0] + self.beta[:n])
        post = 2 * torch.sigmoid(post * self.alpha[1] + self.beta[n : 2 * n])
        res = torch.exp((res * self.alpha[2] + self.beta[2 * n :]).unflatten(-1, (n, n)))
        for _ in range(20):
            res = res / (res.sum(-1, keepdim=True) + 1e-6)
            res = res / (res.sum(-2, keepdim=True) + 1e-6)
        return pre, post, res

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = (pre.unsqueeze(-1) * x).sum(-2)
        f = self.down(F.silu(self.up(self.norm(u))))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


def layer():
    torch.manual_seed(0)
    return Sublayer(), (torch.randn(2, 128, 4, 64),)


if __name__ == "__main__":
    module, args = layer()
    compiled = torch.compile(module, backend="mhc", options={"require": "all"})
    print("same output:", torch.allclose(compiled(*args), module(*args), atol=1e-5))
