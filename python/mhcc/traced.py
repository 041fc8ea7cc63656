"""Modules that are traced without Dynamo, whose graph they would break: each call is one graph with its derivative."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import backend
from .capture import Unsupported, trace


_PLAIN = (torch.Tensor, bool, int, float, str, torch.dtype, torch.device, type(None))


class Traced:
    """Calls a module's method, or a class's static one, by graphs of it, one for each form of the arguments.

    A method beside `forward` has to do with streams alone.
    """

    def __init__(self, owner, method, compile, dynamic=None):
        self.module = owner if isinstance(owner, torch.nn.Module) else torch.nn.Module()  # without weights
        self.compile, self.dynamic, self.graphs, self.streams = compile, dynamic, [], method != "forward"
        forward = getattr(owner, method)
        self.forward = forward.forward if isinstance(forward, Traced) else forward

    @torch.compiler.disable
    def __call__(self, *args, **kwargs):
        leaves, form = tree_flatten((args, kwargs))
        if not all(isinstance(leaf, _PLAIN) for leaf in leaves):  # to trace may change an object
            return self.forward(*args, **kwargs)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        rest = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        weights = {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}
        inputs = [*weights.values(), *tensors]
        key = (form, rest, self.module.training, torch.is_grad_enabled(), _autocast(tensors),
               [(one.dtype, one.device, one.requires_grad) for one in inputs])  # fmt: skip
        sizes = [list(one.shape) for one in inputs]
        seen = [graph for graph in self.graphs if graph[0] == key]
        for _, _, fits, run, results in seen:
            if fits(inputs):
                break
        else:
            first = seen[0][1] if seen and self.dynamic is not False else sizes
            fits, run, results = self._trace(list(weights), inputs, first, leaves, form)
            self.graphs.append((key, sizes, fits, run, results))
        return tree_unflatten(list(run(*inputs)), results) if run else self.forward(*args, **kwargs)

    def _trace(self, names, inputs, first, leaves, form):
        """A graph, and whether it is for other inputs; sizes that are others than at the first call are open."""
        shapes = ShapeEnv()
        mode = FakeTensorMode(shape_env=shapes, allow_non_fake_inputs=True)
        fakes = []
        for one, before in zip(inputs, first):
            dims = [DimDynamic.STATIC if now == then else DimDynamic.DYNAMIC for now, then in zip(one.shape, before)]
            fakes.append(mode.from_tensor(one, symbolic_context=StatelessSymbolicContext(dynamic_sizes=dims)))
        is_open = [list(one.shape) for one in inputs] != first
        results = None

        def call(*given):
            nonlocal results
            weights, rest = dict(zip(names, given)), iter(given[len(names) :])
            values = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            args, kwargs = tree_unflatten(values, form)
            with torch.nn.utils.stateless._reparametrize_module(self.module, weights):
                flat, results = tree_flatten(self.forward(*args, **kwargs))
            return flat

        graph = None
        try:
            # Functions that the module has compiled by itself are traced as well.
            with torch._dynamo.config.patch(error_on_nested_fx_trace=False), torch.compiler.set_stance("force_eager"):
                graph = trace(call, fakes, mode, record_stack_traces=True)
                graph.meta["streams"] = self.streams
                _check(call, graph, inputs)
        except Exception as error:
            graph = backend.leave(error)
        run = graph and self.compile(graph, fakes if is_open else inputs)
        closed = [[size if isinstance(size, int) else None for size in fake.shape] for fake in fakes]

        def fits(given):
            same = all(
                len(sizes) == one.dim() and all(size in (None, now) for size, now in zip(sizes, one.shape))
                for sizes, one in zip(closed, given)
            )
            return same and shapes.evaluate_guards_for_args(fakes, given)

        return fits, run, results


def _autocast(tensors):
    devices = {tensor.device.type for tensor in tensors}
    return [(device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in sorted(devices)]


def _results(run, inputs):
    """Results for copies of inputs, and gradients of those that have some."""
    given = [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]
    results = [one for one in run(*given) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    loss = sum((one.double() * torch.linspace(-1, 1, one.numel()).to(one).view_as(one)).sum() for one in results)
    wanted = [one for one in given if one.requires_grad]
    differs = isinstance(loss, torch.Tensor) and loss.requires_grad
    return results + (list(torch.autograd.grad(loss, wanted, allow_unused=True)) if differs else [None] * len(wanted))


def _check(call, graph, inputs):
    """An error where a graph computes something else than the module, or has another derivative."""
    with torch.random.fork_rng(devices=[]):
        pairs = zip(_results(graph, inputs), _results(call, inputs))
    for value, wanted in pairs:
        both = value is not None and wanted is not None
        error = (value.double() - wanted.double()).abs().max() if both else float(value is not wanted)
        bound = 64 * torch.finfo(wanted.dtype).eps * wanted.double().abs().max() if both else 0.0
        if not error <= bound:  # as NaN is not
            raise Unsupported("a registered module has another derivative than that of what it computes")
