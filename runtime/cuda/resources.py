"""Registers, spills and shared memory of the CUDA kernels, and whether one got worse.

usage: resources.py record COMMAND...     runs nvcc and keeps what ptxas says beside the object
       resources.py check BUILD TABLE     compares what was kept below BUILD with the table
       resources.py update BUILD TABLE    writes the table

A table's row is a kernel; its cells are registers/bytes of shared memory, one column per architecture.
"""

import os
import re
import subprocess
import sys

SUFFIX = ".resources"
COMPILING = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
ABSENT = "-"


def record(command):
    """The lines of ptxas go to a file, everything else to stderr as it came."""
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    own = [line for line in run.stderr.splitlines() if line.startswith("ptxas info") or "bytes stack frame" in line]
    for line in run.stderr.splitlines():
        if line not in own:
            print(line, file=sys.stderr)
    if run.returncode == 0 and "-o" in command:
        with open(command[command.index("-o") + 1] + SUFFIX, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in own)
    return run.returncode


def demangled(names):
    """Signature without the parameters: 'postKernel<float>'."""
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    short = {}
    for name, line in zip(names, text.splitlines()):
        line = line.replace("(anonymous namespace)::", "").removeprefix("void ").replace("__nv_bfloat16", "bf16")
        depth, end = 0, len(line)
        for at, letter in enumerate(line):
            depth += (letter == "<") - (letter == ">")
            if letter == "(" and depth == 0:
                end = at
                break
        short[name] = line[:end].replace("__half", "f16").replace(" ", "")
    return short


def read(build):
    """{(kernel, architecture): (registers, shared bytes, spilled bytes)}"""
    found, current = {}, None
    for folder, _, names in os.walk(build):
        for name in names:
            if not name.endswith(SUFFIX) or not os.path.exists(os.path.join(folder, name[:-len(SUFFIX)])):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in file:
                    if match := COMPILING.search(line):
                        current = match[1], match[2]
                    if current is None:
                        continue
                    registers, shared, spilled = found.get(current, (0, 0, 0))
                    if match := SPILLS.search(line):
                        spilled = int(match[1]) + int(match[2])
                    if match := USED.search(line):
                        registers = int(match[1])
                        shared = int(size[1]) if (size := SHARED.search(line)) else 0
                    found[current] = registers, shared, spilled
    short = demangled(sorted({kernel for kernel, _ in found}))
    return {(short[kernel], arch): value for (kernel, arch), value in found.items()}


def load(table):
    with open(table, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    cells = {}
    for kernel, *row in lines[1:]:
        for arch, cell in zip(lines[0][1:], row):
            if cell != ABSENT:
                cells[kernel, arch] = tuple(int(number) for number in cell.split("/"))
    return cells


def update(build, table):
    found = read(build)
    archs = sorted({arch for _, arch in found}, key=lambda arch: (int(re.search(r"\d+", arch)[0]), arch))
    kernels = sorted({kernel for kernel, _ in found})
    width = max(map(len, kernels)) + 2
    with open(table, "w", encoding="utf-8") as file:
        file.write("# Registers / bytes of static shared memory of each kernel; no kernel spills.\n"
                   "# Written by runtime/cuda/resources.py update; read by its check.\n")
        file.write("kernel".ljust(width) + "".join(arch.ljust(12) for arch in archs).rstrip() + "\n")
        for kernel in kernels:
            cells = ["/".join(map(str, found[kernel, arch][:2])) if (kernel, arch) in found else ABSENT
                     for arch in archs]
            file.write(kernel.ljust(width) + "".join(cell.ljust(12) for cell in cells).rstrip() + "\n")
    return 0


def problems(found, wanted):
    for (kernel, arch), (registers, shared, spilled) in sorted(found.items()):
        if spilled:
            yield f"{kernel} for {arch}: spills {spilled} bytes"
        most = wanted.get((kernel, arch))
        if most is None:
            yield f"{kernel} for {arch}: is not in the table"
        elif registers > most[0] or shared > most[1]:
            yield (f"{kernel} for {arch}: {registers} registers and {shared} bytes of shared memory; "
                   f"the table has {most[0]} and {most[1]}")
    for kernel, arch in sorted(set(wanted) - set(found)):
        yield f"{kernel} for {arch}: is in the table and was not compiled"


def check(build, table):
    found = read(build)
    lines = list(problems(found, load(table)))
    for line in lines:
        print(line)
    if lines:
        print(f"Mend the kernels, or run: resources.py update {build} {table}")
    print(f"{len(found)} kernels compared")
    return 1 if lines or not found else 0


def main(arguments):
    if arguments[:1] == ["record"]:
        return record(arguments[1:])
    if len(arguments) == 3 and arguments[0] in ("check", "update"):
        return (check if arguments[0] == "check" else update)(*arguments[1:])
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
