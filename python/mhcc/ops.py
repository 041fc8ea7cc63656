"""Functions and derivatives that do not follow from the records of the ops."""

import torch

from . import _generated
from ._library import is_differentiated, register_derivative

_LARGEST = 2**63 - 1


def post(f, x, h_post, h_res, bias=None, *, layout="nC", orient="oi", dropout=0.0):
    """Mix the residual streams and add the sublayer's output to each.

    `out[m,o,c] = h_post[m,o] * (f[m,c] + bias[c]) + sum_i A[m,o,i] * x[m,i,c]`, where A is `h_res` for `orient="oi"`
    and its transpose for "io". With `dropout`, the first summand is dropped at that rate; the seed is drawn from
    PyTorch's generator.
    """
    if not dropout:
        return torch.ops.mhc.post.default(f, h_post, x, h_res, bias, layout=layout, orient=orient)
    seed = torch.randint(_LARGEST, (2,), device=getattr(x, "device", None))
    return torch.ops.mhc.post.default(f, h_post, x, h_res, bias, seed, layout=layout, orient=orient, rate=dropout)


def projection(x, phi, norm_weight=None, *, stat_form="inv_rms", **attributes):
    if stat_form == "applied" and is_differentiated(x, phi, norm_weight):
        proj, stat = _generated.projection(x, phi, norm_weight, stat_form="inv_rms", **attributes)
        return proj * stat.unsqueeze(-1), None
    return _generated.projection(x, phi, norm_weight, stat_form=stat_form, **attributes)


projection.__doc__ = _generated.projection.__doc__


def _expand_setup(ctx, operands, attributes, results):
    ctx.layout = attributes["layout"]


def _expand_backward(ctx, d_streams):
    return torch.ops.mhc.contract.default(d_streams, layout=ctx.layout, mode="sum")


def _contract_setup(ctx, operands, attributes, results):
    ctx.layout, ctx.mode = attributes["layout"], attributes["mode"]
    ctx.n = operands[0].shape[-2 if ctx.layout == "nC" else -1]


def _contract_backward(ctx, d_out):
    scaled = d_out / ctx.n if ctx.mode == "mean" else d_out
    return torch.ops.mhc.expand.default(scaled, n=ctx.n, layout=ctx.layout)


def _post_head_backward(ctx, *gradients):
    raise RuntimeError("mhc::post_head has no derivative: it stands for post and head behind AOTAutograd")


register_derivative("expand", _expand_setup, _expand_backward)
register_derivative("contract", _contract_setup, _contract_backward)
register_derivative("post_head", lambda *args: None, _post_head_backward)
