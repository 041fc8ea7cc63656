"""Checks #include and TableGen include lines against the layering table: who may know whom.

usage: layering.py REPOSITORY
"""

import os
import re

import source

# The first row whose folder contains a file is its layer. A layer may include itself, what its row names, and headers
# that no row knows (standard library, CUDA, test and system libraries). "Transforms" is the phases' shared header
# folder; a phase is a folder below it.
LAYERS = [
    # layer            folders                                              may include
    ("Conformance",    ["test/lib/Conformance", "Conformance"],
                       ["MLIR", "runtime", "IR", "Conversion", "Spelling", "Driver", "Analysis", "Support"]),
    ("test",           ["test"],                                            ["*"]),
    ("runtime",        ["runtime", "include/mhcrt"],                        []),
    ("Support",        ["lib/Support", "include/mhc/Support"],              ["MLIR", "runtime"]),
    ("IR",             ["lib/IR", "include/mhc/IR"],                        ["MLIR"]),
    ("Analysis",       ["lib/Analysis", "include/mhc/Analysis"],            ["MLIR", "IR"]),
    ("Algebra",        ["lib/Algebra", "include/mhc/Algebra"],              ["MLIR", "IR", "Analysis"]),
    ("Reference",      ["lib/Reference", "include/mhc/Reference"],          ["MLIR", "IR"]),
    ("NumericCheck",          ["lib/NumericCheck", "include/mhc/NumericCheck"],                  ["MLIR", "IR", "Analysis", "Reference", "Transforms"]),
    ("phase",          ["lib/Transforms/*", "include/mhc/Transforms/*"],    ["MLIR", "IR", "Analysis", "Algebra", "Transforms"]),
    ("Transforms",     ["lib/Transforms", "include/mhc/Transforms"],        ["MLIR", "IR", "Analysis", "Algebra"]),
    ("Conversion",     ["lib/Conversion", "include/mhc/Conversion"],        ["MLIR", "IR", "Analysis"]),
    ("Pipelines",      ["lib/Pipelines", "include/mhc/Pipelines"],
                       ["MLIR", "IR", "Analysis", "phase", "Transforms", "Conversion"]),
    ("Spelling",       ["lib/Spelling", "include/mhc/Spelling"],            []),
    ("Model",          ["lib/Model", "include/mhc/Model"],                  ["MLIR", "Spelling"]),
    ("InitAll",        ["include/mhc/InitAll.h", "lib/InitAll.cpp"],
                       ["MLIR", "IR", "Analysis", "phase", "Transforms", "Conversion", "Pipelines"]),
    ("Driver",         ["lib/Driver", "include/mhc/Driver"],
                       ["MLIR", "runtime", "IR", "Analysis", "Reference", "NumericCheck", "phase", "Transforms",
                        "Conversion", "Pipelines", "InitAll", "Model", "Support"]),
    ("CAPI",           ["lib/CAPI", "include/mhc-c"],
                       ["MLIR", "Conversion", "Pipelines", "InitAll", "Support"]),
    ("mhc-tblgen",     ["tools/mhc-tblgen"],                                ["MLIR"]),
    ("mhc-train",      ["tools/mhc-train"],                                 ["runtime"]),
    ("mhc-run",        ["tools/mhc-run"],                                   ["runtime"]),
    ("mhc-bench",      ["tools/mhc-bench"],
                       ["MLIR", "runtime", "IR", "Reference", "Transforms", "Support"]),
    ("test tools",     ["tools/mhc-conformance", "tools/mhc-fuzz"],
                       ["MLIR", "Driver", "Conformance", "InitAll", "Pipelines", "Support"]),
    ("tools",          ["tools"],                                           ["MLIR", "Driver", "InitAll", "CAPI", "Support"]),
    ("MLIR",           ["mlir", "llvm", "mlir-c", "llvm-c"],                ["*"]),
]

INCLUDE = re.compile(r'^\s*#?\s*include\s+[<"]([^>"]+)[>"]')


def matches(path, folder):
    if folder.endswith("/*"):  # some folder below: a file directly in the parent does not match
        return path.startswith(folder[:-1]) and "/" in path[len(folder) - 1:]
    return path == folder or path.startswith(folder + "/")


def layer(path):
    """(layer, the phase's folder name or None, what it may include) or None"""
    for name, folders, allowed in LAYERS:
        if any(matches(path, folder) for folder in folders):
            return name, path.split("/Transforms/")[1].split("/")[0] if name == "phase" else None, allowed
    return None


def resolve(root, path, target):
    """The repository path, or the spelling, that decides the target's layer."""
    if target.startswith(("mhc/", "mhc-c/", "mhcrt/")):
        return "include/" + target
    beside = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return beside if os.path.exists(os.path.join(root, beside)) else target


def check(root):
    for path in source.files(root, source.CPP + source.TABLEGEN, ("include", "lib", "tools", "runtime", "test/lib")):
        own = layer(path)
        if own is None:
            yield f"{path}: no layer has this folder; add a row to test/Meta/layering.py"
            continue
        for number, line in enumerate(source.lines(root, path), 1):
            match = INCLUDE.match(line)
            other = layer(resolve(root, path, match[1])) if match else None
            if other is None or other[:2] == own[:2] or "*" in own[2]:
                continue
            if own[0] == other[0] == "phase":
                yield f"{path}:{number}: phase '{own[1]}' must not include phase '{other[1]}' ('{match[1]}')"
            elif other[0] not in own[2]:
                yield (f"{path}:{number}: layer '{own[0]}' must not include layer '{other[0]}' ('{match[1]}'); "
                       f"it may include: {', '.join(own[2]) or 'nothing of ours'}")


source.main(check)
