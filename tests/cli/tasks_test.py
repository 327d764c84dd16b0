#!/usr/bin/env python3
"""Several tasks in one model, from the command line: train, kill -9, resume, play, scores, forgetting, errors.

    tasks_test.py LZERO FOLDER
"""
import json
import pathlib
import shutil
import subprocess
import sys

from program import ROOT, Program

# Small enough for seconds: planes, a board for two, real numbers.
CONFIG = f"""extends: {ROOT}/configs/base/unizero.yaml
env: {{num_collectors: 4, num_evaluators: 4}}
model: {{encoder_width: 16, encoder_channels: 4, embed_dim: 16, num_layers: 1, support_size: 21, head_dim: 16}}
search: {{num_simulations: 4}}
replay: {{num_unroll_steps: 2, td_steps: 3, segment_length: 20}}
train: {{batch_size: 8, updates_per_env_step: 0.5, start_env_steps: 60, log_every_updates: 10}}
evaluate: {{every_updates: 60, episodes: 4}}
checkpoint: {{every_updates: 40}}
stop: {{max_env_steps: 400, end_at_target: false}}
deterministic: true
tasks:
  - {{name: drop, env: {{id: catch}}, model: {{encoder: board}}, score: {{random: -0.6, expert: 1}}, stop: {{target_return: 1}}}}
  - {{name: xo, env: {{id: tictactoe}}, score: {{measure: grade, random: 0.5, expert: 1}}}}
  - {{name: swing, env: {{id: pendulum, max_episode_steps: 40}}, search: {{num_sampled_actions: 3}}, score: {{random: -300, expert: 0}}}}
"""
# The same model learns another task from the first run, what it has of the old ones frozen.
LATER = CONFIG.replace("deterministic: true", """deterministic: true
multitask: {freeze: [shared, drop, xo, swing]}
init: {from: first, parts: [shared, own]}""") + "  - {name: count, env: {id: counting}}\n"

# (what, exit code, parts, arguments)
COMMANDS = [
    ("plan", 0, ["swing         pendulum: observation [3], actions of 1 number", "engine and cache of its collector",
                 "model         "], ["train", "three.yaml", "--dry-run"]),
    ("one task alone", 0, ["environment   catch"], ["train", "three.yaml", "--task", "drop", "--dry-run"]),
    ("a task that is none", 2, ["error: --task: no task 'drip'; allowed: drop, swing, xo"],
     ["train", "three.yaml", "--task", "drip"]),
    ("a shared key in a task", 2, ["error: command line: tasks.drop.seed=3: all tasks share it; allowed: seed=3"],
     ["train", "three.yaml", "tasks.drop.seed=3"]),
    ("a part that is none", 2, ["multitask.share=[transfomer]: got transfomer; allowed: transformer, value_head"],
     ["train", "three.yaml", "multitask.share=[transfomer]"]),
    ("no run to start from", 2, ["error: command line: init.from: no such folder: "], ["train", "three.yaml", "init.from=nowhere"]),
    ("which task", 2, ["error: task: the run has several tasks; choose one with --task: drop, swing, xo"],
     ["eval", "first", "--render", "text"]),
    ("all tasks of a run", 0, ["task          drop\n", "task          swing\n", "environment   tictactoe"],
     ["eval", "first", "--episodes", "2"]),
    ("a task of a run", 0, ["environment   pendulum"], ["eval", "first", "--task", "swing", "--episodes", "2"]),
    ("a task that the run lacks", 2, ["error: task: no task 'count'; allowed: drop, swing, xo"],
     ["eval", "first", "--task", "count"]),
    ("a game of a run", 0, ["games"], ["match", "first", "random", "--task", "xo", "--games", "4"]),
    ("a game of no run", 2, ["error: --task: no player is of a task 'nope'"],
     ["match", "xo_alone", "random", "--task", "nope"]),
    ("inspect", 0, ["task          drop: catch, 400 env steps, 168 updates, mean return ", "mean score"],
     ["inspect", "first"]),
    ("resume what has ended", 0, ["nothing to do: every task is at the end of what `stop` asks for"],
     ["resume", "first"]),
    ("resume as another run", 2, ["would make it another run"], ["resume", "first", "tasks.drop.train.batch_size=4"]),
    ("runs", 0, ["tasks drop, swing, xo"], ["runs", "first"]),
    ("no scores", 2, ["error: no such folder: nowhere"], ["scores", "nowhere"]),
    ("nothing in common", 2, ["error: plain has no task of first"], ["forgetting", "first", "plain"]),
    ("another scale", 2, ["error: task drop has score.expert 1 before and 2 after"], ["forgetting", "alone", "wide"]),
    ("longer episodes", 2, ["error: task swing has env.max_episode_steps 40 before and 30 after"],
     ["forgetting", "first", "short"]),
]


