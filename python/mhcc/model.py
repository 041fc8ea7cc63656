"""Whole models: compiled with the backend, and what it finds in them."""

import collections
import dataclasses
import functools
import importlib.util
import inspect
import itertools
import os
import sys
import typing

import torch
from torch.utils._pytree import tree_leaves


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


class Bytes(typing.NamedTuple):
    """Bytes that are read and written forward where each op reads what it takes, and writes what it makes, once."""

    before: int  #: by PyTorch's ops, one after the other
    after: int  #: by those in their place


class Break(typing.NamedTuple):
    where: str
    reason: str


@dataclasses.dataclass
class Report:
    """The parts are lists of tuples with names; as a text it is a table."""

    found: list = dataclasses.field(default_factory=list)
    missed: list = dataclasses.field(default_factory=list)
    breaks: list = dataclasses.field(default_factory=list)
    bytes: Bytes = Bytes(0, 0)  #: None where a size depends on data

    def __str__(self):
        rows = [f"found: {len(self.found)}"]
        for (op, where), count in collections.Counter((found.op, found.where) for found in self.found).items():
            rows.append(f"  {count:4} {op:16} {_short(where)}")
        if self.found:
            rows.append("bytes forward: " + ("{:,} before, {:,} after".format(*self.bytes) if self.bytes
                                             else "not known where sizes depend on data"))
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
    from .graph_text import line_of

    return ":".join(line_of(node) or ())


def _add(report, module, rewrite):
    """Adds to a report what the backend does with a graph."""
    from . import backend

    try:
        graph, plans = rewrite(module, reported=True)
    except Exception as error:  # as the backend does, which then leaves the graph as it is
        where = next(filter(None, map(_at, module.graph.nodes)), "")
        report.missed.append(Missed("graph-left", where, "the graph is left as it is", str(error), "", ""))
        return
    for plan in plans:
        report.missed += _missed(plan["missed"])
        own, sums = plan["bytes"], report.bytes
        report.bytes = own and sums and Bytes(sums.before + own["before"], sums.after + own["after"])
    for part in graph.modules():
        for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
            if "nodes" in node.meta:
                report.found.append(Found(node.target._schema.name.split("::")[1], _at(node), node.meta["nodes"]))


def _missed(misses):
    return [Missed(*(miss.get(field, "") for field in Missed._fields)) for miss in misses]


#: names of classes, and of their methods beside `forward`
_registered = {"megatron.core.transformer.hyper_connection.HyperConnectionModule":
               ("fused_h_res_h_post_bda", "input_expand", "output_contract")}  # fmt: skip


def register_module(cls, *methods):
    """Lets `compile` and `explain` trace modules of this class by themselves, unseen by Dynamo; returns the class.

    It is for modules that break Dynamo's graph, such as by functions of autograd, in `forward` or in one of these
    methods, which have to do with streams alone: what they repeat or add up are streams. A static method is traced
    wherever the class's is called. All that they compute follows from tensors, and their derivative is that of what
    they compute: the first call of each form compares both in numbers.
    """
    for method in methods:
        if not hasattr(cls, method):
            raise AttributeError(f"{_name(cls)} has no method {method!r}")
    _registered[_name(cls)] = methods
    return cls


def _name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


def _find_registered(model):
    """The outermost modules of registered classes, and that class; of a function, in the module whose method it is."""
    model = getattr(model, "__self__", model)
    if not isinstance(model, torch.nn.Module):
        return {}
    for cls in type(model).__mro__:
        if _name(cls) in _registered:
            return {model: cls}
    return {module: cls for part in model.children() for module, cls in _find_registered(part).items()}


def _trace_registered(model, compile, dynamic=None):
    """Traces the modules of registered classes; returns what takes that back."""
    from . import traced

    found, before = _find_registered(model), {}

    def replace(owner, name, method):
        before[owner, name] = vars(owner).get(name)
        run = traced.Traced(owner, method, compile, dynamic)
        setattr(owner, name, staticmethod(run) if isinstance(owner, type) else run)

    for cls in set(found.values()):
        for method in _registered[_name(cls)]:
            is_static = isinstance(inspect.getattr_static(cls, method, None), staticmethod)
            for owner in [cls] if is_static else [module for module in found if found[module] is cls]:
                if hasattr(owner, method):
                    replace(owner, method, method)
    for module in found:
        replace(module, "_compiled_call_impl", "forward")

    def restore():
        for (owner, name), value in before.items():
            delattr(owner, name) if value is None else setattr(owner, name, value)

    return restore


