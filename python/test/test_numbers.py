"""Results and gradients against plain PyTorch in float64."""

import pytest
import torch
from cases import CASES

import mhcc

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


def site(x, phi, alpha, beta, eps):
    """The results of mhcc.pre and the mix of the streams, by PyTorch; without eps the iterations begin with exp."""
    n, logits = x.shape[-2], x.flatten(-2)
    logits = (logits * torch.rsqrt(logits.square().mean(-1, keepdim=True) + 1e-6)) @ phi.T
    pre, post, res = (scale * part + base for scale, part, base in
                      zip(alpha, logits.split([n, n, n * n], -1), beta.split([n, n, n * n])))  # fmt: skip
    res = res.unflatten(-1, (n, n))
    mix = res.softmax(-1) + eps if eps else torch.exp(res - res.amax(-1, keepdim=True))
    for step in range(1 if eps else 0, 40):
        mix = mix / (mix.sum(-2 if step % 2 else -1, keepdim=True) + eps)
    return (torch.sigmoid(pre).unsqueeze(-2) @ x).squeeze(-2), 2 * torch.sigmoid(post), mix @ x


def mhc_site(x, phi, alpha, beta, eps):
    form = {"sk_eps": eps} if eps else {"init": "exp_rowmax", "denom": "none"}
    u, h_post, h_res = mhcc.pre(x, phi, alpha, beta, precision="ieee", **form)  # as PyTorch's products, on a GPU, too
    return u, h_post, mhcc.post(torch.zeros_like(u), x, h_post, h_res)


@pytest.mark.parametrize("diagonal, eps", [(0, 1e-6), (10, 0.0)], ids=["uniform", "identity"])
def test_errors_are_not_larger_than_those_of_pytorch(diagonal, eps):
    """Over many draws: where the summands of one number cancel, a single draw may be 50 times as far off as PyTorch's."""
    n, channels, errors = 4, 64, {}
    for seed in range(40):
        torch.manual_seed(seed)
        operands = {"x": torch.randn(24, n, channels), "phi": 0.04 * torch.randn(n * n + 2 * n, n * channels),
                    "alpha": 1 + 0.3 * torch.randn(3), "beta": 0.3 * torch.randn(n * n + 2 * n)}  # fmt: skip
        operands["beta"][2 * n :] += diagonal * torch.eye(n).flatten()
        found = []
        for run, dtype in (site, torch.float64), (site, torch.float32), (mhc_site, torch.float32):
            leaves = {name: value.to(dtype).requires_grad_() for name, value in operands.items()}
            x, phi, alpha, beta = gradients(run(**leaves, eps=eps), leaves)
            found.append({"x": x, "phi": phi, **dict(zip(("alpha_pre", "alpha_post", "alpha_res"), alpha)),
                          **dict(zip(("pre", "post", "res"), beta.split([n, n, n * n])))})  # fmt: skip
        for name, wanted in found[0].items():
            errors.setdefault(name, []).append([error(own[name], wanted) for own in found[1:]])
    # Gates of a GPU take the processor's exponentials and reciprocals, each of which is off by up to two roundings.
    allowed = 2**-21 if torch.get_default_device().type == "cuda" else 2**-23
    for name, pairs in errors.items():
        for quantile in (0.5, 0.9):
            theirs, ours = torch.tensor(pairs).quantile(quantile, 0).tolist()
            assert ours <= 1.2 * theirs + allowed, f"{name}: {ours:.1e}, of PyTorch {theirs:.1e}"


def test_large_terms_of_a_gradient_come_last():
    """The gradient of the streams through their mix is large beside each of the products of logits: it is added to their
    sum."""
    n, channels, errors = 4, 64, []
    form = {"layout": "nC", "phi_layout": "out_in", "norm": "inside", "norm_eps": 1e-6, "pre_eps": 0.0, "post_mult": 2.0,
            "res_map": "sinkhorn", "init": "softmax_eps", "order": "row_col", "denom": "add", "sk_eps": 1e-6, "iters": 4,
            "fold_pre": False}  # fmt: skip
    for seed in range(30):
        torch.manual_seed(seed)
        x, phi = torch.randn(12, n, channels), 0.1 * torch.randn(n * n + 2 * n, n * channels)
        alpha, beta, d_u = 0.1 * torch.randn(3), torch.randn(n * n + 2 * n), torch.randn(12, channels)
        _, _, h_post, h_res, proj, stat = torch.ops.mhc.pre(x, phi, alpha, beta, **form, output_mask=[True] * 6)
        given = {"d_u": d_u, "d_h_post": torch.randn_like(h_post), "d_h_res": torch.randn_like(h_res), "x": x, "phi": phi,
                 "alpha": alpha, "beta": beta, "proj": proj, "stat": stat, "orient": "oi", **form}  # fmt: skip
        mask = [result.name == "d_x" for result in torch.ops.mhc.pre_bwd.default._schema.returns]
        d_out = torch.ones_like(x)
        apart = torch.ops.mhc.pre_bwd(**given, output_mask=mask)[mask.index(True)]
        joined = torch.ops.mhc.pre_bwd(**given, d_out=d_out, h_res=h_res, output_mask=mask)[mask.index(True)]
        errors.append(error(joined, apart.double() + h_res.double().mT @ d_out.double()))
    assert torch.tensor(errors).median() <= 2**-23


@pytest.mark.parametrize("init", ["exp", "log"])
def test_logits_have_no_gradient_where_only_sums_of_columns_are_used(init):
    """As in the last layer, whose streams are averaged. What roundings leave is no more than with PyTorch."""

    def reference(logits):
        mix = logits.exp() if init == "exp" else logits
        for step in range(40):
            line = -2 if step % 2 else -1
            mix = mix / mix.sum(line, keepdim=True) if init == "exp" else mix - mix.logsumexp(line, keepdim=True)
        return mix if init == "exp" else mix.exp()

    def ours(logits):
        return mhcc.sinkhorn(logits, init=init, denom="none", iters=20)

    errors = []
    for seed in range(30):
        torch.manual_seed(seed)
        logits, weights, found = torch.randn(24, 4, 4), torch.randn(24, 1, 4), []
        for run, dtype in (reference, torch.float64), (reference, torch.float32), (ours, torch.float32):
            leaf = logits.to(dtype).requires_grad_()
            found += torch.autograd.grad((run(leaf) * weights.to(dtype)).sum(), leaf)
        errors.append([(own.double() - found[0]).abs().max() for own in found[1:]])
    theirs, own = torch.tensor(errors).median(0).values.tolist()
    assert own <= 1.2 * theirs + 1e-12
