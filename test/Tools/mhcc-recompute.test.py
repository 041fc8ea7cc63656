"""Compiles the gradients of a chain of layers under every recompute plan and holds the plans to their word.

usage: mhcc-recompute.test.py model LAYERS TYPE    print the chain
       mhcc-recompute.test.py check MODEL          same bits under each plan; peaks as planned; budgets
"""

import ctypes
import hashlib
import random
import subprocess
import sys

TOKENS = 128  # a multiple of what the arena rounds to


def model(layers, element):
    x, f, h, a = (f"tensor<?x{shape}x{kind}>" for shape, kind in (("4x8", element), ("8", element), ("4", "f32"),
                                                                  ("4x4", "f32")))
    print(f"func.func @f(%x0: {x}, %h: {h}, %a: {a}) -> {f} {{")
    for k in range(int(layers)):
        print(f"  %u{k} = mhc.aggregate(x = %x{k} : {x}, h_pre = %h : {h}) <layout = nC> -> (u : {f})\n"
              f"  %n{k} = mhc.rms_norm %u{k} eps = 1.0e-5 : {f}\n"
              f"  %t{k} = math.tanh %n{k} : {f}\n"
              f"  %f{k} = arith.mulf %t{k}, %n{k} : {f}\n"
              f"  %x{k + 1} = mhc.post(f = %f{k} : {f}, h_post = %h : {h}, x = %x{k} : {x}, h_res = %a : {a})\n"
              f"    <layout = nC, orient = io> -> (out : {x})")
    print(f"  %out = mhc.contract(x = %x{layers} : {x}) <layout = nC, mode = mean> -> (out : {f})\n"
          f"  return %out : {f}\n}}")


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * 8)]


DTYPES = {"f32": (1, 4), "bf16": (2, 2)}


def tensor(line, keep):
    """A tensor for a line of the manifest, with random elements in [0.1, 0.2): a long chain of layers stays finite."""
    _, _, dtype, *dims = line.split()
    sizes = [TOKENS if dim == "M" else int(dim) for dim in dims]
    count = 1
    for size in sizes:
        count *= size
    code, width = DTYPES[dtype]
    floats = (ctypes.c_float * max(count, 1))(*(random.uniform(0.1, 0.2) for _ in range(count)))
    data = ctypes.create_string_buffer(b"".join(bytes(floats)[4 * i + 4 - width:4 * i + 4] for i in range(count)))
    keep.append(data)
    return Tensor(ctypes.addressof(data), code, len(sizes), (ctypes.c_int64 * 8)(*sizes)), count * width


def run(path):
    """The bits of the results of f_grad, and the bytes of memory that it took."""
    random.seed(1)
    library, keep = ctypes.CDLL(path), []
    manifest = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "mhc_model_manifest"))).decode()
    entry = manifest.split("entry f_grad\n")[1].split("end\n")[0].splitlines()
    sides = [[tensor(line, keep) for line in entry if line.startswith(side)] for side in ("arg", "result")]
    arrays = [(Tensor * len(side))(*(t for t, _ in side)) for side in sides]
    context = ctypes.c_void_p()
    library.mhcrt_context_bytes.restype = ctypes.c_int64
    assert library.mhcrt_context_create(2, ctypes.byref(context)) == 0
    assert library.mhc_entry_f_grad(context, *arrays) == 0
    bits = hashlib.sha256(b"".join(ctypes.string_at(t.data, size) for t, size in sides[1])).hexdigest()
    workspace = library.mhcrt_context_bytes(context)
    library.mhcrt_context_destroy(context)
    return bits, workspace


def mhcc(*arguments):
    return subprocess.run(["mhcc", *arguments], check=True, capture_output=True, text=True).stdout


def plans(path):
    """Name, saved, recomputed, peak of the joint function and of the halves, in bytes at TOKENS."""
    table = mhcc(path, "--grad=f", "--explain").split("recompute plans of @f")[1].splitlines()[3:]
    for line in filter(None, table):
        name, *numbers = line.replace("+", "").split()
        numbers = [int(number) for number in numbers]
        yield name, *(TOKENS * numbers[i] + numbers[i + 1] for i in range(0, 8, 2))


def groups(path, *options):
    text = mhcc(path, "--grad=f", "--compile-to=fuse", *options)
    return text.split("mhc.recompute = [array<i64: ")[1].split(">")[0] if "mhc.recompute" in text else None


def check(path):
    rows, bits = list(plans(path)), set()
    for name, saved, recomputed, joint, _ in rows:
        library = f"{path}.{name}.so"
        mhcc(path, "--grad=f", f"--recompute={name}", "-o", library)
        result, workspace = run(library)
        bits.add(result)
        assert workspace == joint, f"{name}: the workspace has {workspace} bytes; planned {joint}"
        print(f"{name}: saved {saved}, recomputed {recomputed}, workspace {workspace}")
    assert len(bits) == 1, "the plans differ in their results"
    for budget in {max(row[3:]) for row in rows}:
        wanted = next(row for row in rows if max(row[3:]) <= budget)
        plan = groups(path, "--recompute=auto", f"--memory-budget={budget}", f"--size=M={TOKENS}")
        assert plan == groups(path, f"--recompute={wanted[0]}"), f"{budget} bytes: {plan}; needed {wanted[0]}"
        print(f"budget {budget}: {wanted[0]}")


{"model": model, "check": check}[sys.argv[1]](*sys.argv[2:])
