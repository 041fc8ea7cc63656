"""Tables of all permutations among the arguments of a graph, such as a module's buffers.

A mix of all permutations is found by the numbers of its table. They are known when a graph is made; a later call has to
have the same ones.
"""

import functools
import itertools
import math

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils.weak import WeakIdKeyDictionary

_MOST = 6  # streams: of more, a mixture has too many permutations


@functools.cache
def _permutations(n):
    rows = torch.eye(n, dtype=torch.float64)
    return torch.stack([rows[list(order)] for order in itertools.permutations(range(n))])


def _is_table(value):
    """Whether a tensor lists all permutations in lexicographic order, or the transposes of those."""
    sizes = {math.factorial(n) * n * n: n for n in range(2, _MOST + 1)}
    n = sizes.get(value.numel())
    if n is None or value.ndim < 2 or value.shape[0] != math.factorial(n) or not value.is_floating_point():
        return False
    numbers = value.detach().double().cpu().reshape(-1, n, n)
    return any(torch.equal(numbers, table) for table in (_permutations(n), _permutations(n).mT))


def _example(node):
    """The tensor that Dynamo calls the graph with; None where that is not known."""
    value = getattr(node.meta.get("grapharg"), "example", None)
    known = isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor) and not value.requires_grad
    return value if known and value.layout is torch.strided and value.device.type != "meta" else None


def find(graph):
    """The arguments of a graph that are such tables, with their numbers."""
    values = {node: _example(node) for node in graph.find_nodes(op="placeholder")}
    known = {node: value for node, value in values.items() if value is not None and _is_table(value)}
    return {node: value.detach().cpu().clone() for node, value in known.items()}


class Guard:
    """Calls `compiled` where the tables are those that it was made for, and `module` where they are not. Arguments of the
    module, of which its parts may have others, are known by Dynamo's records of them."""

    def __init__(self, module, tables, compiled):
        records = [node.meta.get("grapharg") for node in module.graph.find_nodes(op="placeholder")]
        self.tables = {records.index(record): numbers for record, numbers in tables}
        self.module, self.compiled = module, compiled
        self.checked = WeakIdKeyDictionary()  # versions of the tensors that were compared

    def __call__(self, *args):
        same = all(self._is_same(args[place], table) for place, table in self.tables.items())
        return (self.compiled if same else self.module)(*args)

    def _is_same(self, value, table):
        version = None if value.is_inference() else (value._version, value.data_ptr())
        if version is not None and self.checked.get(value) == version:
            return True
        same = value.shape == table.shape and torch.equal(value.detach().cpu(), table)
        if same and version is not None:
            self.checked[value] = version
        return same
