"""Runs passes on programs of n and 2n parts and compares the instructions for each, beyond those of an empty program.

  growth-instructions.test.py SCRIPTS EXPORTED: the folder of the scripts that write models, and an exported sublayer
"""

import os
import re
import subprocess
import sys
import tempfile

MOST = 1.15
SCRIPTS, EXPORTED = sys.argv[1:]


def loops(n):
    """Loops that all read one buffer."""
    add = "  linalg.add ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)\n"
    return "func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {\n" + n * add + "  return\n}\n"


def entries(n):
    """Entries of one loop."""
    return "".join(f"""func.func @f{i}(%x: memref<8xf32> {{mhc.name = "x", mhc.dims = ["8"]}},
                                       %y: memref<8xf32> {{mhc.name = "y", mhc.dims = ["8"], mhc.result}}) {{
  linalg.add ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>)
  return
}}
""" for i in range(n))


def streams(n):
    """Streams, of each of which a sum may be somewhere."""
    arguments = ", ".join(f"%x{i}: tensor<8x8xf32>" for i in range(n))
    body = "".join(f"  %y{i} = mhc.expand(x = %x{i} : tensor<8x8xf32>) <layout = nC> -> (streams : tensor<8x4x8xf32>)\n"
                   for i in range(n))
    values = ", ".join(f"%y{i}" for i in range(n))
    types = ", ".join(["tensor<8x4x8xf32>"] * n)
    return f"func.func @f({arguments}) -> ({types}) {{\n{body}  return {values} : {types}\n}}\n"


def written(script, *options):
    run = subprocess.run([sys.executable, os.path.join(SCRIPTS, script), *options], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else sys.exit(run.stderr)


def model(n):
    return written("make_model.py", f"--layers={n}")


def exported(n):
    return written("repeat_layer.py", f"--layers={n}", EXPORTED)


def instructions(program, options):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(program)
        file.flush()
        run = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}",
                              "mhc-opt", file.name, "-o", os.devnull, *options], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)[1].replace(",", ""))


grows, none = [], instructions("", [])
for write, n, options in ((loops, 300, ["-mhc-outline-loops"]),
                          (entries, 150, ["-mhc-phase-lower"]),
                          (streams, 400, ["-mhc-raise"]),
                          (model, 8, ["-canonicalize", "-cse", "-mhc-raise", "-mhc-fuse"]),
                          (exported, 4, ["-mhc-raise", "-mhc-fuse"])):
    small, large = (instructions(write(parts), options) - none for parts in (n, 2 * n))
    growth = large / small / 2
    print(f"{write.__name__}: {small} instructions for {n}, {large} for {2 * n}")
    if growth > MOST:
        grows.append(f"of twice the {write.__name__}, each takes {growth:.2f} times the instructions; needed at most {MOST}")
sys.exit("\n".join(grows) or None)
