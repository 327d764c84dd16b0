#!/usr/bin/env python3
"""One user's journey through the program: train, look, Ctrl-C, resume, evaluate, trace.

    journey_test.py LZERO FOLDER
"""
import json
import os
import pathlib
import shutil
import sys

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"


def check_eval(program, folder):
    """Tables for people, one JSON object for programs, and a bar that sets the exit code."""
    program.expect("eval", 0, ["mean", "IQM"], "eval", "run", "--episodes", "3")
    code, printed = program.run("eval", "run", "--seeds", "1..4", "--json")
    program.check("eval --json", code, printed, 0, '"episodes":4', '"seeds":[1,2,3,4]')
    told = json.loads(printed[printed.index("{"):].splitlines()[0])
    mean, steps = sum(told["returns"]) / 4, sum(told["lengths"]) / 4
    program.check("eval --json tells every episode", code, str([mean, steps]), 0,
                  str([told["return_mean"], told["length_mean"]]))
    again = program.run("eval", "run", "--seeds", "1..4", "--json")[1]
    program.check("eval twice gives the same", 0 if again == printed else 1, again, 0)
    code, printed = program.output("eval", "run", "--seeds", "1..2", "--json", "--render", "text")
    program.check("eval --json --render prints one object", code, str(json.loads(printed)), 0,
                  "'episodes': 2")
    code, printed = program.run("eval", "run", "--seeds",
                                "18446744073709551614..18446744073709551615", "--json")
    program.check("eval of the last seeds there are", code, printed, 0, '"episodes":2')
    shutil.copytree(folder / "run", os.fsdecode(os.fsencode(folder) + b"/run\xff"), symlinks=True)
    code, printed = program.output("eval", os.fsdecode(b"run\xff"), "--episodes", "2", "--json")
    program.check("eval of a path that is not UTF-8", code, json.loads(printed)["checkpoint"], 0,
                  "run\ufffd/checkpoints/")
    program.expect("eval below the bar", 3, ["below --min-return"], "eval", "run", "--episodes", "2",
                   "--min-return", "1000")
    program.expect("eval rendered", 0, ["return"], "eval", "run", "--episodes", "1", "--render", "text")


def check_grade(program):
    program.expect("a board game", 0, ["run folder"], "train",
                   ROOT / "configs/boards/tictactoe_unizero.yaml", "stop.max_env_steps=80",
                   "train.start_env_steps=50", "search.num_simulations=2", "evaluate.every_updates=0",
                   "evaluate.episodes=2", "--run-dir", "board")
    program.expect("grade", 0, ["search 2 ", "policy alone", "of 4520"], "eval", "board", "--grade")
    program.expect("a new end of a schedule", 0, ["learning rate falls towards the new end"], "resume", "board",
                   "stop.max_env_steps=90")
    program.expect("another board game", 0, ["run folder"], "train",
                   ROOT / "configs/boards/tictactoe_unizero.yaml", "env.id=connect4", "stop.max_env_steps=80",
                   "train.start_env_steps=50", "search.num_simulations=2", "evaluate.every_updates=0",
                   "evaluate.episodes=2", "--run-dir", "four")
    code, printed = program.interrupt("eval", "four", "--grade", "--sims", "2000", "--verbose", after="runner")
    program.check("Ctrl-C in a grade", code, printed, 130, "interrupted: the evaluation ends here, without a report")
    code, printed = program.output("eval", "four", "--grade", "--json")
    groups = json.loads(printed)["players"][0]["groups"]
    program.check("grade by the number of stones", code, str([[one["name"], one["positions"]] for one in groups]),
                  0, "[['12 .. 15 stones', 176], ['16 .. 19 stones', 176]", "['32 .. 34 stones', 129]]")
    code, printed = program.output("eval", "board", "--grade", "--json")
    grades = json.loads(printed)["players"]
    program.check("grade --json prints one object", code, str([one["player"] for one in grades]), 0,
                  "['search 2', 'policy alone']")


def check_chance(program):
    program.expect("a game of chance", 0, ["run folder"], "train",
                   ROOT / "configs/stochastic/2048_stochastic_muzero.yaml", "env.num_collectors=2",
                   "env.num_evaluators=2", "model.embed_dim=8", "model.head_dim=8", "train.batch_size=4",
                   "search.num_simulations=2", "train.start_env_steps=20", "stop.max_env_steps=40",
                   "evaluate.every_updates=0", "evaluate.episodes=1", "--run-dir", "chance")
    program.expect("chance", 0, ["32 chance outcomes", "log-loss", "knowing nothing 3.4657"], "eval",
                   "chance", "--chance", "--episodes", "2")
    code, printed = program.output("eval", "chance", "--chance", "--episodes", "2", "--json")
    report = json.loads(printed)
    program.check("chance --json prints one object", code, str(sorted(report)), 0, "'bins'", "'divergence'")
    program.check("an untrained model is no better than the least possible", code,
                  str(report["log_loss"] > report["entropy"]), 0, "True")


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)

    program.expect("plan only", 0, ["parameters", "replay"], "train", COUNTING, "--dry-run")
    program.check("a plan leaves nothing", 1 if (folder / "runs").exists() else 0, "", 0)

    code, printed = program.interrupt("train", COUNTING, "stop.max_env_steps=1000000",
                                      "--run-dir", "run", after="env steps/s")
    program.check("Ctrl-C", code, printed, 130, "interrupted", "resume run")
    status = json.loads((folder / "run/status.json").read_text())
    program.check("status.json after Ctrl-C", 0 if status["state"] == "interrupted" else 1,
                  str(status), 0)
    updates = json.loads((folder / "run/checkpoints/latest/state.json").read_text())["updates"]
    program.expect("resume", 0, ["run folder"], "resume", "run",
                   f"stop.max_updates={updates + 30}", "stop.max_env_steps=null")
    state = json.loads((folder / "run/checkpoints/latest/state.json").read_text())
    program.check("the resumed run made its 30 updates", state["updates"] - updates, "", 30)

    lines = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    names = {name for line in lines for name in line}
    wanted = {"loss/total", "loss/policy", "grad/norm", "replay/size", "time/env_steps_per_s",
              "eval/return_mean", "collect/return_mean", "search/root_value"}
    program.check("metric names", 0 if wanted <= names else 1, str(sorted(wanted - names)), 0)
    program.check("a TensorBoard file", 0 if list((folder / "run/tb").iterdir()) else 1, "", 0)

    program.expect("inspect", 0, ["every file intact", "action_embedding"], "inspect", "run", "--tensors")
    check_eval(program, folder)
    check_grade(program)
    check_chance(program)

    program.expect("rollout", 0, [], "envs", "rollout", "cartpole", "--steps", "20", "--out", "t.jsonl")
    program.expect("replay", 0, [], "envs", "replay", "cartpole", "--trace", "t.jsonl", "--whole")
    program.expect("check", 0, [], "envs", "check", "catch", "--steps", "200")
    program.expect("golden searches", 0, ["ok"], "search", "replay",
                   *sorted((ROOT / "tests/golden/search").glob("*.json")))
    program.expect("doctor", 0, ["libtorch", "processor"], "doctor")
    program.expect("version", 0, ["lzero 0."], "--version")
    for verb in ["train", "resume", "eval", "inspect", "doctor", "config", "envs", "search", "bench"]:
        program.expect(f"help of {verb}", 0, ["Usage"], verb, "--help")
    program.finish()


if __name__ == "__main__":
    main()
