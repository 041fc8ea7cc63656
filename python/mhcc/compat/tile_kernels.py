"""The functions of tile_kernels.modeling.mhc. Streams are bf16 of [a, b, n, C]; comb_res_mix goes from row to column.

A storage's `grad_from_mhc_post` is the gradient that mhc_post's backward has put there: mhc_pre_apply_mix and
mhc_pre_norm_fn add theirs to it in place.
"""

import torch

import mhcc

from ._shared import PRE, Accumulated

_OPS = {"expand": ("expand_to_mhc",), "head_compute_mix": ("mhc_head_compute_mix",),
        "multilayer_recompute": ("mhc_multilayer_recompute",), "norm_fn": ("mhc_pre_norm_fn",),
        "post": ("mhc_post", "mhc_post_bwd", "mhc_post_fwd"), "pre_apply_mix": ("mhc_pre_apply_mix",),
        "pre_big_fuse": ("mhc_pre_big_fuse",), "pre_split_mixes": ("mhc_pre_split_mixes",),
        "sinkhorn": ("sinkhorn_normalize",)}
_MODELING = ("expand_from_embedding", "mhc_head", "mhc_pre")
PLACES = {**{f"tile_kernels.modeling.mhc.ops.{module}": names for module, names in _OPS.items()},
          "tile_kernels.modeling.mhc.functional": (*_MODELING, "mhc_post"),
          "tile_kernels.modeling.mhc": _MODELING, "tile_kernels.modeling.mhc.ops": sum(_OPS.values(), ())}

_POST = dict(layout="nC", orient="io")
_PROJECTION = dict(layout="nC", phi_layout="out_in", norm="inside", stat_form="inv_rms", precision="tf32")


class _MainGrad(torch.autograd.Function):
    """A parameter whose gradient is added to its main_grad."""

    @staticmethod
    def forward(ctx, parameter, main_grad):
        ctx.main_grad = main_grad
        return parameter.view_as(parameter)

    @staticmethod
    def backward(ctx, gradient):
        ctx.main_grad.add_(gradient)
        return None, None


class _Tf32Gradient(torch.autograd.Function):
    """A value whose gradient a GPU rounds to the 11 bits of TF32, nearest and halves away from zero, as its products do."""

    @staticmethod
    def forward(ctx, value):
        return value.view_as(value)

    @staticmethod
    def backward(ctx, gradient):
        if not gradient.is_cuda:
            return gradient
        return (gradient.contiguous().view(torch.int32) + 0x1000).bitwise_and_(~0x1FFF).view(torch.float32)


def _with_main_grad(parameter):
    main_grad = getattr(parameter, "main_grad", None)
    return parameter if main_grad is None else _MainGrad.apply(parameter, main_grad)


def _into(out, result):
    return result if out is None else out.copy_(result)


def _check(dtype, shape, **named):
    ((name, tensor),) = named.items()
    assert (tensor.dtype, tuple(tensor.shape)) == (dtype, shape), (
        f"{name} is {tensor.dtype} of {tuple(tensor.shape)}; needed {dtype} of {shape}")


def _from_post(x, last=False):
    """The gradient of x that mhc_post has put there. The last that adds to it takes it away."""
    storage = x.untyped_storage()
    gradient = getattr(storage, "grad_from_mhc_post", None)
    if last:
        del storage.grad_from_mhc_post
    return None if gradient is None else gradient.view_as(x)


def expand_to_mhc(hidden, mhc_mult, out=None):
    assert hidden.is_contiguous(), "hidden has gaps; needed contiguous"
    return _into(out, mhcc.expand(hidden, mhc_mult))


def expand_from_embedding(x, mhc_mult=4):
    return expand_to_mhc(x, mhc_mult)


def sinkhorn_normalize(x, repeat=10, eps=1e-6):
    return mhcc.sinkhorn(x, iters=repeat, eps=eps)


