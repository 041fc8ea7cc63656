"""Compares runs of several ranks with that of one: gradients, by the first moments after one step, and losses.

usage: mhc-train-ranks.test.py 1 RANKS...    of RANKS.first and RANKS.csv in this folder
"""

import itertools
import json
import math
import struct
import sys

EPS = 2.0**-24  # the most that one rounding to f32 changes, relative
# A gradient is a sum over 24 or 48 tokens of products that several matmuls made; each part of a batch may add in another
# order. In those of alpha, of which a tensor has three, the terms nearly cancel: 35 roundings were seen, in others 4.
# Losses: the same, and 50 steps of AdamW behind it, which divide by the roots of gradients; 2.1 were seen.
GRADIENT_ROUNDINGS = 64
LOSS_ROUNDINGS = 16


def moments(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    for name, info in header.items():
        if name.startswith("m_"):
            begin, end = info["data_offsets"]
            yield name, struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])


def losses(path):
    return [float(line.split(",")[1]) for line in open(path).readlines()[1:]]


def compare(one, ranks, gradient_roundings=GRADIENT_ROUNDINGS, loss_roundings=LOSS_ROUNDINGS):
    """Whether two runs agree."""
    want, got, want_losses, gradient = *(dict(moments(run + ".first")) for run in (one, ranks)), losses(one + ".csv"), 0
    if got.keys() != want.keys() or not all(map(math.isfinite, itertools.chain(*got.values()))):
        print(f"{ranks} ranks: gradients of other names, or of no numbers", flush=True)
        return False
    for name, values in got.items():
        largest = max(map(abs, want[name])) or 1
        gradient = max(gradient, max(abs(a - b) for a, b in zip(values, want[name])) / largest)
    found = losses(ranks + ".csv")
    loss = max(abs(a - b) / b for a, b in zip(found, want_losses))
    print(f"{ranks} ranks: gradients differ by {gradient / EPS:.1f} roundings, losses by {loss / EPS:.1f}", flush=True)
    return gradient <= gradient_roundings * EPS and loss <= loss_roundings * EPS and len(found) == len(want_losses)


def main():
    one, *others = sys.argv[1:]
    sys.exit(not all([compare(one, ranks) for ranks in others]))


if __name__ == "__main__":
    main()
