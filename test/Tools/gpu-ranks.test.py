"""Trains the models of this folder on one GPU (1.so) and on two (dp.so, tp.so, pp.so), and compares them.

usage: gpu-ranks.test.py DATA LAUNCHER...    LAUNCHER starts a program on two ranks, as `mpirun -np 2`
"""

import importlib.util
import os
import subprocess
import sys

# Products of another batch or of fewer channels are added up in another order by cuBLASLt: of one GPU and two, gradients
# of the first step differed by 146 roundings, and losses of 20 steps by 2.
GRADIENT_ROUNDINGS = 512
LOSS_ROUNDINGS = 16
MESHES = ["dp", "tp", "pp"]


def ranks_test():
    """How runs on CPUs are compared."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mhc-train-ranks.test.py")
    spec = importlib.util.spec_from_file_location("ranks_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def train(launcher, model, data, *options):
    subprocess.run([*launcher, "mhc-train", model + ".so", "--data=" + data, "--timeout=30", *options],
                   stdout=subprocess.DEVNULL, check=True)


def main():
    data, *launcher = sys.argv[1:]
    for model in ["1", *MESHES]:
        start = launcher if model in MESHES else []
        train(start, model, data, "--steps=1", f"--save={model}.first")
        train(start, model, data, "--steps=20", "--warmup=20", f"--log={model}.csv", f"--save={model}.whole")
    compare = ranks_test().compare
    same = all([compare("1", mesh, GRADIENT_ROUNDINGS, LOSS_ROUNDINGS) for mesh in MESHES])
    for mesh in MESHES:
        train(launcher, mesh, data, "--steps=20", "--warmup=20", f"--save={mesh}.again")
        if open(mesh + ".whole", "rb").read() != open(mesh + ".again", "rb").read():
            sys.exit(f"{mesh}: a second run has other bits")
    print("dp, tp and pp repeat bit by bit")
    sys.exit(not same)


if __name__ == "__main__":
    main()
