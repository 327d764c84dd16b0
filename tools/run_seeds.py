#!/usr/bin/env python3
"""Trains one config with several seeds, one after another, and prints a table of what came out.

    tools/run_seeds.py configs/classic/cartpole_unizero.yaml --seeds 0..4 --out DIR [key=value ...]

Each run lies in DIR/seed_N. The tables are Markdown: when it was solved, the last evaluation, wall time; then
env steps/s and the share of time of each part over the whole run. DIR/evaluations.csv has every evaluation.
Uses the release build (tools/run.sh makes it).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse_seeds(text):
    first, _, last = text.partition("..")
    return list(range(int(first), int(last or first) + 1))


def evaluations(run):
    """[(env steps, mean return)] in order."""
    rows = []
    for line in (run / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "eval/return_mean" in row:
            rows.append((row["env_steps"], row["eval/return_mean"]))
    return rows


def time_shares(run):
    """{part: share of the time} over the whole run, from the last metrics line that has them."""
    shares = {}
    for line in (run / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        found = {key.removeprefix("time/share_"): value for key, value in row.items()
                 if key.startswith("time/share_")}
        shares = found or shares
    return shares


def train(config, seed, out, overrides):
    run = out / f"seed_{seed}"
    command = [str(ROOT / "build/release/tools/lzero"), "train", config, f"seed={seed}", *overrides,
               "--run-dir", str(run)]
    started = time.monotonic()
    with open(out / f"seed_{seed}.log", "w") as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    wall = time.monotonic() - started
    state = json.loads((run / "checkpoints/latest/state.json").read_text())
    return {"seed": seed, "code": code, "wall": wall, "state": state, "evals": evaluations(run),
            "shares": time_shares(run)}


def print_shares(rows):
    """Nothing for deterministic runs, whose metrics carry no times."""
    rows = [row for row in rows if row["shares"]]
    if not rows:
        return
    parts = list(rows[0]["shares"])
    print(f"\n| seed | env steps/s | {' | '.join(parts)} |")
    print("|---" * (2 + len(parts)) + "|")
    for row in rows:
        state = row["state"]
        rate = state["env_steps"] / state["wall_seconds"]
        shares = " | ".join(f"{100 * row['shares'][part]:.1f} %" for part in parts)
        print(f"| {row['seed']} | {rate:.0f} | {shares} |")


def write_evaluations(rows, path):
    lines = [f"{row['seed']},{at},{value:.6g}\n" for row in rows for at, value in row["evals"]]
    path.write_text("seed,env_steps,return_mean\n" + "".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config")
    parser.add_argument("--seeds", default="0..4")
    parser.add_argument("--out", required=True)
    parser.add_argument("overrides", nargs="*")
    options = parser.parse_intermixed_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    print("| seed | solved: env steps | solved: s | evaluations after solving (min) | last eval "
          "| env steps | whole run s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    rows, solved_steps, solved_seconds = [], [], []
    for seed in parse_seeds(options.seeds):
        row = train(options.config, seed, out, options.overrides)
        rows.append(row)
        state = row["state"]
        steps, seconds = state["solved_env_steps"], state["solved_wall_seconds"]
        after = [value for at, value in row["evals"] if steps is not None and at > steps]
        if steps is not None:
            solved_steps.append(steps)
            solved_seconds.append(seconds)
        print(f"| {seed} | {steps if steps is not None else '-'} "
              f"| {f'{seconds:.1f}' if seconds is not None else '-'} "
              f"| {len(after)} ({f'{min(after):.1f}' if after else '-'}) "
              f"| {row['evals'][-1][1]:.2f} | {state['env_steps']} | {row['wall']:.1f} |", flush=True)
        if row["code"] != 0:
            print(f"seed {seed}: exit code {row['code']}", file=sys.stderr)
    if solved_steps:
        print(f"\nsolved {len(solved_steps)} of {len(parse_seeds(options.seeds))}; median "
              f"{statistics.median(solved_steps):.0f} env steps, "
              f"{statistics.median(solved_seconds):.1f} s")
    print_shares(rows)
    write_evaluations(rows, out / "evaluations.csv")


if __name__ == "__main__":
    main()
