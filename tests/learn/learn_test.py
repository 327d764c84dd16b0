#!/usr/bin/env python3
"""A config, a fixed seed, a generous bar: does the agent still learn?

    learn_test.py LZERO FOLDER CONFIG return|grade|chance BAR [key=value ...]

Trains in turn (deterministic) and judges the last checkpoint: `return` is the mean of 50 episodes, `grade` the
fraction of optimal moves of the policy alone in the game's positions, `chance` how far, in nats, the model's
chances are from the truth (less is better). It must pass BAR, and an untrained agent of the same config must
not.
"""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVALUATIONS = {"return": ["--episodes", "50"], "grade": ["--grade"], "chance": ["--chance", "--episodes", "2"]}


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def measure(lzero, folder, config, kind, overrides):
    run(lzero, "train", ROOT / config, "deterministic=true", "seed=0", *overrides, "--run-dir", folder)
    judged = json.loads(run(lzero, "eval", folder / "checkpoints/latest", *EVALUATIONS[kind], "--json"))
    if kind == "return":
        return judged["return_mean"]
    if kind == "grade":
        return judged["players"][1]["optimal_fraction"]  # [0] is the search
    return -judged["divergence"]


def main():
    lzero, folder, config, kind, bar = (sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4],
                                        float(sys.argv[5]))
    if kind == "chance":
        bar = -bar
    shutil.rmtree(folder, ignore_errors=True)
    overrides = sys.argv[6:]
    untrained = measure(lzero, folder / "untrained", config, kind,
                        [*(each for each in overrides if not each.startswith("stop.max_env_steps=")),
                         "train.learning_rate=1e-12", "train.final_learning_rate=0", "stop.max_env_steps=2100"])
    trained = measure(lzero, folder / "trained", config, kind, overrides)
    print(f"{config}: untrained {abs(untrained):.3f}, trained {abs(trained):.3f}, bar {abs(bar):.3f}")
    return 0 if untrained < bar <= trained else 1


if __name__ == "__main__":
    sys.exit(main())
