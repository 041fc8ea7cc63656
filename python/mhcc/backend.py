"""The backend "mhc" of torch.compile: finds the mHC chains of a graph, and gives the rest to another compiler."""

import itertools
import json
import os
import shutil

import torch
import torch.fx
from torch._dynamo.exc import RestartAnalysis

from . import tables
from .boundaries import Boundaries
from .capture import (
    autocasts_around, body_of, capture, has_tensor, is_marked, is_step, leave_types, specialise, split, stands_apart,
    take_arguments,
)  # fmt: skip
from .graph_text import floats_of, is_empty, matrix_sizes, print_graph
from .rewriter import Rewriter, Unsupported, find_sites, leave


def rewrite(module, *, dump=None, reported=False, **options):
    """Dynamo's graph with its mHC chains replaced, and the plans by which they were.

    A graph that is only `reported` is not run: its numbers may be symbols, and Dynamo need not start again.
    """
    options["reported"] = reported
    if is_step(module) or not any(map(has_tensor, module.graph.nodes)):  # as between two breaks of a graph
        return module, []
    if any(map(stands_apart, module.graph.nodes)):
        try:
            return _rewrite_parts(*split(module), dump, **options)
        except Unsupported:  # what is between them cannot be graphs of their own
            if bodies := [body for node in module.graph.nodes for body in body_of(node)]:
                return _rewrite_parts(module, bodies, dump, **options)
            raise
    found = _pass if reported else lambda floats: specialise(module, floats)
    return rewrite_captured(capture(module), found, dump=dump, **options)


def _pass(floats):
    """Leaves symbols as they are."""


def rewrite_captured(graph, found=_pass, *, fuse=None, precision=None, dump=None, reported=False):
    """The same for a graph of ATen ops; `found` is called where sites are, with the symbols of the floats that they need.
    A report counts bytes at open sizes, too."""
    known = tables.find(graph.graph)
    options = {"attributes": "attributes {mhc.streams} " if graph.meta.get("streams") else "", "numbers": known}
    text, plan, floats = _find_floats(graph.graph, fuse, **options)
    _dump(dump, "before.mlir", text)
    if is_empty(graph.graph):  # nothing is missed where nothing is computed
        plan.update(missed=[], bytes={"before": 0, "after": 0})
    if reported and "bytes" not in plan:
        closed = print_graph(graph.graph, is_open=False, floats=floats, **options)
        plan["bytes"] = find_sites(closed, fuse).get("bytes")
    _dump(dump, "plan.json", json.dumps(plan, indent=1))
    if plan["calls"]:
        found(floats)
    plan["tables"] = [(node.meta["grapharg"], numbers) for node, numbers in known.items()]
    Rewriter(graph.graph, precision).run(plan)
    leave_types(graph.graph)
    graph.recompile()
    _dump(dump, "after.py", graph.code)
    return graph, [plan]


def _form(plan):
    """The ops of a plan with their attributes."""
    return [(call["op"], {key: value for key, value in call["kwargs"].items() if not isinstance(value, (dict, list))})
            for call in plan["calls"] if call["op"].startswith("mhc.")]  # fmt: skip


def _ops_in(plan):
    return [op for op, _ in _form(plan)]


def _find_floats(graph, fuse, **options):
    """A graph as text, its plan, and the symbols of the floats that it needs as numbers, such as an eps. All others may
    have another value at each call: the ops are the same without them."""
    every = floats_of(graph.nodes)
    text, plan = _find(graph, fuse, floats=every, **options)
    parts = itertools.chain(plan["nodes"], *(call.get("nodes", ()) for call in plan["calls"]))
    names = {part.split("#")[0] for part in parts}
    replaced = [node for node in graph.nodes if node.name in names]
    read = floats_of(other for node in replaced for other in (node, *node.all_input_nodes))
    unseen = floats_of(filter(_is_unseen, graph.nodes))  # as a factor of 1, of which no part of a chain is left
    if plan["calls"]:
        for floats in sorted({frozenset(read - unseen), frozenset(read)} - {frozenset(every)}, key=len):
            less = _find(graph, fuse, floats=floats, **options)
            if _form(less[1]) == _form(plan):
                return *less, floats
    return text, plan, every


def _is_unseen(node):
    """Whether a float is one that arithmetic may leave out now."""
    value = node.meta.get("val")
    return isinstance(value, torch.SymFloat) and value.node.hint in (-1, 0, 1)


def _find(graph, fuse, **options):
    """A graph as text, and its plan. How many streams there are may be an open size behind a break of Dynamo's graph,
    where nothing but the guard of Dynamo that is made here says it."""
    text = print_graph(graph, **options)
    plan = find_sites(text, fuse)
    for size in matrix_sizes(graph):
        counted = print_graph(graph, known={size.node.expr: size.node.hint}, **options)
        other = find_sites(counted, fuse)
        if len(_ops_in(other)) > len(_ops_in(plan)) and not is_marked(size):
            int(size)
            text, plan = counted, other
    return text, plan


