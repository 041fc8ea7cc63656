"""The backend against eager PyTorch."""

import re
import warnings

import modules
import pytest
import torch
from comparing import TOKENS, compare, compare_rounded, compiled, counts, fresh  # noqa: F401
from mhcc import backend
from mhcc.compat import megatron
from torch._subclasses.fake_tensor import FakeTensorMode
from torch import nn
from torch.nn import functional as F


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("learned", [False, True])
def test_model(learned, dtype, dynamic):
    module = modules.Model(learned=learned).to(dtype)
    (compare if dtype is torch.float32 else compare_rounded)(module, compiled(module, dynamic), TOKENS)
    last = "head" if learned else "contract"
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, last: 1}]


@pytest.mark.parametrize("repeats", [False, True])
def test_constant_tensors(repeats):
    module = modules.Sublayer(4, 16)
    module.coefficients = modules.Numbered(4, 16, repeats)
    compare(module, compiled(module), torch.randn(3, 8, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


def test_one_graph_for_all_token_counts():
    module = modules.Model()
    run = compiled(module, dynamic=True)
    for tokens in (TOKENS, TOKENS[:2], TOKENS[:, :5].contiguous()):
        torch.testing.assert_close(run(tokens), module(tokens), rtol=1e-4, atol=1e-5)
    assert len(backend.found) == 1


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_graph_without_tensors():
    run = torch.compile(lambda count: torch.arange(count) + 1, backend=backend.mhc, options={"inner": "aot_eager"})
    assert run(3).tolist() == [1, 2, 3]


@pytest.mark.skipif(not torch.backends.cuda.is_built(), reason="PyTorch knows no GPU")
@pytest.mark.parametrize("dynamic", [False, True])
def test_graph_of_a_gpu_that_is_not_there(dynamic):
    """A norm is one op there. Tensors without elements show what is found, on any machine."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        with torch.device("cuda"):
            module, tokens = modules.Model(), torch.zeros(3, 8, dtype=torch.int64)
        compiled(module, dynamic, inner="eager", require="all")(tokens)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "head": 1}]


@pytest.mark.parametrize("stacked", [False, True])
def test_one_token(stacked):
    module = modules.Model(stacked=stacked)
    compare(module, compiled(module, require="all"), TOKENS[:1, :1])
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "head": 1}]


@pytest.mark.parametrize("dynamic", [False, True])
def test_stack_of_equal_streams(dynamic):
    module = modules.Model(stacked=True)
    compare(module, compiled(module, require="all", dynamic=dynamic), TOKENS)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "head": 1}]


class Viewed(nn.Module):
    """Streams that all are one tensor are weighed by a view that no other streams have, as einsum makes it."""

    def __init__(self, n=4, channels=16):
        super().__init__()
        self.n, self.logits = n, nn.Linear(channels, n * n)
        self.post = nn.Parameter(torch.rand(n))
        self.register_buffer("pre", torch.rand(n))  # whose gradient would be none
        self.layer = nn.Linear(channels, channels)

    def forward(self, x):
        streams = x.unsqueeze(2).expand(-1, -1, self.n, -1)
        res = self.logits(streams.mean(2)).unflatten(-1, (self.n, self.n)).cumsum(-1)
        f = self.layer(torch.einsum("n,blnc->blc", self.pre.softmax(0), streams))
        return torch.einsum("blij,bljc->blic", res, streams) + f.unsqueeze(2) * self.post.view(1, 1, self.n, 1)


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_view_of_equal_streams():
    module = Viewed()
    compare(module, compiled(module), torch.randn(2, 6, 16))
    assert counts() == [{"expand": 1, "post": 1}]


def test_arguments_have_the_line_that_reads_them():
    """A miss may be about what is made of a weight alone."""
    texts = []

    def keep(graph, inputs):
        texts.append(backend.print_graph(backend.capture(graph).graph))
        return graph

    torch.compile(modules.Model(), backend=keep)(TOKENS)
    arguments = texts[0].splitlines()[0].split("%v")[1:]
    assert all(re.search(r'loc\("[^"]*(modules|embedding|sparse|normalization|linear|functional)\.py":\d+:1\)', argument)
               for argument in arguments), arguments  # fmt: skip


class Unmixed(nn.Module):
    """The residual map is the identity: no rows of the projection are logits."""

    def __init__(self, n=4, channels=16):
        super().__init__()
        self.phi = nn.Parameter(torch.randn(2 * n, n * channels) / (n * channels) ** 0.5)
        self.alpha, self.beta = nn.Parameter(torch.rand(2)), nn.Parameter(torch.randn(2, n))
        self.layer = nn.Sequential(nn.RMSNorm(channels), nn.Linear(channels, channels))

    def forward(self, x):
        flat = x.flatten(-2)
        t = F.linear(flat, self.phi) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + 1e-6)
        pre, post = (torch.sigmoid(z * a + b) for z, a, b in zip(t.chunk(2, -1), self.alpha, self.beta))
        f = self.layer(((pre + 1e-6).unsqueeze(-1) * x).sum(-2))
        return x + (2 * post + 1e-6).unsqueeze(-1) * f.unsqueeze(-2)


@pytest.mark.parametrize("shape, dynamic", [((2, 3, 4, 16), False), ((2, 3, 4, 16), True), ((1, 1, 4, 16), False)])
def test_identity(shape, dynamic):
    module = Unmixed()
    compare(module, compiled(module, dynamic, require="all"), torch.randn(shape))
    assert counts() == [{"pre": 1}]


@pytest.mark.parametrize("dynamic", [False, True])
def test_identity_behind_another(dynamic):
    """The streams of the second layer are a sum."""
    module = nn.Sequential(Unmixed(), Unmixed())
    compare(module, compiled(module, dynamic, require="all"), torch.randn(2, 3, 4, 16), tolerance=1e-4)
    assert counts() == [{"pre": 2}]


class Normed(modules.Coefficients):
    """The norm in front of the projection is PyTorch's."""

    def forward(self, x):
        flat = F.rms_norm(x.flatten(-2).float(), (x.shape[-2] * x.shape[-1],), eps=self.eps)
        pre, post, res = F.linear(flat, self.phi).split([self.n, self.n, self.n**2], dim=-1)
        pre = torch.sigmoid(self.alpha[0] * pre + self.beta[: self.n])
        post = 2 * torch.sigmoid(self.alpha[1] * post + self.beta[self.n : 2 * self.n])
        res = (self.alpha[2] * res + self.beta[2 * self.n :]).unflatten(-1, (self.n, self.n))
        return pre, post, self.residual(res)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_norm_of_pytorch(device):
    """It is one op on a GPU, for whose tensors fake ones stand here."""
    if device == "cuda" and torch.version.cuda is None:
        pytest.skip("this PyTorch has no CUDA")
    plans = []

    def look(module, inputs):
        plans.append(backend.find_sites(backend.print_graph(backend.capture(module).graph)))
        return module.forward

    with FakeTensorMode():
        with torch.device(device):
            module, x = modules.Layer(Normed(4, 16)), torch.randn(2, 3, 4, 16)
        torch.compile(module, backend=look)(x)
    assert [call["op"] for call in plans[0]["calls"] if call["op"].startswith("mhc.")] == ["mhc.pre", "mhc.post"]
    assert not plans[0]["missed"]


def test_inference():
    module = modules.Model().eval()
    with torch.no_grad():
        torch.testing.assert_close(compiled(module)(TOKENS), module(TOKENS), rtol=1e-4, atol=1e-5)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "head": 1}]


