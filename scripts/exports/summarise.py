#!/usr/bin/env python3
"""Prints what becomes of each export: a table of all, then totals by number format, open sizes and module.

  summarise.py EXPORTS [--bin build/bin] [--keep DIR]

An export is `whole` when the ops that its first line names are there and no op of the chain is left: nothing computes
with the streams but those ops and what makes streams of rows or rows of streams, and no other op of mhc with their
coefficients. Views and moves of the streams may stay, and, where no remark tells a miss, arithmetic on the coefficients
of a token, such as a gate divided by the sum of all.
It is `partly` when some of the chain became ops of mhc, `missed` when nothing did, `silent` when it is not whole and
no remark says why, and an `error` when mhc-opt fails.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess

import sizes

KERNELS = {"pre_gated_delta_rule", "pre", "post", "head", "aggregate", "projection", "gates", "sinkhorn", "permutation_mix"}
FUSED = {"mhc.pre", "mhc.post", "mhc.head", "mhc.pre_gated_delta_rule", "mhc.expand", "mhc.contract"}
MOVES = {"mhc.transpose", "linalg.transpose", "mhc.broadcast", "linalg.fill"}
VIEWS = ("tensor.", "arith.constant", "func.", "cf.assert")
REMARK = re.compile(r"remark: \[Missed\] (\S+) \|.*?(?:Function=\S+ \| )?(.*)")
STATUSES = ("whole", "partly", "missed", "silent", "error")


def operations(text):
    """The ops of the functions as (name, results, operands, text), each with its regions."""
    ops, head = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if indent == 4 and not line.startswith("    }") and not line.startswith("    ^"):
            head = [line]
            ops.append(head)
        elif head is not None and indent >= 4:
            head.append(line)
    for lines in ops:
        results, equals, rest = lines[0].strip().partition(" = ")
        if not results.startswith("%") or not equals:
            results, rest = "", lines[0].strip()
        name = re.match(r'"?([\w.]+)', rest)
        yield (name[1] if name else "", {r.split(":")[0] for r in re.findall(r"%[\w:]+", results)},
               set(re.findall(r"%\w+", " ".join([rest, *lines[1:]]))), " ".join(lines))


def shapes(text):
    return [{int(d) for d in shape.split("x") if d.isdigit()} for shape in re.findall(r"tensor<([\dx?]+)x[a-z]", text)]


def left_over(text, streams, chain, of_streams):
    """Names of the chain's ops that are left, counted: what reads the streams and has a size of the chain, which only
    streams and their coefficients have: sizes.py keeps those of a sublayer and of the tokens apart. With
    `of_streams`, arithmetic on coefficients alone is none."""
    touched = {f"%arg{i}" for i in range(streams)}
    left = collections.Counter()
    for name, results, operands, body in operations(text):
        if not operands & touched or name == "tensor.dim":
            continue
        touched |= results
        moves = name == "linalg.generic" and re.search(r"\^bb0\(%(\w+):[^)]*\):\s*linalg\.yield %\1 ", body)
        if name in FUSED or name in MOVES or name.startswith(VIEWS) or name == "return" or moves:
            continue
        ours = [shape for shape in shapes(body) if shape & chain]
        plain = of_streams and name.startswith(("arith.", "math.", "mhc.reduce"))
        if any(not plain or sizes.N * sizes.C in shape or sizes.C in shape for shape in ours):
            left[name] += 1
    return left


def examine(file, tools, keep):
    """(status, first remark, what is left) of one export."""
    first = re.match(r"// streams: (\d+); fused: (.*); chain: (.*)", file.read_text())
    streams, fused, chain = first[1], first[2], {int(size) for size in first[3].split()}
    command = [tools / "mhc-opt", file, "--mhc-raise", "--mhc-fuse", "--canonicalize", "--remarks-filter=mhc.*",
               "--remark-format=emitRemark"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "error", "took more than 120 s", ""
    if keep:
        (keep / file.name).write_text(run.stdout)
        (keep / file.with_suffix(".txt").name).write_text(run.stderr)
    remark = REMARK.search(run.stderr)
    reason = f"{remark[1]}: {remark[2]}" if remark else ""
    if run.returncode:
        return "error", next((line for line in run.stderr.splitlines() if "error:" in line), "crash"), ""
    found = collections.Counter(re.findall(r"\bmhc\.(\w+)\(", run.stdout))
    wanted = collections.Counter(fused.split())
    left = left_over(run.stdout, int(streams), chain, of_streams="post" in wanted and not remark)
    left -= collections.Counter({f"mhc.{name}": n for name, n in wanted.items()})
    if not wanted - found and not left:
        return "whole", reason, ""
    rest = ", ".join(f"{count} {name}" for name, count in left.most_common(4))
    made = " ".join(name for name in found if name in KERNELS)
    status = "silent" if not reason else "partly" if made else "missed"
    return status, reason, f"{made}; left: {rest}"


def totals(title, rows, key):
    groups = collections.defaultdict(collections.Counter)
    for name, result in rows:
        groups[key(name)][result[0]] += 1
    print(f"\n| {title} | files | {' | '.join(STATUSES)} | whole % |\n|---{'|---' * (len(STATUSES) + 2)}|")
    for group, counts in groups.items():
        count = sum(counts.values())
        figures = [count, *(counts[status] for status in STATUSES), f"{100 * counts['whole'] / count:.0f}"]
        print(f"| {group} | {' | '.join(map(str, figures))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exports", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"), help="folder of mhc-opt")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the fused IR and all remarks")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    files = sorted(arguments.exports.glob("*.mlir"))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda file: examine(file, arguments.bin, arguments.keep), files)
    rows = [(file.stem, result) for file, result in zip(files, results)]
    print("| export | becomes | first remark | ops and what is left |\n|---|---|---|---|")
    for name, (status, reason, rest) in rows:
        print(f"| {name} | {status} | {reason[:160].replace('|', '/')} | {rest} |")
    totals("all", rows, lambda name: "all")
    totals("format", rows, lambda name: name.split("-")[1])
    totals("open", rows, lambda name: name.split("-")[2])
    totals("module", rows, lambda name: name.split("-")[0])


if __name__ == "__main__":
    main()
