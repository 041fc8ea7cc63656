"""The functions of megatron.core.fusions.fused_mhc_kernels and HyperConnectionModule. Streams are (s, b, n, C).

h_res goes from row to column. Coefficients may be of the streams' type; kernels read them as f32.
"""

import torch

import mhcc

from ._shared import PRE, f32, weight_like

try:
    from megatron.core.transformer.module import MegatronModule, mark_keep_in_fp32
except Exception:  # whatever an installation without GPU or compiler raises
    MegatronModule = None

_POST = dict(layout="nC", orient="io")
_EPS = 1e-6
# The projection of f32 weights is wanted in f32; streams of bf16 have no more than one term of tf32.
_PROJECTION = dict(norm="outside", precision="tf32x3")

MHC_BACKEND_DETERMINISM = dict.fromkeys(("native", "triton", "cutile"), "deterministic")  # by any name the same kernels


def is_cutile_available():
    return True


is_triton_available = is_cutile_available


def log_fused_mhc_backend_once():
    pass


def fused_sinkhorn(input_logits, num_iterations, eps=1e-6):
    return mhcc.sinkhorn(input_logits.float(), iters=num_iterations, eps=eps).to(input_logits.dtype)


def fused_h_aggregate(x, h_pre):
    return mhcc.aggregate(x, h_pre.float())


def fused_h_aggregate_into(x, h_pre, out):
    needed = x.shape[:2] + x.shape[3:]
    if out.shape != needed:
        raise ValueError(f"out has shape {tuple(out.shape)}; needed {tuple(needed)}")
    if (out.dtype, out.device) != (x.dtype, x.device):
        raise ValueError(f"out is {out.dtype} on {out.device}; needed {x.dtype} on {x.device}, as x")
    if not out.is_contiguous() or out.requires_grad:
        raise ValueError("out has gaps or a gradient; needed contiguous and detached")
    return out.copy_(fused_h_aggregate(x, h_pre))


def fused_h_post_bda(h_res, original_residual, h_post, x, bias):
    return mhcc.post(x, original_residual, h_post.float(), h_res.float(), f32(bias), **_POST)


def fused_proj_rms_compute_h(x, weight, alpha_pre, alpha_post, alpha_res, bias, n, eps=1e-6, compute_h_eps=1e-6):
    proj, scale = mhcc.projection(x.unflatten(-1, (n, -1)), weight_like(weight, x), norm_eps=eps, **_PROJECTION)
    alpha = torch.cat([alpha_pre, alpha_post, alpha_res]).float()
    results = mhcc.gates(proj, alpha, bias.float(), scale, n=n, pre_eps=compute_h_eps)
    rms = (1 / scale - eps).unsqueeze(-1)
    return tuple(one.to(torch.promote_types(x.dtype, weight.dtype)) for one in (*results, rms))


def native_proj_rms(x, weight, eps=1e-6):
    # The number of streams makes no difference here.
    proj, scale = mhcc.projection(x.unsqueeze(-2), weight_like(weight, x), norm_eps=eps, **_PROJECTION)
    return proj.to(x.dtype), scale.unsqueeze(-1).to(x.dtype)


def fused_add_3(a, b, c):
    """The sum, rounded once."""
    return torch.stack((a, b, c)).sum(0)


def h_aggregate_bwd(grad_output, x, h_pre):
    d_x, d_h_pre = torch.ops.mhc.aggregate_bwd(grad_output, x, h_pre.float(), layout="nC", output_mask=[True, True])
    return d_x, d_h_pre.to(h_pre.dtype)


def h_aggregate_fwd(x, h_pre, out=None):
    return fused_h_aggregate(x, h_pre) if out is None else fused_h_aggregate_into(x, h_pre, out)


def h_post_bda_bwd(grad_output, h_res, original_residual, h_post, x, bias):
    d_x, d_h_post, d_h_res, d_residual, d_bias = torch.ops.mhc.post_bwd(
        grad_output, x, h_post.float(), original_residual, h_res.float(), f32(bias), **_POST,
        output_mask=[True] * 4 + [bias is not None])
    return (d_h_res.to(h_res.dtype), d_residual, d_h_post.to(h_post.dtype), d_x,
            None if bias is None else d_bias.to(bias.dtype))


def sinkhorn_fwd(input_logits, num_iterations, eps=1e-6):
    return fused_sinkhorn(input_logits, num_iterations, eps), input_logits


def sinkhorn_bwd(grad_output, logits, num_iterations, eps=1e-6):
    with torch.enable_grad():
        logits = logits.detach().requires_grad_()
        return torch.autograd.grad(fused_sinkhorn(logits, num_iterations, eps), logits, grad_output)[0]


class BroadcastTensorFused(torch.autograd.Function):
    """Three views of a tensor; their gradients are added by the function that is given."""

    @staticmethod
    def forward(ctx, x, fused_add_3_fn):
        ctx.add = fused_add_3_fn
        ctx.set_materialize_grads(False)
        return x.view_as(x), x.view_as(x), x.view_as(x)

    @staticmethod
    def backward(ctx, *gradients):
        given = [one for one in gradients if one is not None]
        return ctx.add(*given) if len(given) == 3 else sum(given) if given else None, None