def compile(model, *, dynamic=None, fullgraph=False, mode=None, **options):
    """`torch.compile(model, backend="mhc")`, with the backend's options, or Inductor's, by their names.

    Modules of classes that `register_module` was called with are compiled by themselves, as by `module.compile()`. The
    model may be a function as well; of these modules, only those of a module whose method it is are known then.
    """
    from . import backend

    if mode and options:  # torch.compile takes one of both
        mode, options = None, {**torch._inductor.list_mode_options(mode), **options}
    _trace_registered(model, functools.partial(backend.compile_captured, options=options, mode=mode), dynamic)
    return torch.compile(
        model, backend="mhc", dynamic=dynamic, fullgraph=fullgraph, mode=mode, options=options or None
    )


def _is_traced(reason, classes):
    """Whether Dynamo breaks a graph at a registered module or inside it, which is a graph by itself then."""
    def is_inside(frame, cls):
        lines, first = inspect.getsourcelines(cls)
        return frame.filename == inspect.getsourcefile(cls) and first <= frame.lineno < first + len(lines)

    return "Traced.__call__" in reason.reason or any(is_inside(*pair) for pair in
                                                     itertools.product(reason.user_stack, classes))


def explain(model, *args, **kwargs):
    """A report of what `torch.compile(model, backend="mhc")` finds and misses.

    Calls the model once, uncompiled. What Dynamo has compiled before in this process is compiled again when it is called.
    """
    from torch._dynamo.utils import graph_break_reasons

    from . import backend, joined

    own = [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []
    report, whole, cut = Report(), joined.Joined(own + tree_leaves((args, kwargs))), []

    def look(rewrite, module, inputs):
        count = len(report.missed)
        _add(report, module, rewrite)
        run = module.forward if rewrite is backend.rewrite_captured else whole.around(module)
        if run != module.forward:
            cut.extend(report.missed[count:])
        return run

    restore = _trace_registered(model, functools.partial(look, backend.rewrite_captured))
    torch._dynamo.reset()
    try:
        torch.compile(model, backend=functools.partial(look, backend.rewrite))(*args, **kwargs)
        if missed := _missed(whole.missed()):
            report.missed = [miss for miss in report.missed if miss not in cut] + missed
        classes, breaks = set(_find_registered(model).values()), {}
        for reason in graph_break_reasons:
            if _is_traced(reason, classes):
                continue
            where = f"{reason.user_stack[-1].filename}:{reason.user_stack[-1].lineno}" if reason.user_stack else ""
            breaks[Break(where, reason.reason.split("\n\n")[0])] = None
        report.breaks += breaks
    finally:
        torch._dynamo.reset()
        restore()
    return report


def load(target):
    """The module and arguments of FILE.py:NAME: a module, called with the file's `args`, or a function that returns both."""
    path, _, name = target.rpartition(":")
    if not path.endswith(".py"):
        sys.exit(f"'{target}' is not of the form FILE.py:NAME")
    if not os.path.exists(path):
        sys.exit(f"there is no file '{path}'")
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("file_" + os.path.basename(path)[:-3], path)
    file = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where Dynamo looks for it
    spec.loader.exec_module(file)
    value = getattr(file, name, None)
    if not callable(value):
        sys.exit(f"'{name}' of {path} is {value!r}; needed a module, or a function that returns (module, args)")
    made = (value, getattr(file, "args", ())) if isinstance(value, torch.nn.Module) else value()
    kinds = [type(part).__name__ for part in made] if isinstance(made, tuple) else type(made).__name__
    if not isinstance(made, tuple) or len(made) != 2 or not isinstance(made[1], (tuple, list)):
        sys.exit(f"'{name}' of {path} gives {kinds}; needed a module and a tuple of what it is called with")
    return made


def run(target):
    model, args = load(target)
    print(explain(model, *args))
