"""Reports on whole models, and the command that prints them."""

import collections
import operator
import os
import re
import subprocess
import sys

import mhcc
import modules
import pytest
import torch
from mhcc import backend, model
from torch import nn

TOKENS = torch.arange(24).reshape(3, 8) % 7


def line(text):
    """The place of a line of this file."""
    with open(__file__, encoding="utf-8") as file:
        return f"{__file__}:{next(i for i, line in enumerate(file, 1) if line.strip() == text)}"


@pytest.mark.parametrize("checkpointed", [False, True])
def test_found(checkpointed):
    class Checkpointed(modules.Sublayer):
        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(super().forward, x, use_reentrant=False)

    model = modules.Model()
    if checkpointed:
        model.layers = nn.ModuleList(Checkpointed(4, 16) for _ in range(2))
    report = mhcc.explain(model, TOKENS)
    ops = collections.Counter(found.op for found in report.found)
    assert {op: ops[op] for op in ("pre", "post")} == {"pre": 2, "post": 2}
    assert all(os.path.basename(found.where).startswith("modules.py:") and found.nodes for found in report.found)
    assert report.missed == report.breaks == []


class NormPerStream(modules.Coefficients):
    def forward(self, x):
        return super().forward(nn.functional.rms_norm(x, x.shape[-1:]))


def test_lines_are_those_of_the_model():
    """PyTorch's own file, where the norm is computed, is no place that an author changes."""
    module = modules.Sublayer(4, 16)
    module.coefficients = NormPerStream(4, 16)
    missed = mhcc.explain(module, torch.randn(2, 3, 4, 16)).missed
    assert missed and not any("functional.py" in miss.where for miss in missed)


class InBatch(nn.Module):
    """Streams that stand in the batch's dimension: where that is open, their number is one by a guard only."""

    def __init__(self):
        super().__init__()
        self.logits, self.pre, self.post = (nn.Parameter(torch.randn(4, n)) for n in (4, 1, 1))
        self.branch = nn.Linear(16, 16)

    def forward(self, x):
        streams = x.view(x.shape[0] // 4, 4, *x.shape[1:]).transpose(1, 2)
        mix = torch.exp(self.logits)
        for dim in (1, 0) * 4:
            mix = mix / mix.sum(dim, keepdim=True)
        mix = 0.5 * (torch.eye(4, device=x.device) + mix)
        out = self.branch((torch.sigmoid(self.pre) * streams).sum(2))
        streams = torch.einsum("ij,btjc->btic", mix, streams) + torch.sigmoid(self.post) * out.unsqueeze(2)
        return streams.transpose(1, 2).reshape(x.shape)


@pytest.mark.parametrize("static", [True, False])
def test_streams_in_the_batch(static):
    with torch._dynamo.config.patch(assume_static_by_default=static):
        report = mhcc.explain(InBatch(), torch.randn(8, 6, 16))
    assert sorted(found.op for found in report.found) == ["aggregate", "post", "sinkhorn"] and report.missed == []


def test_symbolic_numbers(monkeypatch):
    """Dynamo makes symbols of eps as of sizes. A report needs no second capture with the numbers."""
    captured = []
    monkeypatch.setattr(backend, "capture", lambda module, capture=backend.capture: captured.append(0) or capture(module))
    with torch._dynamo.config.patch(assume_static_by_default=False):
        report = mhcc.explain(modules.Model(), TOKENS)
    ops = collections.Counter(found.op for found in report.found)
    assert ops == {"expand": 1, "pre": 2, "post": 2, "head": 1} and report.missed == [] and len(captured) == 1


def bytes_of(nodes):
    """Bytes that nodes read and write; views do neither."""
    total = 0
    for node in nodes:
        is_view = node.target is torch.ops.aten._unsafe_view.default or any(
            result.alias_info for result in node.target._schema.returns)
        values = [] if is_view else [value for one in (*node.all_input_nodes, node)
                                     for value in torch.utils._pytree.tree_leaves(one.meta["val"])]
        total += sum(value.nbytes for value in values if isinstance(value, torch.Tensor))
    return total


@pytest.mark.parametrize("learned", [False, True])
def test_bytes(learned):
    """Before: those of the nodes that go. After: those of the calls, and no more where nothing is found."""
    module, gone, plans = modules.Model(learned=learned), [], []

    def keep(graph, inputs):
        graphs = [backend.capture(graph), backend.rewrite(graph)]
        left = {node.name for node in graphs[1][0].graph.nodes}
        gone.extend(node for node in graphs[0].graph.nodes if node.op == "call_function" and node.name not in left
                    and node.target is not operator.getitem)
        plans.extend(graphs[1][1])
        return graph

    torch.compile(module, backend=keep)(TOKENS)
    report = mhcc.explain(module, TOKENS)
    assert report.bytes == (bytes_of(gone), plans[0]["bytes"]["after"]) == tuple(plans[0]["bytes"][key] for key in
                                                                                ("before", "after"))
    assert f"bytes forward: {report.bytes.before:,} before, {report.bytes.after:,} after" in str(report)
    assert mhcc.explain(module.embedding, TOKENS).bytes == (0, 0)


def test_bytes_of_open_sizes():
    module, x = modules.Sublayer(4, 16), torch.randn(3, 8, 4, 16)
    known = mhcc.explain(module, x).bytes
    torch._dynamo.mark_dynamic(x, 1)
    assert mhcc.explain(module, x).bytes == known and known.after > 0


class PerStream(modules.Coefficients):
    """Each stream has a norm of its own, for which there is no kernel."""

    def forward(self, x):
        return super().forward(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps))


