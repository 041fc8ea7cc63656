"""arguments.py FOLDER [random] < list: NAME.npy for each argument that `mhc-run --list` printed. They are zeros, or random
numbers that follow from the name; sizes that are symbols are 3."""

import random
import re
import struct
import sys

DTYPES = {"f32": ("<f4", 4), "bf16": ("<V2", 2), "f16": ("<f2", 2), "i32": ("<i4", 4), "i64": ("<i8", 8)}


def elements(name, dtype, count):
    if sys.argv[2:] != ["random"] or dtype not in ("f32", "bf16"):
        return bytes(count * DTYPES[dtype][1])
    generator = random.Random(name)
    words = (struct.pack("<f", generator.uniform(-1, 1)) for _ in range(count))
    return b"".join(word if dtype == "f32" else word[2:] for word in words)


for line in sys.stdin:
    words = line.split()
    if not words or words[0] != "argument":
        continue
    dtype, dims = re.match(r"(\w+)\[(.*?)\]", words[2]).groups()
    shape = tuple(int(dim) if dim.isdigit() else 3 for dim in dims.split(",") if dim)
    count = 1
    for dim in shape:
        count *= dim
    header = str({"descr": DTYPES[dtype][0], "fortran_order": False, "shape": shape}).encode()
    with open(f"{sys.argv[1]}/{words[1]}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + elements(words[1], dtype, count))
