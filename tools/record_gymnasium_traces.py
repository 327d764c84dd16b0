#!/usr/bin/env python3
"""Records Gymnasium episodes as traces that `lzero envs replay` reads (JSON lines).

Needs numpy and gymnasium; exits with 77 when they are not there, so that a test that calls it is
reported as skipped. Usage:

    record_gymnasium_traces.py OUT_DIR                   everything the oracle test compares
    record_gymnasium_traces.py OUT_DIR --small           the files kept in tests/golden/envs
"""

import argparse
import json
import pathlib
import sys

try:
    import gymnasium
    import numpy
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)


def float32_list(values):
    # The shortest decimal of a float32 reads back as the same float32.
    return [float(str(value)) for value in values]


def balance(observation):
    x, x_dot, theta, theta_dot = observation
    return int(0.1 * x + 0.3 * x_dot + 3.0 * theta + theta_dot > 0.0)


def record_episode(env, number, seed, num_steps, policy, out):
    """One reset and up to num_steps steps."""
    random = numpy.random.default_rng([seed, 1])
    observation, _ = env.reset(seed=seed)
    state = [float(value) for value in env.unwrapped.state]
    line = {"type": "reset", "episode": number, "seed": seed, "policy": policy, "state": state}
    out.append(line | {"obs": float32_list(observation)})
    for t in range(num_steps):
        action = balance(observation) if policy == "balance" else int(random.integers(2))
        observation, reward, terminated, truncated, _ = env.step(action)
        out.append({
            "type": "step", "t": t, "action": action, "obs": float32_list(observation),
            "reward": float(reward), "terminated": bool(terminated), "truncated": bool(truncated),
            "state": [float(value) for value in env.unwrapped.state],
        })
        if terminated or truncated:
            return


def record(path, cap, episodes):
    """episodes: (seed, number of steps, policy) each."""
    env = gymnasium.make("CartPole-v1", max_episode_steps=cap)
    out = [{"type": "meta", "env": "CartPole-v1", "gymnasium": gymnasium.__version__,
            "numpy": numpy.__version__, "max_episode_steps": cap, "action": "discrete"}]
    for number, (seed, num_steps, policy) in enumerate(episodes):
        record_episode(env, number, seed, num_steps, policy, out)
    lines = [json.dumps(line, separators=(",", ":")) + "\n" for line in out]
    path.write_text("".join(lines))
    print(f"{path.name}: {len(episodes)} episodes, {len(out) - 1 - len(episodes)} steps")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.out_dir
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.small:
        random = [(seed, 500, "random") for seed in range(3)]
        record(folder / "cartpole_cap200.jsonl", 200, [(3, 200, "balance")] + random)
        record(folder / "cartpole_cap500.jsonl", 500, [(4, 500, "balance")])
        return
    for cap in (200, 500):
        balanced = [(seed, 500, "balance") for seed in range(5)]
        record(folder / f"cartpole_balance_cap{cap}.jsonl", cap, balanced)
        random = [(seed, 500, "random") for seed in range(100, 120)]
        record(folder / f"cartpole_random_cap{cap}.jsonl", cap, random)
    wide = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63, 2**64 - 1]
    starts = [(seed, 1, "random") for seed in wide + list(range(1000, 1500))]
    record(folder / "cartpole_starts.jsonl", 500, starts)


if __name__ == "__main__":
    main()
