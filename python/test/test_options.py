"""Options of the backend, and a compiler that fails."""

import os
import subprocess

import mhcc
import modules
import pytest
import torch
from comparing import TOKENS, compiled, counts, fresh  # noqa: F401
from mhcc import backend, rewriter
from torch import nn


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


@pytest.mark.parametrize("require", ["al", True, 7.5, -1])
def test_require_of_another_kind(require):
    with pytest.raises(Exception, match=f"option 'require' is {require!r}; needed 'all' or a number of ops, at least 0"):
        compiled(modules.Model(), require=require)(TOKENS)


class PerStream(modules.Coefficients):
    """Each stream has a norm of its own, for which there is no kernel."""

    def forward(self, x):
        return super().forward(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps))


def test_require_all():
    compiled(modules.Model(), require="all")(TOKENS)
    module = modules.Layer(PerStream(4, 16))
    with pytest.raises(Exception, match=r"test_options.py:\d+: norm-per-stream: "):
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


@pytest.mark.parametrize("option, word, words", [
    ("inner", "mhc", "inductor, aot_eager, eager"), ("inner", 3, "inductor, aot_eager, eager"),
    ("fuse", "all", "layer, chain, model"), ("precision", "f32", "ieee, tf32x3, bf16x3, tf32"),
])  # fmt: skip
@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_word_that_does_not_exist(option, word, words):
    with pytest.raises(Exception, match=f"option '{option}' is {word!r}; needed {words}"):
        compiled(modules.Model(layers=1), **{option: word})(TOKENS)


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


@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_dump_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="option 'dump' is '.*/file/folder'; needed a folder that can be written: "):
        compiled(modules.Model(), dump=str(tmp_path / "file" / "folder"))(TOKENS)
    with pytest.raises(Exception, match="option 'dump' is 5; needed a folder that can be written: "):
        compiled(modules.Model(), dump=5)(TOKENS)


@pytest.mark.parametrize("inner", ["inductor", "aot_eager"])
@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_unknown_option(inner):
    with pytest.raises(Exception, match="option 'foo' is unknown; needed one of mhcc or of torch._inductor.config"):
        compiled(modules.Model(), inner=inner, foo=1)(TOKENS)


@pytest.mark.parametrize("option", ["cpp.min_chunk_size", "cpp.min-chunk-size"])
@pytest.mark.filterwarnings("error:mhcc leaves a graph")
def test_option_of_inductor(option, monkeypatch):
    """Written as PyTorch takes it for Inductor by itself."""
    seen = []
    monkeypatch.setattr(torch._inductor.compile_fx, "compile_fx",
                        lambda graph, inputs, config_patches: seen.append(config_patches) or graph)
    compiled(modules.Model(layers=1), inner="inductor", require="all", **{option: 7})(TOKENS)
    assert [patches["cpp.min_chunk_size"] for patches in seen] == [7]
