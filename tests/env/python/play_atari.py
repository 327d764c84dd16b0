#!/usr/bin/env python3
"""Plays an Atari game as lzero's presets say, in a plain loop of numpy over single frames of the emulator, for
worker_reference_test.cc to compare byte for byte. Written from the rules (Mnih et al. 2015; Machado et al. 2018),
not from the code; the random draws are those of lzero's streams (Philox4x32-10, lzero/base/rng.h).

    play_atari.py PLAN RESULTS

PLAN is JSON: {"game", "grey", "all_actions", "max_noops", "sticky", "is_training", "ends_at_lost_life", "size",
"stack", "skip", "seeds": [one for each episode], "actions": [index, ...]}: the actions are played on through the
episodes. RESULTS gets, for each first observation and each step: the stacked pictures as bytes, the reward as
float32, terminated and truncated as bytes. Exit status 77 when a package is missing.
"""

import json
import os
import struct
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products: threads would only wait for each other
try:
    import ale_py
    import gymnasium
    import numpy
except ImportError as missing:
    print(missing)
    sys.exit(77)

MASK = 0xffffffff


def philox(key, counter):
    """Ten rounds over four words. [Salmon et al. 2011]"""
    c = [counter >> shift & MASK for shift in (0, 32, 64, 96)]
    k = [key & MASK, key >> 32]
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(second >> 32) ^ c[1] ^ k[0], second & MASK, (first >> 32) ^ c[3] ^ k[1], first & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


class Stream:
    """The numbers of RandomStream(seed, name)."""

    def __init__(self, seed, name):
        digest = 0xcbf29ce484222325  # FNV-1a
        for byte in name.encode():
            digest = ((digest ^ byte) * 0x100000001b3) & (2 ** 64 - 1)
        words = philox(seed, digest)
        self.key, self.position = words[0] << 32 | words[1], 0

    def word(self):
        word = philox(self.key, self.position // 4)[self.position % 4]
        self.position += 1
        return word

    def bits64(self):
        high = self.word()
        return high << 32 | self.word()

    def uniform(self):
        return (self.bits64() >> 11) / 2.0 ** 53

    def integer(self, limit):
        while True:
            value = self.bits64()
            if value >= 2 ** 64 % limit:
                return value % limit


def overlaps(length, size):
    """[size, length] how much of each pixel belongs to each pixel of the result, in 1 / size of a pixel."""
    matrix = numpy.zeros((size, length))
    for i in range(size):
        for pixel in range(length):
            matrix[i, pixel] = max(0, min((i + 1) * length, (pixel + 1) * size) - max(i * length, pixel * size))
    return matrix


class Player:
    def __init__(self, plan):
        self.plan = plan
        gymnasium.register_envs(ale_py)
        self.env = gymnasium.make("ALE/" + plan["game"] + "-v5", frameskip=1, repeat_action_probability=0.0,
                                  full_action_space=plan["all_actions"], max_num_frames_per_episode=0,
                                  obs_type="grayscale" if plan["grey"] else "rgb", max_episode_steps=-1)
        height, width = self.env.observation_space.shape[:2]
        self.rows, self.columns = overlaps(height, plan["size"]), overlaps(width, plan["size"])
        self.area = height * width
        self.game_goes_on = False

    def small(self, frame):
        frame = frame.reshape(*frame.shape[:2], -1).astype(numpy.float64)
        # Whole numbers below 2^53 up to the division, so a tie is one exactly, and goes to even.
        sums = numpy.stack([self.rows @ frame[:, :, c] @ self.columns.T for c in range(frame.shape[2])])
        return numpy.rint(sums / self.area).astype(numpy.uint8)

    def start(self, seed):
        self.draws = Stream(seed, "atari")
        if not self.game_goes_on:
            self.last_action = 0
            frame, facts = self.env.reset(seed=seed)
            noops = 1 + self.draws.integer(self.plan["max_noops"]) if self.plan["max_noops"] else 0
        else:
            noops = 1
        for _ in range(noops):
            frame, _, _, _, facts = self.env.step(0)
        self.lives = facts["lives"]
        self.game_goes_on = False
        self.stack = [self.small(frame)] * self.plan["stack"]

    def step(self, action):
        total, frames = 0.0, []
        # All draws of a step are made, whether or not the game ends before its last frame.
        sticks = [self.plan["sticky"] > 0 and self.draws.uniform() < self.plan["sticky"]
                  for _ in range(self.plan["skip"])]
        for stick in sticks:
            played = self.last_action if stick else action
            self.last_action = played
            frame, reward, terminated, truncated, facts = self.env.step(played)
            frames.append(frame)
            total += reward
            if terminated or truncated:
                break
        self.stack = self.stack[1:] + [self.small(numpy.maximum.reduce(frames[-2:]))]
        if self.plan["is_training"]:
            total = float(numpy.sign(total))
            lost = 0 < facts["lives"] < self.lives
            if self.plan["ends_at_lost_life"] and lost and not (terminated or truncated):
                terminated = self.game_goes_on = True
        self.lives = facts["lives"]
        return total, bool(terminated), bool(truncated)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    player, seeds = Player(plan), iter(plan["seeds"])
    with open(sys.argv[2], "wb") as results:
        def put(reward, terminated, truncated):
            results.write(numpy.concatenate(player.stack).tobytes() +
                          struct.pack("=f2?", reward, terminated, truncated))

        player.start(next(seeds))
        put(0.0, False, False)
        for action in plan["actions"]:
            outcome = player.step(action)
            put(*outcome)
            if outcome[1] or outcome[2]:
                player.start(next(seeds))
                put(0.0, False, False)


main()
