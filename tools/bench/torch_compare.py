#!/usr/bin/env python3
"""Times PyTorch and our CPU kernels on the mHC part of one sublayer, in one run on the same cores.

The part is `pre` (projection, gates, Sinkhorn, aggregate) and `post` (expand and combine), forward, in the variant
megatron_native: RMS with its epsilon outside the root, 20 Sinkhorn iterations that start from softmax plus epsilon,
res_orient io. PyTorch runs it eagerly and through torch.compile; our times come from `mhc-bench --json`. What
torch_gradients.py says of the gradients comes behind.
"""

import argparse
import json
import os
import subprocess
import time

import torch

import torch_gradients

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
        alpha = self.alpha.repeat_interleave(torch.tensor([n, n, n * n]), output_size=2 * n + n * n)
        z = flat @ self.phi.t() * scale * alpha + self.beta
        h_pre = (torch.sigmoid(z[:, :n]) + EPS).to(x.dtype)
        h_post = (2.0 * torch.sigmoid(z[:, n : 2 * n])).to(x.dtype)
        h_res = sinkhorn(z[:, 2 * n :].view(M, n, n)).to(x.dtype)
        return (h_pre.unsqueeze(-1) * x).sum(dim=1), h_post, h_res

    def post(self, f, x, h_post, h_res):
        return torch.bmm(h_res.transpose(1, 2), x) + h_post.unsqueeze(-1) * f.unsqueeze(1)


def milliseconds(function, *args):
    """Best of at least 5 runs and about 2 seconds, as mhc-bench counts."""
    for _ in range(3):
        function(*args)
    times, end = [], time.perf_counter() + 2.0
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        function(*args)
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def torch_times(dtype, M, C, n):
    """{kernel: (eager ms, compiled ms)}"""
    torch.manual_seed(0)
    module = HyperConnection(n, C)
    x = torch.randn(M, n, C).to(DTYPES[dtype])
    u, h_post, h_res = module.pre(x)
    cases = {"pre": (module.pre, (x,)), "post": (module.post, (u, x, h_post, h_res))}
    return {name: (milliseconds(call, *args), milliseconds(torch.compile(call), *args))
            for name, (call, args) in cases.items()}


def our_times(mhc_bench, M, C, n):
    """{(kernel, dtype): ms} of the records of this shape"""
    command = [mhc_bench, "--backend=cpu", "--json", f"--M={M}", f"--C={C}", f"--n={n}"]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return {(record["kernel"], record["dtype"]): record["us"] / 1e3 for record in json.loads(run.stdout)
            if (record["M"], record["C"], record["n"]) == (M, C, n)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mhc-bench", default="build/bin/mhc-bench", help="our benchmark program")
    parser.add_argument("--mhcc", default="build/bin/mhcc", help="our compiler")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("-M", type=int, default=2048, help="tokens")
    parser.add_argument("-C", type=int, default=2560, help="channels of one stream")
    parser.add_argument("-n", type=int, default=4, help="streams")
    args = parser.parse_args()
    shape = (args.M, args.C, args.n)
    torch.set_num_threads(args.threads)

    ours = our_times(args.mhc_bench, *shape)
    print(f"mHC part of one sublayer, forward, megatron_native, M={args.M} C={args.C} n={args.n}, "
          f"{args.threads} threads, PyTorch {torch.__version__}; times in ms")
    print(f"{'dtype':<6} {'kernel':<9} {'eager':>9} {'compile':>9} {'mhc':>9} {'eager /':>9} {'compile /':>10}")
    for dtype in DTYPES:
        with torch.inference_mode():
            rows = torch_times(dtype, *shape)
        rows["pre+post"] = tuple(map(sum, zip(rows["pre"], rows["post"])))
        mine = {kernel: ours.get((kernel, dtype)) for kernel in ("pre", "post")}
        mine["pre+post"] = None if None in mine.values() else sum(mine.values())
        for kernel, (eager, compiled) in rows.items():
            our = mine[kernel]
            tail = f"{our:9.2f} {eager / our:8.2f}x {compiled / our:9.2f}x" if our else f"{'-':>9} {'no record':>20}"
            print(f"{dtype:<6} {kernel:<9} {eager:9.2f} {compiled:9.2f} {tail}")
    torch_gradients.compare(lambda: HyperConnection(args.n, args.C), milliseconds, args.mhcc, args.threads, *shape)


if __name__ == "__main__":
    main()
