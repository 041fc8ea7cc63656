"""Each wrong call raises one error, and the next call works."""

import contextlib
import inspect
import os
import re

import mhcc
import pytest
import torch
from cases import CASES, PRESET
from mhcc import _library
from torch._subclasses.fake_tensor import FakeTensorMode


def post(**changes):
    operands = CASES["post"].operands()
    return lambda: mhcc.post(**{key: changes.get(key, lambda value: value)(value) for key, value in operands.items()})


def pre(changes=(), **attributes):
    operands = CASES["pre"].operands()
    return lambda: mhcc.pre(**{**operands, **{key: change(operands[key]) for key, change in dict(changes).items()}},
                            **attributes)


def delta(changes=(), **attributes):
    operands = CASES["delta"].operands()
    operands = {**operands, **{key: change(operands[key]) for key, change in dict(changes).items()}}
    return lambda: mhcc.pre_gated_delta_rule(**operands, **{"num_key_heads": 2, **attributes})


def gates(**sizes):
    operands = torch.zeros(2, 24), torch.zeros(3), torch.zeros(24), torch.zeros(2)
    options = {"stat_form": "inv_rms", "norm_eps": 0.0, "pre_eps": 0.0, "post_mult": 2.0}
    return lambda: torch.ops.mhc.gates(*operands, **options, **{"n": 4, "R": 16, **sizes}, output_mask=[True] * 3)


def many_streams():
    return mhcc.contract(torch.zeros(2, 17, 8), mode="sum")


def second_derivative():
    operands = {key: value.requires_grad_() for key, value in CASES["post"].operands().items()}
    (d_x,) = torch.autograd.grad(mhcc.post(**operands).square().sum(), operands["x"], create_graph=True)
    d_x.sum().backward()


def single_pass():
    x, phi, alpha, beta = (value.requires_grad_() for value in CASES["pre"].operands().values())
    return torch.ops.mhc.pre(x, phi, alpha, beta, None, torch.zeros(2, 3, 4), **PRESET, output_mask=[True] * 6)


def joined_alone():
    operands = {**CASES["post"].operands(), **CASES["head"].operands()}
    options = {key: PRESET[key] for key in ("layout", "phi_layout", "norm", "norm_eps", "pre_eps")}
    out = torch.ops.mhc.post_head(**{key: value.requires_grad_() for key, value in operands.items()}, **options, orient="oi",
                                  output_mask=[False, True, False, False, False])[1]
    out.sum().backward()


def forward_mode():
    operands = CASES["aggregate"].operands()
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(operands["x"], torch.ones_like(operands["x"]))
        mhcc.aggregate(x, operands["h_pre"])


def written(text, *operands):
    return lambda: torch.ops.mhc.contract.compiled([torch.zeros(2, 4, 8), *operands], [], text)


# PyTorch's words, by which programs know that they should take a smaller batch.
NO_MEMORY = ("CUDA out of memory." if torch.get_default_device().type == "cuda" else
             "DefaultCPUAllocator: can't allocate memory.")

