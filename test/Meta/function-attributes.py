"""Checks that every attribute of functions that the reference names is read by the code, and set in a test.

usage: function-attributes.py REPOSITORY
"""

import re

import source

RECORDS = "include/mhc/IR/FunctionAttributes.td"
NAME = re.compile(r'^def : FunctionAttr<"([^"]*)"')


def words(root, endings, folders):
    return {word
            for path in source.files(root, endings, folders) for line in source.lines(root, path)
            for word in re.findall(r"\bmhc\.(\w+)", line)}


def check(root):
    read = words(root, (".cpp", ".h"), ("lib", "include"))
    tested = words(root, (".mlir", ".test"), ("test",))
    for number, line in enumerate(source.lines(root, RECORDS), 1):
        match = NAME.match(line)
        if match and match[1] not in read:
            yield f"{RECORDS}:{number}: no code reads 'mhc.{match[1]}'"
        elif match and match[1] not in tested:
            yield f"{RECORDS}:{number}: no test sets 'mhc.{match[1]}'"


source.main(check)
