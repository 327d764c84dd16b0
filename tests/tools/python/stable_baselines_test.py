"""Stable-Baselines3's evaluate_policy plays our agent as `lzero eval` does. Exit 77 where it is not installed."""
import ctypes
import glob
import os
import pathlib
import re
import subprocess
import sys

import package_testing
import gymnasium
import lzero_cpp
import numpy as np


def make_torch_known():
    """The torch of .deps/venv, which Stable-Baselines3 imports. Where libraries of its CUDA part are missing
    (tools/setup.sh --cuda), libraries stand in that have their names and symbols, which nobody calls here."""
    for site in glob.glob(str(package_testing.SOURCE / ".deps/venv/lib/python3*/site-packages")):
        sys.path.append(site)
        python_part = f"{site}/torch/lib/libtorch_python.so"
        told = subprocess.run(["ldd", "-r", python_part], capture_output=True, text=True)
        words = told.stdout + told.stderr
        symbols = sorted(set(re.findall(r"undefined symbol: (?!_?Py)(\w+)", words)))
        code = "".join(f"void {symbol}(void) {{}}\n" for symbol in symbols)
        for name in sorted(set(re.findall(r"(\S+) => not found", words))):
            subprocess.run(["cc", "-w", "-fno-builtin", "-shared", "-fPIC", "-x", "c", "-", "-o", name,
                            f"-Wl,-soname,{name}"], input=code, text=True, check=True)
            ctypes.CDLL(os.path.abspath(name), ctypes.RTLD_GLOBAL)


make_torch_known()
try:
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import DummyVecEnv
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(package_testing.SKIPPED)


MODULE = """
import copy
import gymnasium
import numpy as np
from gymnasium import spaces

class Few(gymnasium.Env):
    \"\"\"Ten steps; a reward that tells each action from the others; observations that are drawn.\"\"\"
    def __init__(self, observation_space, action_space, weights):
        self.observation_space, self.action_space, self.weights = observation_space, action_space, weights
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.steps = 0
        return self.observation_space.sample(), {}
    def step(self, action):
        assert self.action_space.contains(action), action
        self.steps += 1
        reward = float(np.sum(np.multiply(self.weights, action))) * self.steps
        return self.observation_space.sample(), reward, self.steps == 10, False, {}

parts = spaces.Dict({"place": spaces.Discrete(4), "speed": spaces.Box(-1, 1, (2, 2), np.float32),
                     "doors": spaces.MultiBinary(3)})
picture = spaces.Box(0, 255, (12, 10, 3), np.uint8)
kinds = {"Parts": (parts, spaces.MultiDiscrete([2, 3]), [1, 10]),
         "Picture": (picture, spaces.Discrete(3, start=-1), 1),
         "Reach": (spaces.Box(-1, 1, (3,), np.float64), spaces.Box(-2, 3, (2, 1), np.float64), [[1], [10]])}
for name, kind in kinds.items():
    gymnasium.register(f"{name}-v0", lambda kind=kind, **_: Few(*copy.deepcopy(kind)), disable_env_checker=True)
"""


def check_foreign_spaces():
    """Environments that are no child of the program, as they are: their observations and actions are those of the run."""
    pathlib.Path("few.py").write_text(MODULE)
    sys.path.insert(0, os.getcwd())
    box = ("search.num_sampled_actions=4", "search.root_noise_fraction=0")
    for name, settings in (("Parts", ()), ("Picture", ()), ("Reach", box)):
        run = package_testing.train(name, "teaching/counting_unizero", f"env.id=gymnasium:few:{name}-v0",
                                    "stop.max_env_steps=100", "train.start_env_steps=50", *settings)
        expected = lzero_cpp.evaluate(run, seeds=range(5, 8), simulations=4)
        with lzero_cpp.load(run, simulations=4) as agent:
            vector = DummyVecEnv([lambda: gymnasium.make(f"few:{name}-v0")] * 3)
            vector.seed(5)
            policy = agent.policy_for(vector)
            returns, _ = evaluate_policy(policy, vector, n_eval_episodes=3, return_episode_rewards=True, warn=False)
            print(f"{name}: {returns}, {expected.returns}")
            assert np.allclose(sorted(returns), sorted(expected.returns)), (returns, expected.returns)
            # One observation, and what is none.
            env = gymnasium.make(f"few:{name}-v0")
            assert env.action_space.contains(agent.policy_for(env).predict(env.reset(seed=1)[0])[0])
            package_testing.refused(lambda: policy.predict("start"), "an observation that is not of")


def main():
    check_foreign_spaces()
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
