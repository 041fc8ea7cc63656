"""Modules as programs for mhcc, and the commands that write and time them."""

import json
import os
import re
import struct
import subprocess
import sys

import mhcc
import modules
import pytest
import torch
from mhcc import backend, bench, program

X = torch.randn(3, 8, 4, 16)


def ops_of(path):
    """Ops of mHC that are found in a file, without what they stand for."""
    tool = os.path.join(os.path.dirname(mhcc.__file__), "bin", "mhc-opt")
    found = subprocess.run([tool, path, "--mhc-raise", "--mhc-fuse"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"mhc\.(\w+)\(", found)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_export(tmp_path, dtype):
    module, path, weights = modules.Sublayer(4, 16).to(dtype), tmp_path / "site.mlir", tmp_path / "site.safetensors"
    mhcc.export(module, (X.to(dtype),), path, weights, name="site")
    text = path.read_text()
    assert "func.func @site(" in text and 'mhc.name = "out"' in text and "modules.py" in text
    assert re.findall(r'mhc\.name = "([^"]*)"', text)[:-1] == [*module.state_dict(), "x"]
    assert ops_of(path) == ["pre", "post"]
    data = weights.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, values = json.loads(data[8 : 8 + length]), data[8 + length :]
    assert list(header) == list(module.state_dict())
    for name, value in module.state_dict().items():
        start, end = header[name]["data_offsets"]
        read = torch.frombuffer(bytearray(values[start:end]), dtype=value.dtype).reshape(header[name]["shape"])
        assert torch.equal(read, value.cpu())


class Stored(modules.Sublayer):
    """Has tensors of every type that safetensors has a name for."""

    def __init__(self):
        super().__init__(4, 16)
        for dtype in program._TYPES:
            self.register_buffer(str(dtype).replace(".", "_"), torch.ones(3).to(dtype))
        self.levels = torch.nn.Parameter(torch.ones(3, dtype=torch.int8), requires_grad=False)


def test_export_of_all_types(tmp_path):
    path, weights = tmp_path / "site.mlir", tmp_path / "site.safetensors"
    module = Stored()
    mhcc.export(module, (X,), path, weights)
    assert ops_of(path) == ["pre", "post"]
    data = weights.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    types = {name: (value["dtype"], value["data_offsets"][1] - value["data_offsets"][0]) for name, value in header.items()}
    assert (types["torch_bool"], types["levels"], types["torch_uint16"]) == (("BOOL", 3), ("I8", 3), ("U16", 6))
    assert all(types[str(dtype).replace(".", "_")] == (name, 3 * dtype.itemsize) for dtype, name in program._TYPES.items())


def test_export_of_a_type_that_safetensors_has_not(tmp_path):
    module = modules.Sublayer(4, 16)
    module.register_buffer("turns", torch.ones(3, dtype=torch.complex128))
    with pytest.raises(ValueError, match="'turns' is torch.complex128; needed one of torch.float64, "):
        mhcc.export(module, (X,), tmp_path / "site.mlir", tmp_path / "site.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_export_of_open_sizes(tmp_path):
    path, tokens = tmp_path / "open.mlir", torch.export.Dim("tokens", min=2)
    mhcc.export(modules.Sublayer(4, 16), (X,), path, dynamic_shapes=({1: tokens},))
    assert "tensor<3x?x4x16xf32>" in path.read_text() and ops_of(path) == ["pre", "post"]


class Counting(modules.Sublayer):
    def __init__(self, n, channels):
        super().__init__(n, channels)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return super().forward(x)


def test_export_of_a_module_that_changes_a_buffer(tmp_path):
    with pytest.raises(ValueError, match="'calls' is changed by the module; export needs one that only returns results"):
        mhcc.export(Counting(4, 16), (X,), tmp_path / "site.mlir")


class Unknown(torch.nn.Module):
    def forward(self, x):
        return torch.special.bessel_j0(x)


def test_export_of_an_op_that_is_not_known(tmp_path):
    with pytest.raises(Exception, match=r"test_program.py:\d+:1: error: 'aten.special_bessel_j0.default' has no form in"):
        mhcc.export(Unknown(), (X,), tmp_path / "site.mlir")


def site():
    return modules.Sublayer(4, 16), (X,)


def command(*arguments, **environment):
    done = subprocess.run([sys.executable, "-m", "mhcc", *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def test_command_export(tmp_path):
    command("export", f"{__file__}:site", "-o", str(tmp_path / "site.mlir"), f"--weights={tmp_path}/site.safetensors")
    assert "func.func @site(" in (tmp_path / "site.mlir").read_text() and (tmp_path / "site.safetensors").exists()


def test_command_bench():
    out = command("bench", "--shapes=16x32", "--dtype=f32,bf16", "--repeat=1")
    first, *rows = out.splitlines()
    assert first.startswith(f"PyTorch {torch.__version__}, ") and " threads, copy " in first
    assert [line.split()[:2] for line in rows] == [["shape", "dtype"], ["16x32", "f32"], ["16x32", "bf16"]]


@pytest.mark.parametrize("shapes, dtype, device, said", [
    ("2048", "f32", "cpu", "--shapes has '2048'; needed tokens x channels, as 2048x2560"),
    ("16x32,0x8", "f32", "cpu", "--shapes has '0x8'; needed tokens x channels"),
    ("16x32", "bf16,fp32", "cpu", "--dtype has 'fp32'; needed f32, bf16, f16"),
    ("16x32", "f32", "cuda", "--device is cuda, and PyTorch finds no GPU"),
])  # fmt: skip
def test_bench_of_what_is_not_there(shapes, dtype, device, said, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match=said):
        bench.run(shapes, dtype, device, forward=True, mode=None, repeat=1, beside=[])


def test_export_to_a_folder_that_is_not_there():
    with pytest.raises(SystemExit, match="nowhere/site.mlir: No such file or directory"):
        program.run(f"{__file__}:site", "nowhere/site.mlir", None)


# Stand-ins: the sources of a project are files of its names that have the functions of mhcc.compat.
RIVALS = {
    "liger": {"src/liger_kernel/ops/mhc.py": """
from types import SimpleNamespace as Class
from liger_kernel.ops.utils import ensure_contiguous
from mhcc.compat import liger
LigerMHCCoeffsFunction = Class(apply=lambda x, phi, b, pre, post, res, allow, tmax, rms, pre_eps, sinkhorn, mult:
    liger.liger_mhc_coeffs(x, phi, b, pre, post, res, allow_fp32=allow, tmax=tmax, rms_eps=rms, pre_eps=pre_eps,
                           sinkhorn_eps=sinkhorn, post_mult=mult))
LigerMHCPreFunction, LigerMHCPostResFunction = Class(apply=liger.liger_mhc_pre), Class(apply=liger.liger_mhc_post_res)
"""},
    "transformer_engine": {"transformer_engine/common/triton/mhc.py": "", "transformer_engine/pytorch/triton/mhc.py": """
from transformer_engine.common.triton import mhc
from transformer_engine.pytorch.cpp_extensions.gemm import general_gemm
from mhcc.compat.transformer_engine import mhc_fused_expand_combine, mhc_generate_mix_and_aggregate
"""},
    "tile_kernels": {"tile_kernels/modeling/mhc/__init__.py": "", "tile_kernels/modeling/mhc/functional.py":
                     "from mhcc.compat.tile_kernels import mhc_post, mhc_pre"},
    "megatron": {"megatron/core/fusions/fused_mhc_kernels.py": """
from megatron.core._rank_utils import log_single_rank, safe_get_rank
from megatron.core.transformer.hyper_connection import (native_fused_add_3, native_h_aggregate, native_h_post_bda,
                                                        native_sinkhorn)
from mhcc.compat.megatron import fused_h_aggregate, fused_h_post_bda, fused_proj_rms_compute_h, fused_sinkhorn
"""},
}


def checkouts(folder, **changed):
    for name, files in RIVALS.items():
        for path, text in files.items():
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(changed.get(name, text))
    return [f"--beside={name}={folder / name}" for name in RIVALS]


def test_command_bench_beside(tmp_path):
    out = command("bench", "--shapes=16x32", "--dtype=f32,bf16", "--repeat=1", *checkouts(tmp_path),
                  TORCHDYNAMO_DISABLE="1")
    _, head, single, half = map(str.split, out.splitlines())
    assert head[2:9] == ["eager", "compiled", *RIVALS, "mhc"], head
    assert single[6] == single[-2] == "-" and "-" not in half, "TileKernels has bf16 alone"
    assert len(single) == len(half) == 9 + 6 and all(float(time) > 0 for time in half[2:9]), half


def test_command_bench_beside_what_is_wrong(tmp_path):
    options = checkouts(tmp_path, transformer_engine="""
from mhcc.compat.transformer_engine import mhc_fused_expand_combine as right, mhc_generate_mix_and_aggregate
mhc_fused_expand_combine = lambda f, bias, h_post, x, h_res, n: right(f, bias, h_post, x, h_res.mT.contiguous(), n)
""")
    for option, needed in ((options[1], "the streams of transformer_engine are "),
                           (f"--beside=tile_kernels={tmp_path}", "tile_kernels/modeling/mhc is missing; needed a checkout"),
                           (f"--beside=liger={tmp_path}", "src/liger_kernel/ops/mhc.py is missing; needed a checkout"),
                           ("--beside=tiger=x", "--beside is 'tiger=x'; needed NAME=CHECKOUT with one of liger, ")):
        done = subprocess.run([sys.executable, "-m", "mhcc", "bench", "--shapes=16x32", "--repeat=1", option],
                              capture_output=True, text=True, env={**os.environ, "TORCHDYNAMO_DISABLE": "1"})  # fmt: skip
        assert done.returncode == 1 and needed in done.stderr, done.stderr
