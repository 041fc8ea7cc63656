"""The backend against eager PyTorch."""

import collections
import copy
import os
import re
import subprocess
import warnings

import mhcc
import modules
import pytest
import torch
from mhcc import backend, rewriter
from mhcc.compat import megatron
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F

TOKENS = torch.arange(24).reshape(3, 8) % 7


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    backend.found.clear()


def compiled(module, dynamic=False, **options):
    return torch.compile(module, backend=backend.mhc, dynamic=dynamic, options={"inner": "aot_eager", **options})


def gradients(out, module, weights):
    return torch.autograd.grad((out * weights).float().sum(), list(module.parameters()))


def counts():
    return [dict(collections.Counter(name.split(".")[1] for name in ops)) for ops in backend.found]


def compare(module, other, *args, tolerance=1e-5):
    """Results and gradients of the same parameters, relative to the largest element of each."""
    expected, out = module(*args), other(*args)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    weights = torch.randn_like(expected)
    pairs = [(expected, out), *zip(gradients(expected, module, weights), gradients(out, module, weights))]
    for wanted, value in pairs:
        assert (wanted - value).abs().max() <= tolerance * wanted.abs().max()


def compare_rounded(module, other, *args):
    """The same in bf16: as near to float64 as eager PyTorch, but for 8 roundings of the largest element. Sums over few
    tokens that cancel are off by several percent in both."""
    expected, out = module(*args), other(*args)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    exact = copy.deepcopy(module).double()
    truth, weights = exact(*args), torch.randn_like(expected)
    results = [(run, *gradients(run, of, weights)) for run, of in ((expected, module), (out, module), (truth, exact))]
    for eager, ours, wanted in zip(*results):
        worst = [(value.double() - wanted).abs().max() for value in (eager, ours)]
        assert worst[1] <= worst[0] + 8 * 2**-8 * wanted.abs().max()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("learned", [False, True])
def test_model(learned, dtype, dynamic):
    module = modules.Model(learned=learned).to(dtype)
    (compare if dtype is torch.float32 else compare_rounded)(module, compiled(module, dynamic), TOKENS)
    last = "head" if learned else "contract"
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, last: 1}]


class Numbered(modules.Coefficients):
    """The three scalars are chosen by a tensor of numbers, which is a constant of the graph."""

    def __init__(self, n, channels, repeats):
        super().__init__(n, channels)
        self.repeats = repeats

    def alphas(self, sizes):
        if self.repeats:
            return torch.repeat_interleave(self.alpha, torch.tensor(sizes), output_size=sum(sizes))
        return self.alpha[torch.tensor([number for number, size in enumerate(sizes) for _ in range(size)])]

    def forward(self, x):
        n, flat = self.n, x.flatten(-2)
        sizes = [n, n, n * n]
        t = F.linear(flat, self.phi) / (flat.square().mean(-1, keepdim=True) + self.eps).sqrt()
        pre, post, res = (self.alphas(sizes) * t + self.beta).split(sizes, dim=-1)
        return pre.sigmoid(), 2 * post.sigmoid(), self.residual(res.unflatten(-1, (n, n)))


