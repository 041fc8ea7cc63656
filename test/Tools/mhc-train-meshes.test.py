"""Trains random small models on random meshes, and on one axis: gradients and losses must agree.

Sums in another order round differently, which moves a gradient by an unknown share of its own size: what is left where
terms cancel may be rounding alone. So each model also trains on one axis with weights that were rounded once more. How
much that moves a gradient, or the loss, says how much a rounding does to it, whatever cancels, and is what is allowed,
times the number of roundings in a row.

usage: mhc-train-meshes.test.py --seed=N --count=N --data=FILE -- MPIRUN...    in an empty folder, tools on PATH
"""

import argparse
import json
import os
import random
import runpy
import struct
import subprocess
import sys

ranks_test = runpy.run_path(os.path.join(os.path.dirname(__file__), "mhc-train-ranks.test.py"))

VARIANTS = ["deepseek_v4", "liger", "megatron_fused_fallback", "megatron_native", "mhc_cu", "mhc_lite", "paper", "te",
            "tilekernels"]
EPS = ranks_test["EPS"]
# Roundings in a row between the weights and a gradient.
ROUNDINGS = 16
# Weights are rounded that often, of which the largest change counts: one alone may happen to move a number by little.
TRIALS = 3

MESHES = [(1, 1, 2), (2, 1, 2), (1, 2, 1), (2, 2, 1), (1, 2, 2), (1, 1, 3), (1, 1, 4)]  # dp, tp, pp


def draw(rng, tp, pp):
    layers = max(pp, rng.choice([2, 3]))  # each may be one sublayer
    config = {
        "num_layers": layers, "hidden_size": 16, "num_attention_heads": 2, "vocab_size": 128, "seq_length": 6,
        "micro_batch_size": 4, "num_residual_streams": rng.choice([2, 4]), "mhc_variant": rng.choice(VARIANTS),
        "hidden_dropout": rng.choice([0, 0.1]) if tp == 1 else 0,  # of which ranks draw their own
    }
    if rng.random() < 0.4:
        config["mhc_recompute_layer_num"] = 1
    if rng.random() < 0.5:
        config["layer_types"] = [rng.choice(["attention", "gated_delta", "mlp"]) for _ in range(layers)]
    if rng.random() < 0.3:
        config["num_moe_experts"] = 3
    return config


def round_weights(path, rng):
    """Moves each weight of a checkpoint by one rounding, up or down."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    header.pop("__metadata__")  # has the checksum
    for info in header.values():
        begin, end = info["data_offsets"]
        if info["dtype"] == "F32":
            values = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
            moved = [value * (1 + rng.choice([-2, 2]) * EPS) for value in values]
            data[begin:end] = struct.pack(f"<{len(moved)}f", *moved)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def distance(left, right):
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


def roundings(want, found, rounded):
    """By how many roundings two runs differ, where one changes what it did to `rounded` runs, or the largest number."""
    one = max(EPS * max(map(abs, want)), *(distance(want, other) for other in rounded))
    return distance(want, found) / (one or EPS)


def numbers(name):
    """A run's gradients, by the first moments after one step, and losses."""
    return {**dict(ranks_test["moments"](name + ".first")), "loss": ranks_test["losses"](name + ".csv")}


def compare(rounded):
    want, found, rounded = numbers("whole"), numbers("mesh"), [numbers(name) for name in rounded]
    worst = {name: roundings(want[name], found[name], [run[name] for run in rounded]) for name in want}
    loss = worst.pop("loss")
    name = max(worst, key=worst.get)
    print(f"gradients differ by {worst[name]:.1f} roundings ({name}), losses by {loss:.1f}", flush=True)
    return max(worst[name], loss) <= ROUNDINGS


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int)
    parser.add_argument("--data")
    parser.add_argument("mpirun", nargs="*")
    options = parser.parse_args()
    rng, rounded = random.Random(options.seed), [f"rounded{trial}" for trial in range(TRIALS)]
    for _ in range(options.count):
        dp, tp, pp = rng.choice(MESHES)
        config, fuse = draw(rng, tp, pp), "--fuse=" + rng.choice(["layer", "model"])
        micro = f"--microbatches={rng.choice([1, 3])}"
        print(config, dp, tp, pp, fuse, micro, flush=True)
        with open("model.json", "w") as file:
            json.dump(config, file)
        trains = {}
        for name, ranks, mesh in (("whole", dp, [f"--mesh=dp={dp}"]),
                                  ("mesh", dp * tp * pp, [f"--mesh=dp={dp},tp={tp}", f"--pipeline={pp}"])):
            subprocess.run(["mhcc", "model.json", "--grad", fuse, *mesh, "-o", name + ".so"], check=True)
            launch = [*options.mpirun, "-np", str(ranks)] if ranks > 1 else []
            trains[name] = [*launch, "mhc-train", name + ".so", "--data=" + options.data, micro, "--timeout=30"]
            run([*trains[name], "--steps=1", f"--save={name}.first"])
            run([*trains[name], "--steps=20", f"--log={name}.csv"])
        for name in rounded:
            run([*trains["whole"], "--steps=0", "--save=" + name])
            round_weights(name, random.Random(name))
            run([*trains["whole"], "--steps=1", "--load=" + name, f"--save={name}.first"])
            run([*trains["whole"], "--steps=20", "--load=" + name, f"--log={name}.csv"])
        if not compare(rounded):
            sys.exit("they differ")
    print(options.count, "models agree")


main()
