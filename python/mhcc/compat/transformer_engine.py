"""The functions of transformer_engine.pytorch.triton.mhc. Streams are innermost: x is (s, b, C, n)."""

import os

import torch

import mhcc

from ._shared import PRE, Accumulated, f32, weight_like

PLACES = {"transformer_engine.pytorch.triton.mhc": (
    "ENFORCE_DETERMINISTIC", "mhc_fused_aggregate", "mhc_fused_expand_combine", "mhc_fused_projection",
    "mhc_fused_scale", "mhc_fused_sinkhorn", "mhc_generate_mix_and_aggregate")}

ENFORCE_DETERMINISTIC = os.environ.get("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "1") == "0"
_STREAMS = 4
_COEFFICIENTS = 2 * _STREAMS + _STREAMS**2
_PADDED = 32
_EPS = torch.finfo(torch.float32).eps


def _check(x, n=_STREAMS, buffer=None, use_split_k=False):
    assert n == _STREAMS, f"n is {n}; needed {_STREAMS}"
    assert not (use_split_k and ENFORCE_DETERMINISTIC), (
        "use_split_k is on while NVTE_ALLOW_NONDETERMINISTIC_ALGO is 0")
    if buffer is not None:
        assert buffer.dtype == torch.float32, f"fused_grad_x_acc_buffer is {buffer.dtype}; needed torch.float32"
        assert buffer.numel() == x.numel(), (
            f"fused_grad_x_acc_buffer has {buffer.numel()} elements; needed {x.numel()}, as x has")


def _buffer(buffer, x, prepared=lambda buffer: buffer):
    return lambda: None if buffer is None else prepared(buffer.view_as(x))


def _precision(use_tf32):
    return "tf32" if use_tf32 else "ieee"


def mhc_fused_projection(x, phi, use_tf32=True, norm_weight=None, fused_grad_x_acc_buffer=None, use_split_k=False):
    """The products of x (M, n*C) and phi, padded to 32 columns, and the mean square of each row."""
    assert phi.shape[0] == _COEFFICIENTS, f"phi has {phi.shape[0]} rows; needed {_COEFFICIENTS}"
    _check(x, buffer=fused_grad_x_acc_buffer, use_split_k=use_split_k)
    streams = x.unflatten(-1, (-1, _STREAMS))
    form = dict(layout="Cn", phi_layout="out_in", norm="inside", norm_eps=_EPS, stat_form="mean_square",
                precision=_precision(use_tf32))
    proj, ms = Accumulated.apply("projection", _buffer(fused_grad_x_acc_buffer, streams), True, form,
                                 ("x", "phi", "norm_weight"), streams, weight_like(phi, x), f32(norm_weight))
    return torch.nn.functional.pad(proj, (0, _PADDED - _COEFFICIENTS)), ms


def mhc_fused_scale(H, alpha, beta, ms, n):
    _check(H, n)
    gates = mhcc.gates(H[:, :_COEFFICIENTS].float(), alpha.float(), beta.float().flatten(), ms.float(), n=n,
                       stat_form="mean_square", norm_eps=_EPS)
    return tuple(gate.to(H.dtype) for gate in gates)


def mhc_fused_sinkhorn(H_res, n=4, recompute_hist=True, iters=20):
    """Nothing is kept for backward beside H_res, whatever recompute_hist says."""
    _check(H_res, n)
    mix = mhcc.sinkhorn(H_res.float(), init="log", order="row_col", denom="none", eps=0.0, iters=iters)
    return mix.to(H_res.dtype)


def mhc_fused_aggregate(x, H_pre, n, use_tf32=True, fused_grad_x_acc_buffer=None):
    _check(x, n, fused_grad_x_acc_buffer)
    return Accumulated.apply("aggregate", _buffer(fused_grad_x_acc_buffer, x), False, dict(layout="Cn"),
                             ("x", "h_pre"), x, H_pre.float())


def mhc_fused_expand_combine(f, bias, H_post, x, H_res, n, use_tf32=True, fused_grad_x_acc_buffer=None):
    """(f + bias) H_post + x H_res. Its gradient of x is the first that a buffer gets."""
    _check(x, n, fused_grad_x_acc_buffer)
    return Accumulated.apply("post", _buffer(fused_grad_x_acc_buffer, x, torch.Tensor.zero_), False,
                             dict(layout="Cn", orient="io"), ("f", "h_post", "x", "h_res", "bias"),
                             f.to(x.dtype), H_post.float(), x, H_res.float(), f32(bias))


def mhc_generate_mix_and_aggregate(x, phi, alpha, beta, norm_weight=None, use_tf32=True, fused_grad_x_acc_buffer=None,
                                   use_split_k=False):
    *_, n = x.shape
    _check(x, n, fused_grad_x_acc_buffer, use_split_k)
    form = {**PRE, "layout": "Cn", "norm_eps": _EPS, "init": "log", "denom": "none", "sk_eps": 0.0, "iters": 20}
    u, _, h_post, h_res = Accumulated.apply(
        "pre", _buffer(fused_grad_x_acc_buffer, x), True, {**form, "precision": _precision(use_tf32)},
        ("x", "phi", "alpha", "beta", "norm_weight"), x, weight_like(phi, x), alpha.float(), beta.float().flatten(),
        f32(norm_weight))
    return u, h_post, h_res
