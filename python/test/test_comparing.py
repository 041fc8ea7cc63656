"""A derivative that is wrong is seen by what the other tests compare with."""

import modules
import pytest
import torch
from comparing import compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from torch import nn

PRE = ["d_x", "d_phi", "d_alpha", "d_beta"]
DERIVATIVES = {"pre_bwd": PRE, "post_bwd": ["d_f", "d_h_post", "d_h_res", "d_x"], "head_bwd": PRE}


def broken(op, wrong, factor):
    """The op with a factor in one of its results."""
    names = [result.name for result in op._schema.returns]

    def call(*operands, **attributes):
        results = zip(names, op(*operands, **attributes))
        return tuple(one * factor if name == wrong else one for name, one in results)

    return call


@pytest.mark.parametrize("dtype, factor", [(torch.float32, 1 + 2**-10), (torch.bfloat16, 1.25)])
def test_broken_derivative(dtype, factor, monkeypatch):
    """Each result of each derivative by itself, in a module whose compiled form is right."""
    module = nn.Sequential(modules.Sublayer(4, 16), modules.Sublayer(4, 16), modules.Head(4, 16)).to(dtype)
    x = torch.randn(2, 8, 4, 16, dtype=dtype, requires_grad=True)
    run, check = compiled(module, inner="eager"), compare if dtype == torch.float32 else compare_rounded
    check(module, run, x)
    assert counts() == [{"pre": 2, "post": 2, "head": 1}]
    for name, results in DERIVATIVES.items():
        for result in results:
            op = getattr(torch.ops.mhc, name)
            with monkeypatch.context() as patch:
                patch.setattr(op, "default", broken(op.default, result, factor))
                with pytest.raises(AssertionError):
                    check(module, run, x)
                    pytest.fail(f"{result} of {name} is wrong, and nothing is seen")
