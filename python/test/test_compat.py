"""Layers of other projects' names against plain PyTorch in float64, and the runner of their tests."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
import reference
import torch
from mhcc import compat
from mhcc import peers as runner
from mhcc.compat import liger, megatron, tile_kernels, transformer_engine
from test_numbers import TOLERANCE, error, gradients

TOKENS, C, N = (3, 2), 24, 4
K, COUNT = N * C, 2 * N + N * N
EPS = torch.finfo(torch.float32).eps


def leaves(dtype, layout="nC", alphas=3, **shapes):
    generator = torch.Generator(torch.get_default_device()).manual_seed(0)
    streams = (N, C) if layout == "nC" else (C, N)
    # Streams are small, so that every eps counts.
    made = {"x": torch.randn(*TOKENS, *streams, generator=generator).mul(1e-3).to(dtype),
            "phi": torch.randn(COUNT, K, generator=generator) / K**0.5,
            "alpha": torch.rand(alphas, generator=generator) + 0.5,
            "beta": torch.randn(COUNT, generator=generator)}
    for name, shape in shapes.items():
        made[name] = torch.randn(*shape, generator=generator) + 1
    return {name: value.requires_grad_() for name, value in made.items()}


def doubles(operands):
    return {name: value.detach().double().requires_grad_() for name, value in operands.items()}


def compare(results, operands, expected, wanted, tolerance):
    """Compares results and gradients of these operands; the gradients of all that are wanted."""
    for result, value in zip(results, expected, strict=True):
        assert error(result, value) <= tolerance
    values = dict(zip(wanted, gradients(expected, wanted)))
    for name, own in zip(operands, gradients(results, operands)):
        assert error(own, values[name]) <= 4 * tolerance, f"gradient of {name}"
    return values


def sublayer(x, phi, alpha, beta, norm_weight=None, **form):
    """A sublayer of PyTorch that doubles its input."""
    post = dict(layout=form.get("layout", "nC"), orient=form.pop("orient", "oi"))
    u, h_post, h_res = reference.pre(x, phi, alpha, beta, norm_weight, **form)
    return [reference.post(2 * u, x, h_post, h_res, **post), h_post, h_res]


# Streams in bf16 are rounded twice more: u and the sublayer's output.
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("buffered", [False, True], ids=["", "buffer"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "norm_weight"])
def test_transformer_engine(dtype, buffered, weighted):
    operands = leaves(dtype, "Cn", **({"norm_weight": (K,)} if weighted else {}))
    x, phi, alpha, beta = list(operands.values())[:4]
    buffer = torch.full(x.shape, torch.nan) if buffered else None
    u, h_post, h_res = transformer_engine.mhc_generate_mix_and_aggregate(
        x, phi, alpha, beta.view(1, -1), operands.get("norm_weight"), False, buffer)
    out = transformer_engine.mhc_fused_expand_combine(2 * u, None, h_post, x, h_res, N, False, buffer)
    assert (out.dtype, h_res.dtype) == (dtype, torch.float32)
    wanted = doubles(operands)
    expected = sublayer(**wanted, layout="Cn", orient="io", norm_eps=EPS, init="log", denom="none")
    values = compare([out, h_post, h_res], operands, expected, wanted, 2 * TOLERANCE[dtype])
    assert not buffered or error(buffer, values["x"]) <= 8 * TOLERANCE[dtype]


def test_transformer_engine_steps():
    operands = leaves(torch.float32)
    x, phi, alpha, beta = operands.values()
    flat = x.flatten(-2).flatten(0, 1)
    H, ms = transformer_engine.mhc_fused_projection(flat, phi, use_tf32=False)
    assert H.shape == (6, 32) and not H[:, COUNT:].any()
    h_pre, h_post, logits = transformer_engine.mhc_fused_scale(H, alpha, beta.view(1, -1), ms, N)
    assert [tuple(one.shape) for one in (h_pre, h_post, logits)] == [(6, N), (6, N), (6, N * N)]
    halves = transformer_engine.mhc_fused_sinkhorn(logits.view(*TOKENS, N, N).bfloat16())
    assert halves.dtype == torch.bfloat16 and error(halves.sum(-1), torch.ones(*TOKENS, N)) < 2**-6
    u = transformer_engine.mhc_fused_aggregate(x.transpose(-1, -2), h_pre.view(*TOKENS, N), N)
    assert error(H[:, :COUNT], flat.double() @ phi.double().t()) < 2e-6
    assert error(ms, flat.double().square().mean(-1)) < 1e-6
    assert error(u, reference.aggregate(x.double(), h_pre.view(*TOKENS, N).double())) < 1e-6


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: str(dtype)[6:])
def test_liger(dtype):
    torch.manual_seed(0)
    layer = torch.nn.Linear(C, C, bias=False)
    module = liger.LigerMHC(layer, hc=N, c=C, tmax=5, pre_eps=1e-3, post_mult=1.5, phi_dtype=dtype, allow_fp32=True)
    layer.weight.data.copy_(2 * torch.eye(C))
    assert set(module.state_dict()) == {"phi", "b", "alpha_pre", "alpha_post", "alpha_res", "layer.weight"}
    x = leaves(dtype)["x"]
    operands = dict(x=x, phi=module.phi, beta=module.b, pre=module.alpha_pre, post=module.alpha_post,
                    res=module.alpha_res)
    out = module(x)
    assert out.dtype == dtype
    coeffs = liger.liger_mhc_coeffs(x, module.phi, module.b, module.alpha_pre, module.alpha_post, module.alpha_res,
                                    allow_fp32=True, tmax=5, pre_eps=1e-3, post_mult=1.5)
    wanted = doubles(operands)
    alpha = torch.stack([wanted[name] for name in ("pre", "post", "res")])
    expected = sublayer(wanted["x"], wanted["phi"], alpha, wanted["beta"], phi_layout="in_out", iters=5, pre_eps=1e-3,
                        post_mult=1.5)
    compare([out, *coeffs[1:]], operands, expected, wanted, 2 * TOLERANCE[dtype])


def test_liger_backward_of_one_coefficient():
    x, phi, _, beta = leaves(torch.bfloat16).values()
    alphas = [torch.ones((), requires_grad=True) for _ in range(3)]
    h_pre, _, _ = liger.liger_mhc_coeffs(x, phi.t(), beta, *alphas)
    h_pre.sum().backward()
    assert alphas[0].grad != 0 and alphas[2].grad == 0


def test_tile_kernels():
    operands = leaves(torch.bfloat16, norm_weight=(K,))
    x, phi, alpha, beta, norm_weight = operands.values()
    streams = x.clone()
    u, mixes = tile_kernels.mhc_pre(streams, phi, alpha, beta, norm_weight=norm_weight)
    out = tile_kernels.mhc_post((2 * u).contiguous(), streams, *mixes)
    h_post, h_res = mixes[0].squeeze(-1), mixes[1]
    wanted = doubles(operands)
    expected = sublayer(**wanted, orient="io", pre_eps=1e-6, post_mult=1.0, iters=10)
    compare([out, h_post, h_res], operands, expected, wanted, 2 * TOLERANCE[torch.bfloat16])
    assert not hasattr(streams.untyped_storage(), "grad_from_mhc_post")
    with torch.no_grad():
        fused = tile_kernels.mhc_pre(streams, phi, alpha, beta, norm_weight=norm_weight)
    assert error(fused[0], u.double()) < 2**-7 and error(fused[1][1], h_res.double()) < 2e-6


def test_tile_kernels_main_grad():
    x, phi, _, _, norm_weight = leaves(torch.bfloat16, norm_weight=(K,)).values()
    tile_kernels.mhc_pre_norm_fn(x, phi, norm_weight, 1e-6, fuse_grad_acc=False).square().sum().backward()
    expected = {parameter: parameter.grad for parameter in (phi, norm_weight)}
    for parameter in expected:
        parameter.grad, parameter.main_grad = None, torch.ones_like(parameter)
    tile_kernels.mhc_pre_norm_fn(x, phi, norm_weight, 1e-6, fuse_grad_acc=False).square().sum().backward()
    for parameter, gradient in expected.items():
        assert parameter.grad is None and error(parameter.main_grad - 1, gradient.double()) < 1e-5


def test_tile_kernels_memory_and_head():
    x, _, _, _ = leaves(torch.bfloat16).values()
    mix = torch.rand(*TOKENS, N, 1)
    out = torch.empty(*TOKENS, C, dtype=torch.bfloat16)
    assert tile_kernels.mhc_pre_apply_mix(x.detach(), mix, out) is out
    assert torch.equal(out, tile_kernels.mhc_pre_apply_mix(x, mix))
    inputs, streams = [torch.empty_like(out) for _ in range(2)], [torch.empty_like(x)]
    comb = torch.rand(*TOKENS, N, N)
    tile_kernels.mhc_multilayer_recompute(x.detach(), [mix, 2 * mix], [out], [mix], [comb], inputs, streams)
    assert torch.equal(streams[0], tile_kernels.mhc_post(out, x, mix, comb))
    assert torch.equal(inputs[1], tile_kernels.mhc_pre_apply_mix(streams[0], 2 * mix))

    operands = leaves(torch.bfloat16, alphas=1)
    x, phi, alpha, beta = operands.values()
    own = tile_kernels.mhc_head(x, phi[:N], alpha[0], beta[:N])
    wanted = doubles(operands)
    expected = reference.head(wanted["x"], wanted["phi"][:N], wanted["alpha"], wanted["beta"][:N], pre_eps=1e-6)
    compare([own], operands, [expected], wanted, 2 * TOLERANCE[torch.bfloat16])


class Config:
    num_residual_streams, hidden_size, mhc_sinkhorn_iterations = N, C, 7
    mhc_init_gating_factor, sequence_parallel = 0.5, False


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=lambda dtype: str(dtype)[6:])
def test_megatron(dtype):
    torch.manual_seed(0)
    module = megatron.HyperConnectionModule(Config, 1)
    assert set(module.state_dict()) == {"mapping_proj.weight", "alpha_pre", "alpha_post", "alpha_res", "bias"}
    x = leaves(dtype)["x"]
    bias = torch.randn(C, requires_grad=True)
    flat = x.flatten(-2)
    u, h_res, h_post, residual = module(flat)
    out = module.fused_h_res_h_post_bda(h_res, residual, h_post, (2 * u, bias), 0.0, True, True)
    assert (out.dtype, h_res.dtype, out.shape) == (dtype, dtype, flat.shape)
    operands = dict(x=x, phi=module.mapping_proj.weight, pre=module.alpha_pre, post=module.alpha_post,
                    res=module.alpha_res, beta=module.bias, bias=bias)
    wanted = doubles(operands)
    alpha = torch.cat([wanted[name] for name in ("pre", "post", "res")])
    out_u, out_post, out_res = reference.pre(wanted["x"], wanted["phi"], alpha, wanted["beta"], norm="outside",
                                             pre_eps=1e-6, iters=7)
    expected = reference.post(2 * out_u, wanted["x"], out_post, out_res, wanted["bias"], orient="io")
    compare([out.unflatten(-1, (N, C)), h_post, h_res], operands, [expected, out_post, out_res], wanted,
            3 * TOLERANCE[dtype])
    h_pre, own_post, own_res = module.compute_mappings(flat)
    assert torch.equal(own_post, h_post) and torch.equal(own_res, h_res)
    assert error(module.aggregate(flat, h_pre), out_u) <= 3 * TOLERANCE[dtype]
    mixed = module.apply_h_res(h_res, flat) + module.apply_h_post((2 * u + bias.to(dtype), None), h_post)[0]
    assert error(mixed, expected.flatten(-2)) <= 8 * TOLERANCE[dtype]


INSTALLED = {
    "transformer/module.py": """
