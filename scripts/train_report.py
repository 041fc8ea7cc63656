"""Compares training runs: a table of losses and step times, and their curves as an SVG.

usage: train_report.py --svg=FILE [--same=NAME,NAME:BOUND]... NAME=LOG...

A LOG is what `mhc-train --log` writes. The first run is what the step times of the others are compared with. `--same`
asks that two losses differ by at most BOUND at every step; 0 asks for the same numbers.
"""

import argparse
import csv
import html
import statistics
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 480, 60, 20, 50, 50
COLORS = ["#777777", "#d55e00", "#0072b2", "#009e73", "#cc79a7"]
SMOOTH = 20  # a curve shows the mean of this many steps


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit(f"train_report.py: error: '{path}' has no steps")
    return [float(row["loss"]) for row in rows], [float(row["milliseconds"]) for row in rows]


def smooth(losses):
    return [statistics.fmean(losses[max(0, i + 1 - SMOOTH):i + 1]) for i in range(len(losses))]


def table(runs):
    first = statistics.median(next(iter(runs.values()))[1])
    lines = [f"{'run':<24}{'loss':>8}{'ms/step':>10}{'more':>9}"]
    for name, (losses, times) in runs.items():
        time = statistics.median(times)
        lines.append(f"{name:<24}{smooth(losses)[-1]:>8.4f}{time:>10.1f}{100 * (time / first - 1):>8.0f}%")
    return lines


def curve(losses, steps, low, high):
    x = lambda i: LEFT + (WIDTH - LEFT - RIGHT) * i / max(1, steps - 1)
    y = lambda loss: TOP + (HEIGHT - TOP - BOTTOM) * (high - loss) / (high - low or 1)
    every = -(-steps // WIDTH)  # more points than the picture is wide are not seen
    return " ".join(f"{x(i):.1f},{y(losses[i]):.1f}" for i in range(0, len(losses), every))


def axes(steps, low, high):
    for i in range(5):
        y, loss = TOP + (HEIGHT - TOP - BOTTOM) * i / 4, high - (high - low) * i / 4
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{loss:.2f}</text>'
        x, step = LEFT + (WIDTH - LEFT - RIGHT) * i / 4, 1 + (steps - 1) * i / 4
        yield f'<text x="{x}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{step:.0f}</text>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">step</text>'


def picture(runs):
    curves = {name: smooth(losses) for name, (losses, _) in runs.items()}
    steps = max(len(curve) for curve in curves.values())
    low, high = min(map(min, curves.values())), max(map(max, curves.values()))
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
           f'font-size="13">')
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    yield f'<text x="{LEFT}" y="24" font-size="16">Training loss, mean of {SMOOTH} steps</text>'
    yield from axes(steps, low, high)
    for i, (name, losses) in enumerate(curves.items()):
        # Curves that agree lie on one another: dashes of different lengths show all of them.
        dash = f' stroke-dasharray="{14 - 3 * i} {4 * i}"' if i else ""
        color = COLORS[i % len(COLORS)]
        yield (f'<polyline points="{curve(losses, steps, low, high)}" fill="none" stroke="{color}" '
               f'stroke-width="2"{dash}/>')
        y = TOP + 10 + 20 * i
        yield f'<line x1="{WIDTH - 270}" x2="{WIDTH - 230}" y1="{y}" y2="{y}" stroke="{color}" stroke-width="2"{dash}/>'
        time = statistics.median(runs[name][1])
        yield f'<text x="{WIDTH - 222}" y="{y + 4}">{html.escape(name)}, {time:.0f} ms/step</text>'
    yield "</svg>"


def compare(runs, words):
    """False when two losses differ by more than their bound."""
    names, bound = words.rsplit(":", 1)
    a, b = names.split(",")
    difference = max(abs(x - y) for x, y in zip(runs[a][0], runs[b][0], strict=True))
    good = difference <= float(bound)
    print(f"{a} and {b}: losses differ by {difference:.2g} at most, {'as' if good else 'WRONG:'} "
          f"needed at most {bound}")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--svg", required=True)
    parser.add_argument("--same", action="append", default=[])
    parser.add_argument("runs", nargs="+")
    options = parser.parse_args()
    runs = {name: read(path) for name, path in (run.split("=", 1) for run in options.runs)}
    print("\n".join(table(runs)))
    good = [compare(runs, words) for words in options.same]
    with open(options.svg, "w", encoding="utf-8") as file:
        file.write("\n".join(picture(runs)) + "\n")
    print(f"the curves are in {options.svg}")
    sys.exit(0 if all(good) else 1)


main()
