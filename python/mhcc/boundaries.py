"""Joins the ops of neighbouring sites in the graphs that AOTAutograd makes, forward and backward."""

import operator

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files

from ._library import sizes_of

_VIEWS = (torch.ops.aten.view.default, torch.ops.aten.reshape.default, torch.ops.aten._unsafe_view.default)

# Names of tensors and attributes that are others in the op of a boundary.
_OF_POST = {"out": "y"}
_OF_PRE = {"x": "y", "h_post": "next_h_post", "h_res": "next_h_res", "d_h_post": "d_next_h_post",
           "d_h_res": "d_next_h_res", "d_x_in": "d_y", "orient": "next_orient"}  # fmt: skip


def _is(node, name):
    return isinstance(node, torch.fx.Node) and node.target is getattr(torch.ops.mhc, name).default


def _calls(graph, name):
    return [node for node in graph.nodes if _is(node, name)]


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


def _form(node):
    return [str(size) for size in node.meta["val"].shape], node.meta["val"].dtype


def _source(node, name, result):
    """The call of this name whose result `node` is, in its own shape, with views in between or not; else None."""
    start = node
    while node.target in _VIEWS:
        node = node.args[0]
    call = node.args[0] if node.target is operator.getitem else node
    is_same = _is(call, name) and _results(call).get(result) is node and _form(node) == _form(start)
    return call if is_same else None


def _is_read_once(node, reader):
    """Whether nothing but `reader` reads a result, through views or not."""
    while list(node.users) != [reader]:
        if len(node.users) != 1 or next(iter(node.users)).target not in _VIEWS:
            return False
        (node,) = node.users
    return True


def _may_move(node):
    if isinstance(node.target, torch._ops.OpOverload):
        return not node.target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in node.target.tags
    return node.target is operator.getitem


def _move_in_front(nodes, place):
    """Moves what makes `nodes` in front of `place`, unless it depends on that or may not be moved."""
    order = {node: i for i, node in enumerate(place.graph.nodes)}
    moved, work = set(), list(nodes)
    while work:
        node = work.pop()
        if node in moved or order[node] < order[place]:
            continue
        if node is place or not _may_move(node):
            return False
        moved.add(node)
        work += node.all_input_nodes
    for node in sorted(moved, key=order.get):
        place.prepend(node)
    return True


def _erase(node):
    """Erases a node, and what nothing else reads behind it."""
    for user in list(node.users):
        _erase(user)
    node.graph.erase_node(node)


def _replace(calls, name, given, results):
    """Puts a call in front of the last of `calls`, which go, and its results in place of those nodes."""
    place = calls[-1]
    target, graph = getattr(torch.ops.mhc, name).default, place.graph
    names = [result.name for result in target._schema.returns]
    known = {argument.name for argument in target._schema.arguments}
    given = {key: value for key, value in given.items() if key in known}
    with graph.inserting_before(place):
        call = graph.call_function(target, (), {**given, "output_mask": [key in results for key in names]})
        call.meta["val"] = tuple(results[key].meta["val"] if key in results else None for key in names)
        for key, old in results.items():
            part = graph.call_function(operator.getitem, (call, names.index(key)))
            old.replace_all_uses_with(part, propagate_meta=True)
    for old in calls:
        _erase(old)


def _nodes(given):
    return [value for value in given.values() if isinstance(value, torch.fx.Node)]


def _renamed(values, names):
    return {names.get(key, key): value for key, value in values.items()}


def _join_forward(reader, both, names):
    """post, and the pre or head of the streams that it makes; the others get `names` in the op of both."""
    behind = _given(reader)
    streams = behind.pop("x")
    post = _source(streams, "post", "out")
    front = _given(post) if post else {}
    if post and front["layout"] == behind["layout"] and _move_in_front(_nodes(behind), post):
        given = {**_renamed(behind, names), **front}
        results = _renamed(_results(reader), names)
        if both == "post_pre" or not _is_read_once(post, reader):  # post_head writes them for others only
            results.update(_renamed(_results(post), _OF_POST))
        _replace([reader, post], both, given, results)
        return True
    return False


