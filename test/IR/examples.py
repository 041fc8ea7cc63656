"""Writes the mlir examples of the records as one file, parts separated for --split-input-file.

usage: examples.py FOLDER

FOLDER is searched for records. A text that a template puts together is written once per op, with its mnemonic
filled in. Only whole functions are taken: other blocks show a form, not a program.
"""

import os
import re
import sys

BLOCK = re.compile(r"^ *```mlir\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
# A description that is put together: [{text}] # name # [{text}]
PASTE = re.compile(r"\}\] # (\w+) # \[\{")
INSTANCE = r'def \w+ : {}<"(\w+)"'


def examples(text):
    for block in BLOCK.finditer(text):
        pasted = PASTE.search(block[1])
        if not pasted:
            yield block[1]
            continue
        template = re.findall(r"class (\w+)<", text[: block.start()])[-1]
        for mnemonic in re.findall(INSTANCE.format(template), text):
            yield PASTE.sub(mnemonic, block[1])


def main():
    count = 0
    for folder, _, files in sorted(os.walk(sys.argv[1])):
        for name in sorted(files):
            if not name.endswith(".td"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for example in examples(file.read()):
                    if "func.func" in example:
                        print(f"// {name}\n{example}\n// -----\n")
                        count += 1
    print(f"// {count} examples")


main()
