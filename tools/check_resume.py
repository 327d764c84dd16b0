#!/usr/bin/env python3
"""Kills training runs and checks what is left: two questions, each with its own command.

    tools/check_resume.py exact CONFIG --updates 200 --out DIR [key=value ...]
        N updates straight against N/2, kill -9, resume, N/2: metrics lines and weights must be equal.
    tools/check_resume.py kill CONFIG --kills 50 --out DIR [key=value ...]
        kill -9 at random instants of one run; after each, the latest checkpoint must be intact and the
        resumed run must write a metrics line with more updates than that checkpoint has. The run must
        be long enough: one that has ended before its kill is an error.

Uses the release build unless told otherwise. Exits with 1 when something differs or was not tested.
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


class Program:
    def __init__(self, lzero):
        self.lzero = lzero

    def start(self, arguments, log):
        return subprocess.Popen([self.lzero, *arguments], stdout=log, stderr=subprocess.STDOUT)

    def inspect(self, run):
        return subprocess.run([self.lzero, "inspect", str(run)], stdout=subprocess.DEVNULL).returncode


def state_of(run):
    return json.loads((run / "checkpoints/latest/state.json").read_text())


def updates_of_metrics(run):
    """Of the last whole line of metrics.jsonl; -1 without one."""
    lines = (run / "metrics.jsonl").read_text().split("\n")[:-1]
    return json.loads(lines[-1])["updates"] if lines else -1


def kill_9(process):
    """True when the process was alive until the kill."""
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def makes_progress(process, log_path, log_start, run, updates, seconds=120.0):
    """True once the process says that it resumed and a metrics line has more than `updates` updates."""
    limit = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < limit:
        if "resuming " in log_path.read_text()[log_start:] and updates_of_metrics(run) > updates:
            return True
        time.sleep(0.02)
    return False


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
    program = Program(options.lzero)
    half = options.updates // 2
    common = [options.config, "deterministic=true", f"stop.max_updates={options.updates}",
              "stop.max_env_steps=1000000", "stop.target_return=null",
              f"checkpoint.every_updates={half}", *options.overrides]
    straight, killed = out / "straight", out / "killed"
    with open(out / "log.txt", "w") as log:
        assert program.start(["train", *common, "--run-dir", str(straight)], log).wait() == 0
        process = program.start(["train", *common, "--run-dir", str(killed)], log)
        wait_for_updates(process, killed, half)
        was_alive = kill_9(process)
        reached = state_of(killed)["updates"]
        assert program.start(["resume", str(killed)], log).wait() == 0
    print(f"killed after the checkpoint at {reached} updates, resumed to "
          f"{state_of(killed)['updates']}")
    same = was_alive and half <= reached < options.updates == state_of(killed)["updates"]
    if not same:
        print(f"NOT TESTED: the kill must come between update {half} and update {options.updates}")
    # Files of tasks, if there are several, have their names.
    files = {str(path.relative_to(run)) for run in (straight, killed)
             for path in (*run.glob("checkpoints/latest/*.safetensors"), *run.glob("eval/**/*.*"))
             if path.is_file() and ".aside" not in str(path)}
    assert sum(name.endswith("replay.safetensors") for name in files) > 0, files
    for name in ["metrics.jsonl", *sorted(files)]:
        both = (straight / name).is_file() and (killed / name).is_file()
        equal = both and filecmp.cmp(straight / name, killed / name, shallow=False)
        same &= equal
        print(f"{'identical' if equal else 'DIFFERENT'}  {name}")
    return same


def kill(options, out):
    program = Program(options.lzero)
    run, log_path = out / "run", out / "log.txt"
    rng = random.Random(options.seed)
    good = 0
    with open(log_path, "w") as log:
        process = program.start(["train", options.config, *options.overrides, "--run-dir", str(run)], log)
        wait_for_updates(process, run, 1)
        for number in range(options.kills):
            time.sleep(rng.uniform(0.0, options.longest))
            was_alive = kill_9(process)
            intact = program.inspect(run)
            before = state_of(run)["updates"]
            log_start = len(log_path.read_text())
            process = program.start(["resume", str(run)], log)
            resumed = makes_progress(process, log_path, log_start, run, before)
            good += was_alive and intact == 0 and resumed
            print(f"kill {number + 1}: checkpoint at {before} updates "
                  f"{'intact' if intact == 0 else 'DAMAGED'}, resumed run "
                  f"{f'at {updates_of_metrics(run)} updates' if resumed else 'FAILED'}"
                  f"{'' if was_alive else ', NOT TESTED: the run had ended'}", flush=True)
            if not was_alive:
                break
        process.send_signal(signal.SIGINT)
        code = process.wait()
    print(f"{good} of {options.kills} resumed; final Ctrl-C exit code {code}, "
          f"{state_of(run)['updates']} updates")
    return good == options.kills and code == 130


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("question", choices=["exact", "kill"])
    parser.add_argument("config")
    parser.add_argument("--out", required=True)
    parser.add_argument("--lzero", default=str(ROOT / "build/release/tools/lzero"))
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
