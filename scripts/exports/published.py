"""Sublayers in the spellings of the large public libraries, written anew from their mathematics and habits."""

import math

import torch
import torch.nn.functional as F

import sinkhorn
from base import Site, SwiGLU, module
from sizes import C, N, ROWS


@module
class Megatron(Site):
    """Megatron-Core: [s, b, n*C]; eps outside the root; alpha as a concatenation; coefficients in the type of x."""

    inputs = ("T B nC",)
    bias_of_sublayer = False

    def __init__(self):
        super().__init__()
        self.weights(weight=(ROWS, N * C), alpha_pre=(1,), alpha_post=(1,), alpha_res=(1,), bias=(ROWS,))
        if self.bias_of_sublayer:
            self.weights(out_bias=(C,))

    def mappings(self, x):
        s, b, width = x.shape
        flat = x.reshape(s * b, width).to(torch.float32)
        proj = torch.matmul(flat, self.weight.to(torch.float32).t()).view(s, b, -1)
        r = (1.0 / (flat.norm(dim=-1, keepdim=True) / math.sqrt(width) + 1e-6)).view(s, b, 1)
        alpha = torch.cat([self.alpha_pre.expand(N), self.alpha_post.expand(N), self.alpha_res.expand(N * N)], dim=-1)
        h = r * proj * alpha + self.bias
        h_res = sinkhorn.softmax_eps(h[..., 2 * N:].view(s, b, N, N))
        h_pre, h_post = h[..., :N].sigmoid() + 1e-6, h[..., N:2 * N].sigmoid() * 2
        return h_pre.to(x.dtype), h_post.to(x.dtype), h_res.to(x.dtype)

    def combine(self, h_res, x, h_post, y):
        s, b, _ = x.shape
        streams = x.view(s, b, N, C).view(s * b, N, C)
        mixed = torch.bmm(h_res.view(s * b, N, N).transpose(1, 2), streams).view(s, b, N, C)
        out = h_post.unsqueeze(-1) * y.unsqueeze(2)
        if self.bias_of_sublayer:
            out = out + h_post.unsqueeze(-1) * self.out_bias.view(1, 1, 1, C)
        return (out + mixed).view(s, b, N * C)

    def forward(self, x):
        s, b, _ = x.shape
        h_pre, h_post, h_res = self.mappings(x)
        u = (x.view(s, b, N, C) * h_pre.unsqueeze(-1)).sum(dim=2)
        return self.combine(h_res, x, h_post, self.f(u))


@module
class MegatronBias(Megatron):
    """The sublayer returns its bias apart, which h_post scales too."""

    bias_of_sublayer = True


@module
class MegatronSinglePass(Megatron):
    """The aggregate takes the h_pre of the sublayer before; its own goes to the next one."""

    inputs = ("T B nC", "T B n:f32")

    def single(self, x):
        wide = x.float()
        mixes = F.linear(wide, self.weight.float()) * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
        bias = self.bias.float()
        h_pre = (mixes[..., :N] * self.alpha_pre.float() + bias[:N]).sigmoid() + 1e-6
        h_post = (mixes[..., N:2 * N] * self.alpha_post.float() + bias[N:2 * N]).sigmoid() * 2
        logits = (mixes[..., 2 * N:] * self.alpha_res.float() + bias[2 * N:]).unflatten(-1, (N, N))
        return h_pre, h_post, sinkhorn.softmax_eps(logits)

    def forward(self, x, mix):
        h_pre, h_post, h_res = self.single(x)
        u = (x.unflatten(-1, (N, -1)).float() * mix.float().unsqueeze(-1)).sum(-2).to(x.dtype)
        y = self.f(u)
        return self.combine(h_res.to(x.dtype), x, h_post.to(x.dtype), y), h_pre


@module
class DeepseekV4(Site):
    """The model's own inference code: [b, t, n, C]; one vector of scales; sums of products for both mixes."""

    def __init__(self):
        super().__init__()
        self.weights(hc_fn=(ROWS, N * C), hc_scale=(3,), hc_base=(ROWS,))

    def split(self, mixes):
        scale, base = self.hc_scale.float(), self.hc_base.float()
        pre = torch.sigmoid(mixes[..., :N] * scale[0] + base[:N]) + 1e-6
        post = 2 * torch.sigmoid(mixes[..., N:2 * N] * scale[1] + base[N:2 * N])
        comb = mixes[..., 2 * N:].unflatten(-1, (N, N)) * scale[2] + base[2 * N:].unflatten(-1, (N, N))
        return pre, post, sinkhorn.softmax_eps(comb)

    def forward(self, x):
        flat = x.flatten(2).float()
        rsqrt = torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        mixes = F.linear(flat, self.hc_fn.float()) * rsqrt
        pre, post, comb = self.split(mixes)
        u = torch.sum(pre.unsqueeze(-1) * flat.view(x.shape), dim=2).to(x.dtype)
        y = self.f(u)
        out = post.unsqueeze(-1) * y.unsqueeze(-2) + torch.sum(comb.unsqueeze(-1) * x.unsqueeze(-2), dim=2)
        return out.type_as(y)


