"""The ops inside torch.compile."""

import mhcc
import torch
from cases import CASES


def model(x, phi, alpha, beta, head_phi, head_beta):
    streams = mhcc.expand(x, 4)
    u, h_post, h_res = mhcc.pre(streams, phi, alpha, beta)
    streams = mhcc.post(torch.tanh(u), streams, h_post, h_res)
    return mhcc.contract(streams, mode="mean") + mhcc.head(streams, head_phi, alpha[:1], head_beta)


def test_one_graph_for_all_token_counts():
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    pre, head = CASES["pre"].operands(), CASES["head"].operands()
    weights = [pre["phi"], pre["alpha"], pre["beta"], head["phi"], head["beta"]]
    for tokens in (7, 64, 33):
        x = torch.randn(2, tokens, 40)
        operands = [value.detach().clone().requires_grad_() for value in (x, *weights)]
        expected = model(*operands)
        with torch._dynamo.config.patch(error_on_recompile=True):
            found = compiled(*operands)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        pairs = zip(*(torch.autograd.grad(out.square().sum(), operands) for out in (found, expected)))
        for own, eager in pairs:  # sums over all tokens, whose terms cancel; Inductor rounds tanh in another way
            torch.testing.assert_close(own, eager, rtol=0, atol=1e-5 * eager.abs().max().item())


def test_without_gradients():
    torch._dynamo.reset()
    pre, head = CASES["pre"].operands(), CASES["head"].operands()
    operands = (torch.randn(5, 40), pre["phi"], pre["alpha"], pre["beta"], head["phi"], head["beta"])
    found = torch.compile(model, fullgraph=True)(*operands)
    torch.testing.assert_close(found, model(*operands), rtol=1e-5, atol=1e-5)


def test_types_of_gradients_and_dropout():
    """The gradient of a bf16 phi is made in f32; the dropout's seed is drawn in the graph."""
    torch._dynamo.reset()
    case = CASES["pre-Cn-in_out"]

    def sublayer(operands):
        u, h_post, h_res = mhcc.pre(**operands, **case.attributes)
        return mhcc.post(u, operands["x"], h_post, h_res, layout="Cn", dropout=0.5)

    compiled = torch.compile(sublayer, fullgraph=True)
    operands = {key: value.requires_grad_() for key, value in case.operands((64,), torch.bfloat16).items()}
    out = compiled(operands)
    assert not torch.equal(out, compiled(operands))
    for name, gradient in zip(operands, torch.autograd.grad(out.float().sum(), list(operands.values()))):
        assert gradient.dtype == operands[name].dtype
        assert gradient.isfinite().all()
