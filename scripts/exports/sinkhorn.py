"""Residual matrices from logits z[..., n, n], in the ways that public projects write them."""

import itertools
import math

import torch
import torch.nn.functional as F

ITERATIONS = 20


def softmax_eps(z, eps=1e-6, iterations=ITERATIONS):
    """A softmax as the first row step, eps at each place: DeepSeek-V4, TileKernels, Megatron, Liger."""
    m = z.softmax(-1) + eps
    m = m / (m.sum(-2, keepdim=True) + eps)
    for _ in range(iterations - 1):
        m = m / (m.sum(-1, keepdim=True) + eps)
        m = m / (m.sum(-2, keepdim=True) + eps)
    return m


def rows_columns(m, eps=1e-8, iterations=ITERATIONS):
    """Rows, then columns, of a positive matrix."""
    for _ in range(iterations):
        m = m / (m.sum(dim=-1, keepdim=True) + eps)
        m = m / (m.sum(dim=-2, keepdim=True) + eps)
    return m


def rows_columns_clamped(m, eps=1e-8, iterations=ITERATIONS):
    """The same with sums bounded from below."""
    for _ in range(iterations):
        m = m / m.sum(dim=-1, keepdim=True).clamp(min=eps)
        m = m / m.sum(dim=-2, keepdim=True).clamp(min=eps)
    return m


def columns_rows(z, iterations=ITERATIONS):
    """The paper's order without an eps."""
    m = torch.exp(z)
    for _ in range(iterations):
        m = m / m.sum(dim=-2, keepdim=True)
        m = m / m.sum(dim=-1, keepdim=True)
    return m


def of_whole_maximum(z, eps=1e-8):
    """One maximum of the whole matrix subtracted."""
    return rows_columns(torch.exp(z - z.amax(dim=(-2, -1), keepdim=True)), eps)


def of_global_maximum(z):
    """One maximum of all tokens subtracted, no eps."""
    return rows_columns(torch.exp(z - z.max()), 0.0)


def of_normalize(z, iterations=ITERATIONS):
    """The 1-norm of torch.nn.functional, columns first, in f32, from the columns' maximum."""
    dtype = z.dtype
    z = z.float()
    m = (z - z.amax(dim=-2, keepdim=True).detach()).exp()
    for _ in range(iterations):
        m = F.normalize(m, p=1, dim=-2)
        m = F.normalize(m, p=1, dim=-1)
    return m.to(dtype)


def of_log_softmax(z, iterations=ITERATIONS):
    """A logarithmic softmax of columns and of rows in turn."""
    dtype = z.dtype
    z = z.float()
    for _ in range(iterations):
        z = F.log_softmax(z, dim=-2)
        z = F.log_softmax(z, dim=-1)
    return z.exp().to(dtype)


def of_logsumexp(z, tau=1.0, iterations=ITERATIONS):
    """The log-sum-exp of rows and columns subtracted in turn, of logits over a temperature."""
    z = z / tau
    for _ in range(iterations):
        z = z - torch.logsumexp(z, dim=-1, keepdim=True)
        z = z - torch.logsumexp(z, dim=-2, keepdim=True)
    return torch.exp(z)


def of_logsumexp_cleaned(z, eps=1e-6):
    """The same from the maximum of the whole matrix, and one turn of bounded sums behind it."""
    m = of_logsumexp(z - z.amax(dim=(-2, -1), keepdim=True))
    return rows_columns_clamped(m, eps, 1)


def of_marginals(z, iterations=ITERATIONS):
    """Potentials of matrices whose rows and columns sum to 1 / n, and n times the result."""
    n = z.shape[-1]
    mu = -math.log(n)
    u, v = torch.zeros_like(z[..., 0]), torch.zeros_like(z[..., 0])
    for _ in range(iterations):
        u = mu - torch.logsumexp(z + v.unsqueeze(-2), dim=-1)
        v = mu - torch.logsumexp(z + u.unsqueeze(-1), dim=-2)
    return torch.exp(z + u.unsqueeze(-1) + v.unsqueeze(-2)) * n


def of_softmax_log(z, iterations=ITERATIONS):
    """A softmax of the logarithm as each step."""
    p = torch.softmax(z, dim=-1)
    p = torch.softmax(torch.log(p), dim=-2)
    for _ in range(iterations - 1):
        p = torch.softmax(torch.log(p), dim=-1)
        p = torch.softmax(torch.log(p), dim=-2)
    return p


def of_potentials(z, tau=1.0, iterations=ITERATIONS):
    """Potentials of rows and columns, each from a log-sum-exp: TransformerEngine, tokenbender's static matrices."""
    z = z / tau
    marginal = torch.zeros_like(z[..., 0])
    f, g = torch.zeros_like(marginal), torch.zeros_like(marginal)
    for _ in range(iterations):
        f = marginal - torch.logsumexp(z + g.unsqueeze(-2), dim=-1)
        g = marginal - torch.logsumexp(z + f.unsqueeze(-1), dim=-2)
    return torch.exp(f.unsqueeze(-1) + z + g.unsqueeze(-2))


def of_scaling(z, eps=1e-8, iterations=ITERATIONS):
    """Vectors u = 1 / (K v + eps), v = 1 / (K^T u + eps) by batched products, diagonal matrices at the end."""
    k = z.exp().reshape(-1, z.shape[-2], z.shape[-1])
    v = torch.ones_like(k[..., 0])
    u = v
    for _ in range(iterations):
        u = 1.0 / (torch.bmm(k, v.unsqueeze(2)).squeeze(2) + eps)
        v = 1.0 / (torch.bmm(k.transpose(1, 2), u.unsqueeze(2)).squeeze(2) + eps)
    return torch.bmm(torch.bmm(torch.diag_embed(u), k), torch.diag_embed(v)).reshape(z.shape)


def of_scaling_sums(z, iterations=ITERATIONS):
    """The same vectors by products and sums, without an eps, spread over the matrix at the end."""
    k = torch.exp(z - z.amax(dim=-1, keepdim=True))
    v = torch.ones_like(z[..., 0])
    u = v
    for _ in range(iterations):
        u = 1.0 / (k * v.unsqueeze(-2)).sum(-1)
        v = 1.0 / (k * u.unsqueeze(-1)).sum(-2)
    return u.unsqueeze(-1) * k * v.unsqueeze(-2)


def permutations(n):
    """All permutation matrices of n streams in lexicographic order, [n!, n, n]."""
    return torch.eye(n)[torch.tensor(list(itertools.permutations(range(n))))]
