#!/usr/bin/env python3
"""Draws episodes of CartPole side by side as one animated SVG, at the speed of the task (50 steps a second).

    animate_cartpole.py TITLE=FILE... --out FILE.svg

FILE is what `lzero eval --render text` or `lzero envs rollout cartpole --render text` printed; its first episode
is drawn. Plain Python, no packages.
"""
import argparse
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

STEP_S, PAUSE_S, EVERY = 0.02, 1.0, 2  # a picture for every second step
WIDTH, HEIGHT, FLOOR, METRE = 260, 190, 150, 50  # pixels
STATE = re.compile(r"^x (\S+)  x_dot \S+  theta (\S+) ", re.MULTILINE)
OVER = re.compile(r"return (\d+) +\((terminated|truncated)\)$", re.MULTILINE)


def read_episode(path):
    """([(cart position in m, angle of the pole in degrees)], whether the pole fell) of the first episode."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    over = OVER.search(text)
    if not over:
        sys.exit(f"error: {path}: no whole episode of CartPole")
    states = [(float(x), math.degrees(float(theta))) for x, theta in STATE.findall(text)]
    return states[:int(over.group(1)) + 1], over.group(2) == "terminated"


def animation(kind, values, duration_s, total_s):
    """Plays `values` in `duration_s`, then holds the last one until `total_s`, for ever."""
    times = [index / (len(values) - 1) * duration_s / total_s for index in range(len(values))]
    return (f'<animateTransform attributeName="transform" type="{kind}" dur="{total_s:g}s" repeatCount="indefinite" '
            f'keyTimes="{";".join(f"{time:.4g}" for time in times + [1])}" '
            f'values="{";".join(values + values[-1:])}"/>')


def draw_panel(title, states, fell, total_s):
    num_steps = len(states) - 1
    shown = states[:-1:EVERY] + states[-1:]
    carts = [f"{x * METRE:.1f}" for x, _ in shown]
    poles = [f"{angle:.1f}" for _, angle in shown]
    duration_s = num_steps * STEP_S
    color = "#d62728" if fell else "#2ca02c"
    words = f"falls after {num_steps} steps" if fell else f"stands for all {num_steps} steps"
    return [f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-weight="bold">{escape(title)}</text>',
            f'<path d="M10 {FLOOR}h{WIDTH - 20}" stroke="#999"/>',
            f'<g transform="translate({WIDTH / 2} {FLOOR})"><g>', animation("translate", carts, duration_s, total_s),
            '<rect x="-20" y="-18" width="40" height="18" rx="3" fill="#333"/><g transform="translate(0 -18)"><g>',
            animation("rotate", poles, duration_s, total_s),
            '<path d="M0 0v-80" stroke="#c8955c" stroke-width="7" stroke-linecap="round"/></g></g></g></g>',
            f'<text x="{WIDTH / 2}" y="{FLOOR + 25}" text-anchor="middle" fill="{color}">{words}'
            f'<animate attributeName="opacity" dur="{total_s:g}s" repeatCount="indefinite" calcMode="discrete" '
            f'keyTimes="0;{duration_s / total_s:.4g}" values="0;1"/></text>']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("episodes", nargs="+", metavar="TITLE=FILE")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    episodes = [(title, *read_episode(path)) for title, _, path in (text.rpartition("=") for text in arguments.episodes)]
    total_s = max(len(states) - 1 for _, states, _ in episodes) * STEP_S + PAUSE_S
    width = WIDTH * len(episodes)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" font-family="sans-serif" '
             'font-size="13">', f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>']
    for index, episode in enumerate(episodes):
        parts += [f'<g transform="translate({index * WIDTH} 0)">', *draw_panel(*episode, total_s), "</g>"]
    arguments.out.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
