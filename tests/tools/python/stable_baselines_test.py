"""Stable-Baselines3's evaluate_policy plays our agent as `lzero eval` does. Exit 77 where it is not installed."""
import ctypes
import glob
import os
import re
import subprocess
import sys

import package_testing
import lzero_cpp


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
