"""Modules that the backend compiles beside the same in eager PyTorch, and in float64."""

import collections
import copy

import pytest
import torch
from mhcc import backend

TOKENS = torch.arange(24).reshape(3, 8) % 7


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    backend.found.clear()


def compiled(module, dynamic=False, **options):
    """With the level of a GPU, on any machine."""
    options = {"inner": "aot_eager", "fuse": "model", **options}
    return torch.compile(module, backend=backend.mhc, dynamic=dynamic, options=options)


def leaves(module, args):
    """Tensors that get a gradient, by name."""
    given = {f"argument {i}": one for i, one in enumerate(args) if getattr(one, "requires_grad", False)}
    return {**dict(module.named_parameters()), **given}


def gradients(out, module, weights, *args):
    return torch.autograd.grad((out * weights).float().sum(), list(leaves(module, args).values()))


def counts():
    return [dict(collections.Counter(name.split(".")[1] for name in ops)) for ops in backend.found]


def compare(module, other, *args, tolerance=None):
    """Results and gradients of the same parameters, relative to the largest element of each. On a GPU phi has two bf16
    terms, which leave out 2^-17 of a value."""
    tolerance = tolerance or 1e-5 + (0 if torch.get_default_device().type == "cpu" else 2**-17)
    expected, out = module(*args), other(*args)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    weights = torch.randn_like(expected)
    pairs = [(expected, out), *zip(*(gradients(run, module, weights, *args) for run in (expected, out)))]
    for wanted, value in pairs:
        assert (wanted - value).abs().max() <= tolerance * wanted.abs().max()


def beside_float64(module, other, *args):
    """Results and gradients of the same parameters: a name, the module's, the other's, and the module's in float64."""
    expected, out = module(*args), other(*args)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    exact = copy.deepcopy(module).double()
    wide = [one.detach().double().requires_grad_(one.requires_grad) if one.is_floating_point() else one for one in args]
    with torch.autocast(expected.device.type, enabled=False):
        truth, weights = exact(*wide), torch.randn_like(expected)
    runs = ((expected, module, args), (out, module, args), (truth, exact, wide))
    results = [(run, *gradients(run, of, weights, *given)) for run, of, given in runs]
    return list(zip(["out", *leaves(module, args)], *results))


def worst(row):
    """How far the module and the other are from float64, and the largest element there."""
    _, eager, ours, wanted = row
    return [(value.double() - wanted).abs().max().item() for value in (eager, ours)] + [wanted.abs().max().item()]


def compare_rounded(module, other, *args):
    """The same in bf16: as near to float64 as eager PyTorch, but for 8 roundings of the largest element. Sums over few
    tokens that cancel are off by several percent in both."""
    for row in beside_float64(module, other, *args):
        eager, ours, largest = worst(row)
        assert ours <= eager + 8 * 2**-8 * largest
