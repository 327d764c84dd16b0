"""Stable-Baselines3's evaluate_policy plays our agent as `lzero eval` does. Exit 77 where it is not installed."""
import sys

import package_testing
import lzero_cpp

try:
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import DummyVecEnv
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(package_testing.SKIPPED)


def main():
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


if __name__ == "__main__":
    main()
