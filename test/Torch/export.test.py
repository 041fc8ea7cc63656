"""Exports a sublayer, and saves what it computes.

usage: export.test.py SITE.py FOLDER
"""

import sys

import mhcc
import numpy
from mhcc import model

module, args = model.load(sys.argv[1] + ":layer")
mhcc.export(module, args, sys.argv[2] + "/site.mlir", sys.argv[2] + "/site.safetensors")
numpy.save(sys.argv[2] + "/x.npy", args[0].numpy())
numpy.save(sys.argv[2] + "/out.npy", module(*args).detach().numpy())
