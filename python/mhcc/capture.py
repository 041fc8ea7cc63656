"""Dynamo's graphs as functional graphs of ATen ops that still have their gradients."""

import contextlib
import operator

import torch
import torch.fx
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.exc import TensorifyScalarRestartAnalysis
from torch._dynamo.source import ConstantSource, TensorPropertySource
from torch._dynamo.symbolic_convert import TensorifyState
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode, dispatch_functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.split_module import split_module
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .rewriter import Unsupported

# Functionalisation writes `detach` as an alias, which a derivative passes through. This op stands for it meanwhile.
_library = torch.library.Library("mhcc", "DEF")
_library.define("detached(Tensor x) -> Tensor")
_library.impl("detached", torch.clone, "CompositeExplicitAutograd")
torch.library.register_vmap("mhcc::detached", lambda info, dims, x: (torch.ops.mhcc.detached(x), dims[0]), lib=_library)

_DETACHES = ("detach", "detach_", torch.detach, torch.Tensor.detach, torch.ops.aten.detach.default)


def _stopped(value, node):
    """The value of a node, without a gradient."""
    def stop(part):
        differs = isinstance(part, torch.Tensor) and (part.is_floating_point() or part.is_complex())
        return torch.ops.mhcc.detached(part) if differs else part

    with torch.fx.traceback.set_current_meta(node):  # what stands for it has its line
        return torch.utils._pytree.tree_map(stop, value)


# Changes of gradients that a graph of ATen ops does not say.
_ABOUT_GRADIENTS = (
    "register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "retain_grad",
    torch.autograd.grad_mode._enter_inference_mode, torch._C._functorch._grad_increment_nesting,
    torch._C._functorch._jvp_increment_nesting,
)  # fmt: skip

_AUTOCASTS = _ENTER, _EXIT = torch.amp.autocast_mode._enter_autocast, torch.amp.autocast_mode._exit_autocast

_VIEWS = {
    "chunk", "expand", "flatten", "getitem", "narrow", "permute", "reshape", "select", "split", "squeeze", "t",
    "transpose", "unbind", "unflatten", "unsqueeze", "view",
}  # fmt: skip


def _is_written(node):
    """Whether a tensor, or a view of it, is written in place."""
    for user in node.users:
        name = getattr(user.target, "__name__", str(user.target))
        if user.args and user.args[0] is node and name.endswith("_") and not name.endswith("__"):
            return True
        if name in ("setitem", "iadd", "imul", "isub", "itruediv") or (name in _VIEWS and _is_written(user)):
            return True
    return False


class _Interpreter(torch.fx.Interpreter):
    """Runs Dynamo's graph so that no gradient flows where Dynamo's graph has none."""

    def __init__(self, module):
        super().__init__(module)
        self.autocasts = []
        self.silent = {}  # whether a node is in a region without gradients
        self.learns = starts = enabled = torch.is_grad_enabled()
        for node in module.graph.nodes:
            if isinstance(node.target, torch._ops.HigherOrderOperator):
                raise Unsupported(f"the graph has {node.target}, whose derivative is its own")
            if node.op != "placeholder" and node.target in _ABOUT_GRADIENTS:
                raise Unsupported(f"the graph has {getattr(node.target, '__name__', node.target)}, which is about gradients")
            if node.target is torch._C._set_grad_enabled:
                enabled = node.args[0]
            self.silent[node] = starts and not enabled
        for node in module.graph.nodes:
            if self._stops(node) and _is_written(node):
                raise Unsupported(f"{node} is a detached tensor that is written in place")

    def _stops(self, node):
        leaves = self.silent[node] and not all(self.silent[user] for user in node.users)
        return leaves or (self.learns and self._detaches(node))

    @staticmethod
    def _detaches(node):
        return node.target in _DETACHES and node.op != "placeholder"

    def run_node(self, node):
        if self._detaches(node):
            args, _ = self.fetch_args_kwargs_from_env(node)
            return _stopped(args[0], node) if self.learns else args[0]
        result = super().run_node(node)
        if node.target is _ENTER:
            self.autocasts.append(result)
        if node.target is _EXIT:
            self.autocasts.pop()
        return _stopped(result, node) if self._stops(node) else result

    def restore(self, grad):
        """The modes of before, where the graph was left in the middle."""
        torch._C._set_grad_enabled(grad)
        for mode in reversed(self.autocasts):
            _EXIT(mode)


def _functional(run):
    """`run` without mutations: those of its arguments come last."""

    def functional(*args):
        def inside(*inner):
            results, written = run(*inner), {}
            for arg, value in zip(args, inner):
                if not isinstance(value, FunctionalTensor):
                    continue
                if torch._functionalize_has_metadata_mutation(value.elem):
                    raise Unsupported("the graph changes the shape of an argument")
                if torch._functionalize_has_data_mutation(value.elem):
                    written[arg] = value
            return results, written

        results, written = dispatch_functionalize(inside, FunctionalTensorMode())(*args)
        for arg, value in written.items():
            arg.copy_(value)
        return results

    return functional


