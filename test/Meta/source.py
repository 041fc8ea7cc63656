"""The source files of the repository, for the checks in this folder."""

import os
import sys

CPP = (".cpp", ".h", ".c", ".cu", ".cuh")
TABLEGEN = (".td",)
TOP = ("cmake", "include", "lib", "tools", "runtime", "python", "scripts", "test", "examples", "docs", ".ci", ".github")
GENERATED = {"runtime/include/mhcrt/kernels.h", "runtime/src/KernelArgs.h"}
DATA = ("test/Golden/", "examples/data/", "test/Examples/data/")


def files(root, suffixes=None, tops=TOP):
    """Paths relative to root, sorted. Hidden, built and data files are left out."""
    found = [name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name))] if tops is TOP else []
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = [name for name in folders if name not in ("Inputs", "__pycache__") and name[0] != "."]
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(path for path in found
                  if not path.startswith(DATA) and (suffixes is None or path.endswith(suffixes)))


def lines(root, path):
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read().split("\n")
    except UnicodeDecodeError:
        return []  # not text


def main(check):
    """Prints what `check(root)` yields; any line is a failure."""
    problems = list(check(sys.argv[1]))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
