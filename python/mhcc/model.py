"""Whole models: compiled with the backend, and what it finds in them."""

import collections
import dataclasses
import functools
import importlib.util
import os
import sys
import typing

import torch


class Found(typing.NamedTuple):
    op: str
    where: str  #: file and line where its chain ends
    nodes: list  #: names of the nodes of ATen that it replaces


class Missed(typing.NamedTuple):
    code: str
    where: str
    reason: str
    found: str
    needed: str
    suggestion: str


class Break(typing.NamedTuple):
    where: str
    reason: str


@dataclasses.dataclass
class Report:
    """The parts are lists of tuples with names; as a text it is a table."""

    found: list = dataclasses.field(default_factory=list)
    missed: list = dataclasses.field(default_factory=list)
    breaks: list = dataclasses.field(default_factory=list)

    def __str__(self):
        rows = [f"found: {len(self.found)}"]
        for (op, where), count in collections.Counter((found.op, found.where) for found in self.found).items():
            rows.append(f"  {count:4} {op:16} {_short(where)}")
        rows.append(f"missed: {len(self.missed)}")
        for miss in self.missed:
            rows.append(f"  {miss.code}: {miss.reason}")
            rows += [f"       {name:16} {text}" for name, text in (
                ("at", _short(miss.where)), ("found", miss.found), ("needed", miss.needed), ("change", miss.suggestion),
            ) if text]  # fmt: skip
        rows.append(f"graph breaks: {len(self.breaks)}")
        for stop in self.breaks:
            rows.append(f"  {_short(stop.where)}")
            rows += [f"       {line.strip()}" for line in stop.reason.splitlines() if line.strip()]
        return "\n".join(rows)


def _short(where):
    return min(where, os.path.relpath(where), key=len) if where else "an unknown line"


def _at(node):
    from . import backend

    return ":".join(backend.line_of(node) or ())


def _add(report, module, rewrite):
    """Adds to a report what the backend does with a graph."""
    from . import backend

    try:
        graph, _, missed = rewrite(module)
    except backend.RestartAnalysis:
        raise
    except Exception as error:  # as the backend does, which then leaves the graph as it is
        where = next(filter(None, map(_at, module.graph.nodes)), "")
        report.missed.append(Missed("graph-left", where, "the graph is left as it is", str(error), "", ""))
        return
    report.missed += [Missed(*(miss.get(field, "") for field in Missed._fields)) for miss in missed]
    for part in graph.modules():
        for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
            if "nodes" in node.meta:
                report.found.append(Found(node.target._schema.name.split("::")[1], _at(node), node.meta["nodes"]))


_registered = {"megatron.core.transformer.hyper_connection.HyperConnectionModule"}


def register_module(cls):
    """Lets `compile` and `explain` trace modules of this class by themselves, without Dynamo; returns the class.

    It is for modules that break Dynamo's graph, such as by functions of autograd. All that they compute follows from
    tensors, and their derivative is that of what they compute: the first call of each form compares both in numbers.
    """
    _registered.add(_name(cls))
    return cls


def _name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


def _find_registered(model):
    """The outermost modules of registered classes."""
    if any(_name(cls) in _registered for cls in type(model).__mro__):
        return [model]
    return [module for part in model.children() for module in _find_registered(part)]


def compile(model, *, dynamic=None, fullgraph=False, mode=None, **options):
    """`torch.compile(model, backend="mhc")`, with the backend's options, or Inductor's, by their names.

    Modules of classes that `register_module` was called with are compiled by themselves, as by `module.compile()`.
    """
    from . import backend, traced

    if mode and options:  # torch.compile takes one of both
        mode, options = None, {**torch._inductor.list_mode_options(mode), **options}
    for module in _find_registered(model):
        run = functools.partial(backend.compile_captured, options=options, mode=mode)
        module._compiled_call_impl = traced.Traced(module, run, dynamic)
    return torch.compile(
        model, backend="mhc", dynamic=dynamic, fullgraph=fullgraph, mode=mode, options=options or None
    )


def explain(model, *args, **kwargs):
    """A report of what `torch.compile(model, backend="mhc")` finds and misses.

    Calls the model once, uncompiled. What Dynamo has compiled before in this process is compiled again when it is called.
    """
    from torch._dynamo.utils import graph_break_reasons

    from . import backend, traced

    report = Report()

    def look(module, inputs):
        _add(report, module, backend.rewrite)
        return module.forward

    def look_captured(graph, inputs):
        _add(report, graph, backend.rewrite_captured)
        return graph.forward

    alone = {module: module._compiled_call_impl for module in _find_registered(model)}
    for module in alone:
        module._compiled_call_impl = traced.Traced(module, look_captured)
    torch._dynamo.reset()
    try:
        torch.compile(model, backend=look)(*args, **kwargs)
        for reason in graph_break_reasons:
            where = f"{reason.user_stack[-1].filename}:{reason.user_stack[-1].lineno}" if reason.user_stack else ""
            report.breaks.append(Break(where, reason.reason.split("\n\n")[0]))
    finally:
        torch._dynamo.reset()
        for module, before in alone.items():
            module._compiled_call_impl = before
    return report


def load(target):
    """The module and arguments of FILE.py:NAME: a module, called with the file's `args`, or a function that returns both."""
    path, _, name = target.rpartition(":")
    if not path.endswith(".py"):
        sys.exit(f"'{target}' is not of the form FILE.py:NAME")
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("file_" + os.path.basename(path)[:-3], path)
    file = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where Dynamo looks for it
    spec.loader.exec_module(file)
    value = getattr(file, name)
    return (value, getattr(file, "args", ())) if isinstance(value, torch.nn.Module) else value()


def run(target):
    model, args = load(target)
    print(explain(model, *args))