class Stopped(modules.Coefficients):
    """Gradients end inside the chain, in one of two ways."""

    def __init__(self, *args, region=False):
        super().__init__(*args)
        self.region = region

    def residual(self, logits):
        if not self.region:
            return super().residual(logits.detach())
        with torch.no_grad():
            return super().residual(logits)


class Shifted(modules.Coefficients):
    """The maximum of each row is subtracted, and its gradient, which is none, left out."""

    def residual(self, logits):
        return super().residual(logits - logits.amax(-1, keepdim=True).detach())


@pytest.mark.parametrize("region", [False, True])
def test_gradient_that_ends_inside(region):
    module = modules.Layer(Stopped(4, 16, region=region))
    compare(module, compiled(module), torch.randn(2, 3, 4, 16))


class Scaled(modules.Coefficients):
    """Sinkhorn as the scales of rows and columns, which have no gradient."""

    def residual(self, logits):
        kernel = torch.exp(logits).flatten(0, -3)
        columns = torch.ones(kernel.shape[:2], dtype=logits.dtype, device=logits.device)
        for _ in range(self.iterations):
            rows = 1 / (torch.bmm(kernel, columns.unsqueeze(2)).squeeze(2) + self.eps)
            columns = 1 / (torch.bmm(kernel.mT, rows.unsqueeze(2)).squeeze(2) + self.eps)
        scaled = torch.diag_embed(rows).detach() @ kernel @ torch.diag_embed(columns).detach()
        return scaled.view_as(logits)


