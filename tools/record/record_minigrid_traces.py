#!/usr/bin/env python3
"""Records MiniGrid episodes as traces that `lzero envs replay` reads (JSON lines), and start maps.

Needs numpy, gymnasium and minigrid; exits with 77 when they are not there, so that a test that calls
it is reported as skipped. Usage:

    record_minigrid_traces.py OUT_DIR                    everything the oracle test compares
    record_minigrid_traces.py OUT_DIR --small            the files kept in tests/golden/envs/grid

Observations are lzero's: [4, 7, 7] integers, object, colour and state of the reference's image with
rows before columns, then the direction. The actions come from a planner that knows the whole grid
(it fetches keys, opens doors, reaches goals), mixed with random ones.

minigrid_maps.txt holds start maps: a line `map ENV SEED setting=value ...`, then the lines of the
reference's pprint_grid and an empty line.
"""

import argparse
import collections
import json
import pathlib
import sys

try:
    import gymnasium
    import minigrid
    import numpy
    from minigrid.core.constants import DIR_TO_VEC
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)
NUM_ACTIONS = 7
STEPS = [tuple(int(part) for part in step) for step in DIR_TO_VEC]

# lzero's id: the reference's id, and its arguments for lzero's settings.
FAMILIES = {
    "empty": ("MiniGrid-Empty-8x8-v0", lambda size=8, random_start="no": {
        "size": size, "agent_start_pos": None if random_start == "yes" else (1, 1)}),
    "fourrooms": ("MiniGrid-FourRooms-v0", lambda: {}),
    "doorkey": ("MiniGrid-DoorKey-8x8-v0", lambda size=8: {"size": size}),
    "keycorridor": ("MiniGrid-KeyCorridorS3R3-v0", lambda room_size=3, num_rows=3: {
        "room_size": room_size, "num_rows": num_rows}),
    "lavagap": ("MiniGrid-LavaGapS7-v0", lambda size=7: {"size": size}),
}

# The ids that the reference registers, which must be what the settings give.
REGISTERED = (
    [(f"MiniGrid-Empty-{n}x{n}-v0", "empty", {"size": n}) for n in (5, 6, 8, 16)]
    + [(f"MiniGrid-Empty-Random-{n}x{n}-v0", "empty", {"size": n, "random_start": "yes"})
       for n in (5, 6)]
    + [("MiniGrid-FourRooms-v0", "fourrooms", {})]
    + [(f"MiniGrid-DoorKey-{n}x{n}-v0", "doorkey", {"size": n}) for n in (5, 6, 8, 16)]
    + [(f"MiniGrid-KeyCorridorS{s}R{r}-v0", "keycorridor", {"room_size": s, "num_rows": r})
       for s, r in ((3, 1), (3, 2), (3, 3), (4, 3), (5, 3), (6, 3))]
    + [(f"MiniGrid-LavaGapS{n}-v0", "lavagap", {"size": n}) for n in (5, 6, 7)]
)

# Sizes and combinations beyond the registered ones.
OTHERS = (
    [("MiniGrid-Empty-8x8-v0", "empty", {"size": n, "random_start": start})
     for n, start in ((7, "no"), (8, "yes"), (16, "yes"), (25, "no"), (25, "yes"))]
    + [("MiniGrid-DoorKey-8x8-v0", "doorkey", {"size": n}) for n in (7, 11, 25)]
    + [("MiniGrid-KeyCorridorS3R3-v0", "keycorridor", {"room_size": s, "num_rows": r})
       for s in (4, 5, 6) for r in (1, 2)]
    + [("MiniGrid-LavaGapS7-v0", "lavagap", {"size": n}) for n in (8, 13, 25)]
)

WIDE_SEEDS = [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63, 2**64 - 1]


