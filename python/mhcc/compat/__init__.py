"""Layers with the names, arguments, defaults and errors of other projects, over the ops of mhcc."""

import importlib.machinery
import importlib.util
import sys

NAMES = ("liger", "megatron", "tile_kernels", "transformer_engine")


def install(name):
    """Puts a layer's names where the project has them, whether or not the project is installed.

    Modules that have imported the project's own names already keep them.
    """
    if name not in NAMES:
        raise ValueError(f"mhcc.compat has no layer {name!r}; needed one of {', '.join(NAMES)}")
    layer = importlib.import_module(f"{__name__}.{name}")
    for path, names in layer.PLACES.items():
        module = find_or_make_module(path)
        for own in names:
            setattr(module, own, getattr(layer, own))
    return layer


def find_or_make_module(path):
    """The module that import finds; an empty one where there is none, or where it cannot be loaded."""
    try:
        return importlib.import_module(path)
    except Exception:  # projects raise all sorts of errors where they miss a compiler or a GPU
        return make_module(path)


def make_module(path):
    # With a spec, so that programs which only ask whether the project is there get an answer.
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(path, None, is_package=True))
    module.__version__ = "0+mhcc"  # older than any that a program asks for: what else it has is not here
    parent, _, leaf = path.rpartition(".")
    if parent:
        setattr(find_or_make_module(parent), leaf, module)
    sys.modules[path] = module
    return module
