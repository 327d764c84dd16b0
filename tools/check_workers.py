#!/usr/bin/env python3
"""Kills worker processes of a training run, kill -9 at random instants, and checks that the run loses
nothing but the episodes that they were playing.

    tools/check_workers.py CONFIG --kills 20 --steps 10000 --out DIR [key=value ...]

The run must come to its end with the env steps that were asked for, count every interrupted episode in its
metrics, tell every restart in its log, and leave no process behind. Each kill waits until the run has
collected its share of the steps, then a random moment. Prints one table; exits with 1 when something is
missing. Uses the release build unless told otherwise.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def is_worker(pid):
    try:
        return b"/proc/self/fd/5" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def workers_of(pid):
    """The living worker processes that process `pid` has started."""
    children = set()
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children.update(int(word) for word in path.read_text().split())
        except OSError:
            pass
    return sorted(child for child in children if is_worker(child))


def metrics_of(run):
    """The whole lines of metrics.jsonl."""
    path = run / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def env_steps_of(run):
    lines = metrics_of(run)
    return lines[-1]["env_steps"] if lines else 0


def kill_workers(process, run, options, random_stream):
    """Kills a worker `options.kills` times, spread over the run; the pids that were killed."""
    killed, seen = [], set()
    share = options.steps / (options.kills + 1)
    while len(killed) < options.kills and process.poll() is None:
        if env_steps_of(run) < share * (len(killed) + 1):
            time.sleep(0.005)
            continue
        time.sleep(random_stream.uniform(0.0, options.longest))
        workers = workers_of(process.pid)
        seen.update(workers)
        if workers and process.poll() is None:
            victim = random_stream.choice(workers)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
    return killed, seen


def main():
    parser = argparse.ArgumentParser(description="Kills worker processes of a training run.")
    parser.add_argument("config")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--longest", type=float, default=0.2, help="seconds that a kill waits at most")
    parser.add_argument("--seed", type=int, default=0, help="of the instants")
    parser.add_argument("--lzero", default=str(ROOT / "build/release/tools/lzero"))
    parser.add_argument("--out", required=True)
    options, overrides = parser.parse_known_args()
    run = pathlib.Path(options.out)
    shutil.rmtree(run, ignore_errors=True)
    run.parent.mkdir(parents=True, exist_ok=True)
    command = [options.lzero, "train", options.config, "--run-dir", str(run), f"stop.max_env_steps={options.steps}",
               "stop.target_return=null", f"env.max_restarts={options.kills}", *overrides]
    start = time.monotonic()
    with open(f"{run}.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        killed, seen = kill_workers(process, run, options, random.Random(options.seed))
        code = process.wait()
    seconds = time.monotonic() - start
    text = pathlib.Path(f"{run}.log").read_text(encoding="utf-8", errors="replace")
    restarts = text.count("the process is started again")
    lines = metrics_of(run)
    interrupted = sum(line.get("collect/interrupted_episodes", 0) for line in lines)
    steps = lines[-1]["env_steps"] if lines else 0
    left = [pid for pid in seen if is_worker(pid)]
    print("| env steps | kills | restarts | interrupted episodes of the collector | exit | processes left | seconds |\n"
          "|---|---|---|---|---|---|---|\n"
          f"| {steps} | {len(killed)} | {restarts} | {interrupted:.0f} | {code} | {len(left)} | {seconds:.1f} |")
    # Nobody may have heard yet of workers that were killed at the very end; a few may all be the evaluator's.
    good = (code == 0 and steps >= options.steps and len(killed) == options.kills and not left and
            options.kills - 2 <= restarts <= options.kills and (interrupted > 0 or options.kills < 10))
    if not good:
        print(text[-3000:])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
