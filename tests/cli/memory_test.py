#!/usr/bin/env python3
"""The memory that a run says it needs is enough: the peak of the process stays below the plan, with a full
replay buffer and checkpoints on the way.

    memory_test.py LZERO FOLDER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LZERO, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])

# What is trained, and settings that fill the buffer in seconds.
RUNS = {
    "vectors": ["configs/classic/cartpole_unizero.yaml", "stop.max_env_steps=2500", "replay.capacity=2100", "stop.target_return=null"],
    "boards": ["configs/boards/connect4_alphazero.yaml", "stop.max_env_steps=6000", "replay.capacity=5000", "replay.segment_length=42",
               "search.num_simulations=3"],
    "latent planes": ["configs/boards/connect4_alphazero.yaml", "model.family=muzero", "model.latent_loss=none",
                      "replay.num_unroll_steps=5", "stop.max_env_steps=6000", "replay.capacity=5000",
                      "replay.segment_length=42", "search.num_simulations=3", "train.updates_per_env_step=0.005"],
    "pictures": ["configs/teaching/catch_pixels_unizero.yaml", "env.settings.rows=40", "env.settings.columns=40",
                 "replay.capacity=3000", "stop.max_env_steps=3400", "train.batch_size=8", "search.num_simulations=1",
                 "train.updates_per_env_step=0.001", "evaluate.every_updates=0", "checkpoint.every_updates=4",
                 "stop.target_return=null"],
}


def peak_of(folder, arguments):
    """Mebibytes: planned, of it replay, peak."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [LZERO, "train", str(ROOT / arguments[0]), *arguments[1:], "deterministic=true", "--verbose",
               "--run-dir", str(folder)]
    printed = folder.with_suffix(".txt")
    with open(printed, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = printed.read_text(encoding="utf-8")
    if process.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: exit code {process.returncode}\n{text}")
    planned = float(re.search(r"memory +([0-9.]+) MiB planned", text).group(1))
    size, unit = re.search(r"replay up to ([0-9.]+) (KiB|MiB)", text).groups()
    replay = float(size) / (1024 if unit == "KiB" else 1)
    return planned, replay, usage.ru_maxrss / 1024


class MemoryTest(unittest.TestCase):
    def test_runs_stay_within_their_plan(self):
        for name, arguments in RUNS.items():
            with self.subTest(name):
                planned, replay, peak = peak_of(FOLDER / name.replace(" ", "_"), arguments)
                print(f"{name}: planned {planned:.0f} MiB, of it replay {replay:.0f}; peak {peak:.0f}")
                self.assertLessEqual(peak, planned)
                self.assertGreater(peak, planned / 3, "a plan that says nothing")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
