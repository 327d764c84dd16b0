#!/usr/bin/env python3
"""Draws the evaluations of an experiment as learning curves: an SVG with a panel a setting, a line a seed.

    tools/plot_curves.py experiments/DATE_QUESTION/evaluations.csv --target 195 --out curves.svg

The CSV has a header; its last two columns are env steps and a mean return, a column `seed` tells the lines apart,
and what stands left of it names the setting. Plain Python, no packages.
"""
import argparse
import csv
import math
import pathlib
import sys
from xml.sax.saxutils import escape

COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22",
          "#e377c2"]
PANEL, PLOT, MARGIN, COLUMNS = (300, 200), (230, 135), (55, 30), 3


def read_curves(path):
    """{setting: {seed: [(env steps, mean return)]}} in the order of the file."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if not rows or len(rows[0]) < 2:
        raise ValueError(f"{path}: no header with at least two columns")
    header, curves = rows[0], {}
    seed_at = header.index("seed") if "seed" in header[:-2] else None
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}:{number}: {len(row)} columns, the header has {len(header)}")
        try:
            point = (float(row[-2]), float(row[-1]))
        except ValueError:
            raise ValueError(f"{path}:{number}: the last two columns are no numbers: {row[-2]}, {row[-1]}") from None
        setting = " ".join(row[:seed_at or 0])
        seed = "0" if seed_at is None else row[seed_at]
        curves.setdefault(setting, {}).setdefault(seed, []).append(point)
    if not curves:
        raise ValueError(f"{path}: no evaluations")
    return curves


def ticks(low, high):
    """Two to six round numbers in [low, high]."""
    unit = 10 ** math.floor(math.log10((high - low) / 5))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if (high - low) / (unit * factor) <= 5)
    return [index * step for index in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


def number_text(value):
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1000:g}k" if abs(value) >= 10000 else f"{value:g}"


def limits(values, target):
    low, high = min(values), max(values)
    if target is not None:
        low, high = min(low, target), max(high, target)
    return (low, high) if high > low else (low - 1, high + 1)


def draw_panel(setting, seeds, value_limits, target):
    steps = [point[0] for line in seeds.values() for point in line]
    right = max(steps) or 1
    low, high = value_limits

    def at(x, y):
        return (MARGIN[0] + x / right * PLOT[0], MARGIN[1] + (high - y) / (high - low) * PLOT[1])

    parts = [f'<text x="{MARGIN[0]}" y="20" font-weight="bold">{escape(setting)}</text>',
             f'<rect x="{MARGIN[0]}" y="{MARGIN[1]}" width="{PLOT[0]}" height="{PLOT[1]}" fill="none" '
             'stroke="#999"/>']
    for value in ticks(low, high):
        y = at(0, value)[1]
        parts.append(f'<path d="M{MARGIN[0]} {y:.1f}h{PLOT[0]}" stroke="#ddd"/>'
                     f'<text x="{MARGIN[0] - 5}" y="{y + 4:.1f}" text-anchor="end">{number_text(value)}</text>')
    for value in ticks(0, right):
        x = at(value, low)[0]
        parts.append(f'<text x="{x:.1f}" y="{MARGIN[1] + PLOT[1] + 15}" text-anchor="middle">'
                     f'{number_text(value)}</text>')
    if target is not None:
        parts.append(f'<path d="M{MARGIN[0]} {at(0, target)[1]:.1f}h{PLOT[0]}" stroke="#000" '
                     'stroke-dasharray="4 3"/>')
    for index, (seed, line) in enumerate(seeds.items()):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[index % len(COLORS)]}" '
                     f'stroke-width="1.5"><title>seed {escape(seed)}</title></polyline>')
    return parts


def returns(panels):
    return [point[1] for seeds in panels for line in seeds.values() for point in line]


def draw(curves, target, own_scales):
    """The SVG as text."""
    columns = min(COLUMNS, len(curves))
    width, height = columns * PANEL[0], -(-len(curves) // columns) * PANEL[1]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for index, (setting, seeds) in enumerate(curves.items()):
        x, y = index % columns * PANEL[0], index // columns * PANEL[1]
        scale = limits(returns([seeds] if own_scales else curves.values()), target)
        parts += [f'<g transform="translate({x} {y})">',
                  *draw_panel(setting or "env steps", seeds, scale, target), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--target", type=float, help="a dashed line at this return")
    parser.add_argument("--own-scales", action="store_true",
                        help="returns of each panel on a scale of its own: for different tasks")
    parser.add_argument("--out", type=pathlib.Path, help="default: curves.svg beside the CSV")
    arguments = parser.parse_args()
    try:
        curves = read_curves(arguments.csv)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    out = arguments.out or arguments.csv.with_name("curves.svg")
    out.write_text(draw(curves, arguments.target, arguments.own_scales), encoding="utf-8")
    print(f"{out}: {len(curves)} settings, {sum(map(len, curves.values()))} runs")


if __name__ == "__main__":
    main()
