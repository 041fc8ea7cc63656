"""Helpers of the layers."""

import torch

# Results, and operands that are differentiated, of ops whose gradient of x can be added to numbers that are there.
_RESULTS = {"aggregate": ("u",), "post": ("out",), "projection": ("proj", "stat")}
_GRADIENTS = {"aggregate": ("x", "h_pre"), "post": ("f", "h_post", "h_res", "x", "bias"),
              "projection": ("x", "phi", "norm_weight")}


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
        mask = {"output_mask": [True, True]} if name == "projection" else {}
        results = getattr(torch.ops.mhc, name)(**dict(zip(names, operands)), **attributes, **mask)
        ctx.save_for_backward(*operands, *(results[1:] if mask else ()))
        return results

    @staticmethod
    def backward(ctx, *gradients):
        operands = dict(zip((*ctx.names, "stat"), ctx.saved_tensors))
        given = dict(zip(["d_" + result for result in _RESULTS[ctx.name]], gradients))
        needed, buffer = dict(zip(ctx.names, ctx.needs_input_grad[5:])), ctx.buffer()
        mask = [needed.get(name, False) or name == "x" and buffer is not None for name in _GRADIENTS[ctx.name]]
        found = getattr(torch.ops.mhc, ctx.name + "_bwd")(
            **given, **operands, d_x_in=buffer, **ctx.attributes, output_mask=mask)
        results = dict(zip(_GRADIENTS[ctx.name], found))
        if buffer is not None:
            buffer.copy_(results["x"])
            results["x"] = results["x"].to(operands["x"].dtype) if ctx.returned else None
        return (None,) * 5 + tuple(results.get(name) for name in ctx.names)
