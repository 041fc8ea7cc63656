"""The ops in plain PyTorch, as docs/math.md writes them: for float64, with PyTorch's own derivatives."""

import itertools

import torch


def by_stream(x, layout):
    return x if layout == "nC" else x.transpose(-1, -2)


def expand(x, n, *, layout="nC"):
    return by_stream(x.unsqueeze(-2).expand(*x.shape[:-1], n, x.shape[-1]), layout)


def contract(x, *, layout="nC", mode):
    total = by_stream(x, layout).sum(-2)
    return total / by_stream(x, layout).shape[-2] if mode == "mean" else total


def aggregate(x, h_pre, *, layout="nC"):
    return (h_pre.unsqueeze(-1) * by_stream(x, layout)).sum(-2)


def projection(x, phi, norm_weight=None, *, layout="nC", phi_layout="out_in", norm="inside", norm_eps=1e-6,
               stat_form="inv_rms", precision=None):
    weight = phi if phi_layout == "out_in" else phi.t()
    weight = weight if norm_weight is None else weight * norm_weight
    flat = x.flatten(-2)
    proj, ms = flat @ weight.t(), flat.square().mean(-1)
    scale = {"inside": lambda: (ms + norm_eps).rsqrt(), "outside": lambda: 1 / (ms.sqrt() + norm_eps),
             "clamp": lambda: 1 / ms.sqrt().clamp_min(norm_eps), "none": lambda: torch.ones_like(ms)}[norm]()
    if stat_form == "applied":
        return proj * scale.unsqueeze(-1), None
    return proj, ms if stat_form == "mean_square" else scale


def gates(proj, alpha, beta, stat=None, *, n, stat_form="inv_rms", norm_eps=1e-6, pre_eps=0.0, post_mult=2.0):
    scale = {"inv_rms": lambda: stat, "mean_square": lambda: (stat + norm_eps).rsqrt(),
             "applied": lambda: torch.ones_like(proj[..., 0])}[stat_form]()
    rest = proj.shape[-1] - 2 * n
    factors = torch.cat([alpha[i].expand(size) for i, size in enumerate([n, n, rest][: len(alpha)])])
    z = scale.unsqueeze(-1) * proj * factors + beta
    h_pre = z[..., :n].sigmoid() + pre_eps
    if len(alpha) == 1:
        return h_pre, None, None
    return h_pre, post_mult * z[..., n : 2 * n].sigmoid(), z[..., 2 * n :]


def sinkhorn(logits, *, init="softmax_eps", order="row_col", denom="add", eps=1e-6, iters=20, format=None,
             solver="sinkhorn"):
    if solver == "newton":
        iters = 1000  # the limit, for ordinary logits
    axes = (-1, -2) if order == "row_col" else (-2, -1)
    if init == "log":
        for _ in range(iters):
            for axis in axes:
                logits = logits - logits.logsumexp(axis, keepdim=True)
        return logits.exp()
    maximum = {"exp_rowmax": lambda: logits.amax(-1, keepdim=True), "exp_colmax": lambda: logits.amax(-2, keepdim=True),
               "exp_max": lambda: logits.amax((-1, -2), keepdim=True)}.get(init, lambda: 0)()
    y = {"softmax_eps": lambda: logits.softmax(-1) + eps, "sigmoid": logits.sigmoid,
         "sigmoid_eps": lambda: logits.sigmoid() + eps}.get(init, lambda: (logits - maximum).exp())()
    if denom == "potentials":
        factors = {-1: torch.ones_like(y[..., :1]), -2: torch.ones_like(y[..., :1, :])}
        for _ in range(iters):
            for axis in axes:
                factors[axis] = 1 / ((y * factors[-3 - axis]).sum(axis, keepdim=True) + eps)
        return y * factors[-1] * factors[-2]
    for step, axis in enumerate(axes * iters):
        if init == "softmax_eps" and step == 0:
            continue
        total = y.sum(axis, keepdim=True)
        y = y / {"add": total + eps, "clamp": total.clamp(min=eps), "none": total}[denom]
    return y


def permutation_mix(logits, n):
    rows = torch.eye(n, dtype=logits.dtype)
    matrices = torch.stack([rows[list(permutation)] for permutation in itertools.permutations(range(n))])
    return torch.einsum("...p,pij->...ij", logits.softmax(-1), matrices)


