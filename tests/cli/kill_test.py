#!/usr/bin/env python3
"""kill -9: an exactly resumed run, with contexts carried over many steps, and a few kills at random instants.

    kill_test.py LZERO FOLDER
"""
import pathlib
import shutil
import subprocess
import sys

from program import ROOT

COUNTING = str(ROOT / "configs/teaching/counting_unizero.yaml")
QUESTIONS = [
    ["exact", "--updates", "60"],
    ["exact", "--updates", "60", "train.updates_per_env_step=0.05", "inference.root_context=carry"],
    ["kill", "--kills", "4", "--longest", "1", "stop.max_env_steps=10000000", "stop.target_return=null",
     "checkpoint.every_updates=20"],
]


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    failed = 0
    for number, (question, *options) in enumerate(QUESTIONS):
        code = subprocess.run([sys.executable, ROOT / "tools/check_resume.py", question, COUNTING, "--lzero", lzero,
                               "--out", folder / str(number), *options]).returncode
        print(f"{'ok' if code == 0 else 'FAIL'}  {question} {' '.join(options)}")
        failed += code != 0
    shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
