"""torch.ops.mhc.* in plain PyTorch, for tests of the backend where the kernels are not built."""

import torch

_PRE_WORDS = (
    "str layout, str phi_layout, str norm, float norm_eps, float pre_eps, float post_mult, str res_map, str init, "
    "str order, str denom, float sk_eps, int iters, bool fold_pre, str? precision=None, str? h_pre_format=None, "
    "str? h_post_format=None, str? h_res_format=None, str? sk_format=None, bool[] output_mask"
)
_SCHEMAS = {
    "pre": "(Tensor x, Tensor phi, Tensor alpha, Tensor beta, Tensor? norm_weight=None, Tensor? h_in=None, *, "
    + _PRE_WORDS
    + ") -> (Tensor u, Tensor h_pre, Tensor h_post, Tensor h_res, Tensor proj, Tensor stat)",
    "post": "(Tensor f, Tensor h_post, Tensor x, Tensor h_res, Tensor? bias=None, Tensor? seed=None, *, str layout, "
    "str orient, float? rate=None, int? stream=None) -> (Tensor out)",
    "head": "(Tensor x, Tensor phi, Tensor alpha, Tensor beta, Tensor? norm_weight=None, *, str layout, "
    "str phi_layout, str norm, float norm_eps, float pre_eps, str? precision=None, str? h_pre_format=None, "
    "bool[] output_mask) -> "
    "(Tensor out, Tensor h_pre, Tensor proj, Tensor stat)",
    "sinkhorn": "(Tensor logits, *, str init, str order, str denom, float eps, int iters, str? format=None) -> "
    "(Tensor mix)",
    "projection": "(Tensor x, Tensor phi, Tensor? norm_weight=None, *, str layout, str phi_layout, str norm, "
    "float norm_eps, str stat_form, str? precision=None, bool[] output_mask) -> (Tensor proj, Tensor stat)",
    "gates": "(Tensor proj, Tensor alpha, Tensor beta, Tensor? stat=None, *, SymInt n, SymInt R, str stat_form, "
    "float norm_eps, float pre_eps, float post_mult, bool[] output_mask) -> "
    "(Tensor h_pre, Tensor h_post, Tensor logits)",
    "aggregate": "(Tensor x, Tensor h_pre, *, str layout) -> (Tensor u)",
    "expand": "(Tensor x, *, SymInt n, str layout) -> (Tensor streams)",
    "contract": "(Tensor x, *, str layout, str mode) -> (Tensor out)",
}


def _rounded(value, format):
    types = {"bf16": torch.bfloat16, "f16": torch.float16}
    return value.to(types[format]).float() if format in types else value


def _streams(x, layout):
    return (x if layout == "nC" else x.transpose(1, 2)).float()


def sinkhorn(logits, *, init, order, denom, eps, iters, format=None):
    assert denom == "add" and format is None, "not needed yet"
    if init == "softmax_eps":
        mix = logits.softmax(-1) + eps
    else:
        assert init in ("exp", "exp_rowmax")
        mix = torch.exp(logits - logits.amax(-1, keepdim=True) if init == "exp_rowmax" else logits)
    steps = [-1, -2] * iters if order == "row_col" else [-2, -1] * iters
    for dim in steps[1:] if init == "softmax_eps" else steps:
        mix = mix / (mix.sum(dim, keepdim=True) + eps)
    return mix


def _projection(x, phi, norm_weight, layout, phi_layout, norm, norm_eps):
    flat = x.float().flatten(1)
    assert norm == "inside" and layout == "nC"
    stat = torch.rsqrt(flat.square().mean(-1) + norm_eps)
    weighted = flat if norm_weight is None else flat * norm_weight.float()
    weights = phi.float() if phi_layout == "out_in" else phi.float().t()
    return torch.nn.functional.linear(weighted, weights), stat


def aggregate(x, h_pre, *, layout):
    return torch.einsum("mi,mic->mc", h_pre, _streams(x, layout)).to(x.dtype)


