"""Trains the example's GPT, whose feed-forward layers all processes of a launch divide, and prints its losses.

usage: train_divided.py STEPS [--compiled] [--autocast]
"""

import contextlib
import sys

import torch
from torch import distributed
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn import functional as F
from train_gpt import GPT, batches


def divided_model():
    """The same weights on each process, of which those of feed-forward layers are DTensors."""
    torch.manual_seed(0)
    model, mesh = GPT(), distributed.init_device_mesh("cpu", (distributed.get_world_size(),))
    for sublayer in model.sublayers[1::2]:
        parallelize_module(sublayer.f[1], mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return model


def losses(model, steps, autocast):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, foreach=False)  # DTensors beside others
    for words in batches(steps):
        with torch.autocast("cpu", torch.bfloat16) if autocast else contextlib.nullcontext():
            out = model(words[:, :-1])
        loss = F.cross_entropy(out.float().flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


class Within(torch.nn.Module):
    """A model that enters autocast itself, so that its graph says so."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, words):
        with torch.autocast("cpu", torch.bfloat16):
            return self.model(words)


def main():
    distributed.init_process_group("gloo")
    model = divided_model()
    autocast = "--autocast" in sys.argv
    if "--compiled" in sys.argv:
        options = {"require": 8, "inner": "aot_eager"}
        model = torch.compile(Within(model) if autocast else model, backend="mhc", options=options)
    found = list(losses(model, int(sys.argv[1]), autocast))
    if distributed.get_rank() == 0:
        print(*found)
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
