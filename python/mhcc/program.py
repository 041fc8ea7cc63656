"""Writes a module as a program for mhcc, its weights as arguments."""

import json
import struct
import sys

import torch

#: names of safetensors
_TYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.complex64: "C64",
    torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.float8_e8m0fnu: "F8_E8M0", torch.bool: "BOOL",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint64: "U64", torch.uint32: "U32", torch.uint16: "U16", torch.uint8: "U8",
}  # fmt: skip


def export(model, args, path, weights=None, *, name="layer", **options):
    """Writes a module, called with `args`, to `path` as the function `name` in MLIR, and its weights to safetensors.

    Arguments are named as the module names them; results are `out`, or `out0`, `out1`, ... The options are those of
    torch.export.export, of which `dynamic_shapes` says what sizes stay open.
    """
    from .graph_text import print_graph
    from .rewriter import read_graph

    program = torch.export.export(model, tuple(args), **options).run_decompositions()
    signature = program.graph_signature
    written = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
    if written:
        raise ValueError(f"'{written[0]}' is changed by the module; export needs one that only returns results")
    own = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    own |= signature.inputs_to_lifted_tensor_constants
    graph = print_graph(program.graph, name, own)
    text = read_graph(graph)
    if weights:
        values = {**program.state_dict, **program.constants}
        _save({key: values[key] for key in own.values()}, weights)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _save(tensors, path):
    header, end, parts = {}, 0, []
    for name, tensor in tensors.items():
        if tensor.dtype not in _TYPES:
            raise ValueError(f"'{name}' is {tensor.dtype}; needed one of {', '.join(map(str, _TYPES))} for safetensors")
        parts.append(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": _TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.writelines([struct.pack("<Q", len(text)), text, *parts])


def run(target, output, weights):
    from .model import load

    try:
        export(*load(target), output, weights, name=target.rpartition(":")[2])
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