def _rewrite_parts(module, names, dump, **options):
    """The same where parts are graphs of their own, as of checkpointed layers: all between them stays."""
    whole = torch.fx.GraphModule(module, module.graph)
    plans = []
    for name in names:
        with autocasts_around(module, name):
            part, own = rewrite(module.get_submodule(name), dump=dump and os.path.join(dump, name), **options)
        whole.set_submodule(name, part)
        plans += own
    take_arguments(whole, module)  # when the parts have their constants
    return whole, plans


def _check(ops, missed, require):
    """An error where a graph has less than what the option `require` asks for."""
    if require == "all" and missed or type(require) is int and len(ops) < require:
        lines = [f"{len(ops)} mHC ops are found; option 'require' is {require}"]
        for miss in missed:
            lines.append(f"{miss.get('where', '?')}: {miss['code']}: {miss['found']}; {miss['suggestion']}")
        raise Unsupported("\n".join(lines))


def _numbered(folder):
    """A new folder in this one, for one graph."""
    for number in itertools.count():
        try:
            own = os.path.join(folder, f"graph{number}")
            os.makedirs(own)
        except FileExistsError:
            continue
        except (OSError, TypeError) as error:
            raise ValueError(f"option 'dump' is {folder!r}; needed a folder that can be written: {error}") from error
        return own


def _dump(folder, name, text):
    if folder:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def _inner(name, options, fuse):
    """The compiler of the rest. What AOTAutograd makes for it is joined at boundaries."""
    boundaries = Boundaries(fuse)
    for unknown in options.keys() - torch._inductor.config.get_config_copy().keys() if options else ():
        raise ValueError(f"option {unknown!r} is unknown; needed one of mhcc or of torch._inductor.config")
    if name == "inductor":
        from torch._inductor.compile_fx import compile_fx

        if not torch._inductor.config.post_grad_custom_pre_pass:  # a pass of the user's has no other place
            options.setdefault("post_grad_custom_pre_pass", boundaries)
        return lambda graph, inputs: compile_fx(graph, inputs, config_patches=options)
    if name != "aot_eager":
        return torch._dynamo.lookup_backend(name)
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def run(module, inputs):
        boundaries(module.graph)
        module.recompile()
        return make_boxed_func(module.forward)

    return aot_autograd(fw_compiler=run, bw_compiler=run, keep_inference_input_mutations=True)


_WORDS = {"inner": ("inductor", "aot_eager", "eager"), "fuse": (None, "layer", "chain", "model"),
          "precision": (None, "ieee", "tf32x3", "bf16x3", "tf32")}  # fmt: skip


def _checked(option, value):
    words = _WORDS[option]
    if value is not None and value not in words:
        raise ValueError(f"option '{option}' is {value!r}; needed {', '.join(filter(None, words))}")
    return value or words[0]


def _checked_number(require):
    if require is not None and require != "all" and not (type(require) is int and require >= 0):
        raise ValueError(f"option 'require' is {require!r}; needed 'all' or a number of ops, at least 0")
    return require


found = []  #: names of the ops that the last graphs got, for tests and reports


def mhc(module, inputs, *, options=None, mode=None):
    """The backend. All options but these, and what `mode` stands for, go to Inductor:

    inner: "inductor", "aot_eager" or "eager", which compiles the rest.
    fuse: "chain" for a kernel for each step; "layer", as on the CPU, for one on each side of a sublayer; "model", as on
        a GPU, for one from each sublayer to the next.
    precision: how exact products of projections are at least: "ieee", "tf32x3", "bf16x3" or "tf32".
    require: "all" makes each missed site an error, a number less ops than that.
    dump: a folder, in which each graph gets a folder of its own: the graph before and after, and what is found in it.
    """
    return _compile(module, inputs, rewrite, options, mode)


def compile_captured(graph, inputs, options=None, mode=None):
    """The same for a graph of ATen ops."""
    return _compile(graph, inputs, rewrite_captured, options, mode)


def _compile(module, inputs, rewrite, options, mode):
    given = {**(torch._inductor.list_mode_options(mode) if mode else {}), **(options or {})}
    rest = {option.replace("-", "_"): value for option, value in given.items()}  # as PyTorch has it for Inductor
    dump, require = rest.pop("dump", None), _checked_number(rest.pop("require", None))
    inner, fuse, precision = (_checked(option, rest.pop(option, None)) for option in _WORDS)
    run, dump = _inner(inner, rest, fuse), dump and _numbered(dump)
    try:
        level = "chain" if fuse == "chain" else None
        graph, plans = rewrite(module, fuse=level, precision=precision, dump=dump)
        ops = [op for plan in plans for op in _ops_in(plan)]
        _check(ops, [miss for plan in plans for miss in plan["missed"]], require)
        compiled = run(graph, inputs) if ops else None
        found.append(ops)  # when no number of it makes Dynamo start again
        if ops:
            known = [table for plan in plans for table in plan["tables"]]
            return tables.Guard(module, known, compiled) if known else compiled
    except RestartAnalysis:
        if dump:  # the same graph comes again
            shutil.rmtree(dump)
        raise
    except Exception as error:  # a training run goes on without us
        if require:
            raise
        leave(error)
    return run(module, inputs)