def mhc_head_compute_mix(input_mix, mhc_scale, mhc_base, mhc_pre_eps):
    assert input_mix.ndim == 3, f"input_mix has {input_mix.ndim} dims; needed 3"
    return mhcc.gates(input_mix, mhc_scale, mhc_base, n=input_mix.shape[-1], stat_form="applied",
                      pre_eps=mhc_pre_eps)[0]


def mhc_pre_split_mixes(input_mixes, mhc_scale, mhc_base, mhc_mult, mhc_post_mult_value, mhc_pre_eps):
    assert input_mixes.ndim == 3, f"input_mixes has {input_mixes.ndim} dims; needed 3"
    pre, post, logits = mhcc.gates(input_mixes, mhc_scale, mhc_base, n=mhc_mult, stat_form="applied",
                                   pre_eps=mhc_pre_eps, post_mult=mhc_post_mult_value)
    return pre.unsqueeze(-1), post.unsqueeze(-1), logits.unflatten(-1, (mhc_mult, mhc_mult))


def mhc_pre_norm_fn(residual, mhc_fn, mhc_norm_weight, mhc_norm_eps, fuse_grad_acc=True, n_splits=16):
    """The normed projection. The number of splits is the kernel's own choice."""
    if mhc_norm_weight is not None:
        mhc_fn, mhc_norm_weight = _with_main_grad(mhc_fn), _with_main_grad(mhc_norm_weight)
    _check(torch.bfloat16, tuple(residual.shape), x=residual)
    _check(torch.float32, (mhc_fn.shape[0], residual.shape[-2] * residual.shape[-1]), fn=mhc_fn)

    proj, stat = Accumulated.apply("projection", lambda: _from_post(residual, True) if fuse_grad_acc else None, False,
                                   {**_PROJECTION, "norm_eps": mhc_norm_eps}, ("x", "phi", "norm_weight"), residual,
                                   mhc_fn, mhc_norm_weight)
    return _Tf32Gradient.apply(proj) * stat.unsqueeze(-1)


def mhc_pre_apply_mix(x, mix, out=None):
    assert mix.shape[-1] == 1, f"mix has shape {tuple(mix.shape)}; needed 1 at the end"

    return _into(out, Accumulated.apply("aggregate", lambda: _from_post(x), False, dict(layout="nC"), ("x", "h_pre"), x,
                                        mix.squeeze(-1)))


def mhc_post_fwd(x, residual, post_layer_mix, comb_res_mix, out=None):
    *tokens, mhc, hidden = residual.shape
    assert len(tokens) == 2, f"residual has {residual.ndim} dims; needed 4"
    _check(torch.bfloat16, (*tokens, mhc, hidden), residual=residual)
    _check(torch.bfloat16, (*tokens, hidden), x=x)
    _check(torch.float32, (*tokens, mhc, 1), post_layer_mix=post_layer_mix)
    _check(torch.float32, (*tokens, mhc, mhc), comb_res_mix=comb_res_mix)
    assert all(one.is_contiguous() for one in (x, post_layer_mix, comb_res_mix)), (
        "x, post_layer_mix or comb_res_mix has gaps; needed contiguous")
    return _into(out, torch.ops.mhc.post(x, post_layer_mix.squeeze(-1), residual, comb_res_mix, **_POST))


def mhc_post_bwd(x, residual, post_layer_mix, comb_res_mix, d_o, fuse_grad_acc=True):
    d_x, d_post, d_comb, d_residual, _ = torch.ops.mhc.post_bwd(
        d_o, x, post_layer_mix.squeeze(-1), residual, comb_res_mix, **_POST, output_mask=[True] * 4 + [False])
    if fuse_grad_acc:
        residual.untyped_storage().grad_from_mhc_post = d_residual
    return d_x, d_residual, d_post.unsqueeze(-1), d_comb


class _Post(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *operands):
        ctx.save_for_backward(*operands)
        return mhc_post_fwd(*operands)

    @staticmethod
    def backward(ctx, d_o):
        return mhc_post_bwd(*ctx.saved_tensors, d_o)


