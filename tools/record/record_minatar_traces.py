#!/usr/bin/env python3
"""Records MinAtar episodes: as traces that `lzero envs replay` reads (JSON lines), and, much longer, as
actions with checksums of what they led to.

Needs numpy and MinAtar; exits with 77 when they are not there, so that a test that calls it is
reported as skipped. Usage:

    record_minatar_traces.py OUT_DIR                     everything the oracle test compares
    record_minatar_traces.py OUT_DIR --small             the files kept in tests/golden/envs/minatar

Observations are lzero's: [channels, 10, 10], the reference's state with channels first. The actions
come from players that know the whole state, mixed with random ones, so that rewards, ramps, all
channels and all ends come up.

minatar_episodes.txt holds the long ones, three lines each and an empty one: `episode ENV SEED
setting=value ...`, `actions`, a digit each, and `sums`, one for every 25 steps: CRC-32C in hexadecimal
of each step's observation (a bit an element, the first one highest), reward and end (a byte each);
the first one begins with the observation of the start.
"""

import argparse
import json
import logging
import pathlib
import sys

try:
    logging.disable(logging.WARNING)  # that nothing is there to draw with
    import minatar
    import numpy
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

STAY, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
MOVES = {STAY: (0, 0), LEFT: (-1, 0), UP: (0, -1), RIGHT: (1, 0), DOWN: (0, 1)}
STEPS_OF_SUM = 25


def to_column(x, target):
    return LEFT if target < x else RIGHT if target > x else STAY


def play_asterix(game):
    """Towards the nearest gold, by cells that no enemy is in or about to enter."""
    gold = [thing for thing in game.entities if thing is not None and thing[3]]
    enemies = [thing for thing in game.entities if thing is not None and not thing[3]]

    def cost(action):
        x = min(9, max(0, game.player_x + MOVES[action][0]))
        y = min(8, max(1, game.player_y + MOVES[action][1]))
        away = min((abs(thing[0] - x) + abs(thing[1] - y) for thing in gold), default=abs(x - 5) + abs(y - 5))
        ahead = [(x - thing[0]) * (1 if thing[2] else -1) for thing in enemies if thing[1] == y]
        return away + sum(1000 if steps in (0, 1) else 20 if steps == 2 else 0 for steps in ahead)

    return min(MOVES, key=cost)


def play_breakout(game):
    """Under the ball, where it will come down."""
    x, y = game.ball_x, game.ball_y
    step = 1 if game.ball_dir in (1, 2) else -1
    while game.ball_dir >= 2 and y < 8:
        if not 0 <= x + step <= 9:
            step = -step
        else:
            x += step
        y += 1
    return to_column(game.pos, x)


def play_freeway(game):
    """Up, unless a car is about to come into the cell ahead."""
    ahead = [car for car in game.cars if car[1] == game.pos - 1]
    if any(abs(car[0] - 4) <= 1 and car[2] <= 1 for car in ahead):
        return STAY
    return UP


def play_seaquest(game):
    """Out of danger, up in time, to divers, else to where there is something to shoot."""
    enemies = game.e_fish + game.e_subs + game.e_bullets

    def is_in_danger(x, y):
        return any(other[1] == y and 0 <= (x - other[0]) * (1 if other[2] else -1) <= 2 for other in enemies)

    targets = [other for other in game.e_fish + game.e_subs if other[1] == game.sub_y]
    faced = [other for other in targets if (other[0] > game.sub_x) == bool(game.sub_or)]
    if faced and game.shot_timer == 0:
        return FIRE
    goal = (game.sub_x, 4)
    if game.diver_count > 0 and (game.oxygen < 40 or game.diver_count == 6) or game.diver_count < 0:
        goal = (game.sub_x, 0)
    elif game.divers:
        goal = min(((diver[0], diver[1]) for diver in game.divers),
                   key=lambda place: abs(place[0] - game.sub_x) + abs(place[1] - game.sub_y))
    if goal[1] == 0 and game.sub_y == 0:
        goal = (game.sub_x, 1)

    def cost(action):
        x = min(9, max(0, game.sub_x + MOVES[action][0]))
        y = min(8, max(0, game.sub_y + MOVES[action][1]))
        drowns = y == 0 and game.sub_y > 0 and game.diver_count == 0
        return abs(x - goal[0]) + abs(y - goal[1]) + 20 * is_in_danger(x, y) + 1000 * drowns

    return min(MOVES, key=cost)


def play_space_invaders(game):
    """Under the aliens, away from bullets, firing whenever it can."""
    coming = game.e_bullet_map[6:, :].sum(axis=0)
    columns = numpy.nonzero(game.alien_map.sum(axis=0))[0]
    ahead = numpy.clip(columns + game.alien_dir * (game.alien_move_timer < 8), 0, 9)
    if coming[game.pos] == 0 and game.shot_timer == 0 and game.pos in ahead:
        return FIRE

    def cost(action):
        x = min(9, max(0, game.pos + MOVES[action][0]))
        return 100 * coming[x] + abs(ahead - x).min()

    return min((STAY, LEFT, RIGHT), key=cost)


