#!/usr/bin/env python3
"""A shipped config, a fixed seed, a generous bar: does the agent still learn?

    learn_test.py LZERO FOLDER CONFIG MIN_RETURN [key=value ...]

Trains in turn (deterministic), evaluates 50 episodes of the last checkpoint, and wants a mean return of
MIN_RETURN or more; an untrained agent of the same config must miss it.
"""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def mean_return(lzero, folder, config, overrides):
    run(lzero, "train", ROOT / config, "deterministic=true", "seed=0", *overrides, "--run-dir", folder)
    printed = run(lzero, "eval", folder / "checkpoints/latest", "--episodes", "50", "--json")
    return json.loads(printed)["return_mean"]


def main():
    lzero, folder, config, bar = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    shutil.rmtree(folder, ignore_errors=True)
    overrides = sys.argv[5:]
    untrained = mean_return(lzero, folder / "untrained", config,
                            [*overrides, "train.learning_rate=1e-12", "stop.max_env_steps=200"])
    trained = mean_return(lzero, folder / "trained", config, overrides)
    print(f"{config}: untrained {untrained:.2f}, trained {trained:.2f}, bar {bar:.2f}")
    return 0 if untrained < bar <= trained else 1


if __name__ == "__main__":
    sys.exit(main())
