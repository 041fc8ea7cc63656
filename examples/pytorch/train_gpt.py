"""A small GPT in plain PyTorch with hyper-connections around each sublayer, trained eagerly and compiled.

usage: train_gpt.py [STEPS [FOLDER]]

With a FOLDER, a log of each run is written there, of which scripts/train_report.py draws the curves.
"""

import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

N, C, HEADS, LAYERS, WORDS, BATCH, LENGTH = 4, 64, 4, 2, 64, 8, 64


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(C, 3 * C), nn.Linear(C, C)

    def forward(self, u):
        q, k, v = self.qkv(u).unflatten(-1, (3, HEADS, C // HEADS)).permute(2, 0, 3, 1, 4).unbind(0)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))


class Connected(nn.Module):
    """A sublayer with its norm and its hyper-connection."""

    def __init__(self, f):
        super().__init__()
        self.f = nn.Sequential(nn.RMSNorm(C), f)
        self.phi = nn.Parameter(torch.randn(2 * N + N * N, N * C) / (N * C) ** 0.5)
        self.alpha = nn.Parameter(torch.full((3,), 0.1))
        self.beta = nn.Parameter(torch.cat([torch.zeros(2 * N), 4 * torch.eye(N).flatten()]))

    def forward(self, x):
        flat = x.flatten(-2)
        t = F.linear(flat, self.phi) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        pre, post, res = t.split([N, N, N * N], -1)
        pre = torch.sigmoid(pre * self.alpha[0] + self.beta[:N])
        post = 2 * torch.sigmoid(post * self.alpha[1] + self.beta[N : 2 * N])
        res = torch.exp((res * self.alpha[2] + self.beta[2 * N :]).unflatten(-1, (N, N)))
        for _ in range(20):
            res = res / (res.sum(-1, keepdim=True) + 1e-6)
            res = res / (res.sum(-2, keepdim=True) + 1e-6)
        f = self.f((pre.unsqueeze(-1) * x).sum(-2))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, C), nn.Embedding(LENGTH, C)
        feeds = [nn.Sequential(nn.Linear(C, 4 * C), nn.GELU(), nn.Linear(4 * C, C)) for _ in range(LAYERS)]
        self.sublayers = nn.ModuleList(Connected(f) for feed in feeds for f in (Attention(), feed))
        self.out = nn.Sequential(nn.RMSNorm(C), nn.Linear(C, WORDS))

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
        x = x.unsqueeze(-2).expand(-1, -1, N, -1)
        for sublayer in self.sublayers:
            x = sublayer(x)
        return self.out(x.sum(-2))


def batches(steps):
    """The same words in each run, each of which says which two may follow."""
    random = torch.Generator().manual_seed(1)
    for _ in range(steps):
        words = [torch.randint(WORDS, (BATCH,), generator=random)]
        while len(words) <= LENGTH:
            words.append((5 * words[-1] + torch.randint(2, (BATCH,), generator=random)) % WORDS)
        yield torch.stack(words, 1)


def losses(steps, rows=slice(None), **options):
    """Losses of a run from the same weights. Another order of a batch's rows is another order of the sums over them."""
    torch.manual_seed(0)
    model = GPT()
    run = torch.compile(model, **options) if options else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for words in batches(steps):
        words = words[rows]
        loss = F.cross_entropy(run(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def largest_difference(ones, others):
    return max(abs(one - other) for one, other in zip(ones, others))


def logged(name, found):
    """The losses, each with the time of its step in the run's log where a folder is given."""
    lines, result, start = ["step,loss,milliseconds"], [], time.perf_counter()
    for loss in found:
        end = time.perf_counter()
        result.append(loss)
        lines.append(f"{len(result)},{loss!r},{1e3 * (end - start):.2f}")
        start = end
    if len(sys.argv) > 2:
        with open(os.path.join(sys.argv[2], name + ".csv"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return result


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    eager = logged("eager", losses(steps))
    reordered = logged("reordered", losses(steps, rows=list(reversed(range(BATCH)))))
    compiled = logged("compiled", losses(steps, backend="mhc", options={"require": 8}))
    for step in range(0, steps, max(steps // 10, 1)):
        print(f"step {step:4}: eager {eager[step]:.4f}, compiled {compiled[step]:.4f}")
    spread, difference = largest_difference(eager, reordered), largest_difference(eager, compiled)
    print(f"largest difference of losses: {difference:.1e}; of two eager runs, whose sums have other orders, {spread:.1e}")
    print("same losses:", difference <= 4 * spread)  # more than one order differs


if __name__ == "__main__":
    main()