def projection(x, phi, norm_weight=None, *, layout, phi_layout, norm, norm_eps, stat_form, precision=None,
               output_mask):  # fmt: skip
    proj, stat = _projection(x, phi, norm_weight, layout, phi_layout, norm, norm_eps)
    if stat_form == "applied":
        return proj * stat.unsqueeze(-1), stat
    return proj, stat if stat_form == "inv_rms" else stat.pow(-2) - norm_eps


def gates(proj, alpha, beta, stat=None, *, n, R, stat_form, norm_eps, pre_eps, post_mult, output_mask):
    stat = torch.rsqrt(stat + norm_eps) if stat_form == "mean_square" else stat
    t = proj if stat is None else proj * stat.unsqueeze(-1)
    h_pre = torch.sigmoid(alpha[0] * t[:, :n] + beta[:n]) + pre_eps
    if len(alpha) == 1:
        return h_pre, h_pre, t
    h_post = post_mult * torch.sigmoid(alpha[1] * t[:, n : 2 * n] + beta[n : 2 * n])
    return h_pre, h_post, alpha[2] * t[:, 2 * n :] + beta[2 * n :]


def pre(x, phi, alpha, beta, norm_weight=None, h_in=None, *, layout, phi_layout, norm, norm_eps, pre_eps, post_mult,
        res_map, init, order, denom, sk_eps, iters, fold_pre, precision=None, h_pre_format=None, h_post_format=None,
        h_res_format=None, sk_format=None, output_mask):  # fmt: skip
    n = x.shape[1] if layout == "nC" else x.shape[2]
    proj, stat = _projection(x, phi, norm_weight, layout, phi_layout, norm, norm_eps)
    t = proj * stat.unsqueeze(-1)
    h_pre = _rounded(torch.sigmoid(alpha[0] * t[:, :n] + beta[:n]) + pre_eps, h_pre_format)
    h_post = _rounded(post_mult * torch.sigmoid(alpha[1] * t[:, n : 2 * n] + beta[n : 2 * n]), h_post_format)
    logits = (alpha[2] * t[:, 2 * n :] + beta[2 * n :]).reshape(-1, n, n)
    assert res_map == "sinkhorn" and not fold_pre
    h_res = sinkhorn(logits, init=init, order=order, denom=denom, eps=sk_eps, iters=iters, format=sk_format)
    u = aggregate(x, h_pre if h_in is None else h_in, layout=layout)
    return u, h_pre, h_post, _rounded(h_res, h_res_format), proj, stat


def post(f, h_post, x, h_res, bias=None, seed=None, *, layout, orient, rate=None, stream=None):
    f = f.float() if bias is None else f.float() + bias.float()
    mix = h_res if orient == "oi" else h_res.transpose(1, 2)
    out = mix @ _streams(x, layout) + h_post.unsqueeze(-1) * f.unsqueeze(1)
    return (out if layout == "nC" else out.transpose(1, 2)).to(x.dtype)


def head(x, phi, alpha, beta, norm_weight=None, *, layout, phi_layout, norm, norm_eps, pre_eps, precision=None,
         h_pre_format=None, output_mask):  # fmt: skip
    proj, stat = _projection(x, phi, norm_weight, layout, phi_layout, norm, norm_eps)
    h_pre = _rounded(torch.sigmoid(alpha * (proj * stat.unsqueeze(-1)) + beta) + pre_eps, h_pre_format)
    return aggregate(x, h_pre, layout=layout), h_pre, proj, stat


def expand(x, *, n, layout):
    dim = 1 if layout == "nC" else 2
    return x.unsqueeze(dim).expand(*x.shape[:dim], n, *x.shape[dim:]).clone()


def contract(x, *, layout, mode):
    dim = 1 if layout == "nC" else 2
    return (x.float().mean(dim) if mode == "mean" else x.float().sum(dim)).to(x.dtype)


_library = torch.library.Library("mhc", "FRAGMENT")
for _name, _schema in _SCHEMAS.items():
    _library.define(_name + _schema)
    _library.impl(_name, globals()[_name], "CompositeImplicitAutograd")
