"""Saves operands and results of the ops.

usage: bits.test.py FOLDER
"""

import os
import sys

import mhcc
import numpy
import torch

generator = torch.Generator().manual_seed(1)
sizes = {"x": (53, 4, 40), "phi": (24, 160), "alpha": (3,), "beta": (24,)}
tensors = {name: torch.randn(size, generator=generator) for name, size in sizes.items()}
tensors["phi"] /= 10
u, h_post, h_res = mhcc.pre(**tensors)
x, f = tensors["x"].clone().requires_grad_(), u.clone().requires_grad_()
out = mhcc.post(f, x, h_post, h_res)
d_f, d_x = torch.autograd.grad(out, (f, x), out.detach())
for name, value in {**tensors, "u": u, "h_post": h_post, "h_res": h_res, "out": out, "d_f": d_f, "d_x": d_x}.items():
    numpy.save(os.path.join(sys.argv[1], name + ".npy"), value.detach().numpy())
