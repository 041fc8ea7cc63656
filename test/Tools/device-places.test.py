"""device-places.test.py MODEL.mlir FOLDER TARGET...: runs entries whose loops read from wrong places.

Every target tells the same error, without and with a CUDA graph where it is a GPU.
"""

import struct
import subprocess
import sys

MODEL, FOLDER, *TARGETS = sys.argv[1:]


def write(name, kind, shape, numbers):
    header = str({"descr": {"f": "<f4", "q": "<i8"}[kind], "fortran_order": False, "shape": tuple(shape)}).encode()
    path = f"{FOLDER}/{name}.npy"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(numbers)}{kind}", *numbers))
    return ["--arg", f"{name}={path}"]


def line_of(text, function):
    """The lines of MODEL with `text` in the function."""
    lines = open(MODEL).read().split("\n")
    start = next(i for i, line in enumerate(lines) if f"@{function}(" in line)
    end = next(i for i in range(start, len(lines)) if lines[i] == "}")
    return [i + 1 for i in range(start, end) if text in lines[i]]


def run(library, options, entry, arguments, expected):
    """`expected` is a part of the error; none where the call is right."""
    command = ["mhc-run", library, "--entry", entry, *arguments, *options]
    result = subprocess.run(command, capture_output=True, text=True)
    good = result.returncode == 0 if expected is None else result.returncode == 2 and expected in result.stderr
    if not good:
        sys.exit(f"{' '.join(command)}\nexit status {result.returncode}\n{result.stdout}{result.stderr}"
                 f"expected {'success' if expected is None else expected}")


def check(library, options):
    x = write("x", "f", [5, 8], [1.0] * 40)
    [line] = line_of("tensor.extract", "rows")
    for places, bad in [([0, 4, 2], None), ([0, 5, 2], 5), ([-1], -1), ([9, 5, 7, 1], 9), ([9, -3, -7, 1], -7),
                        ([2**40, 1], 2**40), ([1, -2**62], -2**62), ([0] * 100_000 + [6], 6), ([], None)]:
        expected = bad and f"the index in dimension 0 is {bad}; needed 0 to 4 (at device-places.mlir:{line}:"
        run(library, options, "rows", [*x, *write("i", "q", [len(places)], places)], expected)
    nothing = write("x", "f", [0, 8], [])
    run(library, options, "rows", [*nothing, *write("i", "q", [1], [0])], "the index in dimension 0 is 0; no number is possible")

    first, second = line_of("tensor.extract", "twice")
    for places, bad, line in [([0, 1], None, 0), ([0, 2], 7, second), ([2, 3], 3, first), ([-1, 2], -1, first)]:
        arguments = [*write("x", "q", [3], [1, 0, 7]), *write("i", "q", [2], places)]
        expected = bad and f"the index in dimension 0 is {bad}; needed 0 to 2 (at device-places.mlir:{line}:"
        run(library, options, "twice", arguments, expected)

    x = write("x", "q", [3], [1, 0, 7])
    [asserted], [extracted] = line_of("cf.assert", "asserted"), line_of("tensor.extract", "asserted")
    run(library, options, "asserted", [*x, *write("i", "q", [2], [2, 0])], None)
    run(library, options, "asserted", [*x, *write("i", "q", [2], [0, 3])],
        f"the index in dimension 0 is 3; needed 0 to 2 (at device-places.mlir:{extracted}:")
    run(library, options, "asserted", [*x, *write("i", "q", [2], [3, -1])],
        f"an assertion fails: a number is negative (at device-places.mlir:{asserted}:")


for number, target in enumerate(TARGETS):
    library = f"{FOLDER}/{number}.so"
    subprocess.run(["mhcc", MODEL, f"--target={target}", "-o", library], check=True)
    check(library, [])
    if target != "cpu":
        check(library, ["--cuda-graph"])
