#!/usr/bin/env python3
"""Exports the corpus' PyTorch modules as linalg on tensors, in several number formats and with several sizes open.

  export_torch.py OUTPUT [--only NAME]

A file is called MODULE-FORMAT-OPEN.mlir. Weights are arguments of the function. Formats: all f32, all bf16, bf16 with
coefficients kept in f32, f32 under autocast to bf16. Open sizes: none, the batch, the tokens, both. Where a view joins
two open sizes, torch-mlir casts the second to 1. `wide` is both once more, with products of more than two dimensions
left to torch-mlir, which needs fewer views; it is written where no such cast is left.
"""

import argparse
import contextlib
import pathlib
import re
import warnings

import torch
from torch import nn
from torch_mlir import fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

import base
import community  # noqa: F401: enters its modules
import gated_delta  # noqa: F401
import published  # noqa: F401
import sizes
import variants  # noqa: F401

BATCH, TOKENS = torch.export.Dim("batch", min=2), torch.export.Dim("tokens", min=2)
OPEN = {"static": {}, "batch": {"B": BATCH, "Bn": sizes.N * BATCH}, "tokens": {"T": TOKENS}}
OPEN["both"] = OPEN["wide"] = OPEN["batch"] | OPEN["tokens"]
CAST_TO_ONE = re.compile(r"tensor\.cast .* to tensor<[^>]*\?x1x")
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "keep": torch.bfloat16, "autocast": torch.float32}


class Program(nn.Module):
    """The module as a function of its inputs and weights, so that no weight becomes a constant."""

    def __init__(self, site):
        super().__init__()
        self.call = [site]  # in a list, so that its weights are not this module's

    def forward(self, inputs, weights):
        return torch.func.functional_call(self.call[0], weights, inputs)


def choices(cls, number):
    """(format, open sizes) of the files of one module: f32, bf16, and one of the other two formats."""
    has_batch = any("B" in layout for layout in cls.inputs)
    kinds = ["static", "batch", "tokens", "both"] if has_batch else ["static", "tokens"]
    yield from (("f32", kind) for kind in [kinds[0], kinds[-1], *["wide"] * has_batch])
    yield from (("bf16", kinds[0]), ("bf16", kinds[1 + number % (len(kinds) - 1)]))
    yield "keep" if number % 2 and runs(cls, "keep") else "autocast", kinds[number // 2 % len(kinds)]


def runs(cls, form):
    try:
        converted(cls(), form)(*(example(layout, form, "static")[0] for layout in cls.inputs))
    except RuntimeError:  # types that PyTorch does not mix
        return False
    return True


def converted(site, form):
    if form == "bf16":
        return site.to(torch.bfloat16)
    if form == "keep":
        for name, child in site.named_modules():
            if name.split(".")[-1] == "f":
                child.to(torch.bfloat16)
    return site


def example(layout, form, kind):
    """A tensor of this layout, and which of its dimensions are open."""
    names, _, own = layout.partition(":")
    names = names.split()
    dtype = TYPES[own or form]
    opened = OPEN[kind]
    return (torch.randn([sizes.SIZES[name] for name in names]).to(dtype),
            {i: opened[name] for i, name in enumerate(names) if name in opened})


def export(cls, form, kind):
    site = converted(cls(), form).eval()
    inputs, opened = zip(*(example(layout, form, kind) for layout in cls.inputs))
    weights = {name: value.detach() for name, value in site.named_parameters()}
    shapes = (opened, {name: None for name in weights})
    cast = torch.autocast("cpu", torch.bfloat16) if form == "autocast" else contextlib.nullcontext()
    with torch.no_grad(), cast:
        site(*inputs)
        program = torch.export.export(Program(site), (inputs, weights), dynamic_shapes=shapes, strict=False)
    table = get_decomposition_table()
    if kind == "wide":
        for op in (torch.ops.aten.matmul.default, torch.ops.aten.linear.default):
            table.pop(op, None)
    return str(fx.export_and_import(program, output_type="linalg-on-tensors", func_name="main",
                                    decomposition_table=table))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--only", default="", help="only files whose names hold this")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    for number, (name, cls) in enumerate(base.MODULES.items()):
        for form, kind in choices(cls, number):
            file = arguments.output / f"{name}-{form}-{kind}.mlir"
            if arguments.only not in file.name:
                continue
            torch.manual_seed(0)
            try:
                text = export(cls, form, kind)
            except Exception as error:  # an exporter's limit must not stop the others
                print(f"{file.name}: not exported: {type(error).__name__}: {str(error).strip()[:300]}", flush=True)
                continue
            if kind != "wide" or not CAST_TO_ONE.search(text):
                file.write_text(sizes.header(len(cls.inputs), cls.fused, getattr(cls, "chain", sizes.CHAIN)) + text)


if __name__ == "__main__":
    main()