def pre(x, phi, alpha, beta, norm_weight=None, *, layout="nC", phi_layout="out_in", norm="inside", norm_eps=1e-6,
        pre_eps=0.0, post_mult=2.0, res_map="sinkhorn", init="softmax_eps", order="row_col", denom="add", sk_eps=1e-6,
        iters=20, fold_pre=False, precision=None, solver="sinkhorn"):
    n = by_stream(x, layout).shape[-2]
    proj, stat = projection(x, phi, norm_weight, layout=layout, phi_layout=phi_layout, norm=norm, norm_eps=norm_eps)
    h_pre, h_post, logits = gates(proj, alpha, beta, stat, n=n, pre_eps=pre_eps, post_mult=post_mult)
    if res_map == "permutation":
        h_res = permutation_mix(logits, n)
    else:
        h_res = logits.unflatten(-1, (n, n))
        if res_map == "sinkhorn":
            h_res = sinkhorn(h_res, init=init, order=order, denom=denom, eps=sk_eps, iters=iters, solver=solver)
    if fold_pre:
        h_res = h_res - h_post.unsqueeze(-1) * h_pre.unsqueeze(-2)
    return aggregate(x, h_pre, layout=layout), h_post, h_res


def head(x, phi, alpha, beta, norm_weight=None, *, layout="nC", phi_layout="out_in", norm="inside", norm_eps=1e-6,
         pre_eps=0.0, precision=None):
    n = by_stream(x, layout).shape[-2]
    proj, stat = projection(x, phi, norm_weight, layout=layout, phi_layout=phi_layout, norm=norm, norm_eps=norm_eps)
    return aggregate(x, gates(proj, alpha, beta, stat, n=n, pre_eps=pre_eps)[0], layout=layout)


def pre_gated_delta_rule(qkvzba, conv_weight, A_log, dt_bias, conv_bias=None, cu_seqlens=None, left_boundary=None, *,
                         num_key_heads, qk_l2norm=True, l2_eps=1e-6, softplus_threshold=20.0, seq_layout="bMD"):
    by_sequence = (lambda x: x) if seq_layout == "bMD" else (lambda x: x.transpose(0, 1))
    x, (width, taps), heads = by_sequence(qkvzba), conv_weight.shape, len(A_log)
    value_width = (x.shape[-1] - width) // heads - 2
    key_width = (width - heads * value_width) // (2 * num_key_heads)
    qkv, gate, b, alpha = x.split([width, heads * value_width, heads, heads], -1)
    left = x.new_zeros(len(x), taps - 1, width) if left_boundary is None else by_sequence(left_boundary)
    cuts = [0, x.shape[1]] if cu_seqlens is None else cu_seqlens.tolist()

    def convolved(piece):
        padded = torch.cat([left, piece], 1)
        return sum(padded[:, j : j + piece.shape[1]] * conv_weight[:, j] for j in range(taps))

    a = torch.cat([convolved(qkv[:, start:end]) for start, end in itertools.pairwise(cuts)], 1)
    u = torch.nn.functional.silu(a if conv_bias is None else a + conv_bias)
    q, k, v = u.split([num_key_heads * key_width, num_key_heads * key_width, heads * value_width], -1)

    def repeated(u):
        u = u.unflatten(-1, (num_key_heads, key_width))
        u = u / (u.square().sum(-1, keepdim=True) + l2_eps).sqrt() if qk_l2norm else u
        return u.repeat_interleave(heads // num_key_heads, -2)

    g = -A_log.exp() * torch.nn.functional.softplus(alpha + dt_bias, threshold=softplus_threshold)
    by_head = (heads, value_width)
    return repeated(q), repeated(k), v.unflatten(-1, by_head), gate.unflatten(-1, by_head), b.sigmoid(), g


def post(f, x, h_post, h_res, bias=None, *, layout="nC", orient="oi"):
    added = f if bias is None else f + bias
    matrix = h_res if orient == "oi" else h_res.transpose(-1, -2)
    return by_stream(h_post.unsqueeze(-1) * added.unsqueeze(-2) + matrix @ by_stream(x, layout), layout)
