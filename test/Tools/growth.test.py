"""Compiles programs of n and 2n parts and compares the memory that they take beyond that of one part.

  growth.test.py SCRIPTS: the folder of the scripts that write models
"""

import os
import subprocess
import sys
import tempfile

# Twice the program takes twice the memory, four times where something grows with its square. Tables double, and an
# allocator keeps some MiB more or less in each run: programs are large enough for that to be a tenth.
MOST = 3
SCRIPTS = sys.argv[1]


def weights(n):
    """An optimizer's step: each weight and a result in its place, and a result of its own."""
    arguments = ", ".join(f'%w{i}: tensor<4xf32> {{mhc.name = "w{i}"}}' for i in range(n))
    results = ", ".join(f'tensor<4xf32> {{mhc.name = "w{i}", mhc.in_place}}, tensor<4xf32>' for i in range(n))
    body = "".join(f"  %v{i} = arith.addf %w{i}, %w{i} : tensor<4xf32>\n  %u{i} = math.exp %w{i} : tensor<4xf32>\n"
                   for i in range(n))
    values = ", ".join(f"%v{i}, %u{i}" for i in range(n))
    types = ", ".join(["tensor<4xf32>"] * 2 * n)
    return f"func.func @step({arguments}) -> ({results}) {{\n{body}  return {values} : {types}\n}}\n"


def products(n):
    """A loss of many weights, for its gradients."""
    arguments = ", ".join(f'%w{i}: tensor<4x4xf32> {{mhc.name = "w{i}"}}' for i in range(n))
    body = "".join(f"  %x{i + 1} = mhc.matmul %x{i}, %w{i} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>\n"
                   for i in range(n))
    return (f"func.func @loss(%x0: tensor<8x4xf32>, {arguments}) -> tensor<8x4xf32> {{\n{body}"
            f"  return %x{n} : tensor<8x4xf32>\n}}\n")


def model(n):
    """Layers of a model, which are raised, fused and differentiated."""
    script = os.path.join(SCRIPTS, "make_model.py")
    return subprocess.run([sys.executable, script, f"--layers={n}"], check=True, capture_output=True, text=True).stdout


def peak(program, options):
    """Bytes that mhcc needs to compile the program."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(program)
        file.flush()
        process = subprocess.Popen(["mhcc", file.name, "-o", os.devnull, *options])
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"mhcc ended with {status}")
    return usage.ru_maxrss * 1024


for write, n, options in ((weights, 6000, ["--compile-to=lower"]), (products, 2000, ["--grad", "--compile-to=lower"]),
                          (model, 120, ["--grad=model", "--compile-to=lower"])):
    none, small, large = (peak(write(parts), options) for parts in (1, n, 2 * n))
    growth = (large - none) / (small - none)
    print(f"{write.__name__}: {small - none >> 20} MiB of {n}, {large - none >> 20} MiB of {2 * n}")
    if growth > MOST:
        sys.exit(f"twice the {write.__name__} take {growth:.1f} times the memory; needed at most {MOST}")
