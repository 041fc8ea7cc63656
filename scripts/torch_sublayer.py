#!/usr/bin/env python3
"""Times PyTorch on the mHC part of one sublayer: eagerly, and through torch.compile. Prints JSON; mhc-bench
--compare=torch carries this text, runs it and prints the times beside its own.

The part is `pre` (projection, gates, Sinkhorn, aggregate) and `post` (expand and combine) in the variant
megatron_native: RMS with its epsilon outside the root, 20 Sinkhorn iterations that start from softmax plus epsilon,
res_orient io. The row 'sublayer' is forward and backward, with the gradients of x, f and all weights.
"""

import argparse
import json
import time

import torch

EPS = 1e-6
ITERATIONS = 20
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def sinkhorn(logits):
    mix = torch.softmax(logits, dim=-1) + EPS
    mix = mix / (mix.sum(dim=-2, keepdim=True) + EPS)
    for _ in range(ITERATIONS - 1):
        mix = mix / (mix.sum(dim=-1, keepdim=True) + EPS)
        mix = mix / (mix.sum(dim=-2, keepdim=True) + EPS)
    return mix


class HyperConnection(torch.nn.Module):
    """The mapping is computed in f32 whatever the activations are; its results take their type."""

    def __init__(self, n, C):
        super().__init__()
        self.n = n
        self.phi = torch.nn.Parameter(torch.randn(2 * n + n * n, n * C) / (n * C) ** 0.5)
        self.alpha = torch.nn.Parameter(torch.full((3,), 0.5))
        self.beta = torch.nn.Parameter(torch.randn(2 * n + n * n) * 0.1)

    def pre(self, x):
        M, n, _ = x.shape
        flat = x.flatten(1).float()
        scale = 1.0 / (flat.square().mean(dim=-1, keepdim=True).sqrt() + EPS)
        alpha = torch.cat([self.alpha[:1].expand(n), self.alpha[1:2].expand(n), self.alpha[2:].expand(n * n)])
        z = flat @ self.phi.t() * scale * alpha + self.beta
        h_pre = (torch.sigmoid(z[:, :n]) + EPS).to(x.dtype)
        h_post = (2.0 * torch.sigmoid(z[:, n : 2 * n])).to(x.dtype)
        h_res = sinkhorn(z[:, 2 * n :].view(M, n, n)).to(x.dtype)
        return (h_pre.unsqueeze(-1) * x).sum(dim=1), h_post, h_res

    def post(self, f, x, h_post, h_res):
        return torch.bmm(h_res.transpose(1, 2), x) + h_post.unsqueeze(-1) * f.unsqueeze(1)

    def forward(self, x, f):
        u, h_post, h_res = self.pre(x)
        return u, self.post(f, x, h_post, h_res)


def milliseconds(function, *args, seconds=2.0):
    """Best of at least 5 runs and about 2 seconds, as mhc-bench counts on a CPU."""
    for _ in range(3):
        function(*args)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        function(*args)
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def milliseconds_on_gpu(function, *args, seconds=0.2):
    """Median of runs between two events each; a sublayer's tensors exceed the caches but for the smallest shapes."""
    for _ in range(3):
        function(*args)
    torch.cuda.synchronize()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        function(*args)
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last))
    return sorted(times)[len(times) // 2]


def forward_and_backward(forward, inputs, weights, cotangents):
    return torch.autograd.grad(forward(*inputs), [*inputs, *weights], cotangents)


def rows(device, dtype, M, C, n):
    """{row: (eager ms, compiled ms)}"""
    torch.manual_seed(0)
    clock = milliseconds_on_gpu if device == "cuda" else milliseconds
    element = DTYPES[dtype]
    with torch.device(device):
        module = HyperConnection(n, C)
        x, f = torch.randn(M, n, C).to(element), torch.randn(M, C).to(element)
        cotangents = [torch.randn(M, C).to(element), torch.randn(M, n, C).to(element)]
    with torch.inference_mode():
        _, h_post, h_res = module.pre(x)
        calls = {"pre": (module.pre, (x,)), "post": (module.post, (f, x, h_post, h_res)),
                 "sublayer forward": (module.forward, (x, f))}
        times = {name: (clock(call, *args), clock(torch.compile(call, dynamic=False), *args))
                 for name, (call, args) in calls.items()}
    inputs, weights = [x.requires_grad_(), f.requires_grad_()], list(module.parameters())
    times["sublayer"] = tuple(clock(forward_and_backward, forward, inputs, weights, cotangents)
                              for forward in (module.forward, torch.compile(module.forward, dynamic=False)))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="of the CPU; 0 is PyTorch's choice")
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--shapes", default="2048x2560", help="tokens and channels, such as 8192x4096,128x4096")
    parser.add_argument("-n", type=int, default=4, help="streams")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    found = []
    for shape in args.shapes.split(","):
        M, C = map(int, shape.split("x"))
        for dtype in args.dtypes.split(","):
            torch.compiler.reset()  # of the last shape
            for kernel, (eager, compiled) in rows(args.device, dtype, M, C, args.n).items():
                found.append({"kernel": kernel, "dtype": dtype, "M": M, "C": C, "n": args.n,
                              "eager_us": 1e3 * eager, "compiled_us": 1e3 * compiled})
    print(json.dumps({"torch": torch.__version__, "rows": found}))


if __name__ == "__main__":
    main()