def _join_backward(post):
    """pre_bwd, and the post_bwd of the gradient that only it reads."""
    front = _given(post)
    between = front.pop("d_out")
    pre = _source(between, "pre_bwd", "d_x")
    behind = _given(pre) if pre else {}
    results = _results(pre) if pre else {}
    if not pre or "d_x_in" in front or not _is_read_once(results.pop("d_x"), post):
        return False
    if front["layout"] != behind["layout"] or not _move_in_front(_nodes(front), pre):
        return False
    _replace([post, pre], "post_pre_bwd", {**_renamed(behind, _OF_PRE), **front}, {**results, **_results(post)})
    return True


def _in_form_of(node, other):
    """The elements of `node` in the form of another, where views change no more than that; else None."""
    while _form(node) != _form(other) and node.target in _VIEWS:
        node = node.args[0]
    return node if _form(node) == _form(other) else None


def _start(add, name, taken):
    """Lets a call of this name add the other gradient of its streams, unless it starts from one of `taken` already."""
    if len(add.args) != 2 or add.kwargs or not all(isinstance(arg, torch.fx.Node) for arg in add.args):
        return False
    for own, other in (add.args, reversed(add.args)):
        call = _source(own, name, "d_x")
        if not call or taken & _given(call).keys() or _form(add) != _form(own):
            continue
        results = _results(call)
        start = _in_form_of(other, results["d_x"])
        if not start or not _is_read_once(results["d_x"], add) or not _move_in_front([start], call):
            continue
        add.replace_all_uses_with(own)
        add.graph.erase_node(add)
        _replace([call], name, {**_given(call), "d_x_in": start}, results)
        return True
    return False


def _fold(call, start, h_res, orient):
    """Lets a call make the gradient that it starts from itself, where that is post_bwd's."""
    given = _given(call)
    post = start in given and _source(given[start], "post_bwd", "d_x")
    front = _given(post) if post else {}
    if not post or "d_x_in" in front or front["layout"] != given["layout"]:
        return False
    results = _results(post)
    if not _is_read_once(results.pop("d_x"), call):
        return False
    del given[start]
    given.update({"d_out": front["d_out"], h_res: front["h_res"], orient: front["orient"]})
    _replace([call], call.target._schema.name.split("::")[1], given, _results(call))
    _replace([post], "post_bwd", front, results)
    return True


def level_for(graph):
    """The level of a graph's device where none is asked for."""
    values = [node.meta.get("val") for node in graph.nodes if node.op == "placeholder"]
    return "model" if any(isinstance(value, torch.Tensor) and value.is_cuda for value in values) else "layer"


def join(graph, level):
    """Rewrites a graph; at level "layer" boundaries stay, and each sublayer's gradients of its streams are joined."""
    level, changed = level or level_for(graph), []
    if level in ("layer", "model"):
        # The last two of three gradients are added by pre_bwd, and the first by post_bwd.
        for name, taken in (("pre_bwd", {"d_x_in", "d_out"}), ("post_bwd", {"d_x_in"})):
            adds = [node for node in graph.nodes if node.target is torch.ops.aten.add.Tensor]
            changed += [_start(add, name, taken) for add in adds]
    if level == "model":  # first what no end of a chain can do without
        changed += [_join_forward(pre, "post_pre", _OF_PRE) for pre in _calls(graph, "pre")]
        changed += [_join_forward(head, "post_head", {}) for head in _calls(graph, "head")]
        changed += [_join_backward(post) for post in _calls(graph, "post_bwd")]
    changed += [_fold(call, "d_x_in", "h_res", "orient") for call in _calls(graph, "pre_bwd")]
    changed += [_fold(call, "d_y", "next_h_res", "next_orient") for call in _calls(graph, "post_pre_bwd")]
    if any(changed):
        graph.eliminate_dead_code()
        graph.lint()


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
    """`join` and `write` as a pass of Inductor. Its caches know it by the text of this file."""

    def __init__(self, level):
        self.level = level

    def __call__(self, graph):
        join(graph, self.level)
        for node in list(graph.nodes):
            if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "mhc":
                write(node)

    def uuid(self):
        return get_hash_for_files((__file__,), self.level or "")
