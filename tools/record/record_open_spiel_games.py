#!/usr/bin/env python3
"""Records random games of OpenSpiel as traces that `lzero envs replay` reads (JSON lines).

Needs open_spiel (pyspiel); exits with 77 when it is not there, so that a test that calls it is
reported as skipped. Actions are the same numbers in OpenSpiel and here: squares are row * columns +
column, row 0 at the top (Go: at the bottom), passes come after the last square, Connect Four has
columns. Usage:

    record_open_spiel_games.py OUT_DIR                   everything the oracle test compares
    record_open_spiel_games.py OUT_DIR --small           the files kept in tests/golden/envs/boards
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


def go(size):
    """(our id, our settings, OpenSpiel's name)"""
    return "go", {"board_size": size, "komi": 7.5}, f"go(board_size={size},komi=7.5)"


# name of the file: what is recorded, and the games (seeds) kept in the tree; draws by repetition
# among them
GAMES = {
    "tictactoe": (("tictactoe", {}, "tic_tac_toe"), range(20)),
    "connect4": (("connect4", {}, "connect_four"), range(20)),
    "othello": (("othello", {}, "othello"), range(12)),
    "gomoku": (("gomoku", {}, "gomoku"), range(6)),
    "gomoku6": (("gomoku", {"board_size": 6}, "gomoku(size=6)"), range(16)),
    "go5": (go(5), range(62, 92)),
    "go9": (go(9), range(94, 102)),
    "go19": (go(19), range(1)),
}


def fights(state, legal, choose):
    """A stone that ends the game (by an earlier position or as the last move), else one that takes
    stones, else any: so that small boards see kos and longer cycles."""
    ends, takes = [], []
    num_stones = str(state).count("X") + str(state).count("O")
    for move in legal[:-1]:
        after = state.clone()
        after.apply_action(move)
        if after.is_terminal():
            ends.append(move)
        elif str(after).count("X") + str(after).count("O") <= num_stones:
            takes.append(move)
    return choose.choice(ends or takes or legal[:-1] or legal)


def choose_go(state, legal, seed, choose):
    """Passes less often in even games, so that boards fill up; every fourth game on a small board
    is a fight."""
    if seed % 4 == 3 and legal[-1] <= 81:
        return fights(state, legal, choose)
    move = choose.choice(legal)
    if move == legal[-1] and seed % 2 == 0 and choose.random() < 0.9:
        move = choose.choice(legal)
    return move


def record_game(env, game, seed):
    """One random game."""
    choose = random.Random(seed)
    state = game.new_initial_state()
    moves, counts, changes, before = [], [], [], set()
    while not state.is_terminal():
        legal = state.legal_actions()
        move = choose_go(state, legal, seed, choose) if env == "go" else choose.choice(legal)
        moves.append(move)
        counts.append(len(legal))
        changes.append(sorted(before.symmetric_difference(legal)))
        before = set(legal)
        state.apply_action(move)
    return {"type": "game", "moves": moves, "legal_counts": counts, "legal_changes": changes,
            "returns": state.returns()}


def record(path, subject, seeds):
    env, settings, open_spiel_name = subject
    game = pyspiel.load_game(open_spiel_name)
    meta = {"type": "meta", "env": env, "open_spiel": open_spiel_name, "action": "discrete"}
    if settings:
        meta["settings"] = settings
    draws = num_moves = longest = 0
    with path.open("w") as out:
        out.write(json.dumps(meta, separators=(",", ":")) + "\n")
        for seed in seeds:
            line = record_game(env, game, seed)
            out.write(json.dumps(line, separators=(",", ":")) + "\n")
            draws += line["returns"][0] == 0.0
            num_moves += len(line["moves"])
            longest = max(longest, len(line["moves"]))
    print(f"{path.name}: {len(seeds)} games of {open_spiel_name}, {num_moves} moves, "
          f"longest {longest}, {draws} draws", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    for name, (subject, kept) in GAMES.items():
        seeds = kept if arguments.small else range(1000)
        record(arguments.out_dir / f"{name}_games.jsonl", subject, seeds)


if __name__ == "__main__":
    main()
