"""Graphs of ATen ops as MLIR, for the compiler."""

import json
import operator
import os
import re

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._sympy.symbol import SymT, symbol_is_type

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_ELEMENTS = {
    torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.bool: "i1",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "ui8",
}  # fmt: skip


def _symbolic(size):
    """A number, also where only a guard says so, or the text of a symbolic size."""
    if isinstance(size, torch.SymInt) and size.node.has_hint() and statically_known_true(size == size.node.hint):
        return size.node.hint
    return _written(size)


def _of_none(size):
    """A chain of no tokens is that of any number of them. MLIR has no slices of such tensors."""
    return "empty" if type(size) is int and size == 0 else _symbolic(size)


def is_empty(graph):
    """Whether a graph makes no element, as for no tokens."""
    values = [node.meta.get("val") for node in graph.output_node().all_input_nodes]
    shapes = [value.shape for value in values if isinstance(value, torch.Tensor)]
    return bool(shapes) and all(any(type(size) is int and size == 0 for size in shape) for shape in shapes)


def _written(size):
    text = str(size).replace(" ", "")
    return int(text) if text.isdigit() else text


def _present(size):
    """The number that a size was when the graph was made, where it is known."""
    return size.node.hint if isinstance(size, torch.SymInt) and size.node.has_hint() else _symbolic(size)


