"""The mHC functions of liger_kernel.transformers.functional, and the module LigerMHC."""

import warnings

import torch

import mhcc

from ._shared import PRE, weight_like

_FUNCTIONS = ("liger_mhc_apply", "liger_mhc_coeffs", "liger_mhc_forward", "liger_mhc_post_res", "liger_mhc_pre")
PLACES = {"liger_kernel.transformers.functional": _FUNCTIONS, "liger_kernel.transformers.mhc": ("LigerMHC",),
          "liger_kernel.transformers": ("LigerMHC",)}

_HALVES = (torch.bfloat16, torch.float16)


def _pre(x, phi, b, alpha_pre, alpha_post, alpha_res, aggregated, *, allow_fp32=False, tmax=20, rms_eps=1e-6,
         pre_eps=0.0, sinkhorn_eps=1e-6, post_mult=2.0):
    """The layer's input, where `aggregated`, and the coefficients, by one kernel."""
    types = _HALVES + (torch.float32,) * allow_fp32
    assert x.dtype in types, f"x is {x.dtype}; needed one of {types}, and float32 with allow_fp32 only"
    hc, c = x.shape[-2:]
    for name, tensor, needed in (("phi", phi, (hc * c, hc * (hc + 2))), ("b", b, (hc * (hc + 2),))):
        assert tuple(tensor.shape) == needed, f"{name} has shape {tuple(tensor.shape)}; needed {needed}"
    alpha = torch.stack([alpha.float().reshape(()) for alpha in (alpha_pre, alpha_post, alpha_res)])
    form = {**PRE, "phi_layout": "in_out", "pre_eps": float(pre_eps), "post_mult": float(post_mult)}
    return torch.ops.mhc.pre.default(
        x, weight_like(phi, x), alpha, b.float(), **form, norm_eps=float(rms_eps), sk_eps=float(sinkhorn_eps),
        iters=int(tmax), output_mask=[aggregated, True, True, True, False, False])[:4]


def liger_mhc_coeffs(x, phi, b, alpha_pre, alpha_post, alpha_res, **form):
    return _pre(x, phi, b, alpha_pre, alpha_post, alpha_res, False, **form)[1:]


def liger_mhc_pre(x, h_pre):
    return mhcc.aggregate(x, h_pre.float())


def liger_mhc_post_res(x, f_out, h_post, h_res):
    if f_out.dtype == x.dtype:
        return mhcc.post(f_out, x, h_post.float(), h_res.float())
    return mhcc.post(f_out.float(), x.float(), h_post.float(), h_res.float()).to(x.dtype)


def liger_mhc_apply(x, f_out, h_pre, h_post, h_res, *, return_x_in=False):
    x_out = liger_mhc_post_res(x, f_out, h_post, h_res)
    return (x_out, liger_mhc_pre(x, h_pre)) if return_x_in else x_out


def liger_mhc_forward(x, layer, phi, b, alpha_pre, alpha_post, alpha_res, *, return_coeffs=False, **form):
    u, *coeffs = _pre(x, phi, b, alpha_pre, alpha_post, alpha_res, True, **form)
    parameter = next(layer.parameters(), None) if hasattr(layer, "parameters") else None
    f_out = layer(u if parameter is None else u.to(parameter.dtype))
    x_out = liger_mhc_post_res(x, f_out, *coeffs[1:])
    return (x_out, tuple(coeffs)) if return_coeffs else x_out


class LigerMHC(torch.nn.Module):
    """A layer of `c` channels between `hc` residual streams, with the coefficients' parameters."""

    def __init__(self, layer, *, hc, c, tmax=20, rms_eps=1e-6, pre_eps=0.0, sinkhorn_eps=1e-6, post_mult=2.0,
                 phi_dtype=torch.float16, allow_fp32=False):
        super().__init__()
        if hc > 16:
            warnings.warn(f"hc is {hc}; kernels take 16 streams at most", stacklevel=2)
        self.layer, self.hc, self.c, self.tmax = layer, int(hc), int(c), int(tmax)
        self.rms_eps, self.pre_eps, self.sinkhorn_eps = float(rms_eps), float(pre_eps), float(sinkhorn_eps)
        self.post_mult, self.allow_fp32 = float(post_mult), bool(allow_fp32)
        device = next((parameter.device for parameter in layer.parameters()), torch.device("cpu"))
        count = hc * hc + 2 * hc
        self.phi = torch.nn.Parameter(torch.randn(hc * c, count, dtype=phi_dtype, device=device) * 0.02)
        self.b = torch.nn.Parameter(torch.zeros(count, device=device))
        for name in ("alpha_pre", "alpha_post", "alpha_res"):
            setattr(self, name, torch.nn.Parameter(torch.ones((), device=device)))

    def forward(self, x):
        if x.shape[-2:] != (self.hc, self.c):
            raise ValueError(f"x has shape {list(x.shape)}; needed [..., {self.hc}, {self.c}]")
        return liger_mhc_forward(x, self.layer, self.phi, self.b, self.alpha_pre, self.alpha_post, self.alpha_res,
                                 allow_fp32=self.allow_fp32, tmax=self.tmax, rms_eps=self.rms_eps,
                                 pre_eps=self.pre_eps, sinkhorn_eps=self.sinkhorn_eps, post_mult=self.post_mult)

    def extra_repr(self):
        return f"hc={self.hc}, c={self.c}, tmax={self.tmax}"
