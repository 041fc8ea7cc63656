"""Helpers of the layers."""

import torch

# Results, and operands that are differentiated, of ops whose gradient of x can be added to numbers that are there.
_RESULTS = {"aggregate": ("u",), "post": ("out",), "pre": ("u", "h_pre", "h_post", "h_res"),
            "projection": ("proj", "stat")}
_GRADIENTS = {"aggregate": ("x", "h_pre"), "post": ("f", "h_post", "h_res", "x", "bias"),
              "pre": ("x", "phi", "norm_weight", "alpha", "beta"), "projection": ("x", "phi", "norm_weight")}
# Results that are made, and those of them that backward takes.
_MADE = {"pre": [True, False, True, True, True, True], "projection": [True, True]}
_KEPT = {"pre": {"proj": 4, "stat": 5}, "projection": {"stat": 1}}

# The attributes of pre that projects choose alike, but for what they say.
PRE = dict(layout="nC", phi_layout="out_in", norm="inside", pre_eps=0.0, post_mult=2.0, res_map="sinkhorn",
           init="softmax_eps", order="row_col", denom="add", fold_pre=False)


def f32(tensor):
    return None if tensor is None else tensor.float()


def weight_like(phi, x):
    """A weight of a type that kernels take beside the streams."""
    return phi if phi.dtype == x.dtype else phi.float()


class Accumulated(torch.autograd.Function):
    """An op that adds its gradient of x to the tensor buffer(), where it is one, when its backward runs.

    `returned` says whether autograd gets the sum.
    """

    @staticmethod
    def forward(ctx, name, buffer, returned, attributes, names, *operands):
        ctx.name, ctx.buffer, ctx.returned, ctx.attributes, ctx.names = name, buffer, returned, attributes, names
        mask = {"output_mask": _MADE[name]} if name in _MADE else {}
        results = getattr(torch.ops.mhc, name)(**dict(zip(names, operands)), **attributes, **mask)
        ctx.save_for_backward(*operands, *(results[i] for i in _KEPT.get(name, {}).values()))
        return results[: len(_RESULTS[name])] if mask else results

    @staticmethod
    def backward(ctx, *gradients):
        name, buffer = ctx.name, ctx.buffer()
        operands = dict(zip((*ctx.names, *_KEPT.get(name, {})), ctx.saved_tensors))
        given = dict(zip(["d_" + result for result in _RESULTS[name]], gradients))
        needed = dict(zip(ctx.names, ctx.needs_input_grad[5:]))
        mask = [needed.get(one, False) or one == "x" and buffer is not None for one in _GRADIENTS[name]]
        orient = {"orient": "oi"} if name == "pre" else {}
        found = getattr(torch.ops.mhc, name + "_bwd")(
            **given, **operands, d_x_in=buffer, **ctx.attributes, **orient, output_mask=mask)
        results = dict(zip(_GRADIENTS[name], found))
        if buffer is not None:
            buffer.copy_(results["x"])
            results["x"] = results["x"].to(operands["x"].dtype) if ctx.returned else None
        return (None,) * 5 + tuple(results.get(one) for one in ctx.names)
