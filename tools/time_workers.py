#!/usr/bin/env python3
"""Times a step of Gymnasium's environments through lzero's workers beside a plain loop of Python over one
environment, in turn, random play, resets included: the cost of the way through a worker.

    tools/time_workers.py CartPole-v1 Acrobot-v1 --rounds 5

Run by any Python; the loop runs by that of the environments (LZERO_PYTHON, else tools/setup.sh
--python-envs). Prints us a step, fastest and median: the loop, 8 environments in one worker and in two, one
environment; and the median of the differences of one worker and the loop. Needs a quiet machine.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYS = (("--envs", "8", "--workers", "1"), ("--envs", "8", "--workers", "2"), ("--envs", "1"))
LOOP = '''
import sys, time
import gymnasium, numpy
name, seconds = sys.argv[1], float(sys.argv[2])
env = gymnasium.make(name, disable_env_checker=True, max_episode_steps=-1, render_mode="rgb_array")
space, random = env.action_space, numpy.random.default_rng(0)
if hasattr(space, "n"):
    actions = [int(action) for action in random.integers(space.n, size=4096)]
else:
    actions = list(random.uniform(space.low, space.high, (4096, *space.shape)).astype(space.dtype))
cap = gymnasium.spec(name).max_episode_steps or 1 << 60
env.reset(seed=0)
seed = steps = length = 0
start = time.perf_counter()
while (taken := time.perf_counter() - start) < seconds:
    for i in range(256):
        _, _, terminated, truncated, _ = env.step(actions[(steps + i) % 4096])
        length += 1
        if terminated or truncated or length == cap:
            seed, length = seed + 1, 0
            env.reset(seed=seed)
    steps += 256
print(1e6 * taken / steps)
'''


def time_loop(python, name, seconds):
    done = subprocess.run([python, "-c", LOOP, name, str(seconds)], stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def time_workers(lzero, name, seconds, way):
    done = subprocess.run([lzero, "envs", "bench", f"gymnasium:{name}", "--seconds", str(seconds), *way],
                          stdout=subprocess.PIPE, check=True)
    return int(re.search(rb"(\d+) ns a step", done.stdout)[1]) / 1000


def main():
    parser = argparse.ArgumentParser(description="Times steps through workers beside a loop of Python.")
    parser.add_argument("names", nargs="+", help="as Gymnasium registers them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--lzero", default=str(ROOT / "build/release/tools/lzero"))
    options = parser.parse_args()
    python = os.environ.get("LZERO_PYTHON", str(ROOT / ".deps/python_envs/bin/python3"))
    print("| environment | Python loop | one worker | two workers | one environment | above the loop |\n"
          "|---|---|---|---|---|---|")
    for name in options.names:
        rows = []
        for _ in range(options.rounds):
            rows.append([time_loop(python, name, options.seconds),
                         *(time_workers(options.lzero, name, options.seconds, way) for way in WAYS)])
        columns = [f"{min(column):.1f}, {statistics.median(column):.1f}" for column in zip(*rows)]
        above = statistics.median(row[1] - row[0] for row in rows)
        print(f"| {name} | {' | '.join(columns)} | {above:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
