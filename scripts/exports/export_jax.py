#!/usr/bin/env python3
"""Exports sublayers written in JAX as linalg on tensors, by the StableHLO passes that jaxlib brings along.

  export_jax.py OUTPUT

A file is called jax_FUNCTION-FORMAT-static.mlir: static sizes only, as jax.jit lowers them.
"""

import argparse
import itertools
import math
import pathlib

import jax
import jax.numpy as jnp
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import scf, stablehlo

from sizes import C, N, ROWS, SIZES, header

B, T = SIZES["B"], SIZES["T"]
WEIGHTS = {"phi": (N * C, ROWS), "alpha": (3,), "beta": (ROWS,), "w": (C, C)}
FUNCTIONS = {}


def function(**shapes):
    """Enters a function f(x, weights...) with the shapes of what differs from the usual ones."""
    def enter(f):
        names = f.__code__.co_varnames[:f.__code__.co_argcount]
        usual = {"x": (B, T, N, C)} | WEIGHTS | shapes
        FUNCTIONS[f.__name__] = f, [usual[name] for name in names]
        return f
    return enter


def rms_norm(x, eps=1e-6):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + eps)).astype(x.dtype)


def softmax_eps(z, iterations=20, eps=1e-6):
    m = jax.nn.softmax(z.astype(jnp.float32), axis=-1) + eps
    m = m / (jnp.sum(m, axis=-2, keepdims=True) + eps)
    for _ in range(iterations - 1):
        m = m / (jnp.sum(m, axis=-1, keepdims=True) + eps)
        m = m / (jnp.sum(m, axis=-2, keepdims=True) + eps)
    return m.astype(z.dtype)


def gates(h, alpha, beta):
    pre = jax.nn.sigmoid(alpha[0] * h[..., :N] + beta[:N])
    post = 2.0 * jax.nn.sigmoid(alpha[1] * h[..., N:2 * N] + beta[N:2 * N])
    return pre, post, (alpha[2] * h[..., 2 * N:] + beta[2 * N:]).reshape(*h.shape[:-1], N, N)


def combine(x, pre, post, res, w):
    y = jnp.einsum("...n,...nc->...c", pre, x) @ w
    return jnp.einsum("...ij,...jc->...ic", res, x) + post[..., None] * y[..., None, :]


@function(phi_pre=(N * C, N), phi_post=(N * C, N), phi_res=(N * C, N * N), gamma=(N * C,), b_pre=(N,), b_post=(N,),
          b_res=(N, N))
def maxtext(x, gamma, phi_pre, phi_post, phi_res, alpha, b_pre, b_post, b_res, w):
    """MaxText: phi as a concatenation, sums of products in place of einsum for both mixes."""
    h = (rms_norm(x.reshape(B, T, N * C)) * gamma) @ jnp.concatenate([phi_pre, phi_post, phi_res], axis=-1)
    pre = jax.nn.sigmoid(alpha[0] * h[..., :N] + b_pre[None, None, :]) + 1e-6
    post = 2.0 * jax.nn.sigmoid(alpha[1] * h[..., N:2 * N] + b_post[None, None, :])
    logits = alpha[2] * h[..., 2 * N:].reshape(B, T, N, N) + b_res[None, None, :, :]
    y = jnp.sum(x * jnp.expand_dims(pre, axis=3), axis=2) @ w
    mixed = jnp.sum(jnp.expand_dims(x, axis=3) * jnp.expand_dims(softmax_eps(logits), axis=4), axis=2)
    return mixed + jnp.expand_dims(y, axis=2) * jnp.expand_dims(post, axis=3)


@function(phi=(N * C, 2 * N + math.factorial(N)), beta=(2 * N + math.factorial(N),))
def maxtext_lite(x, phi, alpha, beta, w):
    """MaxText's mHC-lite: a softmax over all permutations."""
    h = rms_norm(x.reshape(B, T, N * C)) @ phi
    pre = jax.nn.sigmoid(alpha[0] * h[..., :N] + beta[:N]) + 1e-6
    post = 2.0 * jax.nn.sigmoid(alpha[1] * h[..., N:2 * N] + beta[N:2 * N])
    weights = jax.nn.softmax((alpha[2] * h[..., 2 * N:] + beta[2 * N:]).astype(jnp.float32), axis=-1).astype(x.dtype)
    table = jnp.eye(N)[jnp.array(list(itertools.permutations(range(N))))].astype(x.dtype)
    res = jnp.einsum("bsn,nkm->bskm", weights, table)
    y = jnp.sum(x * pre[..., None], axis=2) @ w
    return jnp.sum(x[:, :, :, None] * res[..., None], axis=2) + y[:, :, None] * post[..., None]


