"""Times the mHC of one sublayer as DeepSeek-V4 of transformers writes it, with the gradients of all that it reads."""

import functools
import re
import statistics
import sys
import time

import torch

from . import rivals
from .model import compile

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


def _milliseconds(call, device, repeat):
    """The median of calls, behind some that compile and warm up. A GPU's calls follow one another without a gap, unless
    the host is slower."""
    for _ in range(4):
        call()
    if device == "cpu":
        marks = [time.perf_counter()]
        for _ in range(repeat):
            call()
            marks.append(time.perf_counter())
        return 1e3 * statistics.median(map(float.__sub__, marks[1:], marks))
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(repeat + 1)]
    marks[0].record()
    for mark in marks[1:]:
        call()
        mark.record()
    torch.cuda.synchronize()
    return statistics.median(map(torch.cuda.Event.elapsed_time, marks, marks[1:]))


def _host_milliseconds(call, repeat):
    """The host's time for a call, which the GPU's hides where it is longer."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(min(repeat, 20)):  # more might wait for room in the queue
        call()
    return 1e3 * (time.perf_counter() - start) / min(repeat, 20)


def _copy_speed(device, repeat):
    """Bytes read and written in a second by a copy, 256 MiB each."""
    source = torch.ones(2**26, device=device)
    target = torch.empty_like(source)
    return 2 * source.nbytes / 1e-3 / _milliseconds(lambda: target.copy_(source), device, repeat)


def _check(shapes, dtype, device):
    for shape in shapes.split(","):
        if not re.fullmatch("[1-9][0-9]*x[1-9][0-9]*", shape):
            sys.exit(f"mhcc bench: --shapes has '{shape}'; needed tokens x channels, as 2048x2560")
    for word in dtype.split(","):
        if word not in _TYPES:
            sys.exit(f"mhcc bench: --dtype has '{word}'; needed {', '.join(_TYPES)}")
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("mhcc bench: --device is cuda, and PyTorch finds no GPU")


def run(shapes, dtype, device, forward, mode, repeat, beside):
    _check(shapes, dtype, device)
    where = torch.cuda.get_device_name() if device == "cuda" else f"{torch.get_num_threads()} threads"
    columns = [rivals.Column(text) for text in beside]
    names = ["eager", "compiled", *(column.name for column in columns), "mhc"]
    print(f"PyTorch {torch.__version__}, {where}, copy {_copy_speed(device, repeat) / 1e9:.0f} GB/s")
    host = "; the host's part of mhc" if device == "cuda" else ""
    print(f"{'shape':12} {'dtype':6} {' '.join(f'{name:>10}' for name in names)}   ms; times faster than each{host}")
    for shape in shapes.split(","):
        tokens, channels = map(int, shape.split("x"))
        for word in dtype.split(","):
            torch.manual_seed(0)
            torch._dynamo.reset()
            module = Sublayer(channels).to(device)
            x = torch.randn(tokens, module.n, channels, dtype=_TYPES[word], device=device, requires_grad=not forward)
            gradient = torch.randn_like(x)

            def step(model):
                with torch.set_grad_enabled(not forward):
                    out = model(x)
                return out if forward else torch.autograd.grad(out, [x, *module.parameters()], gradient)

            besides = [column.step(module, x, None if forward else gradient) for column in columns]
            models = module, torch.compile(module, mode=mode), compile(module, mode=mode, require="all")
            *calls, ours = (functools.partial(step, model) for model in models)
            times = [call and _milliseconds(call, device, repeat) for call in (*calls, *besides, ours)]
            own = times[-1]
            print(f"{shape:12} {word:6}", *(f"{'-' if time is None else f'{time:.3f}':>{max(10, len(name))}}"
                                            for name, time in zip(names, times)), " ",
                  *("-" if time is None else f"{time / own:.1f}" for time in times[:-1]),
                  *([f" {_host_milliseconds(ours, repeat):.3f}"] if host else []))  # fmt: skip
