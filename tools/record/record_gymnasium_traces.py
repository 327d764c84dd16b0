#!/usr/bin/env python3
"""Records Gymnasium episodes as traces that `lzero envs replay` reads (JSON lines).

Needs numpy and gymnasium; exits with 77 when they are not there, so that a test that calls it is
reported as skipped. Usage:

    record_gymnasium_traces.py OUT_DIR                   everything the oracle test compares
    record_gymnasium_traces.py OUT_DIR --small           the files kept in tests/golden/envs/classic

A file is named after the environment of lzero, how its actions were chosen, and its step cap. The
actions of a seed follow from the seed: a function of the observation, random actions, or both mixed.
"""

import argparse
import json
import math
import pathlib
import sys

try:
    import gymnasium
    import numpy
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

# lzero's id: Gymnasium's.
GYMNASIUM_IDS = {
    "cartpole": "CartPole-v1",
    "mountain_car": "MountainCar-v0",
    "mountain_car_continuous": "MountainCarContinuous-v0",
    "pendulum": "Pendulum-v1",
    "acrobot": "Acrobot-v1",
}
WIDE_SEEDS = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63, 2**64 - 1]


def float32_list(values):
    # The shortest decimal of a float32 reads back as the same float32.
    return [float(str(value)) for value in values]


def balance(observation):
    x, x_dot, theta, theta_dot = observation
    return int(0.1 * x + 0.3 * x_dot + 3.0 * theta + theta_dot > 0.0)


def pump_mountain_car(observation):
    return 2 if observation[1] >= 0.0 else 0


def pump_mountain_car_continuous(observation):
    # Beyond the bound at high speed.
    return 0.8 + 10.0 * abs(observation[1]) if observation[1] >= 0.0 else -1.0


def pump_pendulum(observation):
    """Up by energy, then held by a controller that often asks for more than the bound."""
    cosine, sine, theta_dot = (float(value) for value in observation)
    if cosine > 0.9:
        return -(12.0 * math.atan2(sine, cosine) + 3.0 * theta_dot)
    # The energy is 15 upright and at rest [half theta_dot^2 + 15 cos theta].
    missing = 15.0 - (0.5 * theta_dot * theta_dot + 15.0 * cosine)
    return math.copysign(2.0, missing * theta_dot)


def pump_acrobot(observation):
    return 2 if observation[5] >= 0.0 else 0


FUNCTIONS = {
    "cartpole": balance,
    "mountain_car": pump_mountain_car,
    "mountain_car_continuous": pump_mountain_car_continuous,
    "pendulum": pump_pendulum,
    "acrobot": pump_acrobot,
}


def random_action(space, random):
    """Any discrete action; of a box a number that is beyond a bound one time in three."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(random.integers(space.n))
    return float(random.uniform(1.5 * space.low[0], 1.5 * space.high[0]))


def choose_action(name, policy, observation, space, random):
    """policy: "random"; "mixed", where one action in eight is random; another name is the function
    of the environment."""
    if policy == "random" or (policy == "mixed" and random.random() < 0.125):
        return random_action(space, random)
    return FUNCTIONS[name](observation)


def record_episode(env, name, number, seed, num_steps, policy, out):
    """One reset and up to num_steps steps; the number of steps."""
    random = numpy.random.default_rng([seed, 1])
    space = env.action_space
    is_box = isinstance(space, gymnasium.spaces.Box)
    observation, _ = env.reset(seed=seed)
    state = [float(value) for value in env.unwrapped.state]
    line = {"type": "reset", "episode": number, "seed": seed, "policy": policy, "state": state}
    out.append(line | {"obs": float32_list(observation)})
    for t in range(num_steps):
        action = choose_action(name, policy, observation, space, random)
        if is_box:
            action = numpy.array([action], dtype=numpy.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        out.append({
            "type": "step", "t": t, "action": float32_list(action) if is_box else action,
            "obs": float32_list(observation), "reward": float(reward),
            "terminated": bool(terminated), "truncated": bool(truncated),
            "state": [float(value) for value in env.unwrapped.state],
        })
        if terminated or truncated:
            return t + 1
    return num_steps


def record(path, name, cap, episodes, restart=False):
    """episodes: (seed, number of steps, policy) each. restart: one that ends too early goes on with
    seed + 1000, seed + 2000 and so on until it has its steps."""
    env = gymnasium.make(GYMNASIUM_IDS[name], max_episode_steps=cap)
    kind = "box" if isinstance(env.action_space, gymnasium.spaces.Box) else "discrete"
    out = [{"type": "meta", "env": GYMNASIUM_IDS[name], "gymnasium": gymnasium.__version__,
            "numpy": numpy.__version__, "max_episode_steps": cap, "action": kind}]
    number = 0
    for seed, num_steps, policy in episodes:
        while num_steps > 0:
            num_steps -= record_episode(env, name, number, seed, num_steps, policy, out)
            number += 1
            seed += 1000
            if not restart:
                break
    lines = [json.dumps(line, separators=(",", ":")) + "\n" for line in out]
    path.write_text("".join(lines))
    ends = [sum(line.get(flag, False) for line in out) for flag in ("terminated", "truncated")]
    print(f"{path.name}: {number} episodes, {len(out) - 1 - number} steps, {ends[0]} terminated, "
          f"{ends[1]} truncated")


def record_small(folder):
    random = [(seed, 500, "random") for seed in range(3)]
    record(folder / "cartpole_cap200.jsonl", "cartpole", 200, [(3, 200, "balance")] + random)
    record(folder / "cartpole_cap500.jsonl", "cartpole", 500, [(4, 500, "balance")])
    record(folder / "mountain_car_cap200.jsonl", "mountain_car", 200,
           [(2, 200, "function"), (1, 200, "random"), (2**64 - 1, 20, "mixed")])
    record(folder / "mountain_car_continuous_cap999.jsonl", "mountain_car_continuous", 999,
           [(0, 250, "mixed"), (2**64 - 1, 100, "random")])
    record(folder / "pendulum_cap200.jsonl", "pendulum", 200,
           [(0, 200, "mixed"), (2**64 - 1, 60, "random")])
    record(folder / "acrobot_cap500.jsonl", "acrobot", 500,
           [(2, 200, "function"), (4, 200, "mixed"), (2**64 - 1, 40, "random")])


def record_all(folder):
    for cap in (200, 500):
        balanced = [(seed, 500, "balance") for seed in range(5)]
        record(folder / f"cartpole_balance_cap{cap}.jsonl", "cartpole", cap, balanced)
        random = [(seed, 500, "random") for seed in range(100, 120)]
        record(folder / f"cartpole_random_cap{cap}.jsonl", "cartpole", cap, random)
    own_caps = {"mountain_car": 200, "mountain_car_continuous": 999, "pendulum": 200, "acrobot": 500}
    for name, cap in own_caps.items():
        for policy, policy_cap in (("function", cap), ("mixed", cap), ("random", 500)):
            episodes = [(seed, 500, policy) for seed in range(5)]
            record(folder / f"{name}_{policy}_cap{policy_cap}.jsonl", name, policy_cap, episodes,
                   restart=True)
    starts = [(seed, 1, "random") for seed in WIDE_SEEDS + list(range(1000, 1500))]
    for name in GYMNASIUM_IDS:
        record(folder / f"{name}_starts.jsonl", name, 500, starts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    (record_small if arguments.small else record_all)(arguments.out_dir)


if __name__ == "__main__":
    main()