@pytest.mark.parametrize("repeats", [False, True])
def test_constant_tensors(repeats):
    module = modules.Sublayer(4, 16)
    module.coefficients = Numbered(4, 16, repeats)
    compare(module, compiled(module), torch.randn(3, 8, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


def test_autocast():
    module = modules.Model()
    with torch.autocast(TOKENS.device.type, dtype=torch.bfloat16):
        compare(module, compiled(module), TOKENS, tolerance=0.1)
    assert counts() == [{"expand": 1, "pre": 2, "post": 2, "head": 1}]


def test_one_graph_for_all_token_counts():
    module = modules.Model()
    run = compiled(module, dynamic=True)
    for tokens in (TOKENS, TOKENS[:2], TOKENS[:, :5].contiguous()):
        torch.testing.assert_close(run(tokens), module(tokens), rtol=1e-4, atol=1e-5)
    assert len(backend.found) == 1


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


class StreamByStream(nn.Module):
    """A layer whose streams are written one by one."""

    def __init__(self):
        super().__init__()
        self.coefficients = modules.Coefficients(4, 16)
        self.layer = nn.Sequential(nn.RMSNorm(16), nn.Linear(16, 16))

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u, out = (pre.unsqueeze(-2) @ x.float()).squeeze(-2), torch.empty_like(x)
        f = self.layer(u.to(x.dtype)).float()
        for i in range(4):
            out[..., i, :] = (res[..., i, :, None] * x.float()).sum(-2) + post[..., i, None] * f
        return out


@pytest.mark.parametrize("shape", [(2, 3, 4, 16), (1, 1, 4, 16)])
def test_streams_that_are_written(shape):
    module = StreamByStream()
    compare(module, compiled(module, require="all"), torch.randn(shape))
    assert counts() == [{"pre": 1, "post": 1}]


def test_streams_that_are_rounded_when_they_are_written():
    module = nn.Sequential(nn.Embedding(7, 64), nn.Unflatten(-1, (4, 16)), StreamByStream()).bfloat16()
    compare_rounded(module, compiled(module, require="all"), TOKENS)
    assert counts() == [{"pre": 1, "post": 1}]


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
            module, x = Layer(Normed(4, 16)), torch.randn(2, 3, 4, 16)
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


class Layer(nn.Module):
    def __init__(self, coefficients):
        super().__init__()
        self.coefficients, self.linear = coefficients, nn.Linear(16, 16)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        f = self.linear((pre.unsqueeze(-1) * x).sum(-2))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


@pytest.mark.parametrize("region", [False, True])
def test_gradient_that_ends_inside(region):
    module = Layer(Stopped(4, 16, region=region))
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
    module, x = Layer(Scaled(4, 16)), torch.randn(2, 3, 4, 16)
    with torch.no_grad():
        torch.testing.assert_close(compiled(module, dynamic)(x), module(x), rtol=1e-4, atol=1e-5)
    assert counts() == [{"pre": 1, "post": 1}]
    backend.found.clear()
    torch._dynamo.reset()
    compare(module, compiled(module, dynamic), x)
    assert counts()[0]["post"] == 1  # whatever has the right gradient


@pytest.mark.parametrize("mapped", [False, True])
def test_maximum_that_is_detached(mapped):
    module = Layer(Shifted(4, 16))
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
    module = Layer(Wide(4, 16))
    compare(module, compiled(module, dynamic), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


class ThreeWay(Layer):
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


class Ahead(Layer):
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


class Sliced(Layer):
    """A slice of everything, which PyTorch writes as an alias."""

    def forward(self, x):
        return super().forward(x[:, 0:])


def test_slice_of_all():
    module = Sliced(modules.Coefficients(4, 16))
    compare(module, compiled(module, require=2), torch.randn(2, 3, 4, 16))


class Copying(Layer):
    """The sublayer copies its parts into a tensor that is made for them."""

    def __init__(self, coefficients):
        super().__init__(coefficients)
        self.halves = nn.Linear(16, 8)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        u = (pre.unsqueeze(-1) * x).sum(-2)
        f = torch.empty_like(u)
        f[..., :8].copy_(self.halves(u))
        f[..., 8:].copy_(u[..., :8])
        f[..., :].mul_(2)
        return res @ x + post.unsqueeze(-1) * self.linear(f).unsqueeze(-2)


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_copies_into_slices():
    module = Copying(modules.Coefficients(4, 16))
    compare(module, compiled(module, require="all"), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 1, "post": 1}]


class Writing(nn.Module):
    """Fills a buffer, and adds in place."""

    def __init__(self):
        super().__init__()
        self.layer = Layer(modules.Coefficients(4, 16))
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x):
        self.calls.add_(1)
        out = torch.zeros_like(x)
        out[:, :1] = x[:, :1] * 2
        out.add_(x)
        return self.layer(out) * self.calls[0]


def test_writes_in_place():
    module = Writing()
    run = compiled(module)
    x = torch.randn(2, 3, 4, 16)
    first = run(x)
    assert module.calls.tolist() == [1, 1] and counts() == [{"pre": 1, "post": 1}]
    second = run(x)
    assert module.calls.tolist() == [2, 2]
    torch.testing.assert_close(second, 2 * first)
    module.calls.zero_()
    torch.testing.assert_close(first, module(x), rtol=1e-5, atol=1e-5)


class LateBias(nn.Module):
    """A part of the biases is made behind the sublayer, and a buffer is read before it is written."""

    def __init__(self):
        super().__init__()
        self.coefficients = modules.Coefficients(4, 16)
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x):
        made = self.coefficients
        flat = x.flatten(-2)
        t = F.linear(flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + made.eps), made.phi)
        pre, post, res = t.split([4, 4, 16], -1)
        u = (torch.sigmoid(made.alpha[0] * pre + made.beta[:4]).unsqueeze(-1) * x).sum(-2)
        f = torch.tanh(u) + self.calls[0]
        self.calls.add_(1)
        late = made.beta[4:].cos()
        post = 2 * torch.sigmoid(made.alpha[1] * post + late[:4])
        res = made.residual((made.alpha[2] * res + late[4:]).unflatten(-1, (4, 4)))
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