import torch

class MegatronModule(torch.nn.Module):
    def __init__(self, config):
        super().__init__()

def mark_keep_in_fp32(parameter):
    parameter.kept = True
""", "tensor_parallel/random.py": """
class CheckpointWithoutOutput:
    def __init__(self, ckpt_manager=None, output_slot=None):
        self.calls = ckpt_manager

    def checkpoint(self, function, *operands):
        self.calls.append(function)
        return function(*operands)
"""}


def test_megatron_installed(monkeypatch, tmp_path):
    for name, text in INSTALLED.items():
        path = tmp_path / "megatron" / "core" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", {key: value for key, value in sys.modules.items() if "megatron" not in key})
    monkeypatch.setattr(compat, "megatron", megatron)
    layer = compat.install("megatron")
    from megatron.core.fusions import fused_mhc_kernels
    from megatron.core.transformer import hyper_connection, module
    assert set(fused_mhc_kernels.MHC_BACKEND_DETERMINISM.values()) == {"deterministic"}
    own = hyper_connection.HyperConnectionModule(Config, 1)
    assert isinstance(own, module.MegatronModule) and all(parameter.kept for parameter in own.parameters())
    x, calls = leaves(torch.float32)["x"].flatten(-2), []
    slot = type("Slot", (), {"writer": torch.empty(*TOKENS, C)})
    results = own(x.detach(), calls, slot)
    assert results[0] is slot.writer
    for result, value in zip(results, own(x), strict=True):
        assert error(result, value.double()) < 1e-6
    post = (*results[1:2], x, results[2], (results[0], None))
    assert torch.equal(own.fused_h_res_h_post_bda(*post, 0.0, True, True, calls),
                       own.fused_h_res_h_post_bda(*post, 0.5, False, True))
    dropped = own.fused_h_res_h_post_bda(*post, 0.5, True, True)
    assert len(calls) == 2 and layer.HyperConnectionModule is type(own)
    kept = own.fused_h_res_h_post_bda(*post, 0.0, True, True) - own.apply_h_res(results[1], x)
    parts = (dropped - own.apply_h_res(results[1], x)) / kept
    assert ((parts.abs() < 1e-2) | ((parts - 2).abs() < 1e-2)).float().mean() > 0.95
    with pytest.raises(ValueError, match="needed both"):
        own(x, output_slot=slot)


def test_megatron_functions():
    x, phi, alpha, beta = leaves(torch.float32).values()
    results = megatron.fused_proj_rms_compute_h(x.flatten(-2).flatten(0, 1), phi, *alpha.view(3, 1), beta, N)
    wanted = doubles(dict(x=x))["x"].flatten(0, 1)
    proj, scale = reference.projection(wanted, phi.double(), norm="outside")
    expected = (*reference.gates(proj, alpha.double(), beta.double(), scale, n=N, pre_eps=1e-6),
                wanted.flatten(-2).square().mean(-1, keepdim=True).sqrt())
    for result, value in zip(results, expected, strict=True):
        assert error(result, value) < 2e-6
    out, mix = torch.empty(*TOKENS, C), torch.rand(*TOKENS, N, requires_grad=True)
    streams = x.detach()
    assert megatron.fused_h_aggregate_into(streams, mix, out) is out
    out.sum().backward()
    assert torch.equal(out, megatron.fused_h_aggregate(streams, mix))
    assert error(mix.grad, streams.double().sum(-1)) < 1e-6
    with pytest.raises(ValueError, match=r"out has shape \(2, 24\); needed \(3, 2, 24\)"):
        megatron.fused_h_aggregate_into(x, mix, out[0].detach())
    with pytest.raises(ValueError, match="needed contiguous and detached"):
        megatron.fused_h_aggregate_into(x, mix, out)
    parts = [torch.randn(9, dtype=torch.bfloat16) for _ in range(3)]
    assert torch.equal(megatron.fused_add_3(*parts), sum(part.double() for part in parts).bfloat16())


def test_errors():
    x, phi, alpha, beta = leaves(torch.float32).values()
    with pytest.raises(AssertionError, match="x is torch.float32; needed"):
        liger.liger_mhc_coeffs(x, phi.t(), beta, *alpha)
    with pytest.raises(AssertionError, match=r"phi has shape \(24, 96\); needed \(96, 24\)"):
        liger.liger_mhc_coeffs(x, phi, beta, *alpha, allow_fp32=True)
    with pytest.raises(TypeError, match="tmx"):
        liger.liger_mhc_coeffs(x, phi.t(), beta, *alpha, tmx=3)
    with pytest.raises(ValueError, match=r"needed \[..., 2, 24\]"):
        liger.LigerMHC(torch.nn.Identity(), hc=2, c=C)(x)
    with pytest.raises(AssertionError, match="n is 3; needed 4"):
        transformer_engine.mhc_fused_sinkhorn(torch.zeros(1, 1, 3, 3), 3)
    with pytest.raises(AssertionError, match="is torch.bfloat16; needed torch.float32"):
        transformer_engine.mhc_fused_aggregate(x, x[..., 0, :4], N, True, x.bfloat16())
    with pytest.raises(AssertionError, match="residual is torch.float32 of .*; needed torch.bfloat16"):
        tile_kernels.mhc_post(x[..., 0, :].bfloat16(), x, alpha, beta)
    with pytest.warns(UserWarning, match="hc is 17; kernels take 16 streams at most"):
        liger.LigerMHC(torch.nn.Identity(), hc=17, c=C)
    with pytest.raises(ValueError, match="out is torch.bfloat16 on .*; needed torch.float32 on .*, as x"):
        megatron.fused_h_aggregate_into(x, x[..., 0], torch.zeros(*x.shape[:2], C, dtype=torch.bfloat16))


ONES = {name: torch.ones(size) for name, size in {
    "rows": (2, 4), "mixes": (2, 3, 24), "streams": (2, 3, 4, 8), "coefficients": (2, 3, 4, 2), "f": (2, 3, 8),
    "post": (2, 3, 4, 1), "comb": (2, 3, 4, 4)}.items()}  # fmt: skip


@pytest.mark.parametrize("call, said", [
    (lambda one: tile_kernels.expand_to_mhc(one["f"].mT, 4), "hidden has gaps; needed contiguous"),
    (lambda one: tile_kernels.mhc_head_compute_mix(one["rows"], 1, 1, 0), "input_mix has 2 dims; needed 3"),
    (lambda one: tile_kernels.mhc_pre_split_mixes(one["rows"], 1, 1, 4, 2, 0), "input_mixes has 2 dims; needed 3"),
    (lambda one: tile_kernels.mhc_pre_apply_mix(one["streams"], one["coefficients"]),
     "mix has shape (2, 3, 4, 2); needed 1 at the end"),
    (lambda one: tile_kernels.mhc_post_fwd(one["f"], one["f"], one["post"], one["comb"]), "residual has 3 dims; needed 4"),
    (lambda one: tile_kernels.mhc_post_fwd(one["f"].bfloat16().mT.contiguous().mT, one["streams"].bfloat16(), one["post"],
                                           one["comb"]),
     "x, post_layer_mix or comb_res_mix has gaps; needed contiguous"),
    (lambda one: tile_kernels.mhc_multilayer_recompute(one["streams"], [], [], [], [], [], []),
     "there are 0 of pre_mix_list and 0 of layer_input_list; needed as many, and one"),
    (lambda one: tile_kernels.mhc_multilayer_recompute(one["streams"], [1], [1, 2], [], [], [1], []),
     "there are 2 of layer_output_list; needed as many of each list, 0 or 1"),
    (lambda one: transformer_engine.mhc_fused_projection(one["rows"], one["rows"]), "phi has 2 rows; needed 24"),
    (lambda one: transformer_engine.mhc_fused_aggregate(one["streams"].mT, one["post"], 4, True, one["rows"]),
     "fused_grad_x_acc_buffer has 8 elements; needed 192, as x has"),
])  # fmt: skip
def test_wrong_operands(call, said):
    with pytest.raises(AssertionError, match=re.escape(said)):
        call(ONES)


def test_split_k_where_results_are_to_be_the_same(monkeypatch):
    monkeypatch.setattr(transformer_engine, "ENFORCE_DETERMINISTIC", True)
    with pytest.raises(AssertionError, match="use_split_k is on while NVTE_ALLOW_NONDETERMINISTIC_ALGO is 0"):
        transformer_engine.mhc_fused_projection(torch.zeros(2, 32), torch.zeros(24, 32), use_split_k=True)


def test_install(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="needed one of liger, megatron"):
        compat.install("other")
    package = tmp_path / "liger_kernel" / "transformers"
    package.mkdir(parents=True)
    (tmp_path / "liger_kernel" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "functional.py").write_text("def liger_mhc_pre(x, h_pre):\n    pass\n\n\ndef other():\n    return 5\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    compat.install("liger")
    compat.install("transformer_engine")
    for name in ("transformer_engine", "transformer_engine.pytorch"):
        assert sys.modules[name].__version__ == "0+mhcc"
    from liger_kernel.transformers import LigerMHC, functional
    from transformer_engine.pytorch.triton.mhc import mhc_fused_scale
    assert functional.liger_mhc_pre is liger.liger_mhc_pre and functional.other() == 5
    assert importlib.util.find_spec("transformer_engine") is not None
    assert LigerMHC is liger.LigerMHC and mhc_fused_scale is transformer_engine.mhc_fused_scale


def peers(*arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-m", "mhcc", "peers", *arguments], capture_output=True, text=True,
                          env=environment, check=False)


def test_peers_without_pytest(monkeypatch, tmp_path):
    folder = tmp_path / "test" / "transformers"
    folder.mkdir(parents=True)
    (folder / "test_mhc.py").touch()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="this Python has no pytest"):
        runner.run("liger", str(tmp_path), "cpu")


def test_peers(tmp_path):
    assert "there is no project 'other'; needed one of" in peers("other", f"--checkout={tmp_path}").stderr
    assert "there is no folder nowhere; needed a checkout of liger" in peers("liger", "--checkout=nowhere").stderr
    assert "test_mhc.py is missing" in peers("liger", f"--checkout={tmp_path}").stderr
    folder = tmp_path / "test" / "transformers"
    folder.mkdir(parents=True)
    (folder / "test_mhc.py").write_text(
        "import torch\nfrom test.utils import infer_device, set_seed\n"
        "from liger_kernel.transformers.functional import liger_mhc_pre\n\n\n"
        "def test_small():\n    x = torch.ones(3, 2, 8, device='cuda').bfloat16().cuda()\n"
        "    assert infer_device() == 'cpu' and liger_mhc_pre(x, x[..., 0]).sum() == 48\n\n\n"
        "def test_large():\n    torch.ones(99, device='cuda')\n")
    ran = peers("liger", f"--checkout={tmp_path}", "--device=cpu", "--limit=64")
    assert ran.returncode == 0, ran.stdout
    assert "1 passed, 1 skipped" in ran.stdout and "more than 64 elements: 1" in ran.stdout
