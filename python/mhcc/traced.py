"""Modules that Dynamo does not look into, as they would break its graph: each call is one graph with its derivative."""

import math
import types
import typing

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import backend
from .capture import Unsupported, fake_arguments, trace, unseen

_PLAIN = (torch.Tensor, bool, int, float, str, torch.dtype, torch.device, type(None))


class _Nothing(typing.NamedTuple):
    """None among arguments and results: a graph has no value for it, and none is needed for a tuple without parts."""


def _without_none(tree):
    return tree_map(lambda leaf: _Nothing() if leaf is None else leaf, tree)


def _with_none(tree):
    return tree_map(lambda leaf: None if isinstance(leaf, _Nothing) else leaf, tree,
                    is_leaf=lambda part: isinstance(part, _Nothing))  # fmt: skip


class Traced:
    """Calls a module's method, or a class's static one, by graphs of it; Dynamo says when it takes another one.

    A method beside `forward` has to do with streams alone.
    """

    def __init__(self, owner, method, compile, dynamic=None):
        self.module = owner if isinstance(owner, torch.nn.Module) else torch.nn.Module()  # without weights
        self.compile, self.streams = compile, method != "forward"
        forward = getattr(owner, method)
        self.forward = forward.forward if isinstance(forward, Traced) else forward
        opaque = torch._dynamo.nonstrict_trace(torch.compiler.disable(self._run))

        def call(*given):
            return opaque(*given)

        # Dynamo counts graphs, and sizes that it has seen, by code and its name; a number of streams is never open.
        code = call.__code__.replace(co_name=f"{method}_{id(self)}")
        own = types.FunctionType(code, globals(), closure=call.__closure__)
        self.run = torch.compile(own, backend=self._compile, dynamic=dynamic and None)

    @torch.compiler.disable
    def __call__(self, *args, **kwargs):
        if not all(isinstance(leaf, _PLAIN) for leaf in tree_leaves((args, kwargs))):  # to trace may change an object
            return self.forward(*args, **kwargs)
        weights = {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}
        # Also in a model whose sizes are all open: the number of streams would be one of them.
        with torch._dynamo.config.patch(assume_static_by_default=True):
            return _with_none(self.run(weights, *_without_none((args, kwargs)), self.module.training))

    def _run(self, weights, args, kwargs, training):
        # Functions that the module has compiled by itself are traced as well.
        with torch._dynamo.config.patch(error_on_nested_fx_trace=False), torch.compiler.set_stance("force_eager"):
            with torch.nn.utils.stateless._reparametrize_module(self.module, weights):
                args, kwargs = _with_none((args, kwargs))
                return _without_none(self.forward(*args, **kwargs))

    def _compile(self, module, inputs):
        try:
            fakes, mode = fake_arguments(module)
            graph = trace(module.forward, fakes, mode, record_stack_traces=True)
            graph.meta["streams"] = self.streams
            with unseen():
                _check(module.forward, graph, inputs)
        except Exception as error:
            backend.leave(error)
            return module.forward
        return self.compile(graph, inputs)


def _results(run, inputs):
    """Results for copies of inputs, and gradients of those that have some; chance is the same in each run."""
    given = [one.detach().clone().requires_grad_(one.requires_grad) if isinstance(one, torch.Tensor) else one.node.hint
             for one in inputs]  # fmt: skip
    with torch.random.fork_rng({one.device for one in given if isinstance(one, torch.Tensor) and one.is_cuda}):
        results = [one for one in run(*given) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    loss = sum((one.double() * torch.arange(one.numel(), device=one.device).double().sin().view_as(one)).sum()
               for one in results)  # fmt: skip
    wanted = [one for one in given if isinstance(one, torch.Tensor) and one.requires_grad]
    differs = isinstance(loss, torch.Tensor) and loss.requires_grad
    return results + (list(torch.autograd.grad(loss, wanted, allow_unused=True)) if differs else [None] * len(wanted))


def _moved(inputs, turn):
    """The same inputs, but that each number is greater or less by one or two roundings."""

    def move(one):
        if not isinstance(one, torch.Tensor) or not one.is_floating_point():
            return one
        signs = torch.arange(1, one.numel() + 1, device=one.device).mul(turn).sin().sign().view(one.shape)
        return (one.detach() * (1 + torch.finfo(one.dtype).eps * signs)).to(one.dtype).requires_grad_(one.requires_grad)

    return [move(one) for one in inputs]


def _distance(one, other):
    """The largest difference of two tensors; infinite where one of them alone is none."""
    if one is None or other is None:
        return 0.0 if one is other else math.inf
    return (one.double() - other.double()).abs().max().item() if one.numel() else 0.0


def _check(call, graph, inputs):
    """An error where a graph computes something else than the module, or has another derivative.

    A gradient is a sum of terms, each of which is rounded: its error goes by their size, even where they cancel to almost
    nothing. The module itself says how large it is: inputs that are moved by a rounding move each term by about one. So
    a gradient may be apart by 16 times of what this changes in it, or by 16 roundings of its largest element.
    """
    moved = [_results(call, _moved(inputs, turn)) for turn in (1.3, 2.3, 3.3)]
    for value, wanted, *others in zip(_results(graph, inputs), _results(call, inputs), *moved):
        size = wanted.double().abs().max().item() if wanted is not None and wanted.numel() else 0.0
        rounding = torch.finfo(wanted.dtype).eps if wanted is not None else 0.0
        bound = 16 * max(rounding * size, *(_distance(other, wanted) for other in others))
        if not _distance(value, wanted) <= bound:  # as NaN is not
            raise Unsupported("a registered module has another derivative than that of what it computes")
