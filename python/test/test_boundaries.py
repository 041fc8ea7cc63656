"""Neighbouring sites, joined behind AOTAutograd."""

import collections
import copy
import functools
import operator

import mhcc
import modules
import pytest
import torch
import torch.utils.checkpoint
from comparing import compare, compiled
from mhcc import backend, boundaries, capture, graph_text, rewriter
from torch._subclasses.fake_tensor import FakeTensorMode

TOKENS = torch.arange(24).reshape(3, 8) % 7


@pytest.fixture
def graphs(monkeypatch):
    """Ops of mHC, with the additions of streams, in each graph behind AOTAutograd."""
    kept, join = [], boundaries.join

    def keep(graph, level):
        join(graph, level)
        ops = [node for node in graph.nodes if isinstance(node.target, torch._ops.OpOverload)]
        names = [node.target._schema.name.split("::")[1] for node in ops if node.target.namespace == "mhc"]
        names += ["add" for node in ops if node.target is torch.ops.aten.add.Tensor and 4 in node.meta["val"].shape]
        kept.append((dict(collections.Counter(names)), copy.deepcopy(graph)))  # before its calls are written

    monkeypatch.setattr(boundaries, "join", keep)
    torch._dynamo.reset()
    torch.manual_seed(0)
    return kept


def run(module, fuse, dynamic=False, args=(TOKENS,), **options):
    """Results, and gradients of the parameters."""
    torch._dynamo.reset()
    options = {"inner": "aot_eager", "fuse": fuse, "require": "all", **options}
    return results(module, torch.compile(module, backend=backend.mhc, dynamic=dynamic, options=options), args)


def results(module, call, args=(TOKENS,)):
    out = call(*args)
    weights = torch.linspace(-1, 1, out.numel()).reshape(out.shape)
    return out, *torch.autograd.grad((out.float() * weights).sum(), list(module.parameters()))


def arguments(graph, name):
    return [set(boundaries._given(call)) for call in boundaries._calls(graph, name)]


CASES = pytest.mark.parametrize("dtype, dynamic", [(torch.float32, False), (torch.bfloat16, True)])


@CASES
def test_layer(graphs, dtype, dynamic):
    run(modules.Model(layers=3).to(dtype), "layer", dynamic)
    (forward, _), (backward, graph) = graphs
    assert forward == {"expand": 1, "pre": 3, "post": 3, "head": 1}
    assert backward == {"head_bwd": 1, "post_bwd": 3, "pre_bwd": 3, "contract": 1}
    assert all({"d_out", "h_res"} <= given and "d_x_in" not in given for given in arguments(graph, "pre_bwd"))
    assert not any("d_x" in boundaries._results(call) for call in boundaries._calls(graph, "post_bwd"))


@CASES
def test_model(graphs, dtype, dynamic):
    module = modules.Model(layers=3).to(dtype)
    joined = run(module, "model", dynamic)
    (forward, _), (backward, graph) = graphs
    assert forward == {"expand": 1, "pre": 1, "post_pre": 2, "post_head": 1}
    assert backward == {"head_bwd": 1, "post_bwd": 1, "post_pre_bwd": 2, "pre_bwd": 1, "contract": 1}
    assert sorted("d_out" in given for given in arguments(graph, "post_pre_bwd")) == [False, True]
    layer = run(module, "layer", dynamic)
    assert torch.equal(joined[0], layer[0])
    for wanted, value in zip(layer, joined):
        assert (value - wanted).abs().max() <= (1e-4 if dtype is torch.float32 else 0.1) * wanted.abs().max()


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_without_gradients(graphs, dtype, tolerance):
    """Streams that the head alone reads are no result, and the norm that a sublayer begins with is a part of post_pre."""
    module = modules.Model(layers=2).to(dtype)
    with torch.no_grad():
        joined, layer = [torch.compile(module, backend=backend.mhc, options={"inner": "aot_eager", "fuse": fuse})(TOKENS)
                         for fuse in ("model", "layer")]  # fmt: skip
    assert (joined - layer).abs().max() <= tolerance * layer.abs().max()
    (forward, graph), _ = graphs
    assert {"u_norm_weight", "u_norm_eps"} <= arguments(graph, "post_pre")[0]
    assert forward == {"expand": 1, "pre": 1, "post_pre": 1, "post_head": 1}
    (call,) = boundaries._calls(graph, "post_head")
    assert set(boundaries._results(call)) == {"out"}