@function(phi_pre=(N * C, N), phi_post=(N * C, N), phi_res=(N * C, N * N), b_pre=(N,), b_post=(N,), b_res=(N, N))
def connector(x, phi_pre, phi_post, phi_res, alpha, b_pre, b_post, b_res, w):
    """A connector of two halves, each of which takes the norm on its own; three products; matmul for the mix."""
    pre = jax.nn.sigmoid(alpha[0] * (rms_norm(x.reshape(B, T, N * C)) @ phi_pre) + b_pre)
    y = (pre[..., None] * x).sum(axis=-2) @ w
    normed = rms_norm(x.reshape(B, T, N * C))
    post = 2.0 * jax.nn.sigmoid(alpha[1] * (normed @ phi_post) + b_post)
    res = jnp.exp(alpha[2] * (normed @ phi_res).reshape(B, T, N, N) + b_res)
    for _ in range(20):
        res = res / (res.sum(axis=-1, keepdims=True) + 1e-5)
        res = res / (res.sum(axis=-2, keepdims=True) + 1e-5)
    return res @ x + post[..., None] * y[..., None, :]


@function()
def loop(x, phi, alpha, beta, w):
    """Sinkhorn as fori_loop."""
    pre, post, z = gates(rms_norm(x.reshape(B, T, N * C)) @ phi, alpha, beta)

    def step(_, m):
        m = m / (m.sum(-1, keepdims=True) + 1e-6)
        return m / (m.sum(-2, keepdims=True) + 1e-6)

    return combine(x, pre, post, jax.lax.fori_loop(0, 20, step, jnp.exp(z)), w)


@function()
def scan(x, phi, alpha, beta, w):
    """Sinkhorn as scan, in logarithms."""
    pre, post, z = gates(rms_norm(x.reshape(B, T, N * C)) @ phi, alpha, beta)

    def step(m, _):
        m = m - jax.nn.logsumexp(m, axis=-1, keepdims=True)
        return m - jax.nn.logsumexp(m, axis=-2, keepdims=True), None

    return combine(x, pre, post, jnp.exp(jax.lax.scan(step, z, None, length=20)[0]), w)


@function()
def log_softmax(x, phi, alpha, beta, w):
    """A logarithmic softmax of rows and columns in turn."""
    pre, post, z = gates(rms_norm(x.reshape(B, T, N * C)) @ phi, alpha, beta)
    for _ in range(20):
        z = jax.nn.log_softmax(jax.nn.log_softmax(z, axis=-1), axis=-2)
    return combine(x, pre, post, jnp.exp(z), w)


@function(phi=(ROWS, N * C))
def vmap(x, phi, alpha, beta, w):
    """A function of one token, mapped twice; columns first, no eps."""
    def token(x):
        flat = x.reshape(-1)
        h = phi @ (flat * jax.lax.rsqrt(jnp.mean(jnp.square(flat)) + 1e-5))
        pre, post, z = gates(h, alpha, beta)
        m = jnp.exp(z)
        for _ in range(20):
            m = m / jnp.sum(m, axis=0, keepdims=True)
            m = m / jnp.sum(m, axis=1, keepdims=True)
        return m @ x + jnp.outer(post, (pre @ x) @ w)

    return jax.vmap(jax.vmap(token))(x)