ERRORS = {
    "rank": (post(x=lambda x: x[0, 0, 0]), "mhcrt_post: 'x' has shape [40]; needed [2, 3, 4, 40]"),
    "size": (post(h_res=lambda h: h[..., :3]), "mhcrt_post: 'h_res' has shape [2, 3, 4, 3]; needed [2, 3, 4, 4]"),
    "tokens": (post(x=lambda x: x[:1]), "mhcrt_post: 'x' has shape [1, 3, 4, 40]; needed [2, 3, 4, 40]"),
    "first": (pre({"x": lambda x: x[0, 0, 0]}), "mhcrt_pre: 'x' has shape [40]; needed [..., n, C]"),
    "dtype": (pre({"x": torch.Tensor.double}), "mhcrt_pre: 'x' has dtype f64; needed f32, bf16 or f16"),
    "no-dtype": (pre({"x": torch.Tensor.bool}),
                 "mhcrt_pre: 'x' has a dtype that no kernel knows; needed f32, bf16 or f16"),
    "other-dtype": (post(f=torch.Tensor.bfloat16), "mhcrt_post: 'x' has dtype f32; needed bf16"),
    "missing": (post(f=lambda f: None), "mhcrt_post: 'f' is absent; needed a tensor"),
    "missing-before-dropout": (lambda: mhcc.post(**{**CASES["post"].operands(), "x": None}, dropout=0.5),
                               "mhcrt_post: 'x' is absent; needed a tensor"),
    "missing-streams": (pre({"x": lambda x: None}), "mhcrt_pre: 'x' is absent; needed a tensor"),
    "missing-head": (lambda: mhcc.head(**{**CASES["head"].operands(), "x": None}),
                     "mhcrt_head: 'x' is absent; needed a tensor"),
    "missing-projected": (lambda: mhcc.projection(None, torch.zeros(24, 160)),
                          "mhcrt_projection: 'x' is absent; needed a tensor"),
    "missing-written": (lambda: torch.ops.mhc.aggregate.compiled([torch.zeros(2, 4)], [], "h_pre layout=nC -> u"),
                        "mhcrt_aggregate: 'x' is absent; needed a tensor"),
    "missing-all": (lambda: mhcc.contract(None, mode="sum"), "mhcrt_contract: 'x' is absent; needed a tensor"),
    "missing-gates": (lambda: mhcc.gates(None, torch.zeros(3), torch.zeros(24), torch.zeros(2), n=4),
                      "mhcrt_gates: 'proj' is absent; needed a tensor"),
    "missing-delta": (lambda: mhcc.pre_gated_delta_rule(None, None, None, None, num_key_heads=2),
                      "mhcrt_pre_gated_delta_rule: 'qkvzba' is absent; needed a tensor"),
    "no-gates": (lambda: mhcc.gates(torch.zeros(2, 24), torch.zeros(()), torch.zeros(24), torch.zeros(2), n=4),
                 "mhcrt_gates: 'alpha' has shape []; needed [A]"),
    "sparse": (lambda: mhcc.contract(torch.zeros(2, 4, 8).to_sparse(), mode="sum"),
               "mhcrt_contract: no kernel takes the operands; needed strided tensors on a CPU or, by CUDA, on a GPU"),
    "width": (pre({"phi": lambda phi: phi[:, 1:]}), "mhcrt_pre: 'K' is 159; needed n*C = 160"),
    "gates": (pre({"alpha": lambda alpha: alpha[:2]}),
              "mhcrt_pre: 'A' is 2; needed one element of 'alpha' for each gate = 3"),
    "streams": (many_streams, "mhcrt_contract: 'n' is 17; needed 1 to 16"),
    "word": (pre(res_map="sinkhorns"), "mhcrt_pre: 'res_map' is sinkhorns; needed sinkhorn, permutation or identity"),
    "layout": (pre(layout="NC"), "mhcrt_pre: 'layout' is NC; needed nC or Cn"),
    "weight-layout": (pre(phi_layout="io"), "mhcrt_pre: 'phi_layout' is io; needed out_in or in_out"),
    "optional-word": (pre(precision="f32"), "mhcrt_pre: 'precision' is f32; needed ieee, tf32x3, bf16x3 or tf32"),
    "number": (pre(iters=-1), "mhcrt_pre: 'iters' is -1; needed 1 to 1000"),
    "given-size": (lambda: mhcc.expand(torch.zeros(2, 8), -1), "mhcrt_expand: 'n' is -1; needed 1 to 16"),
    "huge-size": (lambda: mhcc.expand(torch.zeros(6, 16), 2**40), f"mhcrt_expand: 'n' is {2**40}; needed 1 to 16"),
    "negative-rows": (gates(R=-1), "mhcrt_gates: 'R' is -1; needed at least 0"),
    "no-memory": (gates(R=2**50),
                  f"mhcrt_gates: {NO_MEMORY} 'logits' in memory order has shape [2, {2**50}]; needed {2**53} bytes"),
    "no-memory-in-numbers": (gates(R=2**62), f"mhcrt_gates: {NO_MEMORY} 'logits' in memory order has shape "
                             f"[2, {2**62}]; needed more than 2^63 bytes"),
    "no-memory-for-a-copy": (
        lambda: mhcc.contract(torch.zeros(1, 4, 8).expand(2**50, 4, 8), mode="sum"),
        f"mhcrt_contract: {NO_MEMORY} 'x' in memory order has shape [{2**50}, 4, 8]; needed {2**57} bytes"),
    "missing-stat": (lambda: mhcc.gates(torch.zeros(2, 24), torch.zeros(3), torch.zeros(24), n=4),
                     "mhcrt_gates: 'stat' is absent; needed f32"),
    "mask": (lambda: torch.ops.mhc.aggregate_bwd(torch.zeros(2, 8), torch.zeros(2, 4, 8), torch.zeros(2, 4),
                                                 layout="nC", output_mask=[True]),
             "mhcrt_aggregate_bwd: 'output_mask' has 1 elements; needed 2"),
    "written-operand": (written("y mode=sum layout=nC -> out"), "mhcrt_contract: 'y' is not known"),
    "written-result": (written("x mode=sum layout=nC -> y"), "mhcrt_contract: 'y' is not known"),
    "written-word": (written("x mode=product layout=nC -> out"),
                     "mhcrt_contract: 'mode' is product; needed mean or sum"),
    "written-absent": (written("x mode=sum -> out"), "mhcrt_contract: 'layout' is absent; needed a value"),
    "written-number": (lambda: torch.ops.mhc.sinkhorn.compiled([torch.zeros(4, 4)], [], "logits iters=4.5 -> out"),
                       "mhcrt_sinkhorn: 'iters' is 4.5; needed a number"),
    "written-operands": (written("x mode=sum layout=nC -> out", torch.zeros(1)),
                         "mhcrt_contract: there are 2 operands; needed 1"),
    "delta-rank": (delta({"qkvzba": lambda x: x[0]}),
                   "mhcrt_pre_gated_delta_rule: 'qkvzba' has shape [2, 112]; needed [b, M, D]"),
    "delta-heads": (delta(num_key_heads=3),
                   "mhcrt_pre_gated_delta_rule: 'hv' is 4; needed a multiple of num_key_heads = 3"),
    "delta-no-heads": (delta(num_key_heads=0),
                   "mhcrt_pre_gated_delta_rule: 'num_key_heads' is 0; needed 1 to 4"),
    "delta-width": (delta({"qkvzba": lambda x: x[..., 1:]}),
                   "mhcrt_pre_gated_delta_rule: 'E' is 68; needed 2*num_key_heads*dk + hv*dv = 64"),
    "delta-taps": (delta(left_boundary=torch.zeros(3, 2, 68)),
                   "mhcrt_pre_gated_delta_rule: 'p' is 2; needed k - 1 = 3"),
    "delta-wide-cuts": (delta({"qkvzba": lambda x: x[:1]}, cu_seqlens=torch.tensor([0, 2])),
                        "mhcrt_pre_gated_delta_rule: 'cu_seqlens' has dtype i64; needed i32"),
    "delta-cuts-dtype": (delta(cu_seqlens=torch.tensor([0, 2]).bool()),
                   "mhcrt_pre_gated_delta_rule: 'cu_seqlens' has a dtype that no kernel knows; needed i32"),
    "delta-layout": (delta(seq_layout="bDM"),
                   "mhcrt_pre_gated_delta_rule: 'seq_layout' is bDM; needed MbD or bMD"),
    "second-derivative": (second_derivative, "mhc::post_bwd has no derivative: these ops are differentiated once"),
    "joined-alone": (joined_alone,
                     "mhc::post_head has no derivative: it stands for post and head behind AOTAutograd"),
    "forward-mode": (forward_mode, "mhc::aggregate has no derivative in forward mode"),
    "functional": (lambda: torch.func.grad(lambda x: mhcc.contract(x, mode="sum").sum())(torch.zeros(2, 4, 8)),
                   "mhc::contract has no derivative in torch.func; needed torch.autograd"),
    "single-pass": (single_pass, "mhc::pre has no derivative where 'h_in' is given"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    call, message = ERRORS[name]
    with pytest.raises(RuntimeError) as error:  # NotImplementedError is one
        call()
    assert str(error.value) == message
    post()()


@pytest.mark.parametrize("name, argument, value", [
    (name, argument.name, value) for name in ("aggregate", "contract", "expand", "gates", "sinkhorn", "permutation_mix")
    for argument in getattr(torch.ops.mhc, name).default._schema.arguments if argument.name not in ("R", "output_mask")
    for value in ([1.0], {})
])  # fmt: skip
def test_type(name, argument, value):
    """PyTorch says which argument is of another type than needed."""
    operands = {"proj": torch.zeros(2, 24), "alpha": torch.zeros(3), "beta": torch.zeros(24), "stat": torch.zeros(2),
                "x": torch.zeros(2, 4, 8), "h_pre": torch.zeros(2, 4), "n": 4, "mode": "sum", "logits": torch.zeros(2, 4, 4)}
    taken = set(inspect.signature(getattr(mhcc, name)).parameters)
    with pytest.raises(RuntimeError, match=f"Expected a value of type .* for argument '{argument}' but instead found"):
        getattr(mhcc, name)(**{key: one for key, one in {**operands, argument: value}.items() if key in taken})


@pytest.mark.parametrize("call, message", [
    (lambda x: mhcc.sinkhorn(None), "mhcrt_sinkhorn: 'logits' is absent; needed a tensor"),
    (lambda x: mhcc.aggregate(x, None), "mhcrt_aggregate: 'h_pre' is absent; needed a tensor"),
    (lambda x: mhcc.gates(None, x, x, x, n=4), "mhcrt_gates: 'proj' is absent; needed a tensor"),
])  # fmt: skip
def test_missing_in_a_graph(call, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        torch.compile(call, backend="eager", fullgraph=True)(torch.zeros(2, 4, 8))


def test_multiprocessors():
    with pytest.raises(ValueError) as error:
        mhcc.set_multiprocessors(-1)
    assert str(error.value) == "set_multiprocessors: count is -1; needed at least 0"
    mhcc.set_multiprocessors(0)


def test_cuts():
    """A GPU sees them when the call has returned: there the next call has the error."""
    message = "mhcrt_pre_gated_delta_rule: 'cu_seqlens' has 1 at 1; needed 2"
    good, bad = (delta({"qkvzba": lambda x: x[:1]}, cu_seqlens=torch.tensor([0, end], dtype=torch.int32))
                 for end in (2, 1))
    call = bad
    if torch.get_default_device().type == "cuda":
        bad()
        torch.cuda.synchronize()
        call, message = good, message + ", in an earlier call"
    with pytest.raises(RuntimeError) as error:
        call()
    assert str(error.value) == message
    good()


def on_two_devices(other):
    return {key: torch.empty(value.shape, device=other if key == "phi" else value.device)
            for key, value in CASES["pre"].operands().items()}


@pytest.mark.parametrize("mode, other", [(contextlib.nullcontext, "meta"), (FakeTensorMode, "cuda:1")])
def test_operands_on_two_devices(mode, other):
    """Also where nothing is computed."""
    with mode(), pytest.raises(RuntimeError) as error:
        mhcc.pre(**on_two_devices(other))
    place = CASES["pre"].operands()["x"].device
    assert str(error.value) == f"mhcrt_pre: 'phi' is on {other}; needed {place}, where other operands are"


def test_no_place_of_the_build():
    """The library names files by their places in the sources."""
    with open(_library._PATH, "rb") as file:
        library = file.read()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    assert root.encode() not in library and b"BoxedOp.cpp" in library
