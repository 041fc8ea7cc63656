"""The tests read the module where the build puts it, with PYTHONPATH."""

import torch

torch.set_num_threads(2)