@function(phi=(ROWS, N * C), beta=(1, ROWS))
def transformer_engine(x, phi, alpha, beta, w):
    """TransformerEngine's reference: statistic apart from the product, coefficients rounded to the type of x."""
    flat = x.reshape(B * T, N * C).astype(jnp.float32)
    h = jnp.einsum("mk,nk->mn", flat, phi.astype(jnp.float32))
    rms = jnp.sqrt(jnp.mean(flat * flat, axis=-1) + 1.1920929e-07)[..., None]
    alpha, beta = alpha.astype(jnp.float32), beta.astype(jnp.float32).reshape(-1)
    pre = jax.nn.sigmoid(h[:, :N] * alpha[0] / rms + beta[:N]).astype(x.dtype)
    post = (2 * jax.nn.sigmoid(h[:, N:2 * N] * alpha[1] / rms + beta[N:2 * N])).astype(x.dtype)
    z = (h[:, 2 * N:] * alpha[2] / rms + beta[2 * N:]).reshape(B, T, N, N)
    f = g = jnp.zeros((B, T, N), jnp.float32)
    for _ in range(20):
        f = -jax.nn.logsumexp(z + g[:, :, None, :], axis=3)
        g = -jax.nn.logsumexp(z + f[..., None], axis=2)
    res = jnp.exp(f[..., None] + z + g[:, :, None, :]).astype(x.dtype)
    return combine(x, pre.reshape(B, T, N), post.reshape(B, T, N), res, w)


@function()
def rounded(x, phi, alpha, beta, w):
    """Mappings in f32, coefficients in the type of the streams; a sublayer that ends in silu."""
    flat = x.reshape(B, T, N * C).astype(jnp.float32)
    h = rms_norm(flat) @ phi.astype(jnp.float32)
    pre, post, z = gates(h, alpha.astype(jnp.float32), beta.astype(jnp.float32))
    pre, post, res = (c.astype(x.dtype) for c in (pre, post, softmax_eps(z)))
    y = jax.nn.silu(jnp.einsum("btn,btnc->btc", pre, x) @ w)
    return jnp.einsum("btoi,btoc->btic", res, x) + post[..., None] * y[..., None, :]


@function(x=(N, B, T, C))
def streams_first(x, phi, alpha, beta, w):
    """Streams in the first dimension, moved to the last but one and back."""
    x = jnp.moveaxis(x, 0, 2)
    pre, post, z = gates(rms_norm(x.reshape(B, T, N * C)) @ phi, alpha, beta)
    return jnp.moveaxis(combine(x, pre, post, softmax_eps(z), w), 2, 0)


def replace_loops(op):
    """stablehlo.while, as fori_loop and scan are lowered, -> scf.while"""
    for region in op.regions:
        for block in region:
            for inner in list(block):
                replace_loops(inner.operation)
    if op.name != "stablehlo.while":
        return
    with ir.InsertionPoint(op), op.location:
        turns = scf.WhileOp([result.type for result in op.results], list(op.operands))
    for source, target in zip(op.regions, turns.regions):
        source.blocks[0].append_to(target)
    before, after = (region.blocks[0] for region in turns.regions)
    ends = [list(block)[-1] for block in (before, after)]
    with ir.InsertionPoint(ends[0]), op.location:
        boolean = ir.IntegerType.get_signless(1)
        condition = ir.Operation.create("tensor.extract", [boolean], [ends[0].operands[0]]).result
        scf.ConditionOp(condition, list(before.arguments))
    with ir.InsertionPoint(ends[1]), op.location:
        scf.YieldOp(list(ends[1].operands))
    for end in ends:
        end.erase()
    for old, new in zip(op.results, turns.results):
        old.replace_all_uses_with(new)
    op.erase()


def export(f, shapes, dtype):
    structs = [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]
    module = jax.jit(f).lower(*structs).compiler_ir("stablehlo")
    passes = "builtin.module(func.func(chlo-legalize-to-stablehlo),stablehlo-legalize-to-linalg,canonicalize,cse)"
    with module.context:
        replace_loops(module.operation)
        passmanager.PassManager.parse(passes).run(module.operation)
    return str(module)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path)
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    stablehlo.register_stablehlo_passes()
    for name, (f, shapes) in FUNCTIONS.items():
        for form, dtype in (("f32", jnp.float32), ("bf16", jnp.bfloat16)):
            (output / f"jax_{name}-{form}-static.mlir").write_text(
                header(1, ("pre", "post")) + export(f, shapes, dtype))


if __name__ == "__main__":
    main()
