"""Modules that are traced without Dynamo."""

import copy
import types
import warnings

import mhcc
import modules
import pytest
import torch
import torch.utils.checkpoint
from mhcc import backend, model, traced


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    torch.manual_seed(0)
    torch._dynamo.reset()
    backend.found.clear()
    monkeypatch.setattr(model, "_registered", {})
    assert mhcc.register_module(modules.Breaking) is modules.Breaking


def results(run, module, x):
    x = x.clone().requires_grad_()
    out = run(x)
    weights = torch.linspace(-1, 1, out.numel()).reshape(out.shape)
    return out, *torch.autograd.grad((out * weights).sum(), [x, *module.parameters()])


def ops():
    return sorted(op for graph in backend.found for op in graph)


def test_in_a_checkpoint():
    """The hooks of the checkpoint see what the module keeps, and nothing of the graph that is made and checked."""
    module = modules.BreakingModel()
    x = torch.randn(3, 8, 4, 16, requires_grad=True)
    wanted, = torch.autograd.grad(module(x).square().sum(), x)
    run = mhcc.compile(module, inner="aot_eager")
    given, = torch.autograd.grad(torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False).square().sum(), x)
    torch.testing.assert_close(given, wanted, rtol=1e-4, atol=1e-4)
    assert ops().count("mhc.pre") == 2


@pytest.mark.parametrize("dynamic", [None, False])
def test_found(dynamic):
    """The second number of tokens makes a graph for all, unless that is not wanted."""
    module = modules.BreakingModel()
    run, eager = mhcc.compile(module, dynamic=dynamic, inner="aot_eager"), copy.deepcopy(module)
    for tokens in (3, 5, 7):
        x = torch.randn(2, tokens, 4, 16)
        for value, wanted in zip(results(run, module, x), results(eager, eager, x)):
            assert (value - wanted).abs().max() <= 1e-5 * wanted.abs().max()
    assert ops().count("mhc.pre") == (4 if dynamic is None else 6)
    assert ops().count("mhc.post") >= 1
    with torch.no_grad():
        torch.testing.assert_close(run(x), eager(x), rtol=1e-4, atol=1e-5)


def test_explained():
    module = modules.BreakingModel()
    report = mhcc.explain(module, torch.randn(2, 3, 4, 16))
    assert [found.op for found in report.found].count("pre") == 2 and report.missed == report.breaks == []
    assert all("modules.py:" in found.where for found in report.found)
    assert all(layer._compiled_call_impl is None for layer in module.layers)


@pytest.mark.parametrize("factor", [2.0, float("nan")])
def test_another_derivative(monkeypatch, factor):
    """Such a module is left as it is, and so is its gradient."""
    monkeypatch.setattr(modules.Recomputed, "factor", factor)
    module, x = modules.BreakingModel(layers=1), torch.randn(2, 3, 4, 16)
    wanted = results(module, module, x)
    run = mhcc.compile(module, inner="aot_eager")
    with pytest.warns(UserWarning, match="another derivative than that of what it computes"):
        found = results(run, module, x)
    for value, expected in zip(found, wanted):
        torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    assert "mhc.pre" not in ops()


def test_method():
    """A method beside `forward` is traced as well, and where it gets an object that is no number the module's own runs."""
    mhcc.register_module(modules.BreakingTwice, "join")
    module, x = modules.BreakingModel(kind=modules.BreakingTwice), torch.randn(2, 3, 4, 16)
    report = mhcc.explain(module, x)
    assert sorted(found.op for found in report.found) == ["post", "post", "pre", "pre"]
    assert not any("join" in vars(layer) for layer in module.layers)
    wanted = results(module, module, x)
    run = mhcc.compile(module, inner="aot_eager")
    for value, expected in zip(results(run, module, x), wanted):
        assert (value - expected).abs().max() <= 1e-5 * expected.abs().max()
    assert ops() == ["mhc.post", "mhc.post", "mhc.pre", "mhc.pre"]
    seen = []
    module.layers[0].join.forward = lambda *args: seen.append(args)
    module.layers[0].join(object(), 1)
    assert len(seen) == 1


class Masked(modules.Breaking):
    """None is among its arguments and its results."""

    def forward(self, x, mask):
        u, *others = super().forward(x)
        return u if mask is None else u * mask, *others, mask

    def join(self, u, post, res, x, mask):
        return super().join(u, post, res, x)


class MaskedModel(modules.BreakingModel):
    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer.join(*layer(x, mask))
        return x


def test_none():
    """A mask that is None is another form of the arguments."""
    mhcc.register_module(Masked, "join")
    module, x = MaskedModel(kind=Masked), torch.randn(2, 3, 4, 16)
    eager = copy.deepcopy(module)
    run = mhcc.compile(module, inner="aot_eager")
    for mask in (None, torch.rand(2, 3, 1)):
        backend.found.clear()
        found = results(lambda x: run(x, mask), module, x)
        wanted = results(lambda x: eager(x, mask), eager, x)
        for value, expected in zip(found, wanted):
            assert (value - expected).abs().max() <= 1e-5 * expected.abs().max()
        assert ops().count("mhc.pre") == 2


