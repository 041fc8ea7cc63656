"""mHC kernels for PyTorch: torch.ops.mhc.* and functions over them, which differentiate and compile."""

from ._generated import (
    aggregate, contract, expand, gates, head, permutation_mix, pre, pre_gated_delta_rule, sinkhorn,
)  # fmt: skip
from ._library import cached_bytes, empty_cache, set_multiprocessors
from .model import compile, explain, register_module
from .ops import post, projection
from .program import export

__all__ = ["aggregate", "cached_bytes", "compile", "contract", "empty_cache", "expand", "explain", "export",
           "gates", "head", "permutation_mix", "post", "pre", "pre_gated_delta_rule", "projection", "register_module",
           "set_multiprocessors", "sinkhorn"]
