"""Asks the compiler about graphs, and rewrites them as it says."""

import ctypes
import functools
import json
import operator
import os
import warnings

import torch
from torch._inductor.pattern_matcher import stable_topological_sort

PATH = os.path.join(os.path.dirname(__file__), "libmhc_compiler.so")


class Unsupported(Exception):
    """A graph that is left to the inner compiler as it is."""


@functools.cache
def _compiler():
    text = [ctypes.c_char_p, ctypes.c_size_t]
    try:
        library = ctypes.CDLL(PATH)
        library.mhc_rewrite_graph.argtypes = [*text, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
        library.mhc_join_graph.argtypes = [*text, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
        library.mhc_read_graph.argtypes = [*text, ctypes.POINTER(ctypes.c_void_p)]
        library.mhc_free_text.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError) as error:
        raise Unsupported(f"the compiler cannot be loaded: {error}") from error
    return library


def _call(name, text, *options):
    """The text that a function of include/mhc-c/Compiler.h makes of another one."""
    library, given, made = _compiler(), text.encode(), ctypes.c_void_p()
    failed = getattr(library, name)(given, len(given), *options, ctypes.byref(made))
    result = ctypes.string_at(made.value).decode()
    library.mhc_free_text(made)
    if failed:
        raise Unsupported(result)
    return result


def find_sites(text, fuse=None):
    """Calls that replace mHC chains of a graph, the nodes they replace, bytes of both, and why sites are missed."""
    return json.loads(_call("mhc_rewrite_graph", text, torch.is_grad_enabled(), fuse == "chain"))


def join_calls(text, level, norms=True):
    """Calls that join neighbouring ones of a graph behind AOTAutograd, and the nodes they replace."""
    return json.loads(_call("mhc_join_graph", text, level == "model", norms))


def read_graph(text):
    """A graph that has only ops that the compiler knows, as a program for mhcc."""
    return _call("mhc_read_graph", text)


def _target(name):
    if name.startswith("operator."):
        return getattr(operator, name.split(".")[1])
    return operator.attrgetter(name if name.startswith("aten.") else name + ".default")(torch.ops)


def _operands_of_derivative(name):
    derivative = getattr(torch.ops.mhc, name.split(".")[1] + "_bwd", None)
    return {argument.name for argument in derivative.default._schema.arguments} if derivative else set()


# Calls that make others of tensors in memory order. All else that is put in makes one in memory order, or keeps it.
_TURNING = {torch.ops.aten.permute.default, torch.ops.aten.transpose.int, torch.ops.aten.t.default,
            torch.ops.aten.expand.default, torch.ops.aten.slice.Tensor, torch.ops.aten.select.int}  # fmt: skip


def _allow_copies(nodes):
    """Lets views of what follows from nodes be copies where they are views by its strides alone."""
    behind = dict.fromkeys(nodes)
    todo = list(behind)
    while todo:
        for user in todo.pop().users:
            if user.target is torch.ops.aten.view.default:
                user.target = torch.ops.aten.reshape.default
            if user not in behind:
                behind[user] = None
                todo.append(user)


class Rewriter:
    """Puts the calls of a plan into a graph, each behind the last node that it reads."""

    def __init__(self, graph, precision=None):
        self.graph, self.precision = graph, precision
        self.nodes = {node.name: node for node in graph.nodes}
        self.places = {node: i for i, node in enumerate(graph.nodes)}
        self.values, self.parts = {}, {}  # parts are of nodes with several results
        self.turned = set()  # what may lie in another order than that of its dimensions
        for node in graph.nodes:
            if node.target is operator.getitem and isinstance(node.args[0].meta.get("val"), (tuple, list)):
                self.parts.setdefault((node.args[0].name, node.args[1]), []).append(node)

    def run(self, plan):
        with self.graph.inserting_before(next(node for node in self.graph.nodes if node.op != "placeholder")):
            for call in plan["calls"]:
                self._add(call)
        # Or in the place of what was, which views of it know. Batch norms lie as they like, whatever their trace says.
        turned = self.graph.find_nodes(
            op="call_function", target=torch.ops.aten._native_batch_norm_legit_functional.default)
        for name, value in plan["nodes"].items():
            for node in self._named(name):
                new, was = self._refer(value), node.meta.get("val")
                if new in self.turned or not (isinstance(was, torch.Tensor) and was.is_contiguous()):
                    turned.append(new)
                node.replace_all_uses_with(new)
        _allow_copies(turned)
        stable_topological_sort(self.graph)  # arguments are written at the end, as before
        self.graph.eliminate_dead_code()
        self.graph.lint()

    def _named(self, name):
        node, _, part = name.partition("#")
        if part or (node, 0) in self.parts:  # also of a node with a list of one
            return self.parts[node, int(part or 0)]
        return [self.nodes[node]]

    def _refer(self, value):
        if isinstance(value, list):
            return [self._refer(part) for part in value]
        if not isinstance(value, dict):
            return value
        return self.values[value["value"]] if "value" in value else self._named(value["node"])[0]

    def _add(self, call):
        target = _target(call["op"])
        args = tuple(self._refer(arg) for arg in call.get("args", ()))
        kwargs = {key: self._refer(value) for key, value in call.get("kwargs", {}).items()}
        if "dtype" in kwargs:
            kwargs["dtype"] = getattr(torch, kwargs["dtype"])
        if "results" in call:
            return self._add_kernel(call, target, kwargs)
        self.values[call["result"]] = node = self.graph.call_function(target, args, kwargs)
        if target in _TURNING or self.turned.intersection(node.all_input_nodes):
            self.turned.add(node)

    def _add_kernel(self, call, target, kwargs):
        names = [result.name for result in target._schema.returns]
        known = {argument.name: str(argument.type) for argument in target._schema.arguments}
        for key, value in kwargs.items():
            kwargs[key] = float(value) if type(value) is int and "float" in known[key] else value
        if self.precision and "precision" in known:
            kwargs.setdefault("precision", self.precision)
        if "output_mask" in known:
            kept = call["results"].keys() | (_operands_of_derivative(call["op"]) if torch.is_grad_enabled() else set())
            kwargs["output_mask"] = [name in kept for name in names]
        node = self.graph.call_function(target, (), kwargs)
        node.meta["nodes"] = call["nodes"]
        replaced = [self.nodes[name.split("#")[0]] for name in call["nodes"]]
        known = [old for old in replaced if old.meta.get("stack_trace")]  # casts of autocast have none
        if known:
            node.meta["stack_trace"] = max(known, key=self.places.get).meta["stack_trace"]
        for name, number in call["results"].items():
            part = (node, names.index(name))
            self.values[number] = self.graph.call_function(operator.getitem, part) if len(names) > 1 else node


def leave(error):
    warnings.warn(f"mhcc leaves a graph as it is: {error}", stacklevel=3)
