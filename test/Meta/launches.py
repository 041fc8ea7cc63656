"""Checks that a launch returns its own error: `<<<...>>>` leaves it as the thread's last one, which may as well be that
of a call before.

usage: launches.py REPOSITORY
"""

import re

import source

LAST_ERROR = re.compile(r"<<<|\bcudaGetLastError\b")
FORGETS = "runtime/cuda/host/Context.h"  # where an error is dropped that is somebody's already


def check(root):
    for path in source.files(root, source.CPP, ("runtime/cuda",)):
        for number, line in enumerate(source.lines(root, path), 1):
            match = LAST_ERROR.search(line.split("//")[0])
            if match and path != FORGETS:
                yield (f"{path}:{number}: '{match[0]}' may report another call's error; use launchKernel() or "
                       "launchOverlapping(), which return their own")


source.main(check)