@pytest.mark.parametrize("dynamic", [False, True])
def test_detached_scales(dynamic):
    module, x = modules.Layer(Scaled(4, 16)), torch.randn(2, 3, 4, 16)
    with torch.no_grad():
        torch.testing.assert_close(compiled(module, dynamic)(x), module(x), rtol=1e-4, atol=1e-5)
    assert counts() == [{"pre": 1, "post": 1}]
    backend.found.clear()
    torch._dynamo.reset()
    compare(module, compiled(module, dynamic), x)
    assert counts()[0]["post"] == 1  # whatever has the right gradient


@pytest.mark.parametrize("mapped", [False, True])
def test_maximum_that_is_detached(mapped):
    module = modules.Layer(Shifted(4, 16))
    if mapped:
        module.forward = torch.func.vmap(module.forward)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # that a batching rule is missing
        compare(module, compiled(module, require="all"), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


class Wide(modules.Coefficients):
    """Projects and adds up squares in float64."""

    def forward(self, x):
        flat, n = x.flatten(-2).double(), self.n
        t = flat @ (self.phi.double() * 2).T
        scale = (flat * flat).mean(-1, keepdim=True).add(self.eps).sqrt().float()
        alpha = torch.cat([one.expand(size) for one, size in zip(self.alpha, (n, n, n * n))])
        pre, post, res = (alpha * t.float() / scale + self.beta).split([n, n, n * n], dim=-1)
        return torch.sigmoid(pre), 2 * torch.sigmoid(post), self.residual(res.unflatten(-1, (n, n)))


@pytest.mark.parametrize("dynamic", [False, True])
def test_projection_in_float64(dynamic):
    module = modules.Layer(Wide(4, 16))
    compare(module, compiled(module, dynamic), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


class ThreeWay(modules.Layer):
    """Residual, output and bias are added at once, by Megatron's function or in a stack."""

    def __init__(self, coefficients, add):
        super().__init__(coefficients)
        self.add, self.bias = add, nn.Parameter(torch.randn(16))

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        f = self.linear((pre.unsqueeze(-1) * x).sum(-2)).unsqueeze(-2)
        return self.add(res @ x, post.unsqueeze(-1) * f, post.unsqueeze(-1) * self.bias)


@pytest.mark.parametrize("add", [megatron.fused_add_3, lambda *all: torch.stack(all, -1).sum(-1)])
def test_sum_of_three(add):
    module = ThreeWay(modules.Coefficients(4, 16), add)
    compare(module, compiled(module, require="all"), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


class Ahead(modules.Layer):
    """Sites whose inputs are mixed by what the site before has computed."""

    def forward(self, x):
        x, given = self.site(x, torch.ones_like(x[..., 0]))
        x, given = self.site(x, given)
        return (given.unsqueeze(-1) * x).sum(-2)

    def site(self, x, given):
        pre, post, res = self.coefficients(x)
        f = self.linear((given.unsqueeze(-1) * x).sum(-2))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2), pre


@pytest.mark.parametrize("dynamic", [False, True])
def test_mixed_by_the_site_before(dynamic):
    """No derivative of `pre` knows another gate: there it stays in parts."""
    module, x = Ahead(modules.Coefficients(4, 16)), torch.randn(2, 3, 4, 16)
    compare(module, compiled(module, dynamic), x)
    (found,) = counts()
    assert found == {"pre": 1, "projection": 1, "gates": 1, "sinkhorn": 1, "aggregate": 2, "post": 2}
    backend.found.clear()
    torch._dynamo.reset()
    with torch.no_grad():
        torch.testing.assert_close(compiled(module, dynamic)(x), module(x), rtol=1e-4, atol=1e-5)
    (found,) = counts()
    assert found["post"] == found["pre"] == 2


class Sliced(modules.Layer):
    """A slice of everything, which PyTorch writes as an alias."""

    def forward(self, x):
        return super().forward(x[:, 0:])


def test_slice_of_all():
    module = Sliced(modules.Coefficients(4, 16))
    compare(module, compiled(module, require=2), torch.randn(2, 3, 4, 16))


class OwnDerivative(modules.Layer):
    def forward(self, x):
        return super().forward(modules.Twice.apply(x))


def test_own_derivatives_are_kept():
    module = OwnDerivative(modules.Coefficients(4, 16))
    x = torch.randn(2, 3, 4, 16, requires_grad=True)
    out = compiled(module, require=2)(x)
    wanted, = torch.autograd.grad(module(x).sum(), x)
    given, = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(given, wanted)


def test_model_without_streams():
    module = nn.Sequential(nn.RMSNorm(16), nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
    compare(module, compiled(module), torch.randn(4, 16))
    assert counts() == [{}]


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_optimizers(optimizer, recwarn):
    """The step of one writes the parameters, which are no arguments of its graph."""
    steps = []
    for own in (False, True):
        torch.manual_seed(0)
        module = modules.Sublayer(4, 16)
        rule = optimizer(module.parameters(), 1e-2)
        module(torch.ones(3, 4, 16)).square().sum().backward()
        (compiled(rule.step) if own else rule.step)()
        steps.append(list(module.parameters()))
    for wanted, value in zip(*steps):
        torch.testing.assert_close(value, wanted)
    assert not [warning for warning in recwarn if "mhcc" in str(warning.message)]


def test_nodes_outside_stay():
    """Nodes that are not of the site are the nodes that were there, under their names."""
    module = nn.Sequential(nn.Linear(16, 16), modules.Layer(modules.Coefficients(4, 16)), nn.RMSNorm(16))
    graphs = []

    def keep(graph, inputs):
        graphs.extend([backend.capture(graph), backend.rewrite(graph)[0]])
        return graph

    torch.compile(module, backend=keep)(torch.randn(2, 3, 4, 16))
    before, after = ({node.name: str(node.target) for node in graph.graph.nodes} for graph in graphs)
    names = [node.name for node in graphs[0].graph.nodes]
    site = [number for number, name in enumerate(names) if name not in after]
    outside = names[: site[0]] + names[site[-1] + 1 :]
    assert "addmm" in outside and {"rsqrt_1", "_fused_rms_norm"} & set(outside)  # the latter on a GPU
    assert all(after[name] == before[name] for name in outside)
    assert {"mhc.pre.default", "mhc.post.default"} <= set(after.values())


class Turned(nn.Module):
    def forward(self, x):
        torch.ops.aten.transpose_(x, 0, 1)
        return x + 1


class Inferring(nn.Module):
    def forward(self, x):
        with torch.inference_mode():
            y = x.detach() * 2
        return y.clone()


class Aliased(nn.Module):
    """An op that may be there to end a gradient."""

    def forward(self, x):
        return torch.ops.aten.alias(x) + 1


@pytest.mark.parametrize("module, shape, said", [
    (Inferring(), (4, 4), "the graph has .*_enter_inference_mode"),
    (Turned(), (4, 3), "the graph changes the shape of an argument"),
    (Aliased(), (4, 4), "a gradient may end at an alias"),
])  # fmt: skip
def test_graphs_that_are_left(module, shape, said):
    """The warning says why, and numbers are those of the module."""
    x = torch.randn(shape)
    wanted = module(x.clone())
    with pytest.warns(UserWarning, match=f"mhcc leaves a graph as it is: {said}"):
        torch.testing.assert_close(compiled(module, inner="eager")(x), wanted)


class Late(modules.Layer):
    """Coefficients of the combination are made behind the sublayer, of a weight that is made there."""

    def forward(self, x):
        c, n = self.coefficients, 4
        flat = x.flatten(-2)
        t = nn.functional.linear(flat, c.phi) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + c.eps)
        pre = torch.sigmoid(c.alpha[0] * t[..., :n] + c.beta[:n])
        f = self.linear(nn.functional.gelu((pre.unsqueeze(-1) * x).sum(-2)))
        beta, alpha = torch.cos(c.beta), torch.cos(c.alpha)
        post = 2 * torch.sigmoid(alpha[1] * t[..., n : 2 * n] + beta[n : 2 * n])
        res = c.residual((alpha[2] * t[..., 2 * n :] + beta[2 * n :]).unflatten(-1, (n, n)))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


def test_late_coefficients():
    module = Late(modules.Coefficients(4, 16))
    compare(module, compiled(module), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]