def _is_slice(alias):
    """Whether an alias is a slice of all, through which gradients pass: one that is read, or written in place."""
    sources = alias.meta.get("source_fn_stack")
    source = sources[-1][1] if sources else None
    is_written = isinstance(source, str) and source.endswith("_") and source not in (*_DETACHES, *_ABOUT_GRADIENTS)
    return is_written or source in (operator.getitem, operator.setitem)


def fake_arguments(module):
    """The arguments of Dynamo's graph as fake tensors and sizes, and their mode."""
    fakes = [node.meta["example_value"] for node in module.graph.find_nodes(op="placeholder")]
    modes = [fake.fake_mode for fake in fakes if isinstance(fake, FakeTensor)]
    if not modes:
        raise Unsupported("the graph has no tensor among its arguments")
    return fakes, modes[0]


def take_arguments(graph, module):
    """Says of arguments where Dynamo has them from: AOTAutograd learns from that which of them are parameters, which a
    CUDA graph reads where they lie, and copies all others at each call."""
    graph.meta = module.meta
    if hasattr(module, "_param_name_to_source"):  # not a part, as of a checkpointed layer
        own = [name for name, _ in graph.named_buffers()]  # constants that the model makes of numbers
        graph._param_name_to_source = {name: ConstantSource(name) for name in own} | module._param_name_to_source
        for node, before in zip(*(one.graph.find_nodes(op="placeholder") for one in (graph, module))):
            node._dynamo_source = before._dynamo_source


def capture(module):
    """Dynamo's graph as a functional graph of ATen ops that still has its gradients, with Dynamo's own arguments."""
    fakes, mode = fake_arguments(module)
    interpreter, grad = _Interpreter(module), torch.is_grad_enabled()
    try:
        traced = trace(interpreter.run, fakes, mode)
    finally:
        interpreter.restore(grad)
    take_arguments(traced, module)
    for node, before, fake in zip(traced.graph.nodes, module.graph.find_nodes(op="placeholder"), fakes):
        # A tensor knows whether it has a gradient: Inductor's C++ traces with these for inputs.
        node.meta = dict(before.meta, val=fake if isinstance(fake, FakeTensor) else node.meta.get("val"))
    for node in traced.graph.nodes:
        if node.target is torch.ops.aten.alias.default and not _is_slice(node):
            raise Unsupported("a gradient may end at an alias")
    return traced


def unseen():
    """Keeps from hooks of the caller's, as those of a checkpoint around the call, what is kept for derivatives while a
    graph is made: the innermost alone are called."""
    if not torch._C._autograd._saved_tensors_hooks_is_enabled():
        return contextlib.nullcontext()
    return torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)


def trace(function, fakes, mode, **options):
    """Traces a function of fake tensors as such a graph."""
    with mode, enable_python_dispatcher(), torch.fx.traceback.preserve_node_meta(), unseen():
        traced = make_fx(_functional(function), **options)(*fakes)
    _read_sizes_early(traced.graph)
    traced.graph.eliminate_dead_code()
    for node in traced.graph.nodes:
        if node.target is torch.ops.mhcc.detached.default:
            node.target = torch.ops.aten.detach.default
        elif node.target is torch.ops.aten.copy.default:
            _make_differentiable(traced.graph, node)
        elif node.target is torch.ops.aten._native_batch_norm_legit_functional.default:
            _keep_statistics(traced.graph, node)
    return traced


def _read_sizes_early(graph):
    """Reads each size where a tensor first has it: a tensor in the middle of a chain is not kept for its sizes alone."""
    first = {}
    for node in graph.nodes:
        value = node.meta.get("val")
        if node.target is torch.ops.aten.sym_size.int and isinstance(value, torch.SymInt):
            node.args = first.get(value.node.expr, node.args)
        elif isinstance(value, torch.Tensor):
            for dim, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt):
                    first.setdefault(size.node.expr, (node, dim))


def _make_differentiable(graph, copy):
    """The value that is copied into a tensor, in its shape and type: the functional copy itself has no derivative."""
    into, value = copy.args[:2]
    shapes = [tuple(map(str, node.meta["val"].shape)) for node in (into, value)]  # as text: no guard on a size
    with graph.inserting_before(copy):
        if shapes[0] != shapes[1]:
            spread = graph.call_function(torch.ops.aten.expand_as.default, (value, into))
            spread.meta["val"] = value.meta["val"].expand(into.meta["val"].shape)
            value = spread
        typed = graph.call_function(torch.ops.aten._to_copy.default, (value,), {"dtype": into.meta["val"].dtype})
    typed.meta["val"] = copy.meta["val"]
    copy.replace_all_uses_with(typed)
    graph.erase_node(copy)


def _keep_statistics(graph, norm):
    """Lets a batch norm read copies of its running statistics: autograd keeps them, and they are written at the end."""
    with graph.inserting_before(norm):
        for number, statistic in enumerate(norm.args[3:5], 3):
            copy = graph.call_function(torch.ops.aten.clone.default, (statistic,))
            copy.meta["val"] = statistic.meta["val"]
            norm.update_arg(number, copy)


