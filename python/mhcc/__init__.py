"""mHC kernels for PyTorch: torch.ops.mhc.* and functions over them, which differentiate and compile."""

import os

import torch

MINIMUM = (2, 11)
if tuple(int(part) for part in torch.__version__.split(".")[:2]) < MINIMUM:
    raise ImportError(f"mhcc needs PyTorch {MINIMUM[0]}.{MINIMUM[1]} or later; this is {torch.__version__}")


def _load():
    taken = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("mhc::")]
    if taken:
        raise ImportError(f"another library has registered {taken[0]}; mhcc needs these names for its own ops")
    torch.ops.load_library(os.path.join(os.path.dirname(__file__), "libmhc_torch.so"))


_load()

from ._generated import aggregate, contract, expand, gates, head, permutation_mix, pre, projection, sinkhorn  # noqa: E402
from .ops import post  # noqa: E402

__all__ = ["aggregate", "contract", "expand", "gates", "head", "permutation_mix", "post", "pre", "projection", "sinkhorn"]
