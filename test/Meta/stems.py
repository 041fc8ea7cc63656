"""Lists what a stem lacks: one op, one file with its name in every layer.

usage: stems.py REPOSITORY
"""

import os
import re

import source

FILES = [
    "lib/IR/Ops/{Stem}.cpp",  # where the record declares methods
    "runtime/cpu/{stem}.cpp",
    "test/IR/{stem}.mlir",
    "test/IR/{stem}-invalid.mlir",
]


def check(root):
    for record in source.files(root, source.TABLEGEN, ("include/mhc/IR/Ops",)):
        if not any("Mhc_KernelOp<" in line for line in source.lines(root, record)):
            continue  # leaf ops only
        name = os.path.splitext(os.path.basename(record))[0]
        stem = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        text = "".join(source.lines(root, record))
        methods = "DecomposableOpInterface" in text or "hasVerifier" in text or "verifyExtra" in text
        for pattern in FILES if methods else FILES[1:]:
            path = pattern.format(Stem=name, stem=stem)
            if not os.path.isfile(os.path.join(root, path)):
                yield f"{record}: missing {path}"


source.main(check)
