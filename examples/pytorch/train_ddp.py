"""The GPT of train_gpt.py on several processes, each of which has a part of every batch.

usage: torchrun --nproc-per-node=2 train_ddp.py [--sharded] [STEPS]

--sharded: FSDP2 in place of DDP, with which the processes share weights and their gradients out as well.
"""

import argparse
import os

import torch
from torch import distributed
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from train_gpt import GPT, batches


def prepared(model, sharded):
    """The model compiled, so that it adds gradients up over all processes."""
    if not sharded:
        return torch.compile(DistributedDataParallel(model), backend="mhc")
    for sublayer in model.sublayers:
        sublayer.compile(backend="mhc", options={"require": 1})
        fully_shard(sublayer)
    return fully_shard(model)


def train(steps, sharded, device):
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    torch.manual_seed(0)
    model = prepared(GPT().to(device), sharded)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, words in enumerate(batches(steps)):
        words = words.chunk(ranks)[rank].to(device)
        loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(steps // 10, 1) == 0:
            distributed.all_reduce(loss.detach_())
            if rank == 0:
                print(f"step {step:4}: loss {loss.item() / ranks:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sharded", action="store_true")
    parser.add_argument("steps", nargs="?", type=int, default=100)
    args = parser.parse_args()
    device = "cpu"
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    distributed.init_process_group()
    train(args.steps, args.sharded, device)
    # The model is gone by now: if DDP were the last to have the group, it would end it with Python's lock in hand, and
    # wait for threads of the sums that need the lock.
    distributed.barrier()  # meanwhile those threads let go of tensors
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
