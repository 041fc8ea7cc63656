"""Checks that nothing on a GPU adds in the order of arrival: no atomic whose result depends on it.

usage: determinism.py REPOSITORY
"""

import re

import source

# The least, the greatest and the bits of integers do not depend on an order. atomicInc hands out tiles, whose results
# do not depend on who takes them.
ATOMIC = re.compile(r"\b(atomic(?!Min\b|Max\b|And\b|Or\b|Inc\b)[A-Z]\w*\s*\(|(red|atom)\.[\w.]+|AtomicRMW\w*(?!.*AtomicBinOp::(?:min|max)\b)\b|atomic_rmw|cp\.reduce\.async)")


def check(root):
    for path in source.files(root, source.CPP, ("runtime/cuda", "lib/Conversion")):
        for number, line in enumerate(source.lines(root, path), 1):
            match = ATOMIC.search(line)
            if match:
                yield (f"{path}:{number}: '{match[0].rstrip('(')}' takes what comes first; write partial sums to "
                       "scratch memory and add them in a fixed order")


source.main(check)
