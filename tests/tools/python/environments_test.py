"""The program's environments from Python: Gymnasium's own check takes them, and Stable-Baselines3 plays in them."""
import json
import warnings

import package_testing
import lzero_cpp
import numpy as np
from gymnasium.utils.env_checker import check_env
from package_testing import refused

# Not those where a random action may be illegal after one move: the check knows no masks.
IDS = ("cartpole", "pendulum", "acrobot", "mountain_car", "mountain_car_continuous", "counting", "catch", "deep_sea",
       "connect4", "minigrid/empty", "visual_match")


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
    refused(lambda: lzero_cpp.make("pendulum").step([0.0, 0.0]), "shape (2,); allowed: (1,)")
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


def check_stable_baselines():
    try:
        from stable_baselines3.common.evaluation import evaluate_policy
        from stable_baselines3.common.vec_env import DummyVecEnv
    except ImportError as error:
        print(f"Stable-Baselines3 is not here, so its evaluate_policy was not run: {error}")
        return
    pole = package_testing.train("pole", "classic/cartpole_unizero", "stop.max_env_steps=700",
                                 "stop.target_return=null", "search.num_simulations=8")
    run = lzero_cpp.Run(pole)
    expected = lzero_cpp.evaluate(run, seeds=range(5, 8))
    with lzero_cpp.load(run) as agent:
        vector = DummyVecEnv([run.make] * 3)
        vector.seed(5)
        returns, lengths = evaluate_policy(agent, vector, n_eval_episodes=3, return_episode_rewards=True, warn=False)
        vector.close()
    assert sorted(returns) == sorted(expected.returns), (returns, expected.returns)
    print("evaluate_policy of Stable-Baselines3:", returns, lengths)


def main():
    check_ids()
    check_refusals()
    check_same_episode()
    check_stable_baselines()
    print("as expected")


if __name__ == "__main__":
    main()
