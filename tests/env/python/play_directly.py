#!/usr/bin/env python3
"""Plays environments of Gymnasium directly, with the seeds and actions of a plan, and writes what they gave, for
worker_reference_test.cc to compare with what came through a worker process. Not the code of the worker: spaces
are turned into numbers here by hand.

    play_directly.py PLAN RESULTS

PLAN is JSON: {"id": name of Gymnasium, "episodes": [{"seed": n, "actions": [index or [numbers], ...]}, ...]}.
RESULTS gets, in the machine's byte order, for each reset and then each step: the observation as float32, the
reward as float32, terminated and truncated as bytes. Exit status 77 when a package is missing.
"""

import json
import struct
import sys

try:
    import gymnasium
    import numpy
    from gymnasium import spaces
except ImportError as missing:
    print(missing)
    sys.exit(77)


def one_hot(index, size):
    vector = numpy.zeros(size, numpy.float32)
    vector[index] = 1.0
    return vector


def numbers(space, observation):
    """The observation as lzero describes it (envs/add_python.md): float32, pictures channels first over 255."""
    if isinstance(space, spaces.Discrete):
        return one_hot(observation - space.start, space.n)
    if isinstance(space, spaces.Dict):  # by name; words are left out
        parts = [(key, space[key]) for key in sorted(space.keys()) if key != "mission"]
        return numpy.concatenate([
            numbers(part, observation[key]).reshape(-1) if isinstance(part, spaces.Discrete)
            else observation[key].astype(numpy.float32).reshape(-1) for key, part in parts])
    if space.dtype == numpy.uint8 and len(space.shape) == 3:
        return observation.transpose(2, 0, 1).astype(numpy.float32) / numpy.float32(255)
    return observation.astype(numpy.float32)


def make(name):
    if name.startswith("ALE/"):
        import ale_py
        gymnasium.register_envs(ale_py)
    if name.startswith("MiniGrid-"):
        import minigrid
        gymnasium.register_envs(minigrid)
    return gymnasium.make(name)


def play(env, episode, results):
    observation, _ = env.reset(seed=episode["seed"])
    results.write(numbers(env.observation_space, observation).tobytes() + struct.pack("=f2?", 0.0, False, False))
    for action in episode["actions"]:
        if isinstance(action, list):
            action = numpy.array(action, numpy.float32).astype(env.action_space.dtype)
        observation, reward, terminated, truncated, _ = env.step(action)
        results.write(numbers(env.observation_space, observation).tobytes() +
                      struct.pack("=f2?", reward, bool(terminated), bool(truncated)))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    try:
        env = make(plan["id"])
    except ImportError as missing:
        print(missing)
        sys.exit(77)
    with open(sys.argv[2], "wb") as results:
        for episode in plan["episodes"]:
            play(env, episode, results)


main()
