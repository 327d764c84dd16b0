"""The program's environments from Python: Gymnasium's own check takes them."""
import json
import os
import pathlib
import warnings

import package_testing
import lzero_cpp
import numpy as np
from gymnasium.utils.env_checker import check_env
from package_testing import refused

# Not those where a random action may be illegal after one move: the check knows no masks.
IDS = ("cartpole", "pendulum", "acrobot", "mountain_car", "mountain_car_continuous", "counting", "catch", "deep_sea",
       "connect4", "minatar/asterix", "minigrid/empty", "visual_match")


def check_ids():
    for env_id in IDS:
        for render_mode in ("rgb_array", "ansi"):
            env = lzero_cpp.make(env_id, render_mode=render_mode)
            with warnings.catch_warnings():
                # A picture of text is no array, and the spec of a gymnasium.make is not there.
                warnings.simplefilter("ignore")
                check_env(env, skip_render_check=True)
            env.reset(seed=1)
            assert len(env.render()) > 0
            env.close()


def check_refusals():
    refused(lambda: lzero_cpp.make("carpole"), "did you mean 'cartpole'")
    refused(lambda: lzero_cpp.make("catch", rowz=3), "rowz")
    refused(lambda: lzero_cpp.make("catch", render_mode="human"), "'rgb_array', 'ansi'")
    refused(lambda: lzero_cpp.make("pendulum").step([0.0, 0.0]), "action has 2 numbers; allowed: 1")
    refused(lambda: lzero_cpp.make("pendulum").step("left"), "action='left'; allowed: numbers")
    for wrong in (1.7, 2**40, 2**64, -1, 2, "left", None):
        refused(lambda: lzero_cpp.make("cartpole").step(wrong), f"action={wrong!r}; allowed: integers from 0 to 1")
    for wrong in (2**64, -1, 0.5, "seed"):
        refused(lambda: lzero_cpp.make("cartpole").reset(seed=wrong), f"seed={wrong!r}; allowed: integers from 0 to {2**64 - 1}")
    lzero_cpp.make("cartpole").reset(seed=2**64 - 1)
    refused(lambda: lzero_cpp.make("cartpole").step(0), "Reset")
    refused(lambda: play_twice(lzero_cpp.make("tictactoe")), "illegal")


def play_twice(env):
    env.reset(seed=0)
    env.step(4)
    env.step(4)


def check_same_episode():
    """The trace of `lzero envs rollout` has what the same seed and actions give here."""
    text = lzero_cpp.run_program(["envs", "rollout", "cartpole", "--seed", "5", "--steps", "10"])
    rows = [json.loads(line) for line in text.splitlines()]
    env = lzero_cpp.make("cartpole")
    for row in rows:
        if row["type"] == "reset":
            obs, _ = env.reset(seed=row["seed"])
        elif row["type"] == "step":
            obs, reward, terminated, truncated, _ = env.step(row["action"])
            assert [reward, terminated, truncated] == [row["reward"], row["terminated"], row["truncated"]], row
        if "obs" in row:
            assert (obs == np.asarray(row["obs"], np.float32)).all(), (obs, row)
    env.close()


def check_modules():
    """A run makes the environment that it was trained in, from any folder; lists are settings as others are."""
    os.makedirs("away/modules")
    pathlib.Path("away/modules/half_lake.py").write_text(
        "import gymnasium\nclass Half(gymnasium.ObservationWrapper):\n    def __init__(self, env):\n"
        "        super().__init__(env)\n        self.observation_space = gymnasium.spaces.Box(0.0, 8.0, (1,))\n"
        "    def observation(self, place):\n        return [place / 2]\n")
    lake = {"desc": ["SF", "HG"], "is_slippery": False}
    run = package_testing.train("lake", "teaching/counting_unizero", "env.id=gymnasium:FrozenLake-v1",
                                *(f"env.settings.{name}={json.dumps(value)}" for name, value in lake.items()),
                                "env.max_episode_steps=9", "env.wrappers=half_lake:Half",
                                f"env.python_path={os.path.abspath('away/modules')}", "stop.max_env_steps=120")
    made = lzero_cpp.make("gymnasium:FrozenLake-v1", wrappers=["half_lake:Half"], python_path=["away/modules"], **lake)
    for env in (lzero_cpp.Run(run).make(), made):
        assert env.reset(seed=0)[0].tolist() == [0.0] and env.step(2)[0].tolist() == [0.5]
        assert env.step(1)[1:3] == (1.0, True)
        env.close()


def main():
    check_ids()
    check_refusals()
    check_same_episode()
    check_modules()
    print("as expected")


if __name__ == "__main__":
    main()
