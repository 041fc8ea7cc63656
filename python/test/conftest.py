"""The tests read the module where the build puts it, with PYTHONPATH. MHCC_TEST_DEVICE=cuda has their tensors on a GPU."""

import os

import mhcc
import pytest
import torch
from torch._dynamo.eval_frame import OptimizedModule

pytest.register_assert_rewrite("comparing")  # which tests import
torch.set_num_threads(2)
DEVICE = os.environ.get("MHCC_TEST_DEVICE")


def without_default_device(function):
    """Dynamo breaks a graph at Tensor.unflatten where tensors have a default device, and takes numbers for data where
    they have a default type."""

    def call(*args, **kwargs):
        torch.set_default_device(None)
        try:
            return function(*args, **kwargs)
        finally:
            torch.set_default_device(DEVICE)

    return call


def compile_without_default_device(target, compile=mhcc.compile, **options):
    run = compile(target, **options)
    return run if isinstance(run, torch.nn.Module) else without_default_device(run)


if DEVICE:
    torch.set_default_device(DEVICE)
    OptimizedModule.__call__ = without_default_device(OptimizedModule.__call__)
    mhcc.compile = compile_without_default_device
    mhcc.explain = without_default_device(mhcc.explain)
