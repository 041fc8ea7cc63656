"""The graphs of a call, one behind the other, as one graph: what is found in that alone is lost by their breaks."""

import torch
import torch.fx
from torch._dynamo.utils import graph_break_reasons

from . import rewriter, tables
from .capture import capture
from .graph_text import floats_of, line_as_text, print_graph


def _key(value):
    """The same for a tensor until it is written; nothing for other values."""
    return isinstance(value, torch.Tensor) and (id(value), value.is_inference() or value._version)


class Joined:
    """Those graphs are joined that Dynamo makes at its first break and later; `known` are tensors that are from before."""

    def __init__(self, known):
        self.module, self.values, self.results, self.kept = torch.nn.Module(), {}, [], [known]
        self.graph, self.breaks, self.known = torch.fx.Graph(self.module), {}, set(map(_key, known))

    def around(self, module):
        """A function that runs a graph, and adds it at each call."""
        if not graph_break_reasons:
            return module.forward
        try:
            graph = capture(module)
        except Exception:  # as the backend leaves it
            return module.forward
        before = graph_break_reasons[: -1 if module.compile_subgraph_reason.graph_break else None]
        stop = before and before[-1].user_stack

        def run(*given):
            keys, results = list(map(_key, given)), module.forward(*given)
            self._add(graph, keys, results, stop)
            self.kept.append((given, results))  # no other tensor gets the id of one of them
            return results

        return run

    def _add(self, graph, keys, results, stop):
        arguments = graph.graph.find_nodes(op="placeholder")
        copies = {node: self.values[key] for node, key in zip(arguments, keys) if key in self.values}
        outside = [node for node, key in zip(arguments, keys) if key and node not in copies and key not in self.known]
        made = self.graph.graph_copy(graph.graph, copies)
        self.results += [node for node in made if isinstance(node, torch.fx.Node)]
        pairs = [*zip(keys, map(copies.get, arguments)), *zip(map(_key, results), made)]
        self.values |= {key: node for key, node in pairs if key}
        for copy in map(copies.get, graph.graph.find_nodes(op="get_attr")):
            setattr(self.module, copy.name, getattr(graph, copy.target))
            copy.target = copy.name
        first = [node for node in copies if node.op == "call_function"][:1]
        if stop:
            line = line_as_text(stop[-1].filename, stop[-1].lineno)
            self.breaks |= {copies[node].name: f"loc({line})" for node in first + outside}

    def missed(self):
        """Misses in all graphs as one; nothing where no break is inside a chain."""
        self.graph.output([node for node in self.results if not node.users])
        breaks = ", ".join(f"{name} = {line}" for name, line in self.breaks.items())
        known, floats = tables.find(self.graph), floats_of(self.graph.nodes)
        text = print_graph(self.graph, attributes=f"attributes {{mhc.breaks = {{{breaks}}}}} ", is_open=False,
                           numbers=known, floats=floats)  # fmt: skip
        try:
            missed = rewriter.find_sites(text)["missed"]
        except rewriter.Unsupported:
            return []
        return missed if any(miss["code"] == "graph-break" for miss in missed) else []
