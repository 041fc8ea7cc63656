#!python
"""Becomes the program of this name that the module mhcc has: what the wheel puts beside Python under each name."""

import importlib.util
import os
import sys

path = os.path.join(os.path.dirname(importlib.util.find_spec("mhcc").origin), "bin", os.path.basename(sys.argv[0]))
os.execv(path, [path, *sys.argv[1:]])
