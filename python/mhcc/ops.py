"""Functions and derivatives that do not follow from the records of the ops."""

import torch

_LARGEST = 2**63 - 1


def post(f, x, h_post, h_res, bias=None, *, layout="nC", orient="oi", dropout=0.0):
    """Mix the residual streams and add the sublayer's output to each.

    `out[m,o,c] = h_post[m,o] * (f[m,c] + bias[c]) + sum_i A[m,o,i] * x[m,i,c]`, where A is `h_res` for `orient="oi"` and
    its transpose for "io". With `dropout`, the first summand is dropped at that rate; the seed is drawn from PyTorch's
    generator.
    """
    seed = torch.randint(_LARGEST, (2,), device=x.device) if dropout else None
    rate = dropout if dropout else None
    return torch.ops.mhc.post.default(f, h_post, x, h_res, bias, seed, layout=layout, orient=orient, rate=rate)


def _expand_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.layout = keyword_only_inputs["layout"]


def _expand_backward(ctx, d_streams):
    return torch.ops.mhc.contract.default(d_streams, layout=ctx.layout, mode="sum")


def _contract_setup(ctx, inputs, keyword_only_inputs, output):
    ctx.layout, ctx.mode = keyword_only_inputs["layout"], keyword_only_inputs["mode"]
    ctx.n = inputs[0].shape[-2 if ctx.layout == "nC" else -1]


def _contract_backward(ctx, d_out):
    scaled = d_out / ctx.n if ctx.mode == "mean" else d_out
    return torch.ops.mhc.expand.default(scaled, n=ctx.n, layout=ctx.layout)


torch.library.register_autograd("mhc::expand", _expand_backward, setup_context=_expand_setup)
torch.library.register_autograd("mhc::contract", _contract_backward, setup_context=_contract_setup)
