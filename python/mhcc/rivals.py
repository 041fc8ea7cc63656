"""The mHC of bench.Sublayer by the kernels of other projects, from their sources: columns of `python -m mhcc bench`."""

import functools
import importlib
import importlib.util
import os
import sys
import typing

import torch

from . import compat

_EPS, _ITERS = 1e-6, 20
_TOLERANCE = 0.05  # of the largest value: the projects round, and guard divisions, each in their way


class _Rival(typing.NamedTuple):
    load: typing.Callable  # of a checkout
    streams: typing.Callable  # from [tokens, n, C] to what the project has
    weights: typing.Callable  # of the module and the type of the streams
    call: typing.Callable  # what was loaded, streams, weights -> streams
    back: typing.Callable  # of streams to [tokens, n, C]
    dtypes: tuple = (torch.float32, torch.bfloat16, torch.float16)


def _load(checkout, file, name):
    """One file of a project under the name that it has there; what else its package imports is left out."""
    path = os.path.join(checkout, file)
    if not os.path.exists(path):
        sys.exit(f"mhcc bench: {path} is missing; needed a checkout that has it")
    module = compat.make_module(name)
    module.__spec__ = importlib.util.spec_from_file_location(name, path)
    module.__file__ = path
    module.__spec__.loader.exec_module(module)
    return module


def _from_row_to_column(module):
    """The rows of phi, and of its base, for a project that mixes from row to column: residual logits are transposed."""
    n = module.n
    gates, logits = torch.arange(2 * n + n * n, device=module.phi.device).split([2 * n, n * n])
    return torch.cat([gates, logits.unflatten(0, (n, n)).T.flatten()])


def _leaves(*tensors):
    return [tensor.detach().clone().contiguous().requires_grad_() for tensor in tensors]


def _load_liger(checkout):
    def contiguous(call):
        own = lambda value: value.contiguous() if isinstance(value, torch.Tensor) else value
        return functools.wraps(call)(lambda ctx, *operands: call(ctx, *map(own, operands)))

    compat.make_module("liger_kernel.ops.utils").ensure_contiguous = contiguous
    return _load(checkout, "src/liger_kernel/ops/mhc.py", "liger_kernel.ops.mhc")


def _liger_weights(module, dtype):
    return _leaves(module.phi.T.to(dtype), module.base, *module.scale)


def _liger(liger, x, phi, base, *scale):
    allows_f32 = x.dtype == torch.float32
    h_pre, h_post, h_res = liger.LigerMHCCoeffsFunction.apply(
        x, phi, base, *scale, allows_f32, _ITERS, _EPS, _EPS, _EPS, 2.0)
    u = liger.LigerMHCPreFunction.apply(x, h_pre)
    return liger.LigerMHCPostResFunction.apply(x, u, h_post, h_res)


def _load_transformer_engine(checkout):
    def general_gemm(a, b, out_dtype=None, layout="NT", **_):
        assert layout == "NT", f"the layout of a product is {layout}; needed NT"
        product = torch.matmul(b.T, a)
        return (product if out_dtype is None else product.to(out_dtype),)

    compat.make_module("transformer_engine.pytorch.cpp_extensions.gemm").general_gemm = general_gemm
    _load(checkout, "transformer_engine/common/triton/mhc.py", "transformer_engine.common.triton.mhc")
    return _load(checkout, "transformer_engine/pytorch/triton/mhc.py", "transformer_engine.pytorch.triton.mhc")


def _transformer_engine_weights(module, dtype):
    rows = _from_row_to_column(module)
    phi = module.phi[rows].unflatten(1, (module.n, -1)).transpose(1, 2).flatten(1)
    return _leaves(phi, module.scale, module.base[rows].unsqueeze(0))


def _transformer_engine(engine, x, phi, scale, base):
    n = x.shape[-1]
    u, h_post, h_res = engine.mhc_generate_mix_and_aggregate(x, phi, scale, base)
    return engine.mhc_fused_expand_combine(u, None, h_post, x, h_res, n)


def _load_tile_kernels(checkout):
    for name in ("tile_kernels", "tile_kernels.modeling"):  # their own files import parts that are not asked for
        compat.make_module(name).__path__ = [os.path.join(checkout, *name.split("."))]
    if importlib.util.find_spec("tile_kernels.modeling.mhc") is None:
        sys.exit(f"mhcc bench: {checkout}/tile_kernels/modeling/mhc is missing; needed a checkout that has it")
    return importlib.import_module("tile_kernels.modeling.mhc.functional")


