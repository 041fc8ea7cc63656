"""Runs a script of the benchmarks with a few calls where it makes two seconds of them.

usage: benchmarks.test.py FOLDER SCRIPT ARGUMENT...
"""

import importlib
import sys

sys.path.insert(0, sys.argv[1])
script = importlib.import_module(sys.argv[2])
importlib.import_module("torch_sublayer").milliseconds.__kwdefaults__["seconds"] = 0.0
sys.argv[1:] = sys.argv[3:]
script.main()
