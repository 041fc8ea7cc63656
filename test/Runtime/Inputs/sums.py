"""sums.py FOLDER: arguments of test/Runtime/sums.mlir and what it should return, as .npy files. All rows of x are equal and
all terms positive, so that roundings of one sum tend to one side; the exact sums are products."""

import math
import random
import struct
import sys

TOKENS, COLUMNS = 1000003, 5


def save(name, shape, data, dtype="<f4"):
    header = str({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


generator = random.Random(1)
row = [generator.randrange(1 << 23, 1 << 24) / (1 << 24) for _ in range(COLUMNS)]
save("x", (TOKENS, COLUMNS), floats(row) * TOKENS)
save("y", (TOKENS,), floats([row[0]]) * TOKENS)
save("w", (COLUMNS,), floats(row))
save("count", (1,), struct.pack("<q", TOKENS), "<i8")
save("columns", (COLUMNS,), floats([TOKENS * value for value in row]))
save("squares", (COLUMNS,), floats([TOKENS * value * value for value in row]))
save("mean", (), floats([sum(row) / COLUMNS]))
save("rows", (COLUMNS,), floats([TOKENS * value for value in row]))
save("outer", (COLUMNS,), floats([TOKENS * row[0] * value for value in row]))
# A token in front is larger than the others.
save("logits", (TOKENS,), floats([2.0]) + floats([1.7]) * (TOKENS - 1))
(low,) = struct.unpack("<f", floats([1.7]))
small = math.exp(low - 2)
total = 1 + (TOKENS - 1) * small
save("shares", (TOKENS,), floats([1 / total]) + floats([small / total]) * (TOKENS - 1))
