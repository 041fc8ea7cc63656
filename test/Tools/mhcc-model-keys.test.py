"""Configurations with one key more, and what their training runs left.

usage: mhcc-model-keys.test.py make TINY.json FOLDER
       mhcc-model-keys.test.py compare RUN RUN         RUN.csv and RUN.safetensors of each
       mhcc-model-keys.test.py values FILE.safetensors NAME
"""

import csv
import json
import struct
import sys

CASES = {
    "base": {},
    "head": {"mhc_learned_head": True},
    "groups": {"num_query_groups": 1},
    "experts": {"num_moe_experts": 3},
    "one-expert": {"num_moe_experts": 3, "moe_router_topk": 1},
    "predictions": {"mtp_num_layers": 2},
    "scaled": {"mtp_num_layers": 2, "mtp_loss_scaling_factor": 0.5},
    "inner": {"mtp_num_layers": 1, "mhc_learned_head": True, "mhc_variant": "te", "num_query_groups": 1},
    "gate": {"mhc_init_gating_factor": 0.5},
    "options": {"fuse": "model", "precision": "ieee", "layout": "Cn", "pins": ["post=generic"]},
    "ranks": {"mesh": "dp=2", "pipeline": 2, "grad_sums": "f32", "recompute": "all"},
    "wrong": {"fuse": "everything"},
    "divisor": {"num_query_groups": 3},
    "topk": {"num_moe_experts": 3, "moe_router_topk": 4},
    "far": {"mtp_num_layers": 6},
    "pins": {"pins": ["post"]},
    "pin": {"pins": ["posted=generic"]},
    "precision": {"precision": [32]},
}


def make(tiny, folder):
    with open(tiny, encoding="utf-8") as file:
        base = json.load(file)
    base["hidden_dropout"] = 0
    for name, keys in CASES.items():
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump({**base, **keys}, file)


def losses(run):
    with open(run + ".csv", newline="", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return header, file.read()


def shapes(run):
    return {name: f"{one['dtype'].lower()}{one['shape']}" for name, one in tensors(run + ".safetensors")[0].items()
            if name[:2] not in ("m_", "v_") and name not in ("__metadata__", "step", "seed")}


def compare(first, second):
    old, new = shapes(first), shapes(second)
    for name in sorted(new):
        if name not in old:
            print("new", name, new[name])
        elif new[name] != old[name]:
            print(f"was {old[name]}: {name} {new[name]}")
    before, after = losses(first), losses(second)
    print("the same losses" if before == after else "other losses, which " + ("fall" if after[-1] < after[0] else "rise"))


def values(path, name):
    header, data = tensors(path)
    start, end = header[name]["data_offsets"]
    print(*(f"{value:.6g}" for value in struct.unpack(f"<{(end - start) // 4}f", data[start:end])))


{"make": make, "compare": compare, "values": values}[sys.argv[1]](*sys.argv[2:])
