"""Joins the ops of neighbouring sites in the graphs that AOTAutograd makes, forward and backward."""

import operator
import os

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files

from . import graph_text, rewriter
from ._library import sizes_of


def _is_call(node):
    return isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "mhc"


def _calls(graph, name):
    return [node for node in graph.nodes if node.target is getattr(torch.ops.mhc, name).default]


def _given(node):
    """Arguments of a call by their names, without those that are absent."""
    given = dict(zip((argument.name for argument in node.target._schema.arguments), node.args), **node.kwargs)
    return {name: value for name, value in given.items() if value is not None}


def _results(node):
    """Results of a call that are read, by their names."""
    names = [result.name for result in node.target._schema.returns]
    if len(names) == 1:
        return {names[0]: node}
    return {names[user.args[1]]: user for user in node.users if user.target is operator.getitem and user.users}


def _erase(node):
    """Erases a node, and what nothing else reads behind it."""
    for user in list(node.users):
        _erase(user)
    node.graph.erase_node(node)


def level_for(graph):
    """The level of a graph's device where none is asked for."""
    values = [node.meta.get("val") for node in graph.nodes if node.op == "placeholder"]
    return "model" if any(isinstance(value, torch.Tensor) and value.is_cuda for value in values) else "layer"


def _keeps_arguments(graph):
    """Whether a graph returns arguments, as it does for its backward graph. That makes what is not kept again, and norms
    of a checkpointed u apart: a norm that is a part of a kernel rounds otherwise."""
    return any(node.op == "placeholder" for node in graph.output_node().all_input_nodes)


def join(graph, level):
    """Joins the calls of a graph, as mhc-join-aten does; at level "chain" each of them stays."""
    level = level or level_for(graph)
    if level == "chain" or sum(map(_is_call, graph.nodes)) < 2:
        return
    try:
        plan = rewriter.join_calls(graph_text.print_graph(graph), level, norms=not _keeps_arguments(graph))
    except rewriter.Unsupported as error:
        return rewriter.leave(error)
    if plan["calls"]:
        with torch.no_grad():  # nothing is differentiated behind AOTAutograd
            rewriter.Rewriter(graph).run(plan)
            _fill(graph)


def _fill(graph):
    """Gives the values that Inductor reads to new nodes."""
    for node in graph.nodes:
        if node.op == "call_function" and "val" not in node.meta:
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda arg: arg.meta["val"])
            node.meta["val"] = node.target(*args, **kwargs)


def _lower(op):
    """Lets Inductor give an op contiguous operands, and trust its results to be as its record says at each call."""
    from torch._inductor import lowering

    if op in lowering.lowerings:
        return
    lowering.make_fallback(op, lowering.require_contiguous)
    call = lowering.lowerings[op]

    def lower(*args):
        results = call(*args)
        for result in results:
            result.data.data.skip_size_stride_alignment_checks = True
        return results

    lowering.lowerings[op] = lower


def write(node):
    """Puts the op's form for compiled graphs in place of a call: PyTorch has less to take apart whenever it runs."""
    schema, graph = node.target._schema, node.graph
    given = {key: value for key, value in _given(node).items() if key != "output_mask"}
    sizes = [given.pop(name) for name in sizes_of(schema) if name in given]
    operands = [name for name, value in given.items() if isinstance(value, torch.fx.Node)]
    numbers = {name: int(value) if isinstance(value, bool) else value for name, value in given.items()}
    attributes = [f"{name}={value}" for name, value in numbers.items() if name not in operands]
    value = node.meta["val"]
    pairs = zip(schema.returns, [value] if len(schema.returns) == 1 else value)
    made = {result.name: one for result, one in pairs if one is not None}
    with graph.inserting_before(node):
        text = " ".join([*operands, *attributes, "->", *made])
        op = node.target.overloadpacket.compiled
        call = graph.call_function(op, ([given[name] for name in operands], sizes, text))
        call.meta = {**node.meta, "val": list(made.values())}
        _lower(op)
        for name, old in _results(node).items():
            part = graph.call_function(operator.getitem, (call, list(made).index(name)))
            old.replace_all_uses_with(part, propagate_meta=True)
    _erase(node)


class Boundaries(CustomGraphPass):
    """`join` and `write` as a pass of Inductor. Its caches know it by these files."""

    def __init__(self, level):
        self.level = level

    def __call__(self, graph):
        join(graph, self.level)
        # Inductor's C++ takes a list of one tensor for a tensor.
        for node in () if torch._inductor.config.cpp_wrapper else list(graph.nodes):
            if _is_call(node):
                write(node)

    def uuid(self):
        files = (__file__, graph_text.__file__, rewriter.__file__, rewriter.PATH)
        return get_hash_for_files(tuple(filter(os.path.exists, files)), self.level or "")
