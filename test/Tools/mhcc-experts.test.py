"""A GPT of experts in plain Python, and the configurations that mhcc-experts.test compiles.

usage: mhcc-experts.test.py make FOLDER
       mhcc-experts.test.py same RUN.csv RUN.csv
       mhcc-experts.test.py loss FOLDER CASE            CASE/NAME.npy, random arguments, and their loss in CASE.npy
       mhcc-experts.test.py imbalance FOLDER RUN RUN    whether the second run's experts are less unequal
"""

import csv
import json
import math
import os
import random
import struct
import sys

MODEL = {"num_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 128, "seq_length": 6,
         "micro_batch_size": 2, "num_moe_experts": 3}
STREAMS = {**MODEL, "num_residual_streams": 2, "mhc_sinkhorn_iterations": 3}
# Nothing but experts, so that they can be computed here.
PLAIN = {**MODEL, "enable_hyper_connections": False, "layer_types": ["mlp"], "init_method_std": 1}
CASES = {
    "all": STREAMS,
    "room": {**STREAMS, "moe_expert_capacity_factor": 1.5},
    "drop": {**STREAMS, "moe_expert_capacity_factor": 0.5, "moe_aux_loss_coeff": 0.1},
    "narrow": {**PLAIN, "moe_expert_capacity_factor": 1, "moe_aux_loss_coeff": 0.1, "bf16": True},
    "plain-all": PLAIN,
    "plain-drop": {**PLAIN, "moe_expert_capacity_factor": 0.7},
    "plain-one": {**PLAIN, "moe_expert_capacity_factor": 0.3, "moe_router_topk": 1},
    "plain-balance": {**PLAIN, "moe_aux_loss_coeff": 5},
    "no-experts": {**STREAMS, "num_moe_experts": 0, "moe_expert_capacity_factor": 1},
    "no-balance": {**STREAMS, "num_moe_experts": 0, "moe_aux_loss_coeff": 1},
    "negative": {**STREAMS, "moe_expert_capacity_factor": -1},
}
WEIGHTS = {
    "embedding.word_embeddings.weight": (128, 8), "embedding.position_embeddings.weight": (6, 8),
    "decoder.layers.0.pre_mlp_layernorm.weight": (8,), "decoder.layers.0.mlp.router.weight": (3, 8),
    "decoder.layers.0.mlp.linear_fc1.weight": (96, 8), "decoder.layers.0.mlp.linear_fc2.weight": (8, 96),
    "decoder.final_layernorm.weight": (8,),
}


def make(folder):
    for name, keys in CASES.items():
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump({key: value for key, value in keys.items() if value != 0 or key != "num_moe_experts"}, file)


def losses(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def same(first, second):
    a, b = losses(first), losses(second)
    assert len(a) == len(b) and all(abs(x - y) <= 1e-5 * x for x, y in zip(a, b)), (a, b)
    print(len(a), "losses, the same within 1e-5")


def save(path, values, shape, kind="f"):
    header = str({"descr": "<f4" if kind == "f" else "<i4", "fortran_order": False, "shape": tuple(shape)})
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{kind}", *values))


def rows(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def softmax(values):
    most = max(values)
    powers = [math.exp(value - most) for value in values]
    return [power / sum(powers) for power in powers]


def norm(x, weight):
    scale = 1 / math.sqrt(dot(x, x) / len(x) + 1e-5)
    return [value * scale * w for value, w in zip(x, weight)]


def routed(config, weights, tokens):
    """The residual and normed rows, the shares, and the experts of each token, the first one first."""
    words, places, scale, router = [rows(weights[name], 8) for name in list(WEIGHTS)[:4]]
    x = [[a + b for a, b in zip(words[token], places[m % 6])] for m, token in enumerate(tokens)]
    normed = [norm(row, scale[0]) for row in x]
    shares = [softmax([dot(row, expert) for expert in router]) for row in normed]
    k = config.get("moe_router_topk", 2)
    return x, normed, shares, [sorted(range(3), key=lambda e, one=one: -one[e])[:k] for one in shares]


def imbalance_of(shares, chosen):
    M, k = len(shares), len(chosen[0])
    return 3 / k * sum(sum(e in one for one in chosen) / M * sum(one[e] for one in shares) / M for e in range(3))


def loss_of(config, weights, tokens, targets):
    x, normed, shares, chosen = routed(config, weights, tokens)
    inner, outer = rows(weights[list(WEIGHTS)[4]], 8), rows(weights[list(WEIGHTS)[5]], 96)
    words, final = rows(weights[list(WEIGHTS)[0]], 8), weights[list(WEIGHTS)[6]]
    M, k, factor = len(x), len(chosen[0]), config.get("moe_expert_capacity_factor")
    capacity = min(M, math.ceil(M * k / 3 * factor)) if factor else M
    used, dropped, total = [0, 0, 0], 0, 0
    for m, row in enumerate(x):
        out = list(row)
        for e in sorted(chosen[m]):
            used[e] += 1
            if used[e] > capacity:
                dropped += 1
                continue
            gate = shares[m][e] / sum(shares[m][other] for other in chosen[m])
            hidden = [dot(normed[m], channel) for channel in inner[32 * e:32 * e + 32]]
            hidden = [value / (1 + math.exp(-value)) for value in hidden]
            out = [a + gate * dot(hidden, column[32 * e:32 * e + 32]) for a, column in zip(out, outer)]
        last = norm(out, final)
        total -= math.log(softmax([dot(last, word) for word in words])[targets[m]])
    print(f"dropped {dropped} of {M * k}")
    return total / M + config.get("moe_aux_loss_coeff", 0) * imbalance_of(shares, chosen)


def loss(folder, case):
    draw = random.Random(5)
    os.makedirs(f"{folder}/{case}", exist_ok=True)
    weights = {}
    for name, shape in WEIGHTS.items():
        drawn = [draw.gauss(0, 0.7) for _ in range(math.prod(shape))]
        weights[name] = list(struct.unpack(f"<{len(drawn)}f", struct.pack(f"<{len(drawn)}f", *drawn)))
        save(f"{folder}/{case}/{name}.npy", weights[name], shape)
    tokens, targets = ([draw.randrange(128) for _ in range(12)] for _ in range(2))
    save(f"{folder}/{case}/tokens.npy", tokens, (2, 6), "i")
    save(f"{folder}/{case}/targets.npy", targets, (2, 6), "i")
    save(f"{folder}/{case}.npy", [loss_of(CASES[case], weights, tokens, targets)], ())


def trained(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    return {name: struct.unpack(f"<{math.prod(shape)}f", data[slice(*header[name]["data_offsets"])])
            for name, shape in WEIGHTS.items()}


def imbalance(folder, *runs):
    tokens = list(b"THE SOFTWARE IS provided as it is, and this is text for it.")
    first, second = (imbalance_of(*routed(PLAIN, trained(f"{folder}/{run}.safetensors"), tokens)[2:]) for run in runs)
    print(f"{first:.4f} and {second:.4f},", "less" if second < first - 0.03 else "not less")


{"make": make, "same": same, "loss": loss, "imbalance": imbalance}[sys.argv[1]](*sys.argv[2:])