def make(reference_id, family, settings, cap=None):
    """The reference's environment; one that is not its family's first is what `settings` say."""
    family_id, arguments_of = FAMILIES[family]
    arguments = arguments_of(**settings)
    registered = {"agent_start_pos": (1, 1), **gymnasium.spec(reference_id).kwargs}
    same = all(registered.get(name) == value for name, value in arguments.items())
    assert same or reference_id == family_id, f"{reference_id} is not {settings}"
    if cap is not None:
        arguments["max_steps"] = cap
    return gymnasium.make(reference_id, disable_env_checker=True, **arguments)


def observation_of(observation):
    planes = numpy.transpose(observation["image"], (2, 1, 0)).astype(int).reshape(-1).tolist()
    return planes + [int(observation["direction"])] * 49


class Planner:
    """The next action towards the goal of the world of `env`, all of which it sees; None where it
    finds no way."""

    def __init__(self, env):
        self.env = env.unwrapped

    def cells(self, kind):
        grid = self.env.grid
        return [(x, y) for y in range(grid.height) for x in range(grid.width)
                if grid.get(x, y) is not None and grid.get(x, y).type == kind]

    def next_action(self):
        locked = [place for place in self.cells("door") if self.env.grid.get(*place).is_locked]
        carried = self.env.carrying
        if locked and carried is not None and carried.type == "key":
            return self.approach(locked[0], TOGGLE)
        if locked:
            return self.approach_first(self.cells("key"), PICK_UP)
        balls = self.cells("ball")
        if balls and carried is not None:
            return DROP if self.cell_before() is None else LEFT
        if balls:
            return self.approach(balls[0], PICK_UP)
        return self.approach_first(self.cells("goal"), FORWARD)

    def cell_before(self):
        return self.env.grid.get(*(int(part) for part in self.env.front_pos))

    def approach_first(self, places, action):
        return self.approach(places[0], action) if places else None

    def passable(self, place):
        cell = self.env.grid.get(*place)
        return cell is None or (cell.type == "door" and not cell.is_locked)

    def approach(self, target, action):
        """A step on a shortest way to `target`; `action` once the agent stands before it."""
        start = tuple(int(part) for part in self.env.agent_pos)
        before = {start: None}
        waiting = collections.deque([start])
        while waiting:
            place = waiting.popleft()
            for dx, dy in STEPS:
                near = (place[0] + dx, place[1] + dy)
                if near == target:
                    return self.step_to(self.first_place(before, place, near), target, action)
                if near not in before and self.passable(near):
                    before[near] = place
                    waiting.append(near)
        return None

    def first_place(self, before, place, near):
        """The place after the start on the way that ends place, near."""
        while before[place] is not None:
            place, near = before[place], place
        return near

    def step_to(self, place, target, action):
        x, y = (int(part) for part in self.env.agent_pos)
        wanted = STEPS.index((place[0] - x, place[1] - y))
        turn = (wanted - self.env.agent_dir) % 4
        if turn != 0:
            return LEFT if turn == 3 else RIGHT
        if place == target:
            return action
        cell = self.env.grid.get(*place)
        return FORWARD if cell is None or cell.is_open else TOGGLE


def random_action(random):
    """All seven, forward, pick up and toggle more often."""
    return int(random.choice(NUM_ACTIONS, p=[0.14, 0.14, 0.36, 0.12, 0.06, 0.12, 0.06]))


def record_episode(env, number, seed, num_steps, noise, out):
    """One reset and up to num_steps steps; a share `noise` of the actions is random."""
    random = numpy.random.default_rng([seed, 1])
    planner = Planner(env)
    observation, _ = env.reset(seed=seed)
    out.append({"type": "reset", "episode": number, "seed": seed, "state": None,
                "obs": observation_of(observation)})
    for t in range(num_steps):
        planned = planner.next_action() if random.random() >= noise else None
        action = random_action(random) if planned is None else planned
        observation, reward, terminated, truncated, _ = env.step(action)
        out.append({
            "type": "step", "t": t, "action": action, "obs": observation_of(observation),
            "reward": float(reward), "terminated": bool(terminated), "truncated": bool(truncated),
            "state": None,
        })
        if terminated or truncated:
            return


