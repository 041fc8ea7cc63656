"""Calls a tool as one should not, as the lines of a file say:

$ TOOL WORD...
what the error says; "..." stands for anything in one line

Each call ends with an exit status of 1 or 2, says this, and leaves the folder as it was. With a TOOL, each option in
its --help is in one of the calls.

usage: wrong_calls.py FILE FOLDER [TOOL]
"""

import hashlib
import os
import re
import shlex
import subprocess
import sys

CRASH = re.compile(r"PLEASE submit a bug report|Stack dump|terminate called|Segmentation fault|LLVM ERROR|Sanitizer:")
UNIVERSAL = {"--help", "--help-list", "--version"}


def call(words, folder):
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def contents(folder):
    """Contents of the files below, by path."""
    paths = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]
    return {path: hashlib.sha256(open(path, "rb").read()).hexdigest() for path in paths}


def problem_of(words, wanted, folder, before):
    status, output = call(words, folder)
    pattern = "^" + ".*".join(re.escape(part) for part in wanted.split("...")) + "$"
    changed = sorted(set(contents(folder).items()) ^ set(before.items()))
    if status not in (1, 2):
        return f"ends with {status}", output
    if CRASH.search(output):
        return "crashes", output
    if not re.search(pattern, output, re.MULTILINE):
        return f"does not say: {wanted}", output
    return f"changes {changed[0][0]}" if changed else "", output


def untried(tool, calls, folder):
    """Options that no call has; -ON of the help is -O with its value."""
    listed = re.findall(r"^ {2,6}(--?[A-Za-z][\w-]*)", call([tool, "--help"], folder)[1], re.MULTILINE)
    options = {option if option.startswith("--") else option[:2] for option in listed} - UNIVERSAL
    words = {word.split("=")[0].lstrip("-") for one in calls for word in one if word.startswith("-")}
    words |= {word[1] for one in calls for word in one if re.match(r"-\w", word)}
    return sorted(option for option in options if option.lstrip("-") not in words)


def main():
    path, folder, *tools = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        pairs = re.findall(r"^\$ (.*)\n(.*)$", file.read(), re.MULTILINE)
    calls = [(shlex.split(command), wanted) for command, wanted in pairs]
    before = contents(folder)
    failed = 0
    for words, wanted in calls:
        assert wanted, words
        problem, output = problem_of(words, wanted, folder, before)
        if problem:
            failed += 1
            print(f"{shlex.join(words)}\n  {problem}\n  it says: {output}")
    for tool in tools:
        for option in untried(tool, [words for words, _ in calls], folder):
            failed += 1
            print(f"no call has the option {option}")
    print(f"{len(calls)} calls, {failed} failed")
    sys.exit(1 if failed else 0)


main()
