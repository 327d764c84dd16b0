#!/usr/bin/env python3
"""lzero runs: what it lists of finished, killed, damaged and running runs.

    runs_test.py LZERO FOLDER
"""
import json
import pathlib
import shutil
import sys

from program import ROOT, Program
from short_runs import COUNTING, mean_returns, settings, train


def check_table(program):
    code, printed = program.run("runs")
    program.check("the default folder", code, printed, 0, "config            environment  seed  state     env steps ",
                  "counting_unizero  counting        0  finished ", "counting_unizero  counting       10  finished ",
                  "?                 ?               -  broken ", "runs/damaged: runs/damaged/status.json: ")
    places = [printed.index(path + "\n") for path in ("runs/deep/er/b", "runs/c4", "runs/c16", "runs/a")]
    program.check("by seed, then by path", 0, "ok" if places == sorted(places) else printed, 0, "ok")
    code, printed = program.output("runs", "runs", "--json")
    rows = {row["path"]: row for row in json.loads(printed)}
    means = mean_returns(program.folder / "runs/a")
    for key, expected in [("state", "finished"), ("seed", 10), ("env_steps", max(means)), ("num_evaluations", len(means)),
                          ("best_return", max(means.values())), ("last_return", means[max(means)])]:
        program.check(f"--json: {key}", code, str(rows["runs/a"][key]), 0, str(expected))
    program.check("--json: damaged", code, rows["runs/damaged"]["state"], 0, "broken")


def check_states(program):
    with program.started("train", ROOT / COUNTING, *settings(stop__max_env_steps=1000000), "--run-dir", "live",
                         after="env steps") as process:
        program.expect("at work", 0, ["  running  "], "runs", "live")
        process.kill()
        process.wait()
        program.expect("killed", 0, ["  stopped  "], "runs", "live")
    with program.started("resume", "live", after="env steps"):
        program.expect("resumed", 0, ["  running  "], "runs", "live")


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    program.expect("no folder", 2, ["error: no such folder: runs\n"], "runs")
    (folder / "runs/empty").mkdir(parents=True)
    program.expect("no runs", 0, ["no runs in runs\n"], "runs")
    train(program, "runs/a", seed=10)
    train(program, "runs/deep/er/b")
    for name in ("c16", "c4"):
        train(program, f"runs/{name}", seed=2)
    shutil.copytree(folder / "runs/a", folder / "runs/damaged", symlinks=True)
    (folder / "runs/damaged/status.json").write_text("{half")
    check_table(program)
    check_states(program)
    program.finish()


if __name__ == "__main__":
    main()