def record(path, variant, episodes, cap=None):
    """variant: reference id, family, settings. episodes: (seed, number of steps, noise) each.
    Returns the number of steps."""
    reference_id, family, settings = variant
    env = make(*variant, cap)
    out = [{"type": "meta", "env": f"minigrid/{family}", "reference": reference_id,
            "minigrid": minigrid.__version__, "numpy": numpy.__version__,
            "max_episode_steps": env.unwrapped.max_steps, "action": "discrete"}]
    if settings:
        out[0]["settings"] = settings
    for number, (seed, num_steps, noise) in enumerate(episodes):
        record_episode(env, number, seed, num_steps, noise, out)
    lines = [json.dumps(line, separators=(",", ":")) + "\n" for line in out]
    path.write_text("".join(lines))
    steps = [line for line in out if line["type"] == "step"]
    print(f"{path.name}: {len(episodes)} episodes, {len(steps)} steps, "
          f"{sum(step['reward'] > 0 for step in steps)} successes, "
          f"{sum(step['terminated'] and step['reward'] == 0 for step in steps)} failures, "
          f"{sum(step['truncated'] for step in steps)} truncated", flush=True)
    return len(steps)


def name_of(family, settings):
    return "_".join([f"minigrid_{family}"] + [f"{key}_{value}" for key, value in settings.items()])


def map_text(env, family, settings, seed):
    env.reset(seed=seed)
    words = [f"map minigrid/{family} {seed}"] + [f"{key}={value}" for key, value in settings.items()]
    return " ".join(words) + "\n" + env.unwrapped.pprint_grid() + "\n\n"


def record_maps(path, variants, seeds):
    maps = []
    for variant in variants:
        env = make(*variant)
        maps += [map_text(env, variant[1], variant[2], seed) for seed in seeds]
    path.write_text("".join(maps))
    print(f"{path.name}: {len(maps)} maps", flush=True)


def record_small(folder):
    """Default sizes, and maps of small and large ones."""
    for family, (reference_id, _) in FAMILIES.items():
        episodes = [(0, 45, 0.0), (1, 40, 0.25), (2, 40, 0.5), (3, 10, 1.0)]
        record(folder / f"minigrid_{family}.jsonl", (reference_id, family, {}), episodes)
    record_maps(folder / "minigrid_maps.txt", REGISTERED, [0, 7, 2**64 - 1])


def record_all(folder):
    for variant in REGISTERED + OTHERS:
        episodes = ([(seed, 200, 0.0) for seed in range(3)]
                    + [(seed, 200, 0.3) for seed in range(100, 110)]
                    + [(seed, 200, 0.6) for seed in range(200, 210)]
                    + [(seed, 200, 1.0) for seed in range(300, 307)])
        record(folder / (name_of(*variant[1:]) + ".jsonl"), variant, episodes)
    # The straight way takes 5 steps: success at the cap sets both flags, one step less neither pays.
    shortest = ("MiniGrid-Empty-5x5-v0", "empty", {"size": 5})
    for cap in (4, 5, 6):
        record(folder / f"minigrid_empty_cap_{cap}.jsonl", shortest, [(0, 10, 0.0)], cap)
    for family, (reference_id, _) in FAMILIES.items():
        record(folder / f"minigrid_{family}_cap_40.jsonl", (reference_id, family, {}),
               [(seed, 200, 0.5) for seed in range(400, 410)], 40)
    record_maps(folder / "minigrid_maps.txt", REGISTERED + OTHERS,
                list(range(1000, 1200)) + WIDE_SEEDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    if arguments.small:
        record_small(arguments.out_dir)
    else:
        record_all(arguments.out_dir)


if __name__ == "__main__":
    main()