@module
class DeepseekV4Mlp(DeepseekV4):
    """The same around a normalised, gated MLP."""

    def __init__(self):
        super().__init__()
        self.f = SwiGLU()


@module
class TransformersDeepseekV4(DeepseekV4):
    """Transformers' first form: scales by unbind, no factor 2, eps also in h_post, Sinkhorn from sigmoids."""

    def split(self, mixes):
        pre_scale, post_scale, comb_scale = self.hc_scale.float().unbind(0)
        base = self.hc_base.float()
        pre = torch.sigmoid(mixes[..., :N] * pre_scale + base[:N]) + 1e-6
        post = torch.sigmoid(mixes[..., N:2 * N] * post_scale + base[N:2 * N]) + 1e-6
        logits = mixes[..., 2 * N:].view(*mixes.shape[:-1], N, N) * comb_scale + base[2 * N:].view(N, N)
        return pre, post, sinkhorn.rows_columns(torch.sigmoid(logits) + 1e-6, 1e-6)


@module
class Tilekernels(Site):
    """DeepSeek's reference of its kernels: sum of squares; scales as a concatenation; products in f32."""

    def __init__(self):
        super().__init__()
        self.weights(fn=(ROWS, N * C), scale=(3,), base=(ROWS,))

    def forward(self, x):
        flat = x.flatten(2, 3).float()
        sqrsum = flat.square().sum(-1)
        mixes = flat @ self.fn.float().T * (sqrsum.unsqueeze(-1) / (N * C) + 1e-6).rsqrt()
        scale = self.scale.float()
        scale = torch.cat([scale[0].expand(N), scale[1].expand(N), scale[2].expand(N * N)])
        mixes = mixes * scale + self.base.float()
        pre = mixes[..., :N].sigmoid().unsqueeze(-1) + 1e-6
        post = (mixes[..., N:2 * N].sigmoid() * 2.0).unsqueeze(-1)
        comb = sinkhorn.softmax_eps(mixes[..., 2 * N:].view(*x.shape[:2], N, N), iterations=10)
        u = (x.float() * pre).sum(-2).to(x.dtype)
        y = self.f(u)
        mixed = torch.einsum("btoc,btoi->btic", x.float(), comb)
        return (y.float().unsqueeze(-2) * post + mixed).to(x.dtype)


@module
class Tilelang(Site):
    """The example of tile-lang, and the references of vLLM and FlagGems: flat tokens, a batched product."""

    inputs = ("T n C",)

    def __init__(self):
        super().__init__()
        self.weights(fn=(ROWS, N * C), scale=(3,), base=(ROWS,))

    def forward(self, x):
        flat = x.flatten(-2, -1).float()
        mixes = flat @ self.fn.float().T * (flat.square().sum(-1, keepdim=True) / (N * C) + 1e-6).rsqrt()
        pre, post, res = torch.split(mixes, [N, N, N * N], dim=-1)
        scale, base = self.scale.float(), self.base.float()
        pre = torch.sigmoid(pre * scale[0] + base[:N]) + 1e-6
        post = torch.sigmoid(post * scale[1] + base[N:2 * N]) * 2.0
        comb = sinkhorn.softmax_eps((res * scale[2] + base[2 * N:]).view(-1, N, N))
        u = (pre.unsqueeze(-1) * x.float()).sum(dim=1).to(x.dtype)
        y = self.f(u)
        out = y.unsqueeze(-2) * post.unsqueeze(-1) + torch.bmm(comb.mT, x.float())
        return out.type_as(x)


