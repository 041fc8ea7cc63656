"""The tests read the module where the build puts it, with PYTHONPATH. MHCC_TEST_DEVICE=cuda has their tensors on a GPU."""

import os

import torch

torch.set_num_threads(2)
if os.environ.get("MHCC_TEST_DEVICE") == "cuda":
    torch.set_default_tensor_type(torch.cuda.FloatTensor)  # set_default_device is a mode, which Dynamo would trace
