"""Lists what users depend on: ops with their attributes, operands and results, passes with their options, and the
commands and options of the tools.

usage: surface.py PAGE.md... TOOL.txt...

PAGE.md is a page of mlir-tblgen on ops or passes, TOOL.txt the text a tool prints with --help.
"""

import os
import re
import sys

# Headings of a page, and how the rows below them start.
ROWS = {
    "Attributes": r"<tr><td><code>(\w+)",
    "Operands": r"\| `(\w+)`",
    "Results": r"\| `(\w+)`",
    "Options": r"-([\w-]+) *:",
}


def of_page(text):
    for part in re.split(r"^### `", text, flags=re.MULTILINE)[1:]:
        line = part[: part.index("`")]
        for title, section in re.findall(r"^#### (\w+):?\n(.*?)(?=^#|\Z)", part, re.MULTILINE | re.DOTALL):
            if title in ROWS:
                line += f"; {title.lower()} {' '.join(re.findall('^' + ROWS[title], section, re.MULTILINE))}"
        yield line


def of_help(tool, text):
    commands = re.search(r"^commands:\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    for command in re.findall(r"^  (\w[\w-]*)", commands[1], re.MULTILINE) if commands else []:
        yield f"{tool} {command}"
    for option in set(re.findall(r"^ {2,6}(--?[\w-]+(?:\[?=\S+| [A-Z]+)?)", text, re.MULTILINE)):
        yield f"{tool} {option}"


def main():
    lines = []
    for argument in sys.argv[1:]:
        name, kind = os.path.splitext(os.path.basename(argument))
        with open(argument, encoding="utf-8") as file:
            lines += sorted(of_help(name, file.read()) if kind == ".txt" else of_page(file.read()))
    print("\n".join(lines))


main()