@module
class Liger(Site):
    """Liger: all tokens in one dimension; three alphas; first index of the matrix is the output's stream."""

    def __init__(self):
        super().__init__()
        self.weights(phi=(N * C, ROWS), b=(ROWS,), alpha_pre=(), alpha_post=(), alpha_res=())

    def forward(self, x):
        tokens = x.contiguous().view(-1, N, C).float()
        flat = tokens.view(-1, N * C)
        invr = torch.rsqrt(flat.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        mix = (flat @ self.phi.float()) * invr
        b = self.b.float()
        pre = torch.sigmoid(mix[:, :N] * self.alpha_pre + b[:N])
        post = torch.sigmoid(mix[:, N:2 * N] * self.alpha_post + b[N:2 * N]) * 2.0
        logits = mix[:, 2 * N:].view(-1, N, N) * self.alpha_res + b[2 * N:].view(N, N)
        h_pre, h_post = pre.view(*x.shape[:-2], N), post.view(*x.shape[:-2], N)
        h_res = sinkhorn.softmax_eps(logits).view(*x.shape[:-2], N, N)
        u = (x.float() * h_pre.unsqueeze(-1)).sum(dim=-2).to(x.dtype)
        y = self.f(u)
        mixed = torch.einsum("...oi,...ic->...oc", h_res, x.float())
        return (mixed + h_post.unsqueeze(-1) * y.float().unsqueeze(-2)).to(x.dtype)


@module
class TransformerEngine(Site):
    """TransformerEngine: [s, b, C, n]; each group scaled and divided on its own; potentials; the product rounded."""

    inputs = ("T B C n",)
    wide = torch.float32

    def __init__(self):
        super().__init__()
        self.weights(phi=(ROWS, N * C), alpha=(3,), beta=(1, ROWS), out_bias=(C,))

    def projected(self, x):
        flat = x.view(-1, N * C).to(self.wide)
        h = (flat @ self.phi.to(self.wide).T).to(x.dtype)
        return h.to(torch.float32), (flat * flat).mean(dim=1)

    def forward(self, x):
        s, b = x.shape[:2]
        h, ms = self.projected(x)
        rms = torch.sqrt(ms + torch.finfo(torch.float32).eps).to(torch.float32)
        alpha, beta = self.alpha.to(torch.float32), self.beta.to(torch.float32)
        pre = torch.sigmoid(h[:, :N] * alpha[0] / rms[:, None] + beta[0, :N]).to(x.dtype)
        post = (2 * torch.sigmoid(h[:, N:2 * N] * alpha[1] / rms[:, None] + beta[0, N:2 * N])).to(x.dtype)
        res = (h[:, 2 * N:] * alpha[2] / rms[:, None] + beta[0, 2 * N:]).to(x.dtype)
        res = sinkhorn.of_potentials(res.view(s, b, N, N).to(torch.float32)).to(x.dtype)
        y = self.f((x @ pre.view(s, b, N, 1)).view(s, b, C))
        y = (y.float() + self.out_bias.float()[None, None, :]).view(s, b, C, 1)
        return (y @ post.float().view(s, b, 1, N) + x.float() @ res.float()).to(x.dtype)


@module
class TransformerEngineF64(TransformerEngine):
    """Its tests' form with the projection and the statistic in f64."""

    wide = torch.float64


@module
class Aiter(Site):
    """AMD's kernels: flat tokens; norm over the root of n*C, no eps; the logarithmic Sinkhorn."""

    inputs = ("T nC",)

    def __init__(self):
        super().__init__()
        self.weights(phi=(N * C, ROWS), alpha_pre=(), alpha_post=(), alpha_res=(), bias=(ROWS,))

    def forward(self, x):
        wide = x.float()
        h = wide @ self.phi.float()
        r = wide.norm(p=2, dim=-1, keepdim=True) / math.sqrt(N * C)
        pre = 1 / r * self.alpha_pre * h[:, :N] + self.bias[:N]
        post = 1 / r * self.alpha_post * h[:, N:2 * N] + self.bias[N:2 * N]
        res = 1 / r * self.alpha_res * h[:, 2 * N:] + self.bias[2 * N:]
        h_res = sinkhorn.of_logsumexp(res.view(-1, N, N))
        streams = x.view(-1, N, C)
        u = torch.einsum("mn,mnc->mc", torch.sigmoid(pre).to(x.dtype), streams)
        y = self.f(u)
        mixed = torch.matmul(h_res.to(x.dtype), streams)
        return (mixed + (2 * torch.sigmoid(post)).to(x.dtype).unsqueeze(-1) * y.unsqueeze(1)).reshape(-1, N * C)


@module
class MhcCu(Site):
    """mHC.cu: batches [B, n, C] as tokens; rows, then columns, of exp; all three sums as einsum."""

    inputs = ("T n C",)

    def __init__(self):
        super().__init__()
        self.weights(phi_pre=(N, N * C), phi_post=(N, N * C), phi_res=(N * N, N * C), b_pre=(N,), b_post=(N,),
                     b_res=(N, N), alpha_pre=(), alpha_post=(), alpha_res=())

    def forward(self, x):
        flat = x.reshape(-1, N * C).float()
        rms_inv = 1.0 / torch.sqrt(flat.pow(2).mean(-1, keepdim=True) + 1e-5)
        pre, post, res = (flat @ phi.float().t() * rms_inv for phi in (self.phi_pre, self.phi_post, self.phi_res))
        h_pre = torch.sigmoid(self.alpha_pre * pre + self.b_pre)
        h_post = 2.0 * torch.sigmoid(self.alpha_post * post + self.b_post)
        h_res = sinkhorn.rows_columns(torch.exp(self.alpha_res * res.view(-1, N, N) + self.b_res), 1e-5)
        u = torch.einsum("bi,bic->bc", h_pre, x.float()).to(x.dtype)
        y = self.f(u)
        out = torch.einsum("bij,bjc->bic", h_res, x.float()) + torch.einsum("bi,bc->bic", h_post, y.float())
        return out.to(x.dtype)


@module
class MhcCuStatic(Site):
    """Its static form: coefficients from parameters alone, without a token axis."""

    inputs = ("T n C",)
    fused = ("aggregate", "post")

    def __init__(self):
        super().__init__()
        self.weights(h_pre=(N,), h_post=(N,), h_res=(N, N))

    def forward(self, x):
        pre, post = torch.sigmoid(self.h_pre), 2.0 * torch.sigmoid(self.h_post)
        mix = sinkhorn.rows_columns(torch.exp(self.h_res), 1e-6)
        y = self.f(torch.einsum("i,bic->bc", pre, x))
        return torch.einsum("ij,bjc->bic", mix, x) + post.view(1, -1, 1) * y.unsqueeze(1)


@module
class MhcLite(Site):
    """mHC-lite: a softmax over all permutations; a bias inside of a Linear; one projection."""

    fold = False

    def __init__(self):
        super().__init__()
        count = math.factorial(N)
        self.weights(proj=(2 * N + count, N * C), bias=(2 * N + count,), alpha=(3,))
        self.register_buffer("table", sinkhorn.permutations(N).flatten(1), persistent=False)

    def forward(self, x):
        normed = F.rms_norm(x.flatten(-2), (N * C,))
        pre, post, res = (normed @ self.proj.t()).split([N, N, self.table.shape[0]], dim=-1)
        h_pre = torch.sigmoid(self.alpha[0] * pre + self.bias[:N])
        h_post = 2 * torch.sigmoid(self.alpha[1] * post + self.bias[N:2 * N])
        weights = torch.softmax(self.alpha[2] * res + self.bias[2 * N:], dim=-1)
        h_res = (weights @ self.table.to(weights.dtype)).unflatten(-1, (N, N))
        u = (h_pre.unsqueeze(-2) @ x).squeeze(-2)
        if self.fold:
            h_res = h_res - h_post.unsqueeze(-1) * h_pre.unsqueeze(-2)
        y = u + self.f(u) if self.fold else self.f(u)
        return h_res @ x + h_post.unsqueeze(-1) * y.unsqueeze(-2)


@module
class MhcLiteFold(MhcLite):
    """The same around a layer with a residual of its own, which the matrix takes off."""

    fold = True


@module
class Motif(Site):
    """Motif: logits bounded before both exponentials and sigmoids, sums bounded from below, mixes in f32."""

    def __init__(self):
        super().__init__()
        self.weights(proj=(ROWS, N * C), gamma=(N * C,), alpha_pre=(1,), alpha_post=(1,), alpha_res=(1,),
                     bias_pre=(N,), bias_post=(N,), bias_res=(N, N))

    def forward(self, x):
        wide = x.flatten(2).float()
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * self.gamma.float()
        p = F.linear(normed, self.proj.float())
        pre = torch.sigmoid((self.alpha_pre * p[..., :N] + self.bias_pre).clamp(-10.0, 10.0))
        post = torch.sigmoid((self.alpha_post * p[..., N:2 * N] + self.bias_post).clamp(-10.0, 10.0))
        logits = self.alpha_res * p[..., 2 * N:].view(*x.shape[:2], N, N) + self.bias_res
        mix = sinkhorn.rows_columns_clamped(logits.float().clamp(-20.0, 20.0).exp())
        u = (pre.unsqueeze(-1) * x.float()).sum(2).to(x.dtype)
        y = self.f(u)
        return (torch.matmul(mix, x.float()) + post.unsqueeze(-1) * y.float().unsqueeze(2)).to(x.dtype)
