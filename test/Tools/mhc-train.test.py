"""Checkpoints as another program has them.

usage: mhc-train.test.py without-checksum|change-a-weight|step=N|seed=N FROM TO
"""

import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return header, bytearray(file.read())


def write(path, header, data):
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def main():
    change, source, target = sys.argv[1:]
    header, data = read(source)
    if change == "change-a-weight":
        data[header["embedding.word_embeddings.weight"]["data_offsets"][0]] ^= 1
    else:
        del header["__metadata__"]
    if "=" in change:
        name, value = change.split("=")
        struct.pack_into("<q", data, header[name]["data_offsets"][0], int(value))
    write(target, header, data)


main()
