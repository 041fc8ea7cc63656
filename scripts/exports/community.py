"""Sublayers in the spellings of smaller public projects, written anew from their mathematics and habits."""

import math

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from torch import nn

import sinkhorn
from base import RMSNorm, Site, SwiGLU, module
from sizes import C, N, ROWS


@module
class Lucidrains(Site):
    """hyper-connections, second version: coefficients of each stream from that stream alone; einops throughout."""

    constraint = staticmethod(sinkhorn.of_normalize)

    def __init__(self):
        super().__init__()
        self.weights(gamma=(C,), static_alpha=(N, N + 1), dynamic_alpha=(C, N + 1), pre_scale=(1,), res_scale=(1,),
                     static_beta=(N, 1), dynamic_beta=(C, 1), post_scale=())

    def forward(self, x):
        normed = (F.normalize(x, dim=-1) * C ** 0.5 * (self.gamma + 1)).float()
        weight = einsum(normed, self.dynamic_alpha.float(), "... d, d mix -> ... mix")
        scale = torch.cat((self.pre_scale.float(), self.res_scale.float().expand(N)))
        alpha = weight * scale + self.static_alpha.float()
        alpha = torch.cat((alpha[..., :1].sigmoid(), self.constraint(alpha[..., 1:])), dim=-1)
        beta = normed @ self.dynamic_beta.float() * self.post_scale.float() + self.static_beta.float()
        beta = (beta.sigmoid() * 2).to(x.dtype)
        mixed = einsum(alpha, x.float(), "... s t, ... s d -> ... t d")
        u, streams = mixed[..., 0, :].to(x.dtype), mixed[..., 1:, :].to(x.dtype)
        out = einsum(self.f(u).float(), beta.float(), "b t d, b t s one -> b t s d")
        return out.to(x.dtype) + streams


@module
class LucidrainsLog(Lucidrains):
    """The same with its logarithmic Sinkhorn."""

    constraint = staticmethod(sinkhorn.of_log_softmax)


@module
class Tokenbender(Site):
    """Streams folded into the batch; static matrices: softmax for both gates, potentials over tau for the mix."""

    inputs = ("Bn T C",)
    fused = ("aggregate", "post")

    def __init__(self):
        super().__init__()
        self.weights(res_logits=(N, N), pre_logits=(1, N), post_logits=(1, N))

    def forward(self, x):
        x = rearrange(x, "(b s) ... d -> b ... s d", s=N)
        mix = sinkhorn.of_potentials(self.res_logits, tau=0.05, iterations=10)
        mixed = einsum(mix, x, "s t, ... s d -> ... t d")
        u = einsum(self.pre_logits.softmax(dim=-1), x, "v s, ... s d -> ... v d")[..., 0, :]
        out = einsum(self.f(u), self.post_logits.softmax(dim=-1)[0], "b ... d, s -> b ... s d")
        return rearrange(out, "b ... s d -> (b s) ... d") + rearrange(mixed, "b ... s d -> (b s) ... d")


@module
class NanogptMhc(Site):
    """nanoGPT with mHC: flat tokens, three Linear, sums bounded from below, all mixes as batched products."""

    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(N * C)
        self.linears(phi_pre=N, phi_post=N, phi_res=N * N)
        self.weights(alpha_pre=(), alpha_post=(), alpha_res=(), b_pre=(N,), b_post=(N,), b_res=(N, N))

    def forward(self, x):
        b, t = x.shape[:2]
        flat = x.reshape(b * t, N * C)
        normed = self.norm(flat)
        h_pre = torch.sigmoid(self.alpha_pre * self.phi_pre(normed) + self.b_pre)
        h_post = 2.0 * torch.sigmoid(self.alpha_post * self.phi_post(normed) + self.b_post)
        logits = self.alpha_res * self.phi_res(normed).view(b * t, N, N) + self.b_res
        h_res = sinkhorn.rows_columns_clamped(torch.exp(logits))
        u = torch.bmm(h_pre.unsqueeze(1), flat.view(b * t, N, C)).squeeze(1)
        y = self.f(u.view(b, t, C)).view(b * t, C)
        out = torch.bmm(h_res, flat.view(b * t, N, C)) + torch.bmm(h_post.unsqueeze(2), y.unsqueeze(1))
        return out.view(b, t, N, C)


@module
class ReadWrite(Site):
    """A read and a write of streams [..., n*C]; x over its norm plus eps; a bias inside of alpha and outside of it."""

    inputs = ("B T nC",)

    def __init__(self):
        super().__init__()
        self.linears(bias=True, phi_pre=N, phi_post=N, phi_res=N * N)
        self.weights(alpha_pre=(), alpha_post=(), alpha_res=())

    def forward(self, x):
        flat = x.reshape(-1, N * C)
        normed = flat / (flat.norm(dim=-1, keepdim=True) + 1e-6)
        h_pre = torch.sigmoid(self.alpha_pre * self.phi_pre(normed) + self.phi_pre.bias)
        h_post = 2.0 * torch.sigmoid(self.alpha_post * self.phi_post(normed) + self.phi_post.bias)
        h_res = self.alpha_res * self.phi_res(normed) + self.phi_res.bias
        h_res = sinkhorn.rows_columns(torch.exp(h_res.view(-1, N, N)))
        streams = flat.view(-1, N, C)
        u = torch.einsum("pn,pnc->pc", h_pre, streams).view(*x.shape[:-1], C)
        y = self.f(u).reshape(-1, C)
        out = torch.bmm(h_res, streams) + h_post.unsqueeze(-1) * y.unsqueeze(1)
        return out.view(*x.shape[:-1], N * C)


