#!/usr/bin/env python3
"""Records episodes of the Pycolab memory tasks as traces that `lzero envs replay` reads.

SOURCE is a folder with the tasks of Hung et al. 2019 as LightZero has them (zoo/memory/envs/
pycolab_tvt: common.py, game.py, objects.py, visual_match.py, key_to_door.py). Whatever they draw at
random is put where our environment puts it for the same seed (FILES); everything else is theirs.
Needs numpy below 2 and pycolab; exits with 77 when they are not there. Usage:

    record_pycolab_memory.py SOURCE OUT_DIR              the files kept in tests/golden/envs/memory
"""

import argparse
import collections
import collections.abc
import importlib
import json
import pathlib
import random
import sys
import types

try:
    import numpy
    import pycolab  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

# What pycolab 1.2 finds in older versions of Python and numpy.
collections.Mapping, collections.Sequence = collections.abc.Mapping, collections.abc.Sequence
stack_list = numpy.vstack
numpy.vstack = lambda arrays: stack_list(list(arrays))
PACKAGE = "zoo.memory.envs.pycolab_tvt"
NUM_COLUMNS = 11
NUM_APPLE_PLACES = 22  # of the hall, and of no other room or character
SHORT = {"apple_reward_min": 1, "apple_reward_max": 1, "apple_respawn_frames": 5, "num_apples": 12,
         "final_reward": 10}
# The weights of up, down, left and right in the three phases.
LEFT = ((1, 1, 1, 1), (3, 2, 2, 1), (5, 0, 3, 0))
RIGHT = ((3, 1, 1, 2), (3, 1, 1, 2), (5, 0, 0, 3))
UP = ((4, 0, 1, 1), (2, 1, 1, 1), (6, 1, 1, 1))
# File: task, settings, episodes: seed, colour, cells (row * 11 + column) of the player and the colour
# or the key in the first room, cells of the apples, weights.
FILES = {
    "visual_match": ("visual_match", SHORT | {
        "explore_frames": 2, "distractor_frames": 12, "reward_frames": 11}, (
        (20, "e", (16, 27), (12, 14, 16, 20, 30, 34, 36, 38, 40, 42, 50, 52), RIGHT),
        (8, "c", (15, 27), (12, 16, 28, 30, 34, 36, 42, 46, 50, 56, 58, 64), UP),
        (6, "b", (27, 38), (12, 26, 30, 34, 38, 46, 48, 52, 56, 58, 62, 64), LEFT),
        (6, "b", (27, 38), (12, 26, 30, 34, 38, 46, 48, 52, 56, 58, 62, 64), RIGHT),
    )),
    "visual_match_active": ("visual_match", SHORT | {
        "explore_frames": 9, "distractor_frames": 3, "reward_frames": 10, "explore_room": "active"}, (
        (12, "e", (24, 49), (12, 18, 20, 24, 26, 30, 38, 40, 42, 50, 58, 62), RIGHT),
        (14, "b", (3, 47), (12, 14, 16, 18, 20, 34, 48, 52, 56, 58, 62, 64), LEFT),
    )),
    "key_to_door": ("key_to_door", SHORT | {
        "explore_frames": 12, "distractor_frames": 8, "reward_frames": 6}, (
        (20, "b", (28, 62), (18, 20, 24, 28, 34, 36, 38, 40, 48, 50, 52, 56), UP),
        (31, "b", (27, 61), (14, 16, 18, 24, 34, 36, 38, 40, 46, 50, 52, 58), LEFT),
        (3, "b", (18, 60), (12, 14, 16, 20, 26, 30, 34, 38, 40, 42, 56, 62), LEFT),
    )),
}


def load_tasks(source):
    """The task modules of the folder, under the package name that they import each other by."""
    parts = PACKAGE.split(".")
    for end in range(1, len(parts) + 1):
        module = types.ModuleType(".".join(parts[:end]))
        module.__path__ = [str(source)] if end == len(parts) else []
        sys.modules[module.__name__] = module
    return {name: importlib.import_module(f"{PACKAGE}.{name}") for name in ("visual_match", "key_to_door")}


class Chosen:
    """In place of the task's random source: the colour that is asked for."""

    def __init__(self, colour):
        self.colour = colour

    def choice(self, colours):
        return colours[colours.index(self.colour)]


def make_game(tasks, task, settings, colour):
    frames = {phase: int(settings[f"{phase}_frames"]) for phase in ("explore", "distractor", "reward")}
    rooms = {}
    if task == "visual_match":
        active = settings.get("explore_room") == "active"
        module = tasks[task]
        rooms["EXPLORE_GRID"] = module.EXPLORE_GRID if active else module.PASSIVE_EXPLORE_GRID
    return tasks[task].Game(
        Chosen(colour), num_apples=int(settings["num_apples"]),
        apple_reward=(settings["apple_reward_min"], settings["apple_reward_max"]),
        final_reward=settings["final_reward"], respawn_every=int(settings["apple_respawn_frames"]),
        max_frames=frames, **rooms)


def view(observation, colours):
    """[3, 5, 5] of the cropped board, thousandths as shares of 1."""
    rows = [[colours[chr(symbol)] for symbol in row] for row in observation.board]
    return [rows[row][column][channel] / 1000 for channel in range(3) for row in range(5)
            for column in range(5)]


def record_episode(tasks, task, settings, number, episode, out):
    seed, colour, explore_cells, apple_cells, weights = episode

    def permutation(positions):  # what is kept of a character comes last
        cells = apple_cells if len(positions) == NUM_APPLE_PLACES else explore_cells
        kept = [row * NUM_COLUMNS + column in cells for row, column in positions]
        return positions[numpy.argsort(kept, kind="stable")]

    numpy.random.permutation = permutation
    game = make_game(tasks, task, settings, colour)
    story = game.make_episode()
    source = random.Random(seed)
    first = story.its_showtime()[0]
    out.append({"type": "reset", "episode": number, "seed": seed, "state": None,
                "obs": view(first, game.colours)})
    phase_ends = [int(settings["explore_frames"])]
    phase_ends.append(phase_ends[0] + int(settings["distractor_frames"]))
    t, total = 0, 0.0
    while not story.game_over:
        action = source.choices(range(4), weights[sum(t >= end for end in phase_ends)])[0]
        observation, reward, _ = story.play(action)
        total += reward
        out.append({"type": "step", "t": t, "action": action, "obs": view(observation, game.colours),
                    "reward": reward, "terminated": story.game_over, "truncated": False, "state": None})
        t += 1
    return total


def record(tasks, path, task, settings, episodes):
    texts = {name: str(value) for name, value in settings.items()}
    out = [{"type": "meta", "env": task, "max_episode_steps": 0, "action": "discrete",
            "settings": texts}]
    returns = [record_episode(tasks, task, settings, number, episode, out)
               for number, episode in enumerate(episodes)]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in out))
    print(f"{path.name}: {len(episodes)} episodes, returns {returns}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("out_dir", type=pathlib.Path)
    arguments = parser.parse_args()
    if not (arguments.source / "visual_match.py").exists():
        print(f"skipped: no tasks in {arguments.source}", file=sys.stderr)
        sys.exit(77)
    tasks = load_tasks(arguments.source)
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    for name, (task, settings, episodes) in FILES.items():
        record(tasks, arguments.out_dir / f"{name}.jsonl", task, settings, episodes)


if __name__ == "__main__":
    main()
