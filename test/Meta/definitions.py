"""Checks that a name of the runtime is one type, and a signature one function: a program that has two of them, in
files that do not see each other, may take either.

Names that no other file can see (anonymous namespaces, static functions) may recur.

usage: definitions.py REPOSITORY
"""

import collections
import re

import source

TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*)$")
TYPE = re.compile(r"^(?:template ?<.*> ?)?(?:struct|class|union|enum(?: class)?) (?:alignas ?\(.*?\) ?)?(\w+)(?: final)?(?: ?:[^:].*)?$")
FUNCTION = re.compile(r"^(.*?)([\w:~]+) ?\((.*)\)(?: const| noexcept| override)*(?: ?:[^:].*)?$")
# Definitions that each backend has its own of: the functions of its C interface, the context behind them, and the
# function that runs a kernel on its arguments. A program has one backend.
PER_BACKEND = re.compile(r"mhcrt_\w+(::.*|\(.*)?$|mhcrt::run(\w+)\(mhcrt_context &, const \2Args &\)$")


def parameter(text):
    """Its type: 'const float *x = nullptr' and 'const float *' are one."""
    text = re.sub(r" ?=.*| ?\[\w*\]$", "", text.strip())
    return re.sub(r"(?<=[\w>*&)]) ?\b\w+$", "", text) if re.search(r"[ *&]\w+$", text) else text


def signature(parameters):
    """The types between the commas of the outermost level."""
    types, depth, start = [], 0, 0
    for at, letter in enumerate(parameters + ","):
        depth += (letter in "(<{[") - (letter in ")>}]")
        if letter == "," and depth == 0:
            types.append(parameter(parameters[start:at]))
            start = at + 1
    return "(" + ", ".join(types) + ")"


def named(head):
    """The name that the text before a brace defines for other files, or None."""
    if match := TYPE.match(head):
        return match[1]
    match = FUNCTION.match(head)
    if not match or "=" in match[1] or re.search(r"\bstatic\b|^(if|for|while|switch)\b", head):
        return None
    return match[2] + signature(match[3])


def definitions(text):
    """(line, name with its namespaces) of what `text` defines in namespaces that have a name."""
    text = TEXT.sub(lambda match: "\n" * match[0].count("\n"), text)
    scopes, start = [], 0  # a namespace's name, or None for what is no namespace
    for at, letter in enumerate(text):
        if letter not in "{};":
            continue
        head = " ".join(text[start:at].split())
        start = at + 1
        if letter == "}" and scopes:
            scopes.pop()
        if letter != "{":
            continue
        namespace = NAMESPACE.match(head)
        if namespace:
            scopes.append(namespace[1] or "anonymous")
        elif head == "extern":
            scopes.append("")
        else:
            if None not in scopes and "anonymous" not in scopes and (name := named(head)):
                yield text.count("\n", 0, at) + 1, "::".join([scope for scope in scopes if scope] + [name])
            scopes.append(None)


def check(root):
    places = collections.defaultdict(dict)  # name to file to line
    for path in source.files(root, source.CPP, ("runtime",)):
        if not path.startswith("runtime/test/"):
            for line, name in definitions("\n".join(source.lines(root, path))):
                places[name].setdefault(path, line)
    for name, files in sorted(places.items()):
        if len(files) > 1 and not PER_BACKEND.match(name):
            (first, line), (second, other) = sorted(files.items())[:2]
            yield f"{second}:{other}: '{name}' is defined in {first}:{line} too; rename one, or hide it in an anonymous namespace"


source.main(check)
