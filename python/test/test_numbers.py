"""Results and gradients against plain PyTorch in float64."""

import pytest
import torch
from cases import CASES

TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 2**-7, torch.float16: 2**-10}


def error(value, expected):
    """The largest difference, of the largest value."""
    if expected.numel() == 0:
        return 0.0
    return ((value.double() - expected).abs().max() / expected.abs().max().double().clamp(min=1e-30)).item()


def gradients(results, operands):
    """Gradients of a sum of the results with weights that no symmetry cancels."""
    generator = torch.Generator().manual_seed(7)
    total = 0
    for result in results:
        weights = torch.randn(result.shape, generator=generator, device="cpu").to(torch.bfloat16).to(result)
        total = total + (result * weights).sum(dtype=torch.float64)
    return torch.autograd.grad(total, list(operands.values()))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("tokens", [(5,), (2, 3), ()], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients(name, tokens, dtype):
    case = CASES[name]
    operands = {key: value.requires_grad_() for key, value in case.operands(tokens, dtype).items()}
    results = case.run(operands)
    expected, leaves = case.expected(operands)
    assert len(results) == len(expected)
    for i, (result, value) in enumerate(zip(results, expected)):
        assert result.shape == value.shape
        assert error(result, value) <= TOLERANCE[dtype], f"result {i}"
    for key, own, value in zip(operands, gradients(results, operands), gradients(expected, leaves)):
        assert own.dtype == operands[key].dtype
        assert own.shape == value.shape
        assert error(own, value) <= 4 * TOLERANCE[dtype], f"gradient of {key}"