@module
class Scaling(Site):
    """A course's notebook: gamma before the product, the norm behind it; Sinkhorn as vectors and diagonal matrices."""

    def __init__(self):
        super().__init__()
        self.weights(gamma=(N * C,), w=(N * C, ROWS), alpha=(3,), beta=(ROWS,))

    def residual(self, logits):
        return sinkhorn.of_scaling(logits)

    def forward(self, x):
        b, t = x.shape[:2]
        flat = x.reshape(b, t, N * C)
        h = (self.gamma * flat) @ self.w
        r_inv = 1.0 / (flat.norm(dim=-1, keepdim=True) / math.sqrt(N * C))
        pre = torch.sigmoid(r_inv * h[:, :, :N] * self.alpha[0] + self.beta[:N])
        post = 2 * torch.sigmoid(r_inv * h[:, :, N:2 * N] * self.alpha[1] + self.beta[N:2 * N])
        logits = (r_inv * h[:, :, 2 * N:] * self.alpha[2] + self.beta[2 * N:]).reshape(b, t, N, N)
        mixed = self.residual(logits) @ x
        y = self.f(pre.unsqueeze(dim=2) @ x)
        return post.unsqueeze(dim=-1) @ y + mixed


@module
class ScalingSums(Scaling):
    """The same vectors by sums of products."""

    def residual(self, logits):
        return sinkhorn.of_scaling_sums(logits)


@module
class SkillMhc(Site):
    """A teaching module: a Linear with bias for each coefficient, a softmax temperature of 0.05, log-sum-exp steps."""

    def __init__(self):
        super().__init__(bias=True)
        self.norm = nn.RMSNorm(N * C, eps=1e-6)
        self.linears(bias=True, to_pre=N, to_post=N, to_res=N * N)

    def forward(self, x):
        normed = self.norm(x.flatten(-2))
        pre, post = self.to_pre(normed).sigmoid(), 2 * self.to_post(normed).sigmoid()
        res = sinkhorn.of_logsumexp(self.to_res(normed).unflatten(-1, (N, N)), tau=0.05)
        y = self.f(einsum(pre, x, "b t n, b t n c -> b t c"))
        return einsum(res, x, "b t i j, b t j c -> b t i c") + einsum(post, y, "b t n, b t c -> b t n c")


@module
class MhcLayer(Site):
    """A wrapper of HuggingFace models: [B, S, n, C]; a norm with weight in f32; layernorm and MLP inside."""

    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(N * C)
        self.f = SwiGLU()
        self.linears(proj=ROWS)
        self.weights(scale=(3,), bias=(ROWS,))

    def forward(self, x):
        b, s, n, c = x.shape
        z = self.proj(self.norm(x.reshape(b, s, n * c)))
        pre, post, res = z.split([n, n, n * n], dim=-1)
        b_pre, b_post, b_res = self.bias.split([n, n, n * n])
        h_pre = torch.sigmoid(self.scale[0] * pre + b_pre)
        h_post = 2 * torch.sigmoid(self.scale[1] * post + b_post)
        h_res = self.scale[2] * res + b_res
        h_res = sinkhorn.of_whole_maximum(h_res.view(b, s, n, n))
        y = self.f(torch.matmul(h_pre.unsqueeze(-2), x).squeeze(-2))
        return torch.matmul(h_res, x) + h_post.unsqueeze(-1) * y.unsqueeze(-2)


@module
class GlobalMaximum(Site):
    """A demonstration: three phi as parameters, x / rms by sqrt, one maximum of everything subtracted."""

    def __init__(self):
        super().__init__(bias=True)
        self.weights(phi_pre=(N * C, N), phi_post=(N * C, N), phi_res=(N * C, N * N), alpha_pre=(1,), alpha_post=(1,),
                     alpha_res=(1,), b_pre=(1, N), b_post=(1, N), b_res=(N, N))

    def forward(self, x):
        b, t = x.shape[:2]
        flat = x.view(b, t, -1)
        normed = flat / torch.sqrt(torch.mean(flat ** 2, dim=-1, keepdim=True) + 1e-8)
        h_pre = torch.sigmoid(self.alpha_pre * torch.matmul(normed, self.phi_pre) + self.b_pre)
        h_post = 2 * torch.sigmoid(self.alpha_post * torch.matmul(normed, self.phi_post) + self.b_post)
        logits = self.alpha_res * torch.matmul(normed, self.phi_res).view(b, t, N, N) + self.b_res
        h_res = sinkhorn.of_global_maximum(logits)
        y = self.f(torch.einsum("btn,btnd->btd", h_pre, x))
        return torch.einsum("btij,btjd->btid", h_res, x) + torch.einsum("btn,btd->btnd", h_post, y)


