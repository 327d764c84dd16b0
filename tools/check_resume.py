#!/usr/bin/env python3
"""Kills training runs and checks what is left: two questions, each with its own command.

    tools/check_resume.py exact CONFIG --updates 200 --out DIR [key=value ...]
        N updates straight against N/2, kill -9, resume, N/2: metrics lines and weights must be equal.
    tools/check_resume.py kill CONFIG --kills 50 --out DIR [key=value ...]
        kill -9 at random instants of one run; after each, the latest checkpoint must be intact and the
        run must resume from it.

Uses the release build. Exits with 1 when something differs.
"""
import argparse
import filecmp
import json
import pathlib
import random
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LZERO = str(ROOT / "build/release/tools/lzero")


def start(arguments, log):
    return subprocess.Popen([LZERO, *arguments], stdout=log, stderr=subprocess.STDOUT)


def state_of(run):
    return json.loads((run / "checkpoints/latest/state.json").read_text())


def wait_for_updates(process, run, updates):
    """Until the latest checkpoint has this many updates, or the process ends."""
    while process.poll() is None:
        try:
            if state_of(run)["updates"] >= updates:
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.01)


def exact(options, out):
    half = options.updates // 2
    common = [options.config, "deterministic=true", f"stop.max_updates={options.updates}",
              "stop.max_env_steps=null", "stop.target_return=null",
              f"checkpoint.every_updates={half}", *options.overrides]
    straight, killed = out / "straight", out / "killed"
    with open(out / "log.txt", "w") as log:
        assert start(["train", *common, "--run-dir", str(straight)], log).wait() == 0
        process = start(["train", *common, "--run-dir", str(killed)], log)
        wait_for_updates(process, killed, half)
        process.send_signal(signal.SIGKILL)
        process.wait()
        reached = state_of(killed)["updates"]
        assert start(["resume", str(killed)], log).wait() == 0
    print(f"killed after the checkpoint at {reached} updates, resumed to "
          f"{state_of(killed)['updates']}")
    same = True
    for name in ["metrics.jsonl", *(f"checkpoints/latest/{part}.safetensors" for part in
                                    ("model", "target", "optimizer", "replay", "collector"))]:
        equal = filecmp.cmp(straight / name, killed / name, shallow=False)
        same &= equal
        print(f"{'identical' if equal else 'DIFFERENT'}  {name}")
    return same


def kill(options, out):
    run = out / "run"
    rng = random.Random(options.seed)
    good = 0
    with open(out / "log.txt", "w") as log:
        process = start(["train", options.config, *options.overrides, "--run-dir", str(run)], log)
        wait_for_updates(process, run, 1)
        for number in range(options.kills):
            time.sleep(rng.uniform(0.0, options.longest))
            ended = process.poll() is not None
            process.send_signal(signal.SIGKILL)
            process.wait()
            intact = subprocess.run([LZERO, "inspect", str(run)], stdout=subprocess.DEVNULL).returncode
            before = state_of(run)["updates"]
            process = start(["resume", str(run)], log)
            time.sleep(0.2)
            alive = process.poll() is None or process.returncode == 0
            good += intact == 0 and alive
            print(f"kill {number + 1}: checkpoint at {before} updates "
                  f"{'intact' if intact == 0 else 'DAMAGED'}, resume "
                  f"{'runs' if alive else 'FAILED'}{' (run had ended)' if ended else ''}", flush=True)
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        code = process.wait()
    print(f"{good} of {options.kills} resumed; final Ctrl-C exit code {code}, "
          f"{state_of(run)['updates']} updates")
    return good == options.kills


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("question", choices=["exact", "kill"])
    parser.add_argument("config")
    parser.add_argument("--out", required=True)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--longest", type=float, default=3.0, help="seconds between two kills, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("overrides", nargs="*")
    options = parser.parse_intermixed_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True)
    sys.exit(0 if (exact if options.question == "exact" else kill)(options, out) else 1)


if __name__ == "__main__":
    main()