@pytest.mark.parametrize("fuse", ["layer", "model"])
def test_numbers(fuse):
    """Gradients are as near to those in f64 as PyTorch's own."""
    torch.manual_seed(0)
    module = modules.Model(layers=3)
    eager, fused = results(module, module), run(module, fuse, precision="ieee")
    exact = results(module.double(), module)
    for wanted, ours, theirs in zip(exact, fused, eager):
        error, size = (ours - wanted).abs().max(), wanted.abs().max()
        assert error <= 2 * (theirs - wanted).abs().max() + 2e-6 * size


class Watched(modules.Model):
    """Streams in the middle are read by something else as well."""

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).expand(-1, -1, self.n, -1)
        middle = self.layers[0](x)
        return self.output(self.head(self.layers[1](middle)) + middle.sum(-2).tanh())


def test_streams_that_others_read(graphs):
    module = Watched()
    fused = run(module, "model")
    assert [counts["post_pre"] for counts, _ in graphs if "post_pre" in counts] == [1]
    assert [counts["post_pre_bwd"] for counts, _ in graphs if "post_pre_bwd" in counts] == [1]
    for wanted, value in zip(results(module, module), fused):
        assert (value - wanted).abs().max() <= 1e-4 * wanted.abs().max()


@CASES
def test_three_gradients(graphs, dtype, dynamic):
    """Streams that a third reader has besides a sublayer: no addition of streams is left."""
    module = Watched().to(dtype)
    fused = run(module, "layer", dynamic)
    backward, graph = graphs[-1]
    assert "add" not in backward and backward["pre_bwd"] == backward["post_bwd"] == 2
    assert sorted("d_x_in" in given for given in arguments(graph, "post_bwd")) == [False, True]
    for wanted, value in zip(results(module, module), fused):
        assert (value - wanted).abs().max() <= (1e-4 if dtype is torch.float32 else 0.1) * wanted.abs().max()


class Late(modules.Model):
    """Weights of the second sublayer are made of what the first one makes: the two cannot be one."""

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(-2).expand(-1, -1, self.n, -1)
        x, second = self.layers[0](x), self.layers[1]
        beta = second.coefficients.beta * x.mean().cos()
        x = torch.func.functional_call(second, {"coefficients.beta": beta}, (x,))
        return self.output(self.head(x))


def test_weights_that_follow(graphs):
    module = Late()
    fused = run(module, "model")
    assert all("post_pre" not in counts for counts, _ in graphs)
    for wanted, value in zip(results(module, module), fused):
        assert (value - wanted).abs().max() <= 1e-4 * wanted.abs().max()


class Checkpointed(modules.Sublayer):
    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(super().forward, x, use_reentrant=False)


def test_checkpointed(graphs):
    module = modules.Model()
    module.layers = torch.nn.ModuleList(Checkpointed(4, 16) for _ in range(2))
    fused = run(module, "model", require=1)
    assert graphs[-1][0]["post_pre_bwd"] == 1
    for wanted, value in zip(results(module, module), fused):
        assert (value - wanted).abs().max() <= 1e-4 * wanted.abs().max()


def test_checkpointed_layers_have_the_bits_of_those_that_are_kept(graphs):
    """Norms of u are made apart in both directions: a checkpointed layer keeps no u, of which nothing else reads it."""
    kept, again = modules.Model(layers=3), modules.Model(layers=3)
    again.layers = torch.nn.ModuleList(Checkpointed(4, 16) for _ in range(3))
    again.load_state_dict(kept.state_dict())
    for wanted, value in zip(run(kept, "model"), run(again, "model", require=1)):
        assert torch.equal(value, wanted)
    assert [counts.get("post_pre") for counts, _ in graphs[::2]] == [2, 2]


def test_inductor(graphs, tmp_path, monkeypatch):
    """A graph from Inductor's cache is joined as well. On a GPU, PyTorch adds rows of an embedding in any order."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    module = modules.Model()
    first = run(module, "model", inner="inductor")
    assert [counts.get("post_pre", counts.get("post_pre_bwd")) for counts, _ in graphs] == [1, 1]
    again = run(module, "model", inner="inductor")
    assert len(graphs) == 2
    for value, same in zip(first, again):
        assert (value - same).abs().max() <= (1e-6 if value.is_cuda else 0) * value.abs().max()
    run(module, "layer", inner="inductor")
    assert len(graphs) == 4


class Direct(torch.nn.Module):
    """Calls the ops itself, on streams with two dims of tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(8, 16)
        self.layers = torch.nn.ModuleList(modules.Coefficients(4, 16) for _ in range(2))

    def forward(self, tokens):
        x = mhcc.expand(self.embedding(tokens), n=4)
        for layer in self.layers:
            u, h_post, h_res = mhcc.pre(x, layer.phi, layer.alpha.float(), layer.beta.float())
            x = mhcc.post(torch.tanh(u), x, h_post, h_res)
        return mhcc.contract(x, mode="sum")


