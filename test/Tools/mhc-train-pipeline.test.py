"""Compares gradient norms and validation losses of a run with those of one of the same ranks without stages.

usage: mhc-train-pipeline.test.py WHOLE.csv STAGES.csv

Both are sums over a few thousand f32 values that were made in another order: 64 roundings are ten times what was seen.
"""

import csv
import sys

MOST = 64 * 2.0**-24


def figures(path, column):
    return [float(row[column]) for row in csv.DictReader(open(path)) if row[column]]


for column, count in ("gradient_norm", 4), ("validation_loss", 2):
    want, found = (figures(path, column) for path in sys.argv[1:])
    assert len(want) == len(found) == count, (column, want, found)
    for a, b in zip(want, found):
        assert abs(a - b) <= MOST * a, (column, a, b, abs(a - b) / a / 2**-24)
