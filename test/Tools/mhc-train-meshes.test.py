"""Trains random small models on random meshes, and on one axis: gradients and losses must agree.

usage: mhc-train-meshes.test.py --seed=N --count=N --data=FILE -- MPIRUN...    in an empty folder, tools on PATH
"""

import argparse
import json
import os
import random
import runpy
import subprocess
import sys

ranks_test = runpy.run_path(os.path.join(os.path.dirname(__file__), "mhc-train-ranks.test.py"))

VARIANTS = ["deepseek_v4", "liger", "megatron_fused_fallback", "megatron_native", "mhc_cu", "mhc_lite", "paper", "te",
            "tilekernels"]
# More than in mhc-train-ranks.test, as models may have gradients that cancel to nearly nothing, of which 94 roundings
# were seen, and AdamW takes whole steps by the sign of those: 32 were seen in a loss. A wrong sum is off by far more.
GRADIENT_ROUNDINGS = 1024
LOSS_ROUNDINGS = 1024


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int)
    parser.add_argument("--data")
    parser.add_argument("mpirun", nargs="*")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    for _ in range(options.count):
        dp, tp, pp = rng.choice(MESHES)
        config, fuse = draw(rng, tp, pp), "--fuse=" + rng.choice(["layer", "model"])
        micro = f"--microbatches={rng.choice([1, 3])}"
        print(config, dp, tp, pp, fuse, micro, flush=True)
        with open("model.json", "w") as file:
            json.dump(config, file)
        for name, ranks, mesh in (("whole", dp, [f"--mesh=dp={dp}"]),
                                  ("mesh", dp * tp * pp, [f"--mesh=dp={dp},tp={tp}", f"--pipeline={pp}"])):
            subprocess.run(["mhcc", "model.json", "--grad", fuse, *mesh, "-o", name + ".so"], check=True)
            launch = [*options.mpirun, "-np", str(ranks)] if ranks > 1 else []
            train = [*launch, "mhc-train", name + ".so", "--data=" + options.data, micro, "--timeout=30"]
            subprocess.run([*train, "--steps=1", f"--save={name}.first"], check=True)
            subprocess.run([*train, "--steps=20", f"--log={name}.csv"], check=True)
        if not ranks_test["compare"]("whole", "mesh", GRADIENT_ROUNDINGS, LOSS_ROUNDINGS):
            sys.exit("they differ")
    print(options.count, "models agree")


main()
