"""Compares programs before and after a round trip through bytecode.

usage: bytecode.test.py MHC_OPT FOLDER...
"""

import os
import subprocess
import sys


def run(*words, data=None):
    return subprocess.run(words, input=data, stdout=subprocess.PIPE, check=True).stdout


def main():
    mhc_opt, folders = sys.argv[1], sys.argv[2:]
    paths = [os.path.join(where, name) for folder in folders for where, _, names in os.walk(folder)
             for name in sorted(names) if name.endswith(".mlir")]
    count = 0
    different = []
    for path in paths:
        for passes in [], ["--mhc-raise", "--mhc-fuse"]:
            text = run(mhc_opt, path, *passes)
            again = run(mhc_opt, "-", data=run(mhc_opt, "-", "--emit-bytecode", data=text))
            count += 1
            if text != again:
                different.append(" ".join([path, *passes]))
    for line in different:
        print("differs:", line)
    print(f"{count} modules, {len(different)} differ")


main()
