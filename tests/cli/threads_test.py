#!/usr/bin/env python3
"""Threads: more than there are cores are refused, and resume may change them.

    threads_test.py LZERO FOLDER
"""
import os
import pathlib
import re
import shutil
import sys

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=300", "train.start_env_steps=50", "evaluate.every_updates=0", "evaluate.episodes=2"]


def check_refusals(program, cores):
    for key in ("train.num_threads", "inference.num_threads", "env.num_threads"):
        program.expect(f"{key} beyond the cores", 2, [f"{key}={cores + 1}: got {cores + 1}, but this machine has {cores} core",
                                                      f"allowed: 1 to {cores}"],
                       "train", COUNTING, f"{key}={cores + 1}", "--dry-run")
    program.expect("eval beyond the cores", 2, [f"--threads: got '{cores + 1}', allowed: an integer from 1 to {cores}"],
                   "eval", "run", "--threads", cores + 1)
    program.expect("bench beyond the cores", 2, [f"--threads: got '{cores + 1}', allowed: an integer from 1 to {cores}"],
                   "bench", "step", "--threads", cores + 1, "--runner", "packed")
    for key in ("train.num_threads", "inference.num_threads", "env.num_threads"):
        program.expect(f"resume with another {key}", 0, ["nothing to do"], "resume", "run", f"{key}={cores}")
    program.expect("no number and not auto", 2, ["got 'many'; allowed: an integer from 1 to 1024, or auto"],
                   "train", COUNTING, "train.num_threads=many", "--dry-run")
    program.expect("explained", 0, ["default: auto", "or auto"], "config", "explain", "train.num_threads")


def check_a_smaller_machine(program, folder, cores):
    """A run of a machine with more cores goes on, with a word."""
    config = folder / "run/config.resolved.yaml"
    text = config.read_text()
    start = text.index("train:")
    config.write_text(text[:start] + re.sub("num_threads: .*", f"num_threads: {cores + 1}", text[start:], count=1))
    program.expect("resume on a smaller machine", 0,
                   [f"slow: train.num_threads: got {cores + 1}, but this machine has {cores} core", "400 env steps"],
                   "resume", "run", "stop.max_env_steps=400")


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    cores = len(os.sched_getaffinity(0))
    program.run("train", COUNTING, *SHORT, "--run-dir", "run")
    check_refusals(program, cores)
    check_a_smaller_machine(program, folder, cores)
    program.finish()


if __name__ == "__main__":
    main()
