#!/usr/bin/env python3
"""lzero compare: groups, numbers, and a clear message for everything that cannot be compared.

    compare_test.py LZERO FOLDER
"""
import json
import pathlib
import shutil
import statistics
import sys

from program import Program
from short_runs import mean_returns, train

TARGET = 0.5

# (what, exit code, parts, arguments)
COMMANDS = [
    ("nothing to compare", 2, ["error: compare: runs is needed"], []),
    ("missing folder", 2, ["error: no such folder: nowhere"], ["nowhere"]),
    ("a file", 2, ["error: sweep/sweep.json is a file; allowed: a run folder or a folder with run folders in it"],
     ["sweep/sweep.json"]),
    ("no run", 2, ["error: empty holds no run: neither it nor a folder below it has a manifest.json"], ["empty"]),
    ("not finished", 2, ["error: cut: is interrupted at ", "--unfinished takes it as it is"], ["cut"]),
    ("not finished, but wanted", 0, ["cut  "], ["cut", "--unfinished"]),
    ("damaged", 2, ["error: worn/config.resolved.yaml"], ["worn"]),
    ("target that is none", 2, ["--target: got 'much', allowed: a number"], ["sweep", "--target", "much"]),
    ("different environments", 0, ["environment catch\ngroup ", "environment counting\ngroup ", "not compared: groups on "
                                   "different environments, whose returns have no common scale", "over 1 shared seed\n"],
     ["sweep/slow/seed_0", "catch", "sweep/fast/seed_0"]),
]


def steps_to(means, target):
    """Env steps of the third evaluation in a row at `target` or more."""
    steps = sorted(means)
    return next((steps[i] for i in range(2, len(steps)) if min(means[step] for step in steps[i - 2:i + 1]) >= target),
                None)


def check_numbers(program):
    code, printed = program.output("compare", "sweep", "--target", TARGET, "--json")
    found = json.loads(printed)
    program.check("a group a combination", code, str([group["group"] for group in found["groups"]]), 0,
                  "['sweep: train.learning_rate=0.01', 'sweep: train.learning_rate=0.002']")
    finals = {}
    for name, group in zip(("fast", "slow"), found["groups"]):
        means = [mean_returns(path) for path in sorted((program.folder / "sweep" / name).glob("seed_*"))]
        finals[name] = [one[max(one)] for one in means]
        first = [steps_to(one, TARGET) for one in means]
        for key, expected in [("final_mean", statistics.mean(finals[name])),
                              ("final_median", statistics.median(finals[name])),
                              ("num_solved", sum(step is not None for step in first))]:
            program.check(f"{name}: {key}", code, str(abs(group[key] - expected) < 1e-9), 0, "True")
        program.check(f"{name}: steps to the target", code, str([run["env_steps_to_target"] for run in group["runs"]]),
                      0, str(first))
    intervals = [group["final_iqm"]["interval"] is not None for group in found["groups"]]
    program.check("an interval from five runs on", code, str(intervals), 0, "[True, False]")
    fast, slow = finals["fast"], finals["slow"]
    wins = sum((a > b) + 0.5 * (a == b) for a in fast for b in slow) / (len(fast) * len(slow))
    pair = found["pairs"][0]
    difference = statistics.mean(a - b for a, b in zip(fast, slow))
    program.check("P(A better)", code, str(abs(pair["probability_of_improvement"]["value"] - wins) < 1e-9), 0, "True")
    program.check("paired", code, str(abs(pair["paired_difference"]["value"] - difference) < 1e-9), 0, "True")
    program.check("the same again", int(program.output("compare", "sweep", "--target", TARGET, "--json")[1] != printed),
                  printed, 0)


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    for name, rate, num_seeds in (("fast", 0.01, 5), ("slow", 0.002, 2)):
        for seed in range(num_seeds):
            train(program, f"sweep/{name}/seed_{seed}", seed=seed, train__learning_rate=rate, stop__max_env_steps=600, search__num_simulations=4)
    (folder / "sweep/sweep.json").write_text("{}")
    train(program, "catch", config="configs/teaching/catch_unizero.yaml")
    for copy in ("cut", "worn"):
        shutil.copytree(folder / "sweep/slow/seed_0", folder / copy, symlinks=True)
    status = folder / "cut/status.json"
    status.write_text(status.read_text().replace('"finished"', '"interrupted"'))
    (folder / "worn/config.resolved.yaml").write_text("env: [")
    (folder / "empty").mkdir()
    for what, code, parts, arguments in COMMANDS:
        program.expect(what, code, parts, "compare", *arguments)
    check_numbers(program)
    code, printed = program.run("compare", "sweep")
    program.check("tables", code, printed, 0, "group                             runs ", "no target",
                  "A = sweep: train.learning_rate=0.01\nB = sweep: train.learning_rate=0.002\nP(A better) ",
                  "(no interval: too few runs)", "mean over 2 shared seeds", "settings      train.learning_rate: 0.01 -> 0.002",
                  "sweep: train.learning_rate=0.002: final returns: ")
    rule = "No interval for fewer than 5 runs, where a bootstrap is too narrow"
    program.check("a rule that is told once", int(printed.count(rule) != 1), printed, 0)
    shutil.copytree(folder / "worn", folder / "sweep/worn", symlinks=True)
    program.expect("a damaged one among good ones", 0,
                   ["skipped: sweep/worn: sweep/worn/config.resolved.yaml", "P(A better)"], "compare", "sweep")
    program.finish()


if __name__ == "__main__":
    main()