def test_order_and_writes():
    """Nodes move behind the fused op that they read, and arguments are written behind all that read them."""
    module = LateBias()
    run, x = compiled(module, require="all"), torch.randn(2, 3, 4, 16)
    for calls in (1, 2):
        first = run(x)
        assert module.calls.tolist() == [calls, calls] and counts() == [{"pre": 1, "post": 1}]
        module.calls.fill_(calls - 1)
        torch.testing.assert_close(first, module(x), rtol=1e-5, atol=1e-5)


class OwnDerivative(Layer):
    def forward(self, x):
        return super().forward(modules.Twice.apply(x))


def test_own_derivatives_are_kept():
    module = OwnDerivative(modules.Coefficients(4, 16))
    x = torch.randn(2, 3, 4, 16, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = compiled(module)(x)
    assert any("mhcc leaves a graph as it is" in str(warning.message) for warning in caught)
    wanted, = torch.autograd.grad(module(x).sum(), x)
    given, = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(given, wanted)


class Written(nn.Module):
    def forward(self, x):
        detached = x.detach()
        detached.view(-1).mul_(2)
        return x + 1


def test_detached_tensor_that_is_written():
    x = torch.randn(4)
    wanted = Written()(x.clone())
    with pytest.warns(UserWarning, match="written in place"):
        torch.testing.assert_close(compiled(Written())(x.clone()), wanted)


def test_model_without_streams():
    module = nn.Sequential(nn.RMSNorm(16), nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
    compare(module, compiled(module), torch.randn(4, 16))
    assert counts() == [{}]


def test_nodes_outside_stay():
    """Nodes that are not of the site are the nodes that were there, under their names."""
    module = nn.Sequential(nn.Linear(16, 16), Layer(modules.Coefficients(4, 16)), nn.RMSNorm(16))
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


def test_failure_of_the_compiler(monkeypatch, tmp_path):
    """The graph goes on as it was, and the warning names a file that fails in the same way."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    printed = backend.print_graph
    monkeypatch.setattr(backend, "print_graph", lambda graph, **said: printed(graph, **said) + "nothing")
    module = modules.Model()
    with pytest.warns(UserWarning, match="mhcc leaves a graph as it is") as warnings:
        torch.testing.assert_close(compiled(module)(TOKENS), module(TOKENS))
    said = [str(warning.message) for warning in warnings if "mhcc leaves" in str(warning.message)]
    (kept,) = tmp_path.iterdir()
    options = '--allow-unregistered-dialect --mhc-rewrite-aten="differentiate=true fuse=layer"'
    assert len(said) == 1 and said[0].endswith(f"the graph is kept: mhc-opt {kept} {options}")
    command = os.path.join(os.path.dirname(mhcc.__file__), "bin", said[0].split("kept: ")[1])
    ran = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert ran.returncode == 1 and "error: custom op 'nothing' is unknown" in ran.stderr
    with pytest.raises(Exception, match="custom op 'nothing' is unknown"):
        torch._dynamo.reset()
        compiled(module, require=1)(TOKENS)


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


class Alone(nn.Module):
    def forward(self):
        return torch.ones(4) * 2


@pytest.mark.parametrize("module, shape, said", [
    (Inferring(), (4, 4), "the graph has .*_enter_inference_mode"),
    (Turned(), (4, 3), "the graph changes the shape of an argument"),
    (Aliased(), (4, 4), "a gradient may end at an alias"),
    (Alone(), None, "the graph has no tensor among its arguments"),
])  # fmt: skip
def test_graphs_that_are_left(module, shape, said):
    """The warning says why, and numbers are those of the module."""
    args = [torch.randn(shape)] if shape else []
    wanted = module(*[arg.clone() for arg in args])
    with pytest.warns(UserWarning, match=f"mhcc leaves a graph as it is: {said}"):
        torch.testing.assert_close(compiled(module, inner="eager")(*args), wanted)


class Late(Layer):
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


class Checkpointed(modules.Model):
    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).expand(-1, -1, self.n, -1)
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        return self.output(self.head(x))


@pytest.mark.parametrize("repeats", [None, True])
def test_checkpointed_layers(repeats):
    """Layers that are graphs of their own, with constants of their own."""
    module = Checkpointed()
    for layer in module.layers if repeats else []:
        layer.coefficients = Numbered(4, 16, repeats)
    compare(module, compiled(module), TOKENS)
    assert counts() == [{"head": 1, "pre": 2, "post": 2}]


class CheckpointedBranch(modules.Sublayer):
    """The branch alone runs again for its gradient: a site is on both sides of it."""

    def branch(self, u):
        return self.down(F.silu(self.up(self.norm(u))))

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        f = torch.utils.checkpoint.checkpoint(self.branch, (pre.unsqueeze(-1) * x).sum(-2), use_reentrant=False)
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


@pytest.mark.parametrize("dynamic", [False, True])
def test_checkpointed_branches(dynamic):
    module = nn.Sequential(CheckpointedBranch(4, 16), CheckpointedBranch(4, 16))
    compare(module, compiled(module, dynamic), torch.randn(2, 3, 4, 16))
    assert counts() == [{"pre": 2, "post": 2}]


class WrittenBeside(modules.Model):
    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).repeat(1, 1, self.n, 1)
        x[..., 0, :] += 1.0
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        return self.output(self.head(x))


def test_checkpointed_layers_beside_what_is_written():
    """Parts between the layers cannot be graphs of their own: they stay, and the layers have their sites."""
    module = WrittenBeside()
    compare(module, compiled(module), TOKENS)
    assert counts() == [{"pre": 2, "post": 2}]


@pytest.mark.parametrize("content", [None, b"no library"])
def test_compiler_that_is_missing(content, monkeypatch, tmp_path):
    """Training goes on without it, with Inductor as well, whose caches know our files."""
    path = tmp_path / "libmhc_compiler.so"
    if content:
        path.write_bytes(content)
    monkeypatch.setattr(rewriter, "PATH", str(path))
    rewriter._compiler.cache_clear()
    try:
        module, x = nn.Linear(4, 4), torch.randn(2, 4)
        with pytest.warns(UserWarning, match="the compiler cannot be loaded: .*libmhc_compiler.so: ") as caught:
            torch.testing.assert_close(compiled(module, inner="inductor")(x), module(x))
        assert ["mhcc leaves" in str(one.message) for one in caught].count(True) == 1
        streams = torch.compile(lambda x: mhcc.contract(mhcc.expand(x, 4), mode="mean"), backend=backend.mhc)
        with pytest.warns(UserWarning, match="the compiler cannot be loaded"):
            torch.testing.assert_close(streams(x), x)
        torch._dynamo.reset()
        with pytest.raises(Exception, match="the compiler cannot be loaded: .*libmhc_compiler.so: "):
            compiled(module, require=1)(x)
    finally:
        rewriter._compiler.cache_clear()


def test_require():
    with pytest.raises(Exception, match="6 mHC ops are found; option 'require' is 7"):
        compiled(modules.Model(), require=7)(TOKENS)


@pytest.mark.parametrize("require", ["al", True, 7.5])
def test_require_of_another_kind(require):
    with pytest.raises(Exception, match=f"option 'require' is {require!r}; needed 'all' or a number of ops"):
        compiled(modules.Model(), require=require)(TOKENS)


class PerStream(modules.Coefficients):
    """Each stream has a norm of its own, for which there is no kernel."""

    def forward(self, x):
        return super().forward(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps))


def test_require_all():
    compiled(modules.Model(), require="all")(TOKENS)
    module = Layer(PerStream(4, 16))
    with pytest.raises(Exception, match=r"test_backend.py:\d+: norm-per-stream: "):
        compiled(module, require="all")(torch.randn(2, 3, 4, 16))


def test_fuse():
    compiled(modules.Model(layers=1), fuse="chain")(TOKENS)
    assert counts() == [{"expand": 1, "projection": 2, "gates": 2, "sinkhorn": 1, "aggregate": 2, "post": 1}]


def test_precision():
    given = []

    def keep(graph, inputs):
        changed = backend.rewrite(graph, precision="ieee")[0].graph
        given.extend(node.kwargs["precision"] for node in changed.nodes if "precision" in node.kwargs)
        return graph

    torch.compile(modules.Model(), backend=keep)(TOKENS)
    assert given == ["ieee"] * 3  # of two pre and the head
    compiled(modules.Model(layers=1), precision="ieee", require="all")(TOKENS)
    with pytest.raises(Exception, match="option 'precision' is 'f32'; needed ieee, tf32x3, bf16x3, tf32"):
        compiled(modules.Model(layers=1), precision="f32")(TOKENS)


def test_mode():
    run = torch.compile(modules.Model(layers=1), backend=backend.mhc, mode="default", options=None)
    assert run(TOKENS).shape == (3, 8, 32) and counts() == [{"expand": 1, "pre": 1, "post": 1, "head": 1}]


def test_dump(tmp_path):
    """Each graph has a folder of its own, also where Dynamo starts again with numbers in place of symbols."""
    for _ in range(2):
        torch._dynamo.reset()
        compiled(modules.Model(), dynamic=True, dump=str(tmp_path))(TOKENS)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["graph0", "graph1"]
    for folder in tmp_path.iterdir():
        assert "aten.embedding.default" in (folder / "before.mlir").read_text()
        assert "mhc.pre" in (folder / "plan.json").read_text()
        assert "torch.ops.mhc.pre" in (folder / "after.py").read_text()