class Boxed(modules.Breaking):
    """A result that no graph can have."""

    def forward(self, x):
        return types.SimpleNamespace(parts=super().forward(x))


class BoxedModel(modules.BreakingModel):
    def forward(self, x):
        for layer in self.layers:
            x = layer.join(*layer(x).parts)
        return x


def test_result_of_another_kind():
    """Such a module runs as it is."""
    mhcc.register_module(Boxed)
    module, x = BoxedModel(kind=Boxed), torch.randn(2, 3, 4, 16)
    wanted = module(x)
    torch.testing.assert_close(mhcc.compile(module, inner="aot_eager")(x), wanted, rtol=1e-4, atol=1e-5)
    assert "mhc.pre" not in ops()


class Normed(torch.autograd.Function):
    """A norm whose derivative is computed in another order than PyTorch's."""

    @staticmethod
    def forward(ctx, x):
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True))
        ctx.save_for_backward(x * scale, scale)
        return x * scale

    @staticmethod
    def backward(ctx, gradient):
        y, scale = ctx.saved_tensors
        return (gradient - y * (gradient * y).mean(-1, keepdim=True)) * scale


class Invariant(torch.nn.Module):
    """Has a factor that its norm takes away, so that the gradient of it is made of roundings alone."""

    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(0.7))

    def forward(self, x):
        return Normed.apply(x * self.factor)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradient_that_cancels(dtype):
    mhcc.register_module(Invariant)
    module = Invariant().to(dtype)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "mhcc leaves a graph")
        mhcc.compile(module, inner="aot_eager")(torch.randn(64, 32, dtype=dtype, requires_grad=True))


def test_another_derivative_in_bf16(monkeypatch):
    monkeypatch.setattr(modules.Recomputed, "factor", 2.0)
    module = modules.BreakingModel(layers=1).bfloat16()
    with pytest.warns(UserWarning, match="another derivative than that of what it computes"):
        mhcc.compile(module, inner="aot_eager")(torch.randn(2, 3, 4, 16, dtype=torch.bfloat16, requires_grad=True))


class Dropping(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(Normed.apply(x), 0.5, self.training)


def test_chance():
    """Chance is the same for the module and its graph where they are compared, and goes on as before for the rest."""
    mhcc.register_module(Dropping)
    run, x = mhcc.compile(Dropping(), inner="aot_eager"), torch.randn(64, 32)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "mhcc leaves a graph")
        run(x)
    torch.manual_seed(0)
    wanted = torch.rand(3)
    torch.manual_seed(0)
    traced._results(Dropping(), [x])
    assert torch.equal(torch.rand(3), wanted)


@pytest.mark.parametrize("dynamic", [None, True])
def test_static_methods(dynamic):
    """Streams that start and end in a graph by themselves are found there, and the class is left as it was."""
    mhcc.register_module(modules.BreakingInBlock, "join", "repeated", "averaged")
    own = dict(vars(modules.BreakingInBlock))
    module, x = modules.BreakingBlock(), torch.randn(2, 3, 16)
    wanted = results(module, module, x)
    run = mhcc.compile(module, dynamic=dynamic, inner="aot_eager")
    for value, expected in zip(results(run, module, x), wanted):
        assert (value - expected).abs().max() <= 1e-5 * expected.abs().max()
    every = ["contract", "expand", "post", "post", "pre", "pre"]
    assert ops() == ["mhc." + name for name in every]
    compiled = dict(vars(modules.BreakingInBlock))
    assert sorted(found.op for found in mhcc.explain(module, x).found) == every  # also of what is compiled already
    assert dict(vars(modules.BreakingInBlock)) == compiled
    for name in ("repeated", "averaged"):
        setattr(modules.BreakingInBlock, name, own[name])
    assert sorted(found.op for found in mhcc.explain(modules.BreakingBlock(), x).found) == every
    assert dict(vars(modules.BreakingInBlock)) == own


def test_method_that_is_missing():
    with pytest.raises(AttributeError, match="modules.Breaking has no method 'jion'"):
        mhcc.register_module(modules.Breaking, "jion")


def test_whole_model():
    """Nothing is traced twice where a model and its parts are registered."""
    mhcc.register_module(modules.BreakingModel)
    module, x = modules.BreakingModel(), torch.randn(2, 3, 4, 16)
    wanted = results(module, module, x)[0]
    run = mhcc.compile(module, inner="aot_eager", require=4)
    torch.testing.assert_close(results(run, module, x)[0], wanted, rtol=1e-4, atol=1e-5)
    assert ops() == ["mhc.post", "mhc.post", "mhc.pre", "mhc.pre"]