def _tile_kernels_weights(module, dtype):
    rows = _from_row_to_column(module)
    return _leaves(module.phi[rows], module.scale, module.base[rows])


def _tile_kernels(kernels, x, phi, scale, base):
    u, mixes = kernels.mhc_pre(x, phi, scale, base, post_mult_value=2.0, sinkhorn_repeat=_ITERS)
    return kernels.mhc_post(u, x, *mixes)


def _load_megatron(checkout):
    ranks = compat.make_module("megatron.core._rank_utils")
    ranks.log_single_rank, ranks.safe_get_rank = lambda *_, **__: None, lambda: 0
    native = compat.make_module("megatron.core.transformer.hyper_connection")
    for name in ("fused_add_3", "h_aggregate", "h_post_bda", "sinkhorn"):  # where neither Triton nor cuTile is
        setattr(native, f"native_{name}", None)
    return _load(checkout, "megatron/core/fusions/fused_mhc_kernels.py", "megatron.core.fusions.fused_mhc_kernels")


def _megatron_weights(module, dtype):
    rows = _from_row_to_column(module)
    return _leaves(module.phi[rows], *module.scale.split(1), module.base[rows])


def _megatron(kernels, x, phi, *weights):
    """By Triton or cuTile, as the project's own MHC_FORCE_BACKEND says."""
    n = x.shape[-2]
    gates = kernels.fused_proj_rms_compute_h(x.flatten(0, 1).flatten(1), phi, *weights, n, _EPS, _EPS)[:3]
    h_pre, h_post, logits = (gate.unflatten(0, x.shape[:2]) for gate in gates)
    h_res = kernels.fused_sinkhorn(logits.unflatten(-1, (n, n)), _ITERS, _EPS)
    u = kernels.fused_h_aggregate(x, h_pre.to(x.dtype))
    return kernels.fused_h_post_bda(h_res.to(x.dtype), x, h_post.to(x.dtype), u, None)


_RIVALS = {
    "liger": _Rival(_load_liger, lambda x: x, _liger_weights, _liger, lambda out: out),
    "transformer_engine": _Rival(_load_transformer_engine, lambda x: x.transpose(1, 2).unsqueeze(1),
                                 _transformer_engine_weights, _transformer_engine,
                                 lambda out: out.squeeze(1).transpose(1, 2)),
    "tile_kernels": _Rival(_load_tile_kernels, lambda x: x.unsqueeze(0), _tile_kernels_weights, _tile_kernels,
                           lambda out: out.squeeze(0), (torch.bfloat16,)),
    "megatron": _Rival(_load_megatron, lambda x: x.unsqueeze(1), _megatron_weights, _megatron,
                       lambda out: out.squeeze(1)),
}


class Column:
    """One project, loaded from `NAME=CHECKOUT`."""

    def __init__(self, text):
        self.name, _, checkout = text.partition("=")
        if self.name not in _RIVALS or not checkout:
            sys.exit(f"mhcc bench: --beside is {text!r}; needed NAME=CHECKOUT with one of {', '.join(_RIVALS)}")
        self.rival = _RIVALS[self.name]
        self.library = self.rival.load(checkout)

    def step(self, module, x, gradient):
        """A call that does what the module does of x, and with `gradient` the gradients of all that it reads; None for
        a type that the project has not. Streams and weights are in the project's own order."""
        rival = self.rival
        if x.dtype not in rival.dtypes:
            return None
        (streams,), weights = _leaves(rival.streams(x)), rival.weights(module, x.dtype)
        with torch.no_grad():
            wanted = module(x).float()
            found = rival.back(rival.call(self.library, streams, *weights)).float()
            apart = (found - wanted).abs().max() / wanted.abs().max()
        if not apart <= _TOLERANCE:
            sys.exit(f"mhcc bench: the streams of {self.name} are {apart:.2g} of the largest value apart from those of "
                     f"eager; needed {_TOLERANCE}")
        if gradient is None:
            return torch.no_grad()(lambda: rival.call(self.library, streams, *weights))
        (own,) = _leaves(rival.streams(gradient))
        own.requires_grad_(False)
        return lambda: torch.autograd.grad(rival.call(self.library, streams, *weights), [streams, *weights], own)
