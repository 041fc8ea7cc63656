"""Calls of every function of mhcc, each with its reference."""

import dataclasses
import math
import typing

import mhcc
import reference
import torch

SIZES = {"n": 4, "C": 40, "K": 160, "N": 24, "P": 32, "R": 16, "F": 24, "three": 3, "one": 1,
         "D": 112, "E": 68, "heads": 4, "taps": 4, "before": 3}


@dataclasses.dataclass
class Case:
    function: typing.Callable
    reference: typing.Callable
    # "tokens n C" of each operand; one that begins with ~ has the type of the streams. "length batch D" has the first of
    # the tokens' dims, and the others as one.
    shapes: dict
    attributes: dict = dataclasses.field(default_factory=dict)

    def operands(self, tokens=(2, 3), dtype=torch.float32, seed=0):
        generator = torch.Generator().manual_seed(seed)
        made = {}
        for name, shape in self.shapes.items():
            sizes = []
            for word in shape.strip("~").split():
                of_tokens = {"tokens": tokens, "length": tokens[:1] or [1], "batch": [math.prod(tokens[1:])]}
                sizes += of_tokens[word] if word in of_tokens else [SIZES[word]]
            values = torch.randn(sizes, generator=generator, device="cpu")
            values = values / math.sqrt(SIZES["K"]) if name == "phi" else values
            values = values.square() + 0.5 if name == "stat" else values
            made[name] = values.to(torch.get_default_device(), dtype if shape.startswith("~") else torch.float32)
        return made

    def run(self, operands):
        """All results that are differentiable."""
        return results_of(self.function(**operands, **self.attributes))

    def expected(self, operands):
        """Results in float64, and operands that remember gradients."""
        leaves = {name: value.detach().double().requires_grad_() for name, value in operands.items()}
        return results_of(self.reference(**leaves, **self.attributes)), leaves


def results_of(values):
    values = values if isinstance(values, tuple) else (values,)
    return [value for value in values if value is not None]


PRESET = dict(layout="nC", phi_layout="out_in", norm="inside", norm_eps=1e-6, pre_eps=0.0, post_mult=2.0,
              res_map="sinkhorn", init="softmax_eps", order="row_col", denom="add", sk_eps=1e-6, iters=20,
              fold_pre=False, precision="ieee")


def post_pre(f, h_post, x, h_res, phi, alpha, beta):
    """Two sublayers' boundary, which has no function of its own."""
    y, u, _, next_h_post, next_h_res, _, _ = torch.ops.mhc.post_pre.default(
        f, h_post, x, h_res, phi, alpha, beta, **PRESET, orient="oi",
        output_mask=[True, True, False, True, True, False, False])
    return y, u, next_h_post, next_h_res


def reference_post_pre(f, h_post, x, h_res, phi, alpha, beta):
    y = reference.post(f, x, h_post, h_res)
    return y, *reference.pre(y, phi, alpha, beta)


