#!/usr/bin/env python3
"""Draws the roofline of one GPU and prints the table of its kernels, from what `mhc-bench --backend=cuda --json` printed.

usage: roofline.py DATA [--csv=FILE] [--svg=FILE] [--shape=8192x4096] [--table]

DATA is that JSON, or a table that --csv wrote: what is needed of it, to be kept beside the picture.
"""

import argparse
import csv
import json
import math

COLUMNS = ("kernel", "dtype", "M", "C", "n", "us", "bytes", "flops", "copy_gbs", "multiply_adds_per_second", "variant")
WIDTH, HEIGHT = 860, 560
LEFT, RIGHT, TOP, BOTTOM = 70, 250, 40, 60
X_RANGE, Y_RANGE = (0.3, 60.0), (300.0, 200000.0)  # flops a byte; Gflop/s
LABELLED = ("aggregate", "aggregate_bwd", "contract", "expand", "post", "post_bwd", "post_bwd without d_x", "pre",
            "pre_bwd", "projection", "projection_bwd", "head", "head_bwd", "sublayer forward", "sublayer backward",
            "sublayer", "post_pre", "post_pre with norm", "post_pre_bwd", "post_head", "boundary")


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file) if path.endswith(".json") else list(csv.DictReader(file))
    for row in rows:
        for key in COLUMNS[2:-1]:
            row[key] = float(row[key])
    return rows


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([f"{row[key]:.6g}" if isinstance(row[key], float) else row[key] for key in COLUMNS])


def shape_of(row):
    return f"{row['M']:.0f}x{row['C']:.0f}"


def percent(row):
    return 100 * row["bytes"] / (row["us"] * 1e3) / row["copy_gbs"]


def print_table(rows):
    shapes = sorted({shape_of(row) for row in rows}, key=lambda shape: tuple(map(int, shape.split("x"))))
    cells = {(row["kernel"], shape_of(row)): f"{row['us']:.4g} ({percent(row):.0f})" for row in rows}
    print("| kernel | " + " | ".join(shapes) + " |")
    print("| --- |" + " --- |" * len(shapes))
    for kernel in sorted({row["kernel"] for row in rows}):
        print(f"| {kernel} | " + " | ".join(cells.get((kernel, shape), "") for shape in shapes) + " |")


def x_at(intensity):
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(intensity / X_RANGE[0]) / math.log(X_RANGE[1] / X_RANGE[0])


def y_at(speed):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(speed / Y_RANGE[0]) / math.log(Y_RANGE[1] / Y_RANGE[0])


def grid():
    for power in range(0, 2):
        x = x_at(10.0**power)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10.0**power:g}</text>'
    for power in range(3, 6):
        y = y_at(10.0**power)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**(power - 3):g}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:.0f}" y="{HEIGHT - 18}" text-anchor="middle">operations per byte that must move</text>'
    yield f'<text transform="translate(20 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">Tflop/s</text>'


def line(from_x, from_y, to_x, to_y, dashes=""):
    return (f'<line x1="{x_at(from_x):.1f}" y1="{y_at(from_y):.1f}" x2="{x_at(to_x):.1f}" y2="{y_at(to_y):.1f}" '
            f'stroke="#222" stroke-dasharray="{dashes}"/>')


def roofs(copy_gbs, peak):
    """The memory's, and that of f32 multiply-adds, beyond which a kernel multiplies in matrix units."""
    first, last = max(X_RANGE[0], Y_RANGE[0] / copy_gbs), min(X_RANGE[1], Y_RANGE[1] / copy_gbs)
    yield line(first, first * copy_gbs, last, last * copy_gbs)
    yield line(peak / copy_gbs, peak, X_RANGE[1], peak, "5 4")
    yield f'<text x="{x_at(1.5):.1f}" y="{y_at(1.5 * copy_gbs) - 14:.1f}" text-anchor="end">copy, {copy_gbs:.0f} GB/s</text>'
    yield f'<text x="{WIDTH - RIGHT + 12}" y="{y_at(peak) + 4:.1f}">f32 multiply-adds</text>'


def points(rows):
    shown = sorted((row for row in rows if row["flops"] > 0 and row["kernel"] in LABELLED), key=lambda row: row["kernel"])
    for number, row in enumerate(shown, 1):
        intensity, speed = row["flops"] / row["bytes"], row["flops"] / row["us"] / 1e3
        x, y, legend = x_at(intensity), y_at(speed), TOP + 110 + 19 * number
        color = "#b22" if row["variant"] == "generic" else "#06c"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>'
        place = f'x="{x + 5:.1f}" y="{y + 14:.1f}"' if number % 2 else f'x="{x - 5:.1f}" y="{y - 5:.1f}" text-anchor="end"'
        yield f'<text {place} fill="{color}" font-size="10">{number}</text>'
        yield (f'<text x="{WIDTH - RIGHT + 12}" y="{legend}" fill="{color}">{number} {row["kernel"]}: '
               f'{row["us"]:.4g} us, {percent(row):.0f} %</text>')


def svg(rows, shape):
    rows = [row for row in rows if shape_of(row) == shape]
    copy_gbs = sorted(row["copy_gbs"] for row in rows)[len(rows) // 2]
    peak = 2e-9 * max(row["multiply_adds_per_second"] for row in rows)
    title = f"M x C = {shape}, n = {rows[0]['n']:.0f}, {rows[0]['dtype']}: time, and percent of the copy at fewest bytes"
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12">')
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    yield f'<text x="{LEFT}" y="24" font-size="14">{title}</text>'
    yield from grid()
    yield from roofs(copy_gbs, peak)
    yield from points(rows)
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--csv", help="write what is needed of DATA")
    parser.add_argument("--svg", help="write the picture of one shape")
    parser.add_argument("--shape", default="8192x4096")
    parser.add_argument("--table", action="store_true", help="print microseconds and percent of the copy as Markdown")
    args = parser.parse_args()
    rows = read(args.data)
    if args.csv:
        write_csv(args.csv, rows)
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write("\n".join(svg(rows, args.shape)) + "\n")
    if args.table:
        print_table(rows)


if __name__ == "__main__":
    main()
