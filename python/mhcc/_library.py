"""Loads the kernels and registers derivatives of their ops."""

import ctypes
import functools
import os

import torch

_MINIMUM = (2, 11)
_PATH = os.path.join(os.path.dirname(__file__), "libmhc_torch.so")
_LIBRARY = torch.library.Library("mhc", "FRAGMENT")


def load(names):
    """Loads the library, which registers these ops."""
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < _MINIMUM:
        raise ImportError(f"mhcc needs PyTorch {_MINIMUM[0]}.{_MINIMUM[1]} or later; this is {torch.__version__}")
    taken = set(torch._C._dispatch_get_all_op_names()).intersection("mhc::" + name for name in names)
    if taken:
        raise ImportError(f"another library has registered an op {min(taken)}; mhcc needs this name")
    if not os.path.exists(_PATH):
        raise ImportError(f"mhcc needs the library {_PATH}, which is missing")
    torch.ops.load_library(_PATH)


def empty_cache():
    """Gives back the memory of large results that no tensor has any more. As long as it is kept, it is used again."""
    ctypes.CDLL(_PATH).mhc_torch_empty_cache()


def cached_bytes():
    """The memory that empty_cache gives back."""
    function = ctypes.CDLL(_PATH).mhc_torch_cached_bytes
    function.restype = ctypes.c_int64
    return function()


def set_multiprocessors(count):
    """Launches kernels as for GPUs of so many multiprocessors, where those of others, as of collectives, have the rest.

    0 is as many as there are. No result depends on it. Called while no other thread runs a kernel.
    """
    if count < 0:
        raise ValueError(f"set_multiprocessors: count is {count}; needed at least 0")
    ctypes.CDLL(_PATH).mhc_torch_set_multiprocessors(ctypes.c_int32(count))


def sizes_of(schema):
    """Names of the arguments that are sizes of results."""
    return [argument.name for argument in schema.arguments if isinstance(argument.real_type, torch.SymIntType)]


def _check_operands(name, operands, attributes):
    """Errors that a call of a kernel has where nothing is known but shapes."""
    arguments = getattr(torch.ops.mhc, name).default._schema.arguments
    given = {**{argument.name: one for argument, one in zip(arguments, operands)}, **attributes}
    for argument in arguments:
        if argument.type.kind() == "TensorType" and given.get(argument.name) is None:
            raise RuntimeError(f"mhcrt_{name}: '{argument.name}' is absent; needed a tensor")
    given = {key: one for key, one in given.items() if isinstance(one, torch.Tensor)}
    needed = next(iter(given.values())).device
    for key, one in given.items():
        if one.device != needed:
            raise RuntimeError(f"mhcrt_{name}: '{key}' is on {one.device}; needed {needed}, where other operands are")


def register_fake(name):
    """Registers a function that makes results without numbers, for both forms of the op."""

    def register(make):
        @functools.wraps(make)
        def fake(*operands, **attributes):
            _check_operands(name, operands, attributes)
            return make(*operands, **attributes)

        torch.library.register_fake(f"mhc::{name}")(fake)
        schema = getattr(torch.ops.mhc, name).default._schema
        names, given = [result.name for result in schema.returns], sizes_of(schema)

        @torch.library.register_fake(f"mhc::{name}.compiled")
        def compiled(operands, sizes, call):
            words, made = (part.split() for part in call.split("->"))
            tensors = zip((word for word in words if "=" not in word), operands)
            attributes = dict(word.split("=") for word in words if "=" in word)
            attributes.update(zip(given, sizes), output_mask=[one in made for one in names])
            found = fake(**dict(tensors), **attributes)
            return [one for one in found if one is not None] if len(names) > 1 else [found]

    return register


def is_differentiated(*operands):
    return torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in operands)


def register_derivative(name, setup, backward, kept=()):
    """Registers setup(ctx, operands, attributes, results) and backward(ctx, *gradients), of one gradient an operand.

    Results whose numbers are `kept` are made for setup, whether or not the caller wants them.

    torch.library.register_autograd does the same and reads the op's schema at each call, which takes half of its time.
    """
    op = getattr(torch.ops.mhc, name).default
    count = sum(not argument.kwarg_only for argument in op._schema.arguments)

    def below(keyset, operands, attributes):
        with torch._C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset & torch._C._after_autograd_keyset, *operands, **attributes)

    class Derivative(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            *operands, keyset, attributes = args
            if kept:
                mask = attributes["output_mask"]
                attributes = {**attributes, "output_mask": [wanted or i in kept for i, wanted in enumerate(mask)]}
            results = below(keyset, operands, attributes)
            ctx.given = len(operands)  # the dispatcher leaves out absent ones at the end
            setup(ctx, (*operands, *[None] * (count - ctx.given)), attributes, results)
            if kept:
                return tuple(None if i in kept and not mask[i] else result for i, result in enumerate(results))
            return results

        @staticmethod
        def backward(ctx, *gradients):
            found = backward(ctx, *gradients)
            return (*(found if isinstance(found, tuple) else (found,))[: ctx.given], None, None)

        @staticmethod
        def jvp(ctx, *tangents):
            raise NotImplementedError(f"mhc::{name} has no derivative in forward mode")

    def kernel(keyset, *operands, **attributes):
        # PyTorch would drop a derivative in forward mode.
        forward_mode = torch.autograd.forward_ad._current_level >= 0
        if forward_mode or (torch.is_grad_enabled() and torch._C._any_requires_grad(*operands)):
            if torch._C._are_functorch_transforms_active():
                raise RuntimeError(f"mhc::{name} has no derivative in torch.func; needed torch.autograd")
            return Derivative.apply(*operands, keyset, attributes)
        return below(keyset, operands, attributes)

    Derivative.__name__ = Derivative.__qualname__ = "mhc_" + name
    _LIBRARY.impl(name, kernel, "Autograd", with_keyset=True)


def register_no_derivative(name):
    def backward(ctx, *gradients):
        raise RuntimeError(f"mhc::{name} has no derivative: these ops are differentiated once")

    register_derivative(name, lambda *args: None, backward)