class Broken(modules.Sublayer):
    """Coefficients that are missed, and a print in the sublayer."""

    def __init__(self, n, channels):
        super().__init__(n, channels)
        self.coefficients = PerStream(n, channels)

    def forward(self, x):
        pre, post, res = self.coefficients(x)
        f = self.down((pre.unsqueeze(-1) * x).sum(-2).repeat(1, 1, 2))
        print("a print is where Dynamo stops")
        return res @ x + post.unsqueeze(-1) * f.unsqueeze(-2)


def broken():
    return Broken(4, 16), (torch.randn(2, 3, 4, 16),)


def test_missed_and_breaks():
    model, args = broken()
    with torch._dynamo.config.patch(reorderable_logging_functions=set()):
        report = mhcc.explain(torch.compile(model), *args)
    (miss,), (stop,) = report.missed, report.breaks
    assert miss.code == "norm-per-stream" and "rsqrt" in miss.found and miss.needed == "one factor for each token"
    assert miss.where == line("return super().forward(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps))")
    assert stop.where == line('print("a print is where Dynamo stops")') and "print" in stop.reason
    assert [found.op for found in report.found] == ["sinkhorn", "post"]
    text = str(report)
    assert "missed: 1" in text and miss.suggestion in text and "graph breaks: 1" in text


class Stopped(modules.Coefficients):
    """A print between the projection and the Sinkhorn iterations, or in them, where Dynamo leaves out the function."""

    def __init__(self, in_loop):
        super().__init__(4, 16)
        self.in_loop = in_loop

    def residual(self, logits):
        if not self.in_loop:
            print("in front of the loop")
        for _ in range(2):
            logits = logits * 0.5
            if self.in_loop:
                print("in the loop")
        return super().residual(logits)


@pytest.mark.parametrize("in_loop", [False, True])
def test_break_in_coefficients(in_loop):
    layers = nn.Sequential(*[modules.Layer(Stopped(in_loop)) for _ in range(2)])
    with torch._dynamo.config.patch(reorderable_logging_functions=set()):
        report = mhcc.explain(layers, torch.randn(2, 3, 4, 16))
    (miss,), (stop,) = [miss for miss in report.missed if miss.code == "graph-break"], report.breaks
    assert in_loop or report.missed == [miss]  # of the logits that the loop reads nothing is known, either
    assert ("from no graph" if in_loop else "in parts on both sides") in miss.found
    assert miss.where == stop.where == line('print("in the loop")' if in_loop else 'print("in front of the loop")')
    assert "print" in miss.suggestion


class Breaking(nn.Linear):
    def forward(self, x):
        torch._dynamo.graph_break()
        return super().forward(x)


@pytest.mark.parametrize("autocast", [False, True])
def test_break_in_sublayer(autocast):
    """It is no miss, also where autocast rounds behind it what the coefficients are."""
    layer = modules.Layer(modules.Coefficients(4, 16))
    layer.linear = Breaking(16, 16)
    with torch.autocast(torch.randn(0).device.type, torch.bfloat16, enabled=autocast):
        report = mhcc.explain(nn.Sequential(layer, layer), torch.randn(2, 3, 4, 16))
    assert report.missed == [] and len(report.breaks) == 1
    assert [found.op for found in report.found] == ["pre", "post"] * 2