@module
class Vmap(Site):
    """A function of one token's streams [n, C], mapped over batch and tokens by torch.vmap."""

    def __init__(self):
        super().__init__()
        self.weights(phi=(ROWS, N * C), alpha=(3,), beta=(ROWS,))

    def token(self, x):
        flat = x.reshape(-1)
        h = self.phi @ (flat * torch.rsqrt(flat.square().mean() + 1e-6))
        pre = torch.sigmoid(self.alpha[0] * h[:N] + self.beta[:N])
        post = 2 * torch.sigmoid(self.alpha[1] * h[N:2 * N] + self.beta[N:2 * N])
        res = sinkhorn.softmax_eps((self.alpha[2] * h[2 * N:] + self.beta[2 * N:]).reshape(N, N))
        return res @ x + torch.outer(post, self.f(pre @ x))

    def forward(self, x):
        return torch.vmap(torch.vmap(self.token))(x)


@module
class ThreeLinear(Site):
    """Three Linear without a bias of x over its norm; maximum of each row subtracted; no eps."""

    def __init__(self):
        super().__init__()
        self.linears(pre=N, post=N, res=N * N)
        self.weights(a_pre=(1,), a_post=(1,), a_res=(1,), b_pre=(1, 1, N), b_post=(1, 1, N), b_res=(1, 1, N, N))

    def forward(self, x):
        b, t, n, c = x.shape
        normed = F.normalize(x.reshape(b, t, n * c), dim=-1) * math.sqrt(n * c)
        pre = torch.sigmoid(self.a_pre * self.pre(normed) + self.b_pre)
        post = 2 * torch.sigmoid(self.a_post * self.post(normed) + self.b_post)
        z = self.a_res * self.res(normed).reshape(b, t, n, n) + self.b_res
        res = sinkhorn.rows_columns(torch.exp(z - z.max(dim=-1, keepdim=True).values), 0.0)
        y = self.f((pre[..., None] * x).sum(dim=-2))
        return res @ x + post[..., None] * y[:, :, None, :]


@module
class LogTemperature(Site):
    """Streams in front of tokens, [B, n, T, C]; all tokens in one dimension; a Sinkhorn in logarithms over tau."""

    inputs = ("B n T C",)

    def __init__(self):
        super().__init__()
        self.weights(phi=(N * C, ROWS), alpha=(3,), beta=(ROWS,))

    def forward(self, x):
        b, n, t, c = x.shape
        tokens = x.permute(0, 2, 1, 3).contiguous()
        flat = tokens.view(b * t, n * c)
        scale = flat.float().pow(2).mean(-1, keepdim=True).add(1e-6).rsqrt().to(flat.dtype)
        h = (flat * scale) @ self.phi
        pre = torch.sigmoid(self.alpha[0] * h[:, :n] + self.beta[:n])
        post = 2 * torch.sigmoid(self.alpha[1] * h[:, n:2 * n] + self.beta[n:2 * n])
        res = sinkhorn.of_logsumexp((self.alpha[2] * h[:, 2 * n:] + self.beta[2 * n:]).view(-1, n, n), tau=0.5)
        streams = tokens.view(b * t, n, c)
        y = self.f(torch.bmm(pre.unsqueeze(1), streams).view(b, t, c)).view(b * t, 1, c)
        out = torch.bmm(res, streams) + post.unsqueeze(2) * y
        return out.view(b, t, n, c).permute(0, 2, 1, 3)


@module
class Krom(Site):
    """KromHC's base: of each stream's n + 1 rows the first is h_pre's, the others are the matrix's; h_post on its own."""

    def __init__(self):
        super().__init__()
        self.weights(gamma=(N * C,), alpha=(N, N + 1), alpha_fn=(N * C, N * (N + 1)), pre_scale=(1,), res_scale=(1,),
                     beta=(N,), beta_fn=(N * C, N), post_scale=())

    def forward(self, x):
        normed = F.normalize(x.flatten(-2), dim=-1) * (N * C) ** 0.5 * (self.gamma + 1)
        rows = rearrange(normed @ self.alpha_fn, "... (s t) -> ... s t", s=N)
        rows = rows * torch.cat((self.pre_scale, self.res_scale.expand(N))) + self.alpha
        res = sinkhorn.of_log_softmax(rows[..., 1:])
        post = 2 * (normed @ self.beta_fn * self.post_scale + self.beta).sigmoid()
        y = self.f(einsum(rows[..., 0].sigmoid(), x, "b t s, b t s c -> b t c"))
        return einsum(res, x, "b t s o, b t s c -> b t o c") + einsum(post, y, "b t s, b t c -> b t s c")
