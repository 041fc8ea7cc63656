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
from mhcc import backend

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


def test_command_bench(tmp_path):
    out = command("bench", "--shapes=16x32", "--dtype=f32,bf16", "--repeat=1", TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    first, *rows = out.splitlines()
    assert first.startswith(f"PyTorch {torch.__version__}, ") and " threads, copy " in first
    assert [line.split()[:2] for line in rows] == [["shape", "dtype"], ["16x32", "f32"], ["16x32", "bf16"]]