def specialise(module, floats):
    """Makes Dynamo start again with these of its graph's floats as numbers: `dynamic=True`, or a second value of an
    argument, makes symbols of them. So it does with those that capturing has guarded."""
    values = [node.meta.get("example_value") for node in module.graph.nodes]
    pairs = [(value.node._expr, value.node.expr) for value in values if isinstance(value, torch.SymFloat)]
    guarded = {symbol for before, now in pairs for symbol in before.free_symbols - now.free_symbols}
    new = [name for name in map(str, {*floats, *guarded}) if not TensorifyState.should_specialize(name)]
    for name in new:
        TensorifyState.specialize(name)
    if new:
        raise TensorifyScalarRestartAnalysis


def is_marked(size):
    """Whether a symbolic size is one that has to stay open: a number for it would be an error where it was marked so."""
    context = torch._guards.TracingContext.try_get()
    marks = {
        (one.tensor_source, dim): mark
        for one in (context.tensor_to_context.values() if context else ())
        for dim, mark in enumerate(one.constraint_sizes or ())
        if mark is not None and not mark.warn_only
    }
    sources = size.node.shape_env.var_to_sources.get(size.node.expr, ())
    places = [(source.base, source.idx) for source in sources if isinstance(source, TensorPropertySource)]
    return not places or any(place in marks for place in places)


def runs_graph(node):
    """Whether a node runs graphs in its own way, such as again for the gradient, or takes a result of one that does."""
    is_result = node.target is operator.getitem and isinstance(node.args[0], torch.fx.Node)
    return isinstance(node.target, torch._ops.HigherOrderOperator) or is_result and runs_graph(node.args[0])


def body_of(node):
    """The name of the graph that a node runs again for its gradient; none of another node."""
    return [node.args[0].target] if node.target is torch.ops.higher_order.tag_activation_checkpoint else []


def autocasts_around(module, name):
    """The autocasts that a graph which is run again for its gradient is run in."""
    owner, _, body = name.rpartition(".")
    entered, stack = [], contextlib.ExitStack()
    for node in module.get_submodule(owner).graph.nodes:
        if node.target is _ENTER:
            entered.append(node)
        elif node.target is _EXIT:
            entered.remove(node.args[0])
        elif body in body_of(node):
            for one in entered:
                stack.enter_context(torch.autocast(*one.args))
            break
    return stack


def leave_types(graph):
    """Keeps autocast away from a captured graph: its casts are in there, and all else has the type that it should have."""
    values = [node.meta.get("val") for node in graph.nodes]
    first, (last,) = next(node for node in graph.nodes if node.op != "placeholder"), graph.find_nodes(op="output")
    for kind in sorted({value.device.type for value in values if isinstance(value, torch.Tensor)}):
        if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
            with graph.inserting_before(first):
                entered = graph.call_function(_ENTER, (kind, None, False, None))
            with graph.inserting_before(last):
                graph.call_function(_EXIT, (entered,))


def stands_apart(node):
    """Whether a node is in no graph of ATen ops, so that those of a graph of Dynamo's are in front of it and behind."""
    return runs_graph(node) or is_divided(node)


def is_divided(node):
    """Whether a node makes or reads tensors that several processes have parts of (DTensor)."""
    values = [other.meta.get("example_value") for other in (node, *node.all_input_nodes)]
    return any(map(is_traceable_wrapper_subclass, values))


def is_step(module):
    """Whether a graph is of an optimizer's step, in which parameters are no arguments: it has no site."""
    attributes = (getattr(module, node.target, None) for node in module.graph.find_nodes(op="get_attr"))
    return not torch.is_grad_enabled() and any(isinstance(value, torch.nn.Parameter) for value in attributes)


def has_tensor(node):
    """Whether a node is a tensor among a graph's arguments."""
    return node.op == "placeholder" and isinstance(node.meta.get("example_value"), FakeTensor)


def split(module):
    """The graph with each run of its nodes that knows one process alone as a graph of its own, and the names of those and
    of checkpointed graphs, which stand between them as well.

    A run that autocast reaches into has an autocast of its own, of `split_module`.
    """
    runs, divided = {}, []
    for node in module.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        is_apart = stands_apart(node)
        if not divided or divided[-1] != is_apart and node.target not in _AUTOCASTS:
            divided.append(is_apart)
        runs[node] = len(divided) - 1
    for node in module.graph.nodes:
        inside = node in runs and all(runs.get(user) == runs[node] for user in node.users)
        if node.target is torch._C._set_grad_enabled or _is_written(node) and not inside:
            raise Unsupported(f"{node} would change more than its part of the graph")
    parts = split_module(module, None, runs.__getitem__, keep_original_order=True)
    take_arguments(parts, module)
    names = [f"submod_{number}" for number, here in enumerate(divided) if not here]
    bodies = [f"submod_{number}.{body}" for node, number in runs.items() for body in body_of(node)]
    return parts, names + bodies
