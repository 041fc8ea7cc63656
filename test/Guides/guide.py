"""Follows a guide: writes its files, runs its commands and looks for what it says they print.

usage: guide.py GUIDE.md SOURCE BUILD WORK

In the guide, a fence "```mlir NAME" is a file NAME, "```sh" is commands to run from the root of the repository, and a
"```text" behind it is what they print: its lines in this order, with "..." for any lines between them and for the rest
of a line; a line of less than four letters is a whole one. Commands of a "```console" are for the reader only. A command that has to fail starts with "!".

"```diff PATH" is an edit of a source file, without line numbers: its old lines must be there exactly once. What the edits
make goes to WORK/edited; to try them, copy that over the sources.
"""

import os
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(script, work):
    """Returns the output of a script. Exits when one of its commands fails, or one behind '!' does not."""
    script = re.sub(r"^! (.*)$", r"if \1; then echo 'has not failed' && exit 1; fi", script, flags=re.MULTILINE)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=work, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"these commands failed:\n{script}\nand printed:\n{done.stdout}")
    return done.stdout


def check(expected, printed):
    lines = iter(printed.split("\n"))
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "...":
            continue
        pattern = re.compile(".*".join(map(re.escape, line.strip().split("..."))))
        matches = pattern.fullmatch if len(line.strip()) < 4 else pattern.search
        if not any(matches(candidate.strip()) for candidate in lines):
            sys.exit(f"'{line}' is not printed, or not behind the lines before it:\n{printed}")


def edit(source, edited, path, body):
    """Applies one edit to the copy of a source file."""
    copy = os.path.join(edited, path)
    with open(copy if os.path.exists(copy) else os.path.join(source, path), encoding="utf-8") as file:
        text = file.read()
    lines = body.split("\n")[:-1]
    old = "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
    new = "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
    if text.count(old) != 1:
        sys.exit(f"these lines are {text.count(old)} times in {path}:\n{old}")
    write(copy, text.replace(old, new))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    guide, source, build, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    os.symlink(build, os.path.join(work, "build"))
    for folder in "examples", "test":
        os.symlink(os.path.join(source, folder), os.path.join(work, folder))
    with open(guide, encoding="utf-8") as file:
        text = file.read()
    edited = os.path.join(work, "edited")
    printed, commands, edits = None, 0, 0
    for language, name, body in FENCE.findall(text):
        if language == "diff":
            edit(source, edited, name, body)
            edits += 1
        elif name:
            write(os.path.join(edited if "/" in name else work, name), body)
        elif language == "sh":
            printed = run(body, work)
            commands += 1
        elif language == "text":
            check(body, printed)
    print(f"{os.path.basename(guide)}: {commands} blocks of commands and {edits} edits are as the guide says")


main()