PLAYERS = {"asterix": play_asterix, "breakout": play_breakout, "freeway": play_freeway, "seaquest": play_seaquest,
           "space_invaders": play_space_invaders}
CAN_RAMP = ("asterix", "seaquest", "space_invaders")


def observation_of(env):
    return numpy.transpose(env.state(), (2, 0, 1)).reshape(-1)


def play_episode(name, seed, settings, num_steps, noise):
    """The start and up to num_steps steps, each as (action, observation, reward, terminated); a share
    `noise` of the actions is random. settings: lzero's."""
    # A new one for each: what stuck in one episode would stick to the start of the next.
    env = minatar.Environment(name, sticky_action_prob=float(settings.get("sticky_actions", 0.1)),
                              difficulty_ramping=settings.get("difficulty_ramping", "yes") == "yes")
    actions = list(range(6)) if settings.get("full_actions") == "yes" else env.minimal_action_set()
    random = numpy.random.default_rng([seed, 1])
    env.seed(seed)
    env.reset()
    yield None, observation_of(env), 0, False
    for _ in range(num_steps):
        action = actions.index(PLAYERS[name](env.env))
        if random.random() < noise:
            action = int(random.integers(len(actions)))
        reward, terminated = env.act(actions[action])
        yield action, observation_of(env), int(reward), bool(terminated)
        if terminated:
            return


def record_trace(path, name, settings, episodes):
    """episodes: (seed, number of steps, noise) each."""
    lines = [{"type": "meta", "env": f"minatar/{name}", "numpy": numpy.__version__, "max_episode_steps": 0,
              "action": "discrete", "settings": settings}]
    for number, (seed, num_steps, noise) in enumerate(episodes):
        for t, step in enumerate(play_episode(name, seed, settings, num_steps, noise)):
            action, observation, reward, terminated = step
            seen = {"obs": observation.astype(int).tolist(), "state": None}
            if action is None:
                lines.append({"type": "reset", "episode": number, "seed": seed} | seen)
            else:
                lines.append({"type": "step", "t": t - 1, "action": action, "reward": reward,
                              "terminated": terminated, "truncated": False} | seen)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{path.name}: {len(episodes)} episodes, {len(lines) - 1 - len(episodes)} steps", flush=True)


def crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc_table()


def crc32c(octets):
    crc = 0xffffffff
    for octet in octets:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ octet) & 0xff]
    return crc ^ 0xffffffff


def episode_text(name, seed, settings, num_steps, noise, counts):
    actions, sums, octets = "", [], b""
    for action, observation, reward, terminated in play_episode(name, seed, settings, num_steps, noise):
        octets += numpy.packbits(observation).tobytes()
        if action is None:
            continue
        actions += str(action)
        octets += bytes((reward, terminated))
        if len(actions) % STEPS_OF_SUM == 0:
            sums.append(f"{crc32c(octets):08x}")
            octets = b""
        counts["return"] += reward
        counts["ends"] += terminated
    if octets:
        sums.append(f"{crc32c(octets):08x}")
    counts["episodes"] += 1
    counts["steps"] += len(actions)
    words = [f"episode minatar/{name} {seed}"] + [f"{key}={value}" for key, value in settings.items()]
    return f"{' '.join(words)}\nactions {actions}\nsums {' '.join(sums)}\n\n"


def variants_of(name):
    """Settings of which each value comes up, with the share of random actions."""
    ramps = {"difficulty_ramping": "no"} if name in CAN_RAMP else {}
    return [({}, 0.0), ({"sticky_actions": "0"}, 0.0), ({"sticky_actions": "0.25"}, 0.02),
            ({"full_actions": "yes"}, 0.1), ({"full_actions": "yes", "sticky_actions": "0"} | ramps, 0.02),
            (ramps, 0.02), ({"sticky_actions": "0.5"}, 1.0), ({}, 1.0)]


def record_episodes(path, num_seeds, num_steps):
    """Of every variant of each game so many seeds."""
    texts = []
    for name in PLAYERS:
        counts = {"episodes": 0, "steps": 0, "return": 0, "ends": 0}
        for variant, (settings, noise) in enumerate(variants_of(name)):
            for seed in range(num_seeds):
                texts.append(episode_text(name, 1000 * variant + seed, settings, num_steps, noise, counts))
        print(f"{path.name}: {name}", *(f"{count} {what}" for what, count in counts.items()), flush=True)
    path.write_text("".join(texts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    num_steps = 25 if arguments.small else 200
    for name in PLAYERS:
        record_trace(arguments.out_dir / f"minatar_{name}.jsonl", name, {"sticky_actions": "0.25"},
                     [(2**32 - 1, num_steps, 0.1)])
    if arguments.small:
        record_episodes(arguments.out_dir / "minatar_episodes.txt", 2, 2600)
    else:
        record_episodes(arguments.out_dir / "minatar_episodes.txt", 20, 2600)


if __name__ == "__main__":
    main()