class Detached(PerStream):
    """Coefficients whose gradients do not reach the streams."""

    def forward(self, x):
        return modules.Coefficients.forward(self, x.detach())


def test_line_of_a_detached_tensor():
    (miss,) = mhcc.explain(modules.Layer(Detached(4, 16)), torch.randn(2, 3, 4, 16)).missed
    assert miss.where == line("return modules.Coefficients.forward(self, x.detach())")


class Left(nn.Module):
    def forward(self, x):
        with torch.inference_mode():
            y = x.detach() * 2
        return y.clone()


def test_graph_that_is_left():
    (miss,) = mhcc.explain(Left(), torch.randn(4)).missed
    assert miss.code == "graph-left" and "_enter_inference_mode" in miss.found
    assert miss.where == line("y = x.detach() * 2")


def test_gradient_inside_a_graph():
    """The error names what is about gradients, and not hooks of ours."""
    (miss,) = mhcc.explain(torch.func.grad(lambda x: x.square().sum()), torch.randn(4)).missed
    assert miss.code == "graph-left" and miss.found == "the graph has _grad_increment_nesting, which is about gradients"


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(dynamic):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = modules.Model()
    run = mhcc.compile(model, dynamic=dynamic, fullgraph=True, inner="aot_eager", require="all")
    torch.testing.assert_close(run(TOKENS), model(TOKENS), rtol=1e-4, atol=1e-5)
    run = mhcc.compile(model, dynamic=dynamic, mode="max-autotune-no-cudagraphs", inner="aot_eager", require="all")
    torch.testing.assert_close(run(TOKENS), model(TOKENS), rtol=1e-4, atol=1e-5)
    with pytest.raises(Exception, match="option 'require' is 7"):
        mhcc.compile(model, inner="eager", require=7)(TOKENS)


def test_function():
    """A function is compiled and explained as a module is, and a method finds the registered modules of its own."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    module = modules.Sublayer(4, 16)
    x = torch.randn(2, 3, 4, 16)
    run = mhcc.compile(lambda x: 2 * module(x), inner="aot_eager", require=2)
    torch.testing.assert_close(run(x), 2 * module(x), rtol=1e-4, atol=1e-5)
    assert sorted(found.op for found in mhcc.explain(lambda x: 2 * module(x), x).found) == ["post", "pre"]


def test_method_of_a_model(monkeypatch):
    monkeypatch.setattr(model, "_registered", {"modules.Breaking": ()})
    module, x = modules.BreakingModel(), torch.randn(2, 3, 4, 16)
    assert [found.op for found in mhcc.explain(module.forward, x).found].count("pre") == 2


def explain(target):
    return subprocess.run([sys.executable, "-m", "mhcc", "explain", target], capture_output=True, text=True)


def test_command():
    done = explain(f"{__file__}:broken")
    assert not done.returncode and "norm-per-stream" in done.stdout, done.stderr
    done = explain("nowhere.py")
    assert done.returncode and done.stderr == "'nowhere.py' is not of the form FILE.py:NAME\n"


def test_command_for_a_module(tmp_path):
    (tmp_path / "file.py").write_text("import torch\nmodel = torch.nn.Linear(4, 4)\nargs = (torch.ones(2, 4),)\n")
    done = explain(f"{tmp_path}/file.py:model")
    assert done.stdout == "found: 0\nmissed: 0\ngraph breaks: 0\n", done.stderr


@pytest.mark.parametrize("name, said", [
    ("absent", "'absent' of file.py is None; needed a module, or a function that returns (module, args)"),
    ("Plain", "'Plain' of file.py gives Plain; needed a module and a tuple of what it is called with"),
    ("bare", "'bare' of file.py gives ['Linear', 'Tensor']; needed a module and a tuple of what it is called with"),
])  # fmt: skip
def test_targets_that_are_no_models(name, said, tmp_path, monkeypatch):
    (tmp_path / "file.py").write_text(
        "import torch\nclass Plain(torch.nn.Module): pass\ndef bare(): return torch.nn.Linear(4, 4), torch.ones(2, 4)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=re.escape(said)):
        model.load("file.py:" + name)


def test_target_that_is_no_file():
    with pytest.raises(SystemExit, match="there is no file 'nowhere.py'"):
        model.load("nowhere.py:model")