def packed(function):
    """A row of two sequences, of which one may be empty, with an empty one between them."""

    def run(qkvzba, **operands):
        end = qkvzba.shape[1]
        cuts = torch.tensor([0, end // 2, end // 2, end], dtype=torch.int32, device=qkvzba.device)
        return function(qkvzba, **operands, cu_seqlens=cuts, num_key_heads=2)

    return run


X, XT = {"x": "~tokens n C"}, {"x": "~tokens C n"}
PRE = {"phi": "N K", "alpha": "three", "beta": "N"}
HEAD = {"phi": "n K", "alpha": "one", "beta": "n"}
POST = {"f": "~tokens C", "h_post": "tokens n", "h_res": "tokens n n"}
GATES = {"proj": "tokens N", "alpha": "three", "beta": "N"}
EXACT = {"precision": "ieee"}
DELTA = {"qkvzba": "~batch length D", "conv_weight": "E taps", "A_log": "heads", "dt_bias": "heads"}


def case(name, shapes, **attributes):
    return Case(getattr(mhcc, name), getattr(reference, name), shapes, attributes)


CASES = {
    "pre": case("pre", {**X, **PRE}, **EXACT),
    "pre-Cn-in_out": case("pre", {**XT, **PRE, "phi": "~K N", "norm_weight": "~K"}, layout="Cn", phi_layout="in_out",
                          norm="outside", pre_eps=1e-3, post_mult=1.5, **EXACT),
    "pre-permutation": case("pre", {**X, **PRE, "phi": "P K", "beta": "P"}, res_map="permutation", **EXACT),
    "pre-identity-fold": case("pre", {**X, **PRE}, res_map="identity", fold_pre=True, norm="none", **EXACT),
    "pre-log": case("pre", {**X, **PRE}, init="log", denom="none", order="col_row", iters=5, **EXACT),
    "pre-newton": case("pre", {**X, **PRE}, init="log", denom="none", solver="newton", **EXACT),
    "post": case("post", {**X, **POST}),
    "post-Cn-io-bias": case("post", {**XT, **POST, "bias": "C"}, layout="Cn", orient="io"),
    "post_pre": Case(post_pre, reference_post_pre, {**POST, **X, **PRE}),
    "head": case("head", {**X, **HEAD}, pre_eps=1e-6, **EXACT),
    "head-Cn-norm_weight": case("head", {**XT, **HEAD, "norm_weight": "K"}, layout="Cn", **EXACT),
    "projection": case("projection", {**X, "phi": "N K"}, **EXACT),
    "projection-mean_square": case("projection", {**X, "phi": "N K", "norm_weight": "K"}, stat_form="mean_square",
                                   **EXACT),
    "projection-applied": case("projection", {**X, "phi": "N K"}, stat_form="applied", **EXACT),
    "gates": case("gates", {**GATES, "stat": "tokens"}, n=4, pre_eps=1e-3),
    "gates-mean_square": case("gates", {**GATES, "stat": "tokens"}, n=4, stat_form="mean_square"),
    "gates-applied": case("gates", GATES, n=4, stat_form="applied"),
    "gates-head": case("gates", {"proj": "tokens n", "alpha": "one", "beta": "n", "stat": "tokens"}, n=4),
    "sinkhorn": case("sinkhorn", {"logits": "tokens n n"}),
    "sinkhorn-rowmax": case("sinkhorn", {"logits": "tokens n n"}, init="exp_rowmax", denom="clamp", iters=3),
    "sinkhorn-potentials": case("sinkhorn", {"logits": "tokens n n"}, init="exp", denom="potentials", order="col_row",
                                iters=3),
    "sinkhorn-newton": case("sinkhorn", {"logits": "tokens n n"}, init="log", denom="none", solver="newton"),
    "permutation_mix": case("permutation_mix", {"logits": "tokens F"}, n=4),
    "aggregate": case("aggregate", {**X, "h_pre": "tokens n"}),
    "aggregate-Cn": case("aggregate", {**XT, "h_pre": "tokens n"}, layout="Cn"),
    "expand": case("expand", {"x": "~tokens C"}, n=4),
    "expand-Cn": case("expand", {"x": "~tokens C"}, n=4, layout="Cn"),
    "contract": case("contract", X, mode="mean"),
    "contract-Cn": case("contract", XT, mode="sum", layout="Cn"),
    "delta": case("pre_gated_delta_rule", DELTA, num_key_heads=2),
    "delta-MbD": case("pre_gated_delta_rule", {**DELTA, "qkvzba": "~length batch D", "conv_weight": "~E taps",
                                               "conv_bias": "~E", "left_boundary": "~before batch E"},
                      num_key_heads=2, seq_layout="MbD", l2_eps=1e-5),
    "delta-no-norm": case("pre_gated_delta_rule", {**DELTA, "left_boundary": "~batch before E"}, num_key_heads=1,
                          qk_l2norm=False, softplus_threshold=0.5),
    "delta-packed": Case(packed(mhcc.pre_gated_delta_rule), packed(reference.pre_gated_delta_rule),
                         {**DELTA, "qkvzba": "~one length D", "conv_bias": "E"}),
}
