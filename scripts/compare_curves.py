"""Compares the log of a training run with a golden one, metric by metric, and says what moved and by how much.

usage: compare_curves.py [--bound=METRIC:SHARE ...] GOLDEN.csv LOG.csv

Both are logs of `mhc-train --log`. A metric may move by a share of its golden value at each step. Exit status: 1 where one
moved further.
"""

import argparse
import csv
import sys

BOUNDS = {"loss": 5e-4, "gradient_norm": 5e-3, "learning_rate": 1e-6, "validation_loss": 5e-4}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def moves(golden, log, metric):
    """(share, step, found, golden) of each step that has the metric; one that only one of them has moved without bound."""
    for want, got in zip(golden, log):
        if want[metric] and got[metric]:
            found, needed = float(got[metric]), float(want[metric])
            share = abs(found - needed) / abs(needed) if needed else abs(found)
            yield share if share == share else float("inf"), want["step"], found, needed
        elif want[metric] or got[metric]:
            yield float("inf"), want["step"], got[metric] or "nothing", want[metric] or "nothing"


def report(metric, bound, found):
    beyond = [move for move in found if move[0] > bound]
    if not beyond:
        print(f"{metric}: moved by at most {max((move[0] for move in found), default=0):.1e} of {bound:.0e}: good")
        return True
    share, step, value, needed = beyond[0]
    print(f"{metric}: MOVED by {share:.3g} of {bound:.0e} at step {step}: found {value}, golden {needed}; "
          f"{len(beyond)} of {len(found)} steps")
    return False


def main():
    parser = argparse.ArgumentParser(prog="compare_curves.py", description=__doc__.split("\n")[0])
    parser.add_argument("--bound", action="append", default=[], metavar="METRIC:SHARE", help=f"default {BOUNDS}")
    parser.add_argument("golden")
    parser.add_argument("log")
    options = parser.parse_args()
    bounds = BOUNDS | {metric: float(share) for metric, share in (bound.split(":") for bound in options.bound)}
    if unknown := sorted(bounds.keys() - BOUNDS.keys()):
        parser.error(f"--bound is of '{unknown[0]}'; needed one of {', '.join(BOUNDS)}")
    golden, log = read(options.golden), read(options.log)
    if len(golden) != len(log):
        sys.exit(f"compare_curves.py: error: found {len(log)} steps, golden {len(golden)}")
    good = [report(metric, bound, list(moves(golden, log, metric))) for metric, bound in bounds.items()]
    sys.exit(0 if all(good) else 1)


main()