def mhc_post(x, residual, post_layer_mix, comb_res_mix, out=None):
    return _into(out, _Post.apply(x, residual, post_layer_mix, comb_res_mix))


def mhc_multilayer_recompute(initial_residual, pre_mix_list, layer_output_list, post_mix_list, comb_mix_list,
                             layer_input_list, residual_list):
    """Layers' inputs and streams once more, into the caller's memory."""
    layers, posts = len(pre_mix_list), len(layer_output_list)
    assert layers > 0 and layers == len(layer_input_list), (
        f"there are {layers} of pre_mix_list and {len(layer_input_list)} of layer_input_list; needed as many, and one")
    assert posts == len(post_mix_list) == len(comb_mix_list) == len(residual_list) and posts in (layers - 1, layers), (
        f"there are {posts} of layer_output_list; needed as many of each list, {layers - 1} or {layers}")
    with torch.no_grad():
        residual = initial_residual
        for i in range(layers):
            mhc_pre_apply_mix(residual, pre_mix_list[i], layer_input_list[i])
            if i < posts:
                residual = mhc_post_fwd(layer_output_list[i], residual, post_mix_list[i], comb_mix_list[i],
                                        residual_list[i])


def mhc_pre_big_fuse(residual, fn, mhc_scale, mhc_base, rms_eps, mhc_pre_eps, mhc_sinkhorn_eps, mhc_post_mult_value,
                     sinkhorn_repeat, n_splits=16):
    n, hidden = residual.shape[-2:]
    count = n * (n + 2)
    _check(torch.bfloat16, tuple(residual.shape), residual=residual)
    _check(torch.float32, (count, n * hidden), fn=fn)
    _check(torch.float32, (3,), mhc_scale=mhc_scale)
    _check(torch.float32, (count,), mhc_base=mhc_base)
    with torch.no_grad():
        u, post_mix, comb_mix = mhcc.pre(
            residual, fn, mhc_scale, mhc_base, norm_eps=rms_eps, pre_eps=mhc_pre_eps, sk_eps=mhc_sinkhorn_eps,
            post_mult=mhc_post_mult_value, iters=sinkhorn_repeat, precision="tf32")
    return post_mix.unsqueeze(-1), comb_mix, u


def mhc_pre(residual, fn, scale, base, *, norm_weight=None, norm_eps=1e-6, mhc_mult=4, post_mult_value=1.0,
            pre_eps=1e-6, sinkhorn_eps=1e-6, sinkhorn_repeat=10, n_splits=16):
    """The layer's input, and what mhc_post takes. norm_weight counts also where gradients are off."""
    if norm_weight is not None:
        fn, norm_weight = _with_main_grad(fn), _with_main_grad(norm_weight)
    form = {**PRE, "norm_eps": norm_eps, "pre_eps": pre_eps, "post_mult": post_mult_value, "sk_eps": sinkhorn_eps}
    u, _, h_post, h_res = Accumulated.apply(
        "pre", lambda: _from_post(residual, hasattr(residual.untyped_storage(), "grad_from_mhc_post")), False,
        {**form, "iters": sinkhorn_repeat, "precision": "tf32"}, ("x", "phi", "alpha", "beta", "norm_weight"),
        residual, fn, scale, base, norm_weight)
    return u, (h_post.unsqueeze(-1), h_res)


def mhc_head(residual, fn, scale, base, *, norm_weight=None, norm_eps=1e-6, mhc_mult=4, pre_eps=1e-6, n_splits=16):
    if norm_weight is not None:
        fn, norm_weight = _with_main_grad(fn), _with_main_grad(norm_weight)
    return mhcc.head(residual, fn[:mhc_mult], scale.reshape(1) if scale.numel() == 1 else scale, base, norm_weight,
                     norm_eps=norm_eps, pre_eps=pre_eps, precision="tf32")
