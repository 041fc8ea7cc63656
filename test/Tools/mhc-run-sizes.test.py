"""mhc-run-sizes.test.py PLACES.mlir SIZES.mlir FOLDER: runs entries with wrong sizes and places and looks for their errors."""

import re
import struct
import subprocess
import sys

PLACES, SIZES, FOLDER = sys.argv[1:4]


def write(name, shape, number=None):
    """Ones in f32, or one number in i64."""
    count = 1
    for size in shape:
        count *= size
    header = str({"descr": "<f4" if number is None else "<i8", "fortran_order": False, "shape": tuple(shape)}).encode()
    path = f"{FOLDER}/{name}.npy"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack("<f", 1) * count if number is None else struct.pack("<q", number))
    return ["--arg", f"{name}={path}"]


def run(library, entry, arguments, expected):
    """`expected` is a part of the error; none where the call is right."""
    command = ["mhc-run", library, "--entry", entry, *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    good = result.returncode == 0 if expected is None else result.returncode == 2 and expected in result.stderr
    if not good:
        sys.exit(f"{' '.join(command)}\nexit status {result.returncode}\n{result.stdout}{result.stderr}"
                 f"expected {'success' if expected is None else expected}")


def compile(source, level):
    library = f"{FOLDER}/{level}.so"
    subprocess.run(["mhcc", source, f"--fuse={level}", "-o", library], check=True)
    return library


def line_of(text, after):
    """The line of PLACES with `text`, of the function `after`."""
    lines = open(PLACES).read().split("\n")
    start = next(i for i, line in enumerate(lines) if f"@{after}(" in line)
    return 1 + next(i for i in range(start, len(lines)) if text in lines[i])


def check_places(library):
    for entry, text, what, last in [
            ("element", "tensor.extract %x", "the index in dimension 0", 4),
            ("part", "tensor.extract_slice", "the offset of a slice in dimension 0", 3),
            ("insert", "tensor.insert_slice", "the offset of a slice in dimension 0", 4),
            ("rows", "tensor.extract %x", "the index in dimension 0", 4)]:
        x = write("x", [5] if entry == "element" else [5, 8])
        place = f"(at places.mlir:{line_of(text, entry)}:"
        run(library, entry, [*x, *write("i", [1], last)], None)
        for number in [last + 1, -1, 100_000_000, -2**62]:
            arguments = [*x, *write("i", [1], number)]
            run(library, entry, arguments, f"{what} is {number}; needed 0 to {last} {place}")
    x = write("x", [5, 8])
    run(library, "loop", [*x, *write("i", [1], 5)], None)
    run(library, "loop", [*x, *write("i", [1], 1000)], "the offset of a slice in dimension 0 is 5; needed 0 to 4 (at")
    run(library, "shorter", write("x", [3, 8]), None)
    run(library, "shorter", write("x", [1, 8]), "the size of a slice in dimension 0 is -2; needed 0 to 1 (at")
    run(library, "quarters", write("x", [8]), None)
    run(library, "quarters", write("x", [9]), "the product of sizes that dimension 0 is split into is 8; needed 9 (at")
    run(library, "asserted", [*write("x", [4]), *write("y", [5])], None)
    run(library, "asserted", [*write("x", [6]), *write("y", [5])],
        f"an assertion fails: x is longer than y (at places.mlir:{line_of('cf.assert', 'asserted')}:3)")
    window = [*write("w", [3]), *write("e", [8])]
    run(library, "window", [*write("x", [10]), *window], None)
    run(library, "window", [*write("x", [11]), *window], None)
    run(library, "window", [*write("x", [9]), *window],
        f"the index in dimension 0 of operand 0 is 9; needed 0 to 8 (at places.mlir:{line_of('linalg.generic', 'window')}:")
    run(library, "window", [*write("x", [1]), *write("w", [3]), *write("e", [0])], None)


def check_sizes(library):
    x = write("x", [40, 30, 8])
    run(library, "elementwise", [*x, *write("y", [40, 30, 8])], None)
    run(library, "elementwise", [*x, *write("y", [5, 30, 8])], "dimension 'M' is 40 in 'x' but 5 in 'y'")
    run(library, "elementwise", [*x, *write("y", [40, 3, 8])], "dimension 'd1' is 30 in 'x' but 3 in 'y'")
    run(library, "product", [*x, *write("y", [1200, 8])], None)
    run(library, "product", [*x, *write("y", [5, 8])], "dimension 0 of 'y' is 5; needed M*d1 = 1200")
    run(library, "products", [*write("x", [4, 6]), *write("y", [3, 8])], None)
    run(library, "products", [*write("x", [4, 6]), *write("y", [3, 7])], "needed M*d1 = d2*d3; found 24 and 21")
    parts = [*write("x", [4]), *write("y", [6])]
    run(library, "behind", [*parts, *write("w", [10])], None)
    run(library, "behind", [*parts, *write("w", [9])], "dimension 0 of 'w' is 9; needed M+d1 = 10")
    listed = subprocess.run(["mhc-run", library, "--list"], capture_output=True, text=True, check=True).stdout
    if not re.search(r"argument +w +f32\[M\+d1\]", listed) or "needed   M*d1 = d2*d3" not in listed:
        sys.exit(listed)


for level in ["none", "chain", "layer"]:
    check_places(compile(PLACES, level))
    check_sizes(compile(SIZES, level))
