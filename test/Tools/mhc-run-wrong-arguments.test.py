"""Calls each entry of a model with each of its arguments wrong in turn.

usage: mhc-run-wrong-arguments.test.py MHC_RUN MODEL.so SCRATCH_FOLDER
"""

import os
import re
import struct
import subprocess
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
CODES = {"f32": ("<f4", 4), "bf16": ("<V2", 2), "f16": ("<f2", 2), "i32": ("<i4", 4), "i64": ("<i8", 8)}
SIZE = 3  # of a symbol, as arguments.py has it


def run(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def entries_of(listing):
    """Per entry its lines, and name, dtype and dimensions of each argument."""
    for part in re.split(r"^entry ", listing, flags=re.MULTILINE)[1:]:
        arguments = re.findall(r"^  argument +(\S+) +(\w+)\[(.*?)\]", part, re.MULTILINE)
        yield part.split()[0], part, [(name, dtype, dims.split(",") if dims else []) for name, dtype, dims in arguments]


def write_zeros(path, dtype, shape):
    count = 1
    for size in shape:
        count *= size
    code, width = CODES[dtype]
    header = str({"descr": code, "fortran_order": False, "shape": tuple(shape)}).encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(count * width))


def wrong_ones(dtype, dims, symbols):
    """Type and shape of what does not fit, and a part of the error."""
    shape = [int(dim) if dim.isdigit() else SIZE for dim in dims]
    needed = f"expected {dtype}[{','.join(dims)}], found "
    yield ("i64" if dtype != "i64" else "f32"), shape, f"needed {dtype}"
    yield dtype, [1] + shape, needed
    if shape:
        yield dtype, shape[1:], needed
    for i, dim in enumerate(dims):
        if dim.isdigit():
            yield dtype, shape[:i] + [shape[i] + 1] + shape[i + 1:], needed
        elif symbols.count(dim) > 1:
            yield dtype, shape[:i] + [shape[i] + 1] + shape[i + 1:], f"dimension '{dim}' is "


def main():
    tool, model, scratch = sys.argv[1:]
    bad = os.path.join(scratch, "bad.npy")
    entries = calls = failed = 0
    for entry, listing, arguments in entries_of(run([tool, model, "--list"])[1]):
        entries += 1
        folder = f"{scratch}/{os.path.basename(model)}.{entry}"
        os.mkdir(folder)
        subprocess.run([sys.executable, f"{INPUTS}/arguments.py", folder], input=listing.encode(), check=True)
        given = {name: f"{folder}/{name}.npy" for name, _, _ in arguments}
        symbols = [dim for _, _, dims in arguments for dim in dims]

        def call(files, more=()):
            words = [tool, model, "--entry", entry]
            for name, path in files.items():
                words += ["--arg", f"{name}={path}"]
            return run([*words, *more])

        def refuse(wanted, files, more=()):
            nonlocal calls, failed
            calls += 1
            status, output = call(files, more)
            if status != 2 or not all(text in output for text in wanted):
                failed += 1
                print(f"{entry}, wanted {wanted}: ends with {status}: {output}")

        status, output = call(given)
        assert status == 0, output
        refuse([f"is one too many; the entry has {len(arguments)} argument"], given, ["--arg", bad])
        for name, dtype, dims in arguments:
            refuse([f"no file for argument '{name}' ({dtype}[{','.join(dims)}])"],
                   {other: path for other, path in given.items() if other != name})
            for found, shape, wanted in wrong_ones(dtype, dims, symbols):
                write_zeros(bad, found, shape)
                refuse([wanted, f"'{name}'"], {**given, name: bad})
    print(f"{entries} entries, {calls} wrong calls, {failed} failed")


main()
