"""Imports the module beside a library that has an op of its own, or in an old PyTorch."""

import sys

import torch

if "taken" in sys.argv:
    torch.library.define("mhc::post", "(Tensor x) -> Tensor")
if "old" in sys.argv:
    torch.__version__ = "2.10.1+cpu"
import mhcc  # noqa: E402, F401
