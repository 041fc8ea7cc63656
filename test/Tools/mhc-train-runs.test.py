"""Prints the small f32 tensors of a checkpoint by name.

usage: mhc-train-runs.test.py FILE
"""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    data = file.read()
for name, tensor in sorted(header.items()):
    begin, end = tensor.get("data_offsets", (0, 0))
    if tensor.get("dtype") == "F32" and end - begin <= 32:
        print(name, list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])))
