"""Checks that every kernel that may start while others end waits for them before it reads their memory.

usage: overlap.py REPOSITORY

A kernel that no <<<>>> launches is launched by launchOverlapping(), if its file calls it or is a header. It waits by beginOverlapped(), before its first load.
One that does not says so at its launch, by the name of the role that waits: 'Starts before it waits: loadTiles'.
"""

import re

import source

KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\([^()]*\)\s*)?(\w+)\s*\([^;{]*\)\s*\{")
PLAIN_LAUNCH = re.compile(r"\b(\w+)\s*(?:<[^;<>]*>)?\s*<<<")
WAIT = re.compile(r"\bbeginOverlapped\(\)")
LOAD = re.compile(r"\b(?:args|a)\.\w+\s*\[|\b\w*[lL]oad\w*(?:<[^;(]*>)?\(")
EXCEPTION = re.compile(r"Starts before it waits: (\w+)")


def body(text, begin):
    """From an opening brace to the one that closes it."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[begin:at]
    return text[begin:]


def function(texts, name):
    """The body of a function that is defined somewhere, or ''."""
    for text in texts.values():
        if match := re.search(rf"\b{name}\([^;{{]*\)\s*(?:const\s*)?\{{", text):
            return body(text, match.end() - 1)
    return ""


def check(root):
    texts = {path: "\n".join(line.split("//")[0] for line in source.lines(root, path))
             for path in source.files(root, (".cu", ".cuh"), ("runtime/cuda",))}
    plain = {match[1] for text in texts.values() for match in PLAIN_LAUNCH.finditer(text)}
    for path, text in texts.items():
        role = EXCEPTION.search("\n".join(source.lines(root, path)))
        for match in KERNEL.finditer(text):
            if match[1] in plain or (path.endswith(".cu") and "launchOverlapping(" not in text):
                continue
            own = body(text, match.end() - 1)
            wait = WAIT.search(own)
            if not wait:
                if not role or role[1] not in own or "waitForEarlierKernels()" not in function(texts, role[1]):
                    yield f"{path}: '{match[1]}' is launched to overlap and never waits; call beginOverlapped()"
            elif load := LOAD.search(own[:wait.start()]):
                yield f"{path}: '{match[1]}' has '{load[0]}' before it waits; call beginOverlapped() first"


source.main(check)
