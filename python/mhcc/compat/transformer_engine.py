"""The functions of transformer_engine.pytorch.triton.mhc. Streams are innermost: x is (s, b, C, n)."""

import os

import torch

import mhcc

from ._shared import Accumulated, f32, weight_like

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


def _precision(use_tf32):
    return "tf32" if use_tf32 else "ieee"


def mhc_fused_projection(x, phi, use_tf32=True, norm_weight=None, fused_grad_x_acc_buffer=None, use_split_k=False):
    """The products of x (M, n*C) and phi, padded to 32 columns, and the mean square of each row."""
    assert phi.shape[0] == _COEFFICIENTS, f"phi has {phi.shape[0]} rows; needed {_COEFFICIENTS}"
    _check(x, buffer=fused_grad_x_acc_buffer, use_split_k=use_split_k)
    streams, phi = x.unflatten(-1, (-1, _STREAMS)), weight_like(phi, x)
    weight = f32(norm_weight)
    form = dict(layout="Cn", stat_form="mean_square", precision=_precision(use_tf32))
    if fused_grad_x_acc_buffer is None:
        proj, ms = mhcc.projection(streams, phi, weight, **form)
    else:
        form.update(phi_layout="out_in", norm="inside", norm_eps=_EPS)
        proj, ms = Accumulated.apply("projection", lambda: fused_grad_x_acc_buffer.view_as(streams), True, form,
                                     ("x", "phi", "norm_weight"), streams, phi, weight)
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
    if fused_grad_x_acc_buffer is None:
        return mhcc.aggregate(x, H_pre.float(), layout="Cn")
    return Accumulated.apply("aggregate", lambda: fused_grad_x_acc_buffer.view_as(x), False, dict(layout="Cn"),
                             ("x", "h_pre"), x, H_pre.float())


def mhc_fused_expand_combine(f, bias, H_post, x, H_res, n, use_tf32=True, fused_grad_x_acc_buffer=None):
    """(f + bias) H_post + x H_res. Its gradient of x is the first that a buffer gets."""
    _check(x, n, fused_grad_x_acc_buffer)
    bias = f32(bias)
    if fused_grad_x_acc_buffer is None:
        return mhcc.post(f.to(x.dtype), x, H_post.float(), H_res.float(), bias, layout="Cn", orient="io")
    return Accumulated.apply("post", lambda: fused_grad_x_acc_buffer.view_as(x).zero_(), False,
                             dict(layout="Cn", orient="io"), ("f", "h_post", "x", "h_res", "bias"),
                             f.to(x.dtype), H_post.float(), x, H_res.float(), bias)


def mhc_generate_mix_and_aggregate(x, phi, alpha, beta, norm_weight=None, use_tf32=True, fused_grad_x_acc_buffer=None,
                                   use_split_k=False):
    """One kernel; with a buffer its steps, each of which adds to it."""
    s, b, C, n = x.shape
    _check(x, n, fused_grad_x_acc_buffer, use_split_k)
    if fused_grad_x_acc_buffer is None:
        return mhcc.pre(x, weight_like(phi, x), alpha.float(), beta.float().flatten(), f32(norm_weight), layout="Cn",
                        norm_eps=_EPS, init="log", denom="none", sk_eps=0.0, precision=_precision(use_tf32))
    H, ms = mhc_fused_projection(x.view(s * b, n * C), phi, use_tf32, norm_weight, fused_grad_x_acc_buffer, use_split_k)
    H_pre, H_post, H_res = mhc_fused_scale(H, alpha, beta, ms, n)
    H_res = mhc_fused_sinkhorn(H_res.view(s, b, n, n))
    u = mhc_fused_aggregate(x, H_pre.view(s, b, n), n, use_tf32, fused_grad_x_acc_buffer)
    return u, H_post.view(s, b, n), H_res