class HyperConnectionModule(MegatronModule or torch.nn.Module):
    """A sublayer's coefficients, with `pre` in one kernel."""

    def __init__(self, config, layer_number):
        super().__init__(*(() if MegatronModule is None else (config,)))
        self.config, self.layer_number = config, layer_number
        self.n, self.hidden_size = config.num_residual_streams, config.hidden_size
        self.sinkhorn_iterations, self.norm_eps = config.mhc_sinkhorn_iterations, _EPS
        self.sinkhorn_eps, self.compute_h_eps = _EPS, _EPS
        count = self.n**2 + 2 * self.n
        self.mapping_proj = torch.nn.Linear(self.n * self.hidden_size, count, bias=False)
        for name in ("alpha_pre", "alpha_post", "alpha_res"):
            setattr(self, name, torch.nn.Parameter(torch.full((1,), config.mhc_init_gating_factor)))
        self.bias = torch.nn.Parameter(torch.zeros(count))
        torch.nn.init.xavier_uniform_(self.mapping_proj.weight)
        for parameter in self.parameters():
            if MegatronModule is not None:
                mark_keep_in_fp32(parameter)
            if config.sequence_parallel:
                parameter.sequence_parallel = True

    def _streams(self, x):
        return x.unflatten(-1, (self.n, self.hidden_size))

    def _pre(self, x, aggregated):
        """The sublayer's input, where it is `aggregated`, and the coefficients as x's type."""
        alpha = torch.cat([self.alpha_pre, self.alpha_post, self.alpha_res]).float()
        u, *mixes = torch.ops.mhc.pre.default(
            self._streams(x), weight_like(self.mapping_proj.weight, x), alpha, self.bias.float(),
            **{**PRE, **_PROJECTION, "pre_eps": self.compute_h_eps}, norm_eps=self.norm_eps, sk_eps=self.sinkhorn_eps,
            iters=self.sinkhorn_iterations, output_mask=[aggregated, True, True, True, False, False])[:4]
        return u, *(mix.to(x.dtype) for mix in mixes)

    def compute_mappings(self, x):
        return self._pre(x, False)[1:]

    def aggregate(self, x, h_pre, out=None):
        return h_aggregate_fwd(self._streams(x), h_pre, out)

    def forward(self, hidden_states, mhc_recompute_manager=None, output_slot=None):
        if mhc_recompute_manager is None:
            if output_slot is not None:
                raise ValueError("output_slot is given without mhc_recompute_manager; needed both")
            u, _, h_post, h_res = self._pre(hidden_states, True)
            return u, h_res, h_post, hidden_states
        h_pre, h_post, h_res = self.compute_mappings(hidden_states)
        u = _checkpoint(mhc_recompute_manager, lambda x, h_pre: self.aggregate(
            x, h_pre, None if output_slot is None else output_slot.writer), hidden_states, h_pre,
            output_slot=output_slot)
        return u, h_res, h_post, hidden_states

    def apply_h_res(self, h_res, residual):
        return (h_res.transpose(-1, -2) @ self._streams(residual)).flatten(-2)

    def apply_h_post(self, x_with_bias, h_post, manager=None):
        def expand(x, h_post):
            return (h_post.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)

        return tuple(x if x is None else _checkpoint(manager, expand, x, h_post) for x in x_with_bias)

    def fused_h_res_h_post_bda(self, h_res, original_residual, h_post, layer_output_with_bias, dropout_prob, training,
                               fused, manager=None):
        def post(h_res, residual, h_post, x, bias=None):
            return mhcc.post(x, self._streams(residual), h_post.float(), h_res.float(), f32(bias),
                             dropout=dropout_prob if training else 0.0, **_POST).flatten(-2)

        given = [one for one in layer_output_with_bias if one is not None]
        return _checkpoint(manager, post, h_res, original_residual, h_post, *given)

    @staticmethod
    def input_expand(x, n):
        return mhcc.expand(x, n).flatten(-2)

    @staticmethod
    def output_contract(x, n):
        return mhcc.contract(x.unflatten(-1, (n, -1)), mode="mean")


def _checkpoint(manager, function, *operands, **options):
    if manager is None:
        return function(*operands)
    from megatron.core.tensor_parallel.random import CheckpointWithoutOutput
    return CheckpointWithoutOutput(ckpt_manager=manager, **options).checkpoint(function, *operands)


# Names of the backends, which are one here.
_cutile_h_aggregate_bwd = _torch_h_aggregate_bwd = h_aggregate_bwd
_cutile_h_aggregate_fwd = _triton_h_aggregate_fwd = h_aggregate_fwd
_cutile_h_post_bda_fwd = _triton_h_post_bda_fwd = native_h_post_bda = fused_h_post_bda
_cutile_h_post_bda_bwd = _triton_h_post_bda_bwd = h_post_bda_bwd
_cutile_sinkhorn_fwd, _cutile_sinkhorn_bwd = sinkhorn_fwd, sinkhorn_bwd
_torch_proj_rms_compute_h = fused_proj_rms_compute_h
triton_fused_sinkhorn = native_sinkhorn = fused_sinkhorn
native_h_aggregate, native_h_aggregate_into, native_fused_add_3 = fused_h_aggregate, fused_h_aggregate_into, fused_add_3

_MODULE = ("BroadcastTensorFused", "HyperConnectionModule", *(name for name in dict(globals()) if "native_" in name))
PLACES = {
    "megatron.core.fusions.fused_mhc_kernels": tuple(
        name for name in dict(globals()) if name.startswith(("MHC_", "fused_", "is_", "log_", "triton_", "_cutile",
                                                             "_triton", "_torch"))),
    "megatron.core.transformer.hyper_connection": _MODULE}
