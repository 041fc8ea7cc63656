"""Checks what no formatter does: file headers, lengths, also of lines of a README, paths of one machine, TODOs, and
comments that do not begin with a noun or a verb.

usage: style.py REPOSITORY
"""

import re

import source

MAX_LINES = 500
MAX_LETTERS = 120
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
REASON = "Long because"
MACHINE = re.compile(r"(?<![\w.%{}$])/(?:work|root|home|Users|mnt)/\w|\b(?:deb\.debian|pypi|pythonhosted)\.org\b")
TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
TODO_WITH_CONDITION = re.compile(r"\bTODO\(\w[^)]*\): .*\b(?:when|once|until|if|after)\b")
# "What is left" and "Of the op" need a second reading: say "The rest" and "Cost of the op".
VAGUE = re.compile(r'^(?:\s*(?:///?|#) |//===-+ \S+ - |\s*""")(What|Of)\b')
COMMENT = re.compile(r"^\s*(?:///?|#)\s+\w")
OWN_WORDS = "test/Meta/"  # the checks and their tests name what they look for


def check(root):
    for path in source.files(root, source.CPP + source.TABLEGEN):
        if path in source.GENERATED or path.startswith(OWN_WORDS):
            continue
        text = source.lines(root, path)
        if not any(LICENCE in line for line in text[:10]) and not path.startswith("test/"):
            yield f"{path}: the file header with '{LICENCE}' is missing"
        if len(text) - 1 > MAX_LINES and not any(REASON in line for line in text[:40]):
            yield f"{path}: {len(text) - 1} lines; split it by subject, or say '{REASON} ...' in its header"

    for path in source.files(root):
        if path.startswith(OWN_WORDS):
            continue
        before = ""
        for number, line in enumerate(source.lines(root, path), 1):
            if path.endswith(("README.md", "CONTRIBUTING.md")) and len(line) > MAX_LETTERS and line[0] != "|":
                yield f"{path}:{number}: {len(line)} letters; break the line at {MAX_LETTERS}"
            match = MACHINE.search(line)
            if match:
                yield f"{path}:{number}: '{match[0]}' belongs to one machine"
            if TODO.search(line) and not path.endswith(".md") and not TODO_WITH_CONDITION.search(line):
                yield f"{path}:{number}: write 'TODO(name): what, when <condition>'"
            vague = VAGUE.match(line) if not path.endswith(".md") and not COMMENT.match(before) else None
            if vague:
                yield f"{path}:{number}: the comment begins with '{vague[1]}'; begin with a noun or a verb"
            before = line


source.main(check)
