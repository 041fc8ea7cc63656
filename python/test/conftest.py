"""The tests read the module where the build puts it, with PYTHONPATH. MHCC_TEST_DEVICE=cuda has their tensors on a GPU."""

import os

import torch

torch.set_num_threads(2)
if device := os.environ.get("MHCC_TEST_DEVICE"):
    torch.set_default_device(device)
