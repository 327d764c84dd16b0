#!/usr/bin/env python3
"""Every config that comes with lzero trains, is evaluated once and leaves a run that can be inspected; small
enough to take seconds each: few simulations, small batches, some updates. Those whose environment needs
Python packages are left out where these are missing, and said so.

    configs_test.py LZERO FOLDER
"""
import pathlib
import shutil
import sys

from program import ROOT, Program

SMALL = ["env.num_collectors=2", "env.num_evaluators=2", "search.num_simulations=4", "train.batch_size=4",
         "train.start_env_steps=200", "train.updates_per_env_step=0.05", "replay.capacity=2000",
         "evaluate.every_updates=0", "evaluate.episodes=2", "stop.max_env_steps=260",
         "stop.target_return=null", "stop.max_updates=3"]
# Where episodes are long or steps slow.
OWN = {
    "pong_unizero": ["env.max_episode_steps=40"],
    "pong_stack4_unizero": ["env.max_episode_steps=40"],
    "pong_atari_unizero": ["env.max_episode_steps=40"],
    **{f"atari_{budget}_muzero": ["env.max_episode_steps=40", "replay.max_mebibytes=512", "train.warmup_updates=0"]
       for budget in ("100k", "500k", "100k_gpu", "500k_gpu")},
    "chess_alphazero": ["env.settings.fen=7k/8/8/8/8/8/8/KR6 w - - 80 90"],
    "stochastic_muzero": ["env.max_episode_steps=50"],
    "mountain_car_continuous_unizero": ["env.max_episode_steps=50"],
    "2048_stochastic_muzero": ["env.max_episode_steps=50"],
    "suite_unizero": ["env.max_episode_steps=50", "tasks.tictactoe.env.max_episode_steps=0"],
    "dmc6_unizero": ["env.max_episode_steps=50"],
    "atari8_unizero": ["env.max_episode_steps=40", "model.embed_dim=64", "model.num_heads=2", "model.encoder_channels=8",
                       "env.num_workers=1", "--dry-run"],  # a minute of starting emulators
}
PYTHON_ENVS = ("gymnasium", "control", "atari", "dmc6_unizero", "atari8_unizero")  # folders and configs


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    has_python_envs = (ROOT / ".deps/python_envs/bin/python3").exists()
    left_out = []
    for config in sorted((ROOT / "configs").glob("*/*.yaml")):
        name = config.stem if config.parent.name != "gymnasium" else f"gymnasium_{config.stem}"
        needs_python_envs = config.parent.name in PYTHON_ENVS or name in PYTHON_ENVS
        if needs_python_envs and not has_python_envs:
            left_out.append(name)
            continue
        program.expect(f"{name} trains", 0, ["3 updates"], "train", config, *SMALL,
                       *OWN.get(config.stem, []), "--run-dir", name)
        if "--dry-run" in OWN.get(config.stem, []):
            continue
        program.expect(f"{name} can be looked into", 0, ["every file intact"], "inspect", name)
    if left_out:
        print(f"not trained, no .deps/python_envs: {', '.join(left_out)}")
    program.finish()


if __name__ == "__main__":
    main()
