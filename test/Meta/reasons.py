"""Checks that every reason code says something and has a test that quotes its remark.

usage: reasons.py REPOSITORY
"""

import re

import source

RECORDS = "include/mhc/Transforms/Reasons.td"
CODE = re.compile(r'^def : \w+Reason<"([^"]*)"')
QUOTE = re.compile(r"\[Missed\] ([a-z-]+)")
EMPTY = re.compile(r"\b(unknown|other|misc|generic|unsupported)$")


def check(root):
    quoted = {code
              for path in source.files(root, (".mlir", ".test"), ("test",)) if not path.startswith("test/Meta/")
              for line in source.lines(root, path) for code in QUOTE.findall(line)}
    for number, line in enumerate(source.lines(root, RECORDS), 1):
        match = CODE.match(line)
        if not match:
            continue
        code = match[1]
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code) or EMPTY.search(code):
            yield f"{RECORDS}:{number}: '{code}' is no code that says a reason"
        elif code not in quoted:
            yield f"{RECORDS}:{number}: no test quotes '[Missed] {code}'"
        quoted.discard(code)
    for code in sorted(quoted):
        yield f"a test quotes '[Missed] {code}', which {RECORDS} has not"


source.main(check)
