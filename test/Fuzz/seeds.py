"""Writes what the fuzzer starts from: every module of the tests as a file, and a dictionary of their words.

usage: seeds.py TESTS FOLDER

The modules go to FOLDER/seeds, a file each, named after its contents; the words to FOLDER/words.dict.
"""

import hashlib
import os
import re
import sys

LARGEST = 16 * 1024  # a fuzzer learns little from a long program, and slowly
WORD = re.compile(r"\b[a-z_]+\.[a-z_0-9.]+|tensor<[^<>]*>|memref<[^<>]*>|#mhc\.[a-z_]+<[^<>]*>|\b[a-z_]+(?= =)")


def modules(tests):
    for folder, _, files in sorted(os.walk(tests)):
        for name in sorted(files):
            if not name.endswith(".mlir"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for part in file.read().split("\n// -----"):
                    lines = [line for line in part.split("\n") if not line.lstrip().startswith("//")]
                    text = "\n".join(lines).strip() + "\n"
                    if len(text) <= LARGEST and "func" in text:
                        yield text


def main():
    tests, folder = sys.argv[1:]
    os.makedirs(os.path.join(folder, "seeds"), exist_ok=True)
    words = set()
    for text in modules(tests):
        words.update(WORD.findall(text))
        name = hashlib.sha1(text.encode()).hexdigest()
        with open(os.path.join(folder, "seeds", name), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(folder, "words.dict"), "w", encoding="utf-8") as file:
        for word in sorted(word for word in words if len(word) < 60 and word.isascii()):
            file.write('"' + word.replace('"', '\\"') + '"\n')


if __name__ == "__main__":
    main()