@CASES
def test_ops_called_directly(graphs, dtype, dynamic):
    """A boundary of calls whose tokens are several dims."""
    module = Direct().to(dtype)
    fused = run(module, "model", dynamic, require=0)
    (forward, _), (backward, _) = graphs
    assert forward == {"expand": 1, "pre": 1, "post_pre": 1, "post": 1, "contract": 1}
    assert backward == {"expand": 1, "post_bwd": 1, "post_pre_bwd": 1, "pre_bwd": 1, "contract": 1}
    for wanted, value in zip(results(module, module), fused):
        assert (value - wanted).abs().max() <= (1e-4 if dtype is torch.float32 else 0.1) * wanted.abs().max()


def test_failure_of_the_compiler(graphs, monkeypatch, tmp_path):
    """The calls stay as they are, and the warning names a command that fails in the same way."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    printed = graph_text.print_graph
    monkeypatch.setattr(graph_text, "print_graph", lambda graph, **said: printed(graph, **said) + "nothing")
    with pytest.warns(UserWarning, match="(?s)mhcc leaves a graph as it is: .*--mhc-join-aten=\"level=model norms=(true|false)\""):
        run(modules.Model(), "model")
    assert graphs[0][0]["post"] == 2 and "post_pre" not in graphs[0][0]


def test_uuid():
    first, other = boundaries.Boundaries("layer"), boundaries.Boundaries("model")
    assert first.uuid() == boundaries.Boundaries("layer").uuid() != other.uuid()


def test_level_of_a_device():
    """Left open, a graph on a GPU has a kernel across boundaries, one on the CPU does not."""
    for device, level in (("cuda", "model"), ("cpu", "layer")):
        with FakeTensorMode():
            value = torch.empty(2, device=device)
        graph = torch.fx.Graph()
        graph.placeholder("x").meta["val"] = value
        graph.placeholder("size").meta["val"] = 3
        assert boundaries.level_for(graph) == level


def test_results_in_a_result():
    """PyTorch has the results of what draws numbers, which is run again with the same ones, beside their state."""
    graph = torch.fx.Graph()
    with FakeTensorMode():
        state, x = torch.empty(8, dtype=torch.uint8), torch.empty(2, 3)
    given = graph.placeholder("x")
    run = graph.call_function(torch.ops.higher_order.run_and_save_rng_state, (torch.ops.aten.sort.default, given))
    results = graph.call_function(operator.getitem, (run, 1))
    values = graph.call_function(operator.getitem, (results, 0))
    graph.output((values,))
    for node, value in zip(graph.nodes, (x, (state, (x, x)), (x, x), x)):
        node.meta["val"] = value
    assert rewriter.join_calls(graph_text.print_graph(graph), "layer")["calls"] == []


@pytest.mark.parametrize("checkpointed", [False, True])
def test_parameters_stay_where_they_are(monkeypatch, checkpointed):
    """A CUDA graph has to know which arguments are parameters: it copies all others at each call."""
    module, parameters = modules.Model(layers=2), []
    layer = module.layers[1].forward
    if checkpointed:
        module.layers[1].forward = functools.partial(torch.utils.checkpoint.checkpoint, layer, use_reentrant=False)
    monkeypatch.setattr(boundaries, "join", lambda graph, level: parameters.append(
        torch._guards.TracingContext.get().fw_metadata.static_input_indices))  # fmt: skip
    run(module, "model")
    assert len(parameters[0]) == len(list(module.parameters()))


def test_for_inductors_cpp(monkeypatch):
    """It takes values of arguments for inputs, numbers for what they are, and a list of one tensor for a tensor."""
    module, x, graphs = modules.Sublayer(4, 16), torch.randn(2, 3, 4, 16, requires_grad=True), []

    def keep(graph, level):
        graphs.append(graph)
        join(graph, level)

    join = boundaries.join
    monkeypatch.setattr(boundaries, "join", keep)
    with torch._inductor.config.patch(cpp_wrapper=True):
        compare(module, compiled(module, require="all"), x)
    calls = [node for graph in graphs for node in graph.nodes if getattr(node.target, "namespace", "") == "mhc"]
    assert {node.target._overloadname for node in calls} == {"default"} and len(calls) == 4
    for node in calls:
        given = dict(zip((one.name for one in node.target._schema.arguments), node.args), **node.kwargs)
        assert all(type(given[one.name]) is float for one in node.target._schema.arguments
                   if str(one.type) == "float" and one.name in given)  # fmt: skip

    def look(module, inputs):
        values = [node.meta["val"] for node in capture.capture(module).graph.find_nodes(op="placeholder")]
        assert all(value.requires_grad for value in values)
        return module.forward

    torch.compile(module, backend=look)(x)
