"""Checks that sections of docs/math.md that are cited exist: a citation is the file's name and a number.

usage: citations.py REPOSITORY
"""

import re

import source

PAGE = "docs/math.md"
HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\.? ")
CITATION = re.compile(r"\bmath\.md (\d+(?:\.\d+)?)")
OWN_WORDS = "test/Meta/"


def check(root):
    sections = {match[1] for line in source.lines(root, PAGE) if (match := HEADING.match(line))}
    cited = 0
    for path in source.files(root):
        if path.startswith(OWN_WORDS):
            continue
        for number, line in enumerate(source.lines(root, path), 1):
            for section in CITATION.findall(line):
                cited += 1
                if section not in sections:
                    yield f"{path}:{number}: {PAGE} has no section {section}"
    if not cited:
        yield f"no file cites {PAGE}: the form of citations has changed"


source.main(check)
