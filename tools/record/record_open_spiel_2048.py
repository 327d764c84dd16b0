#!/usr/bin/env python3
"""Records games of OpenSpiel's 2048 as traces that `lzero envs replay` reads (JSON lines).

Boards, rewards, chance outcomes and ends are OpenSpiel's; observations are written in the planes
that envs/stochastic/game_2048.cc states. OpenSpiel 2.0.2 omits legal moves whose only effect is a
merge into a tile that the previous move made, and ends games that have such moves only: each step
has "legal", all moves that change the board, and "open_spiel_legal", what it lists; such an end is
recorded as not terminated. The script fails when a list is not exactly what that fault explains.
Needs pyspiel; exits with 77 when it is not there, so that a test that calls it is reported as
skipped. Usage:

    record_open_spiel_2048.py OUT_DIR                    everything the oracle test compares
    record_open_spiel_2048.py OUT_DIR --small            the file kept in tests/golden/envs/stochastic
"""

import argparse
import json
import pathlib
import random
import sys

try:
    import pyspiel
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

SIZE = 4
NUM_PLANES = 16
MAX_TILE = 131072  # beyond what a game here reaches: no end at 2048
# Our environment's start: seed, the chance outcomes of the two tiles.
STARTS = (
    (0, 20, 24), (1, 1, 3), (2, 0, 14), (3, 12, 14), (4, 18, 29), (5, 2, 18), (6, 8, 18),
    (7, 16, 27), (8, 26, 28), (9, 3, 26), (10, 2, 16), (11, 8, 28), (12, 14, 30), (13, 14, 26),
    (14, 4, 20), (15, 0, 10), (16, 6, 28), (17, 8, 30), (18, 18, 27), (19, 5, 8), (20, 16, 20),
    (21, 20, 24), (22, 20, 24), (23, 22, 31), (24, 10, 12), (25, 16, 28), (26, 12, 24),
    (27, 15, 16), (28, 10, 12), (29, 8, 30), (30, 12, 24), (31, 2, 22),
)


def lines_of(direction):
    """The squares of the four lines, each from the side that tiles move to."""
    rows = [[row * SIZE + column for column in range(SIZE)] for row in range(SIZE)]
    lines = [list(line) for line in zip(*rows)] if direction in (0, 2) else rows
    return [line[::-1] for line in lines] if direction in (1, 2) else lines


def slide(tiles, direction, fixed=()):
    """The board after a move and the squares of the tiles it made; none merges into a tile of `fixed`."""
    after, made = [0] * len(tiles), set()
    for line in lines_of(direction):
        free = list(line)  # squares not filled yet
        mergeable = None  # the square of the tile before, where the next can merge with it
        for square in line:
            tile = tiles[square]
            if tile == 0:
                continue
            if mergeable is not None and after[mergeable] == tile:
                after[mergeable] *= 2
                made.add(mergeable)
                mergeable = None
                continue
            target = free.pop(0)
            after[target] = tile
            mergeable = None if square in fixed else target
    return after, made


def legal_moves(tiles, fixed=()):
    return [move for move in range(4) if slide(tiles, move, fixed)[0] != tiles]


def planes(tiles):
    out = [0] * (NUM_PLANES * len(tiles))
    for square, tile in enumerate(tiles):
        plane = min(tile.bit_length() - 1, NUM_PLANES - 1) if tile else 0
        out[plane * len(tiles) + square] = 1
    return out


def tiles_of(state):
    return [int(tile) for tile in state.observation_tensor(0)]


def choose(tiles, legal, policy, source):
    """random; or corner: mostly the most merges, ties to down and left, which makes large tiles."""
    if policy == "random" or source.random() < 0.05:
        return source.choice(legal)
    order = [2, 3, 1, 0]
    return max(legal, key=lambda move: (slide(tiles, move)[0].count(0) // 2, -order.index(move)))


def record_game(game, number, start, policy, out):
    seed, first, second = start
    source = random.Random(f"{seed} {policy}")
    state = game.new_initial_state()
    state.apply_action(first)
    state.apply_action(second)
    tiles, made, num_omitted, t = tiles_of(state), set(), 0, 0
    out.append({"type": "reset", "episode": number, "seed": seed, "policy": policy, "state": tiles,
                "obs": planes(tiles)})
    while not state.is_terminal():
        listed, legal = sorted(state.legal_actions()), legal_moves(tiles)
        if listed != legal_moves(tiles, made):
            sys.exit(f"episode {number} step {t}: OpenSpiel lists {listed} for {tiles}, "
                     f"tiles just made on {sorted(made)}")
        num_omitted += len(legal) - len(listed)
        move = choose(tiles, listed, policy, source)
        made = slide(tiles, move)[1]
        state.apply_action(move)
        chances = state.chance_outcomes()
        chance = source.choices([outcome for outcome, _ in chances], [p for _, p in chances])[0]
        state.apply_action(chance)
        tiles = tiles_of(state)
        if state.is_terminal() == bool(legal_moves(tiles, made)):
            sys.exit(f"episode {number} step {t}: OpenSpiel is wrong about the end at {tiles}")
        ended = not legal_moves(tiles)
        out.append({"type": "step", "t": t, "action": move, "obs": planes(tiles),
                    "reward": state.rewards()[0], "terminated": ended, "truncated": False,
                    "state": tiles, "chance": chance, "legal": legal, "open_spiel_legal": listed})
        t += 1
    return t, num_omitted


def record(path, episodes):
    """episodes: (start, policy) each."""
    game = pyspiel.load_game(f"2048(max_tile={MAX_TILE})")
    out = [{"type": "meta", "env": "2048", "max_episode_steps": 0, "action": "discrete"}]
    num_steps, num_omitted = 0, 0
    for number, (start, policy) in enumerate(episodes):
        steps, omitted = record_game(game, number, start, policy, out)
        num_steps, num_omitted = num_steps + steps, num_omitted + omitted
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in out))
    print(f"{path.name}: {len(episodes)} games, {num_steps} steps, {num_omitted} moves omitted")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    if arguments.small:
        record(arguments.out_dir / "2048_open_spiel.jsonl", [(STARTS[1], "random"), (STARTS[9], "random")])
        return
    record(arguments.out_dir / "2048_random.jsonl", [(start, "random") for start in STARTS])
    record(arguments.out_dir / "2048_corner.jsonl", [(start, "corner") for start in STARTS])


if __name__ == "__main__":
    main()
