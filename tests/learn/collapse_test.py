#!/usr/bin/env python3
"""Is a collapse of the latents caught?

    collapse_test.py LZERO FOLDER

With a thousand times the shipped learning rate the encoder of catch_pixels soon shows the model the same latent
for every picture, and as the rate falls to nothing it stays so (a constant rate shakes it free again). No loss
tells: that of the latents falls to nothing, and a policy that sees nothing is uniform. The warning must come in
that run, and not in the same run with the shipped rate.
"""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["deterministic=true", "seed=0", "train.batch_size=16", "model.encoder_channels=8",
         "search.num_simulations=4", "train.start_env_steps=500", "train.updates_per_env_step=2",
         "train.learning_rate_schedule=linear", "train.final_learning_rate=0", "stop.max_env_steps=1020",
         "stop.target_return=null", "evaluate.every_updates=0", "train.log_every_updates=100"]


def train(lzero, folder, *overrides):
    """What is printed, and the last metrics."""
    command = [lzero, "train", ROOT / "configs/teaching/catch_pixels_unizero.yaml", *SMALL, *overrides, "--run-dir",
               folder]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return done.stdout + done.stderr, [line for line in lines if "latent/spread" in line][-1]


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    failures = 0
    for name, overrides, collapses in (("shipped", [], False), ("collapsed", ["train.learning_rate=1"], True)):
        printed, last = train(lzero, folder / name, *overrides)
        share = last["latent/spread"] / last["latent/norm"]
        warned = printed.count("warning: latents have collapsed")
        print(f"{name}: spread {share:.5f} of the norm, latent loss {last['loss/latent']:.5f}, {warned} warnings")
        failures += warned != int(collapses) or (share < 0.005) != collapses
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
