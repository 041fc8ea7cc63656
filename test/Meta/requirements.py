"""Checks the page of requirements: every row is there once, in order, and says how far it is met; the tests that it names
exist; and what was decided has its reason. The page of decisions has a section for every pass.

usage: requirements.py REPOSITORY
"""

import collections
import os
import re

import source

PAGE, DECISIONS = "docs/requirements.md", "docs/decisions.md"
CHAPTERS = [24, 16, 16, 17, 22, 11, 23]  # rows of each
CHAPTER = re.compile(r"^## R(\d)\. .*: (\d+) rows$")
ROW = re.compile(r"^\| (R\d\.\d\d) \| ([^|]+) \| ([^|]*) ?\| ([^|]*) ?\| ([^|]+) \|$")
STATE = re.compile(r"yes|(part|no): \S.*|decided: \[.+\]\(decisions\.md#[\w-]+\)")
TOTALS = "Of all rows {yes} are `yes`, {part} `part`, {no} `no`, {decided} `decided`."
CASE = re.compile(r"^\s*TEST(?:_F|_P)?\((\w+), (\w+)\)")
LINK = re.compile(r"\]\(([\w./-]*)(?:#([\w-]+))?\)")
PASS = re.compile(r"^### `-([\w-]+)`$")
SECTION = re.compile(r"^### `([\w-]+)`$")
MOST_WORDS_OF_A_STUB = 15


def anchors(root, page):
    """Of its headings, as a browser names them."""
    return {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in source.lines(root, page) if line.startswith("#")}


def unit_cases(root):
    return {".".join(match.groups())
            for path in source.files(root, (".cpp",), ("test", "runtime")) for line in source.lines(root, path)
            if (match := CASE.match(line))}


def links(root, page):
    for number, line in enumerate(source.lines(root, page), 1):
        for file, anchor in LINK.findall(line):
            path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
            if not os.path.exists(os.path.join(root, path)):
                yield f"{page}:{number}: there is no '{path}'"
            elif anchor and anchor not in anchors(root, path):
                yield f"{page}:{number}: '{path}' has no heading '{anchor}'"


def rows(root):
    wanted = [f"R{chapter}.{row:02}" for chapter, count in enumerate(CHAPTERS, 1) for row in range(1, count + 1)]
    cases, states, chapters = unit_cases(root), collections.Counter(), []
    for number, line in enumerate(source.lines(root, PAGE), 1):
        place = f"{PAGE}:{number}:"
        if match := CHAPTER.match(line):
            chapters.append(match[1])
            if CHAPTERS[int(match[1]) - 1:int(match[1])] != [int(match[2])]:
                yield f"{place} chapter {match[1]} has another number of rows than {match[2]}"
        if not line.startswith("| R"):
            continue
        match = ROW.match(line)
        if not match:
            yield f"{place} a row is '| Rn.nn | need | there is | tests | state |'"
            continue
        row, _, _, tests, state = match.groups()
        if wanted[:1] != [row]:
            yield f"{place} {row} follows where {wanted[0] if wanted else 'the end'} was expected"
        if row in wanted:
            wanted = wanted[wanted.index(row) + 1:]
        states[state.split(":")[0]] += 1
        tests = re.findall(r"`([^`]*)`", tests)
        if not STATE.fullmatch(state):
            yield f"{place} {row} is '{state}'; needed yes, part: ..., no: ... or decided: [...](decisions.md#...)"
        elif state == "yes" and not tests:
            yield f"{place} {row} is 'yes' without a test"
        for test in tests:
            if test not in cases and not ("/" in test and os.path.isfile(os.path.join(root, test))):
                yield f"{place} {row} names '{test}', which is neither a file nor a case of a unit test"
    for row in wanted:
        yield f"{PAGE}: {row} is missing"
    if len(chapters) != len(CHAPTERS):
        yield f"{PAGE}: {len(chapters)} headings are '## Rn. Title: N rows'; needed {len(CHAPTERS)}"
    totals = TOTALS.format(**{state: states[state] for state in ("yes", "part", "no", "decided")})
    if totals not in source.lines(root, PAGE):
        yield f"{PAGE}: the line of totals is to be '{totals}'"


def passes(root):
    known = {match[1] for page in source.files(root, (".md",), ("docs/reference",))
             for line in source.lines(root, page) if (match := PASS.match(line))}
    words, section = collections.Counter(), None
    for number, line in enumerate(source.lines(root, DECISIONS), 1):
        if line.startswith("#"):
            match = SECTION.match(line)
            section = match[1] if match else None
            if section and section not in known:
                yield f"{DECISIONS}:{number}: there is no pass '{section}'"
        elif section:
            words[section] += len(line.split())
    for name in sorted(known):
        if words[name] <= MOST_WORDS_OF_A_STUB:
            yield f"{DECISIONS}: the section '### `{name}`' is missing, or says nothing"


def check(root):
    yield from rows(root)
    yield from passes(root)
    for page in (PAGE, DECISIONS):
        yield from links(root, page)


source.main(check)