def _number(value):
    if value != value or value in (float("inf"), float("-inf")):
        bits = {"inf": 0x7FF0, "-inf": 0xFFF0}.get(str(value), 0x7FF8) << 48
        return f"0x{bits:X} : f64"
    mantissa, *exponent = repr(value).split("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + "".join("e" + e for e in exponent) + " : f64"


class _Printer:
    """Writes a graph as MLIR: an op for each node. It knows the form of a graph, and no op."""

    def __init__(self, graph, names=None, size=_symbolic, numbers=None, known=None, floats=()):
        self.names = names  # of arguments, where results have names as well
        self.numbers = numbers or {}  # of arguments that are read as constants
        # numbers of symbolic sizes that only a guard says, as where a table of positions is added, or that are supposed
        self.known = dict(known or {})
        self.floats = floats  # symbols that are numbers
        self.read, self.sizes = size, dict(self.known)  # what writes a size, and what it wrote
        self.values, self.count = {}, 0  # of nodes, and of (node, index) of several results
        self.arguments, self.lines, self.results = [], [], []
        for node in graph.nodes:
            getattr(self, "_" + node.op)(node)

    def text(self, name, attributes):
        arguments, results = ", ".join(self.arguments), self.results
        if self.names is not None:
            numbers = range(len(results)) if len(results) > 1 else [""]
            results = [f'{type} {{mhc.name = "out{number}"}}' for number, type in zip(numbers, results)]
        head = f"func.func @{name}({arguments}) -> ({', '.join(results)}) {attributes}{{"
        return "\n".join([head, *self.lines, "}", ""])

    def size(self, value):
        key = getattr(value.node, "expr", str(value)) if isinstance(value, torch.SymInt) else value
        if key not in self.sizes:
            size = self.sizes[key] = self.read(value)
            if isinstance(value, torch.SymInt) and isinstance(size, int):
                self.known[key] = size
            elif self.known and hasattr(key, "xreplace"):
                self.sizes[key] = _written(key.xreplace(self.known))
        return self.sizes[key]

    def _type(self, value):
        if isinstance(value, torch.Tensor):
            if value.dtype not in _ELEMENTS or value.layout != torch.strided:
                return "none"
            sizes = [f"{size}x" if isinstance(size, int) else "?x" for size in map(self.size, value.shape)]
            return f"tensor<{''.join(sizes)}{_ELEMENTS[value.dtype]}>"
        for kind, name in ((bool, "i1"), (torch.SymBool, "i1"), (int, "i64"), (torch.SymInt, "i64"),
                           (float, "f64"), (torch.SymFloat, "f64")):  # fmt: skip
            if isinstance(value, kind):
                return name
        return "none"

    def _dims(self, value):
        """Sizes of a tensor in symbols; None where all are numbers."""
        sizes = list(map(self.size, value.shape)) if isinstance(value, torch.Tensor) else []
        if all(isinstance(size, int) for size in sizes):
            return None
        return "[" + ", ".join(f'"{size}"' for size in sizes) + "]"

    def _placeholder(self, node):
        value = node.meta.get("val")
        name = (self.names or {}).get(node.name, node.name)
        attrs = f'mhc.name = "{name}"'
        if dims := self._dims(value):
            attrs += f", mhc.dims = {dims}"
        place = next(filter(None, map(line_of, node.users)), None)  # of what is computed of it alone
        line = f" loc({line_as_text(*place)})" if place else ""
        self.arguments.append(f"{self._define(node)}: {self._type(value)} {{{attrs}}}{line}")
        if node in self.numbers:
            self._constant(node, self.numbers[node])

    def _constant(self, node, numbers):
        """The numbers of a node; where a plan reads them, they are the node."""
        result, type = self._define(node), self._type(node.meta.get("val"))
        elements = str(numbers.double().tolist())
        self.lines.append(f'  {result} = arith.constant dense<{elements}> : {type} loc("{node.name}")')

    def _get_attr(self, node):
        value = getattr(node.graph.owning_module, node.target, None)  # a name without a dot, of a constant
        is_short = type(value) is torch.Tensor and 0 < value.numel() <= 256
        if is_short and value.is_floating_point() and value.isfinite().all():
            return self._constant(node, value)
        is_list = is_short and value.dtype is torch.int64 and value.dim() == 1
        self._op("get_attr", node, {"constant": value.tolist()} if is_list else {})

    def _call_function(self, node):
        if node.target is operator.getitem and type(node.args[1]) is int and node.args in self.values:
            self.values[node] = self.values[node.args]
            return
        if isinstance(node.target, torch._ops.OpOverload):
            names = [argument.name for argument in node.target._schema.arguments]
            given = dict(zip(names, node.args), **node.kwargs)
            for argument in node.target._schema.arguments:
                if argument.has_default_value():
                    given.setdefault(argument.name, argument.default_value)
            own = node.target.namespace in ("aten", "prims")  # MLIR may have a dialect of another name
            self._op(f"{'' if own else 'torch.'}{node.target}", node, given)
        else:
            self._op(getattr(node.target, "__name__", "call"), node, dict(enumerate(node.args)))

    def _output(self, node):
        operands = []
        self._literal(node.args[0], operands)
        self.results = [type for _, type in operands]
        names = ", ".join(name for name, _ in operands)
        self.lines.append(f"  return {names} : {', '.join(self.results)}" if operands else "  return")

    def _define(self, node):
        name = f"%v{self.count}"
        self.count += 1
        self.values[node] = (name, self._type(node.meta.get("val")))
        return name

    def _op(self, name, node, given):
        operands, attrs = [], []
        for argument, value in given.items():
            literal = self._literal(value, operands)
            if literal is not None:
                attrs.append(f'"{argument}" = {literal}')
        value = node.meta.get("val")
        values = value if isinstance(value, (tuple, list)) else [value]
        result = self._define(node)
        if isinstance(value, (tuple, list)):
            for i, part in enumerate(values):
                self.values[node, i] = (f"{result}#{i}" if len(values) > 1 else result, self._type(part))
        if not node.is_impure():
            attrs.append("mhc.pure")
        if any(map(self._dims, values)):
            attrs.append(f"mhc.dims = [{', '.join(self._dims(part) or '[]' for part in values)}]")
        types = ", ".join(map(self._type, values))
        count = f":{len(values)}" if len(values) > 1 else ""
        left = f"{result}{count} = " if values else ""
        self.lines.append(
            f'  {left}"{name}"({", ".join(name for name, _ in operands)}) {{{", ".join(attrs)}}} : '
            f"({', '.join(type for _, type in operands)}) -> ({types}) loc({_place(node)})"
        )

    def _literal(self, value, operands):
        number = value.meta.get("val") if isinstance(value, torch.fx.Node) else None
        if isinstance(number, torch.SymFloat) and number.node.expr.free_symbols <= {*self.floats, *self.known}:
            value = number.node.hint
        if isinstance(number, torch.SymInt) and isinstance(self.size(number), int):
            value = self.size(number)
        if isinstance(value, torch.fx.Node):
            operands.append(self.values[value])
            return f"{len(operands) - 1} : index"
        if isinstance(value, (list, tuple)):
            parts = [self._literal(part, operands) for part in value]
            return f"[{', '.join(part or 'unit' for part in parts)}]"
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return f"{value} : i64"
        if isinstance(value, float):
            return _number(value)
        return _text(str(value))


def line_of(node):
    """File and line of the last line of the model that is known; code that PyTorch made has a name in angle brackets."""
    lines = re.findall(r'File "([^<].*?)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [line for line in lines if not line[0].startswith(_TORCH)] or lines
    return own[-1] if own else None


def _place(node):
    """The node's name, at its line."""
    place = line_of(node)
    return f'"{node.name}"({line_as_text(*place)})' if place else f'"{node.name}"'


def line_as_text(file, line):
    return f"{_text(file)}:{line}:1"


def _text(value):
    return json.dumps(value, ensure_ascii=False)


def matrix_sizes(graph):
    """Open sizes that a tensor has twice, one behind the other, as stacks of the matrices that mix streams have."""
    sizes = {}
    for node in graph.nodes:
        value = node.meta.get("val")
        shape = value.shape if isinstance(value, torch.Tensor) else ()
        for rows, columns in zip(shape, shape[1:]):
            is_open = isinstance(rows, torch.SymInt) and isinstance(columns, torch.SymInt)
            if is_open and rows.node.expr == columns.node.expr and not isinstance(_symbolic(rows), int):
                sizes[rows.node.expr] = rows
    return [size for key, size in sizes.items() if key.is_Symbol and size.node.has_hint()]


def floats_of(nodes):
    """Symbols of the floats that nodes are, each an argument of Dynamo's graph."""
    values = [node.meta.get("val") for node in nodes]
    symbols = {symbol for value in values if isinstance(value, torch.SymFloat) for symbol in value.node.expr.free_symbols}
    return {symbol for symbol in symbols if symbol_is_type(symbol, SymT.FLOAT)}


def print_graph(graph, name="graph", names=None, attributes="", is_open=True, numbers=None, known=None, floats=()):
    """A graph as the function `name`, with `names` of its arguments where they are others than those of the nodes; with
    the sizes that the graph was made with where it is not to be open, or with those of symbols that are `known`; with
    the `numbers` of arguments that are known, and those of symbols in `floats`."""
    size = _present if not is_open else _of_none if is_empty(graph) else _symbolic
    return _Printer(graph, names, size, numbers, known, floats).text(name, attributes)
