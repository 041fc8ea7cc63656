"""Lists what a stem lacks: one op, one file with its name in every layer.

usage: stems.py REPOSITORY
"""

import os
import re

import source

RUNTIME_TEST = "test/Runtime/{stem}.mlir"  # has every op of the record
OP = re.compile(r'^def Mhc_\w+Op : Mhc_\w+<"(\w+)"', re.MULTILINE)
FILES = [
    "lib/IR/Ops/{Stem}.cpp",  # where the record declares methods
    "runtime/cpu/{stem}.cpp",
    "runtime/cuda/kernels/{stem}.cu",
    "test/IR/{stem}.mlir",
    "test/IR/{stem}-invalid.mlir",
    RUNTIME_TEST,
]


def check(root):
    for record in source.files(root, source.TABLEGEN, ("include/mhc/IR/Ops",)):
        if not any("Mhc_KernelOp<" in line for line in source.lines(root, record)):
            continue  # leaf ops only
        name = os.path.splitext(os.path.basename(record))[0]
        stem = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        text = "\n".join(source.lines(root, record))
        methods = "DecomposableOpInterface" in text or "hasVerifier" in text or "verifyExtra" in text
        for pattern in FILES if methods else FILES[1:]:
            path = pattern.format(Stem=name, stem=stem)
            if not os.path.isfile(os.path.join(root, path)):
                yield f"{record}: missing {path}"
        path = os.path.join(root, RUNTIME_TEST.format(stem=stem))
        tested = open(path).read() if os.path.isfile(path) else ""
        for op in OP.findall(text) if tested else []:
            if not re.search(rf"\bmhc\.{op}\b", tested):
                yield f"{record}: missing mhc.{op} in {RUNTIME_TEST.format(stem=stem)}"


source.main(check)