def check_runs(program):
    code, printed = program.run("train", "three.yaml", "--run-dir", "first")
    program.check("train", code, printed, 0, "score ", "task   env steps", "eval first --task drop")
    last = [json.loads(line) for line in (program.folder / "first/metrics.jsonl").read_text().splitlines()][-1]
    updates = [last[f"task/{name}/updates"] for name in ("drop", "swing", "xo")]
    # What the last step of 4 environments owes is made beside the next one.
    program.check("ratio", 0, str(updates), 0, "[168, 168, 168]")
    code, printed = program.run("train", "three.yaml", "--task", "drop", "--run-dir", "alone")
    program.check("alone", code, printed, 0, "mean return")
    code, printed = program.run("train", "three.yaml", "--task", "xo", "--run-dir", "xo_alone", "stop.max_env_steps=80")
    program.check("a game alone", code, printed, 0, "evaluation    score ", "by the share of optimal moves")
    code, printed = program.run("train", "three.yaml", "--task", "drop", "--run-dir", "wide", "score.expert=2",
                                "stop.max_env_steps=80", "stop.target_return=-2", "stop.patience=1")
    program.check("another scale", code, printed, 0, "run folder    wide")
    code, printed = program.run("train", "three.yaml", "--task", "swing", "--run-dir", "short",
                                "tasks.swing.env.max_episode_steps=30", "stop.max_env_steps=80")
    program.check("short episodes", code, printed, 0, "run folder    short")
    code, printed = program.run("train", ROOT / "configs/teaching/counting_unizero.yaml", "stop.max_env_steps=40",
                                "train.start_env_steps=10", "--run-dir", "plain")
    program.check("plain", code, printed, 0, "run folder    plain")
    (program.folder / "published.yaml").write_text("Another: {drop: 0.5, swing: -100, xo: 0.75}\n")
    code, printed = program.run("scores", "first", "--page", "page.txt", "--published", "published.yaml")
    program.check("a page", code, printed + (program.folder / "page.txt").read_text(), 0, "page          page.txt",
                  "| Another |", "| interquartile mean |", "| share of runs |")
    code, printed = program.run("scores", "alone", "wide")
    program.check("two scales", code, printed, 2, "error: task drop has score.expert 1 in one run and 2 in another")
    code, printed = program.run("scores", "first", "--against", "alone")
    program.check("scores", code, printed, 0, "drop", "xo", "worst task", "score ratio", "steps ratio")
    code, printed = program.output("scores", "alone", "--against", "wide", "--json")
    program.check("a target that only the others reach", code, str(json.loads(printed)["ratios"][0]["steps"]), 0, "never")
    code, printed = program.run("train", "later.yaml", "--run-dir", "later")
    program.check("later", code, printed, 0, "count")
    code, printed = program.run("forgetting", "first/checkpoints/latest", "later/checkpoints/latest", "--episodes", "3",
                                "--min-ratio", "1")
    program.check("nothing of what is frozen is forgotten", code, str(printed.count("identical")), 0, "3")
    code, printed = program.run("forgetting", "alone", "alone", "--episodes", "3", "--min-ratio", "1.5")
    checkpoints = (program.folder / "alone/checkpoints").resolve()
    program.check("what came in the end, after the best", code, printed, 3, f"before: {(checkpoints / 'best').resolve()}; "
                  f"after: {(checkpoints / 'latest').resolve()}")


def check_exact_resume(program):
    done = subprocess.run([sys.executable, ROOT / "tools/check_resume.py", "exact", program.folder / "three.yaml",
                           "--lzero", program.lzero, "--out", program.folder / "exact", "--updates", "60"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    program.check("kill -9 and resume", done.returncode, done.stdout.decode(), 0)


def main():
    folder = pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    (program.folder / "three.yaml").write_text(CONFIG)
    (program.folder / "later.yaml").write_text(LATER)
    check_runs(program)
    for what, code, parts, arguments in COMMANDS:
        got, printed = program.run(*arguments)
        program.check(what, got, printed, code, *parts)
    check_exact_resume(program)
    program.finish()


if __name__ == "__main__":
    main()
