#!/usr/bin/env python3
"""Go by positional superko and area scoring, as plain as can be, to check envs/boards/go by.

A position is a pair of sets of points; chains are found anew for every question, and a move is
legal when the position after it is not in the set of all positions before. Nothing here is fast,
and nothing is shared with the C++ program. Needs no packages. Usage:

    record_plain_go_games.py OUT_DIR                     everything the oracle test compares
    record_plain_go_games.py OUT_DIR --small             the file kept in tests/golden/envs/boards
    record_plain_go_games.py --perft SIZE DEPTH          counts of move sequences
"""

import argparse
import json
import pathlib
import random

KOMI = 7.5


class Game:
    def __init__(self, size):
        self.size = size
        self.stones = (frozenset(), frozenset())
        self.seen = {self.stones}
        self.moves = []
        self.afters = {}  # what after() found since the last move

    def copy(self):
        other = Game(self.size)
        other.stones, other.seen, other.moves = self.stones, set(self.seen), list(self.moves)
        return other

    def neighbours(self, point):
        row, column = divmod(point, self.size)
        return [(row + down) * self.size + column + right
                for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))
                if 0 <= row + down < self.size and 0 <= column + right < self.size]

    def spread(self, start, inside):
        """The points of `inside` that hang together with `start`."""
        found, fresh = {start}, [start]
        while fresh:
            fresh = [n for point in fresh for n in self.neighbours(point) if n in inside]
            fresh = [n for n in dict.fromkeys(fresh) if n not in found]
            found.update(fresh)
        return found

    def without_dead(self, stones, occupied):
        """`stones` less the chains that have no free point beside them."""
        return frozenset(point for point in stones
                         if any(n not in occupied for member in self.spread(point, stones)
                                for n in self.neighbours(member)))

    def after(self, point):
        """The position after a stone on `point`; None when it stands without liberty."""
        if point not in self.afters:
            self.afters[point] = self.compute_after(point)
        return self.afters[point]

    def compute_after(self, point):
        mover = len(self.moves) % 2
        own, other = self.stones[mover] | {point}, self.stones[1 - mover]
        other = self.without_dead(other, own | other)
        if self.without_dead(own, own | other) != own:
            return None
        return (own, other) if mover == 0 else (other, own)

    def legal(self):
        if self.over():
            return []
        free = [p for p in range(self.size ** 2) if p not in self.stones[0] | self.stones[1]]
        placed = [p for p in free if self.after(p) is not None and self.after(p) not in self.seen]
        return placed + [self.size ** 2]

    def play(self, move):
        if move < self.size ** 2:
            self.stones = self.after(move)
            self.seen.add(self.stones)
        self.moves.append(move)
        self.afters = {}

    def over(self):
        return self.moves[-2:] == [self.size ** 2] * 2 or len(self.moves) >= 2 * self.size ** 2

    def score(self):
        """Black's area less white's and komi."""
        lead = len(self.stones[0]) - len(self.stones[1])
        free = set(range(self.size ** 2)) - self.stones[0] - self.stones[1]
        while free:
            region = self.spread(min(free), free)
            free -= region
            beside = {n for point in region for n in self.neighbours(point)}
            black, white = bool(beside & self.stones[0]), bool(beside & self.stones[1])
            lead += len(region) * (black - white)
        return lead - KOMI

    def returns(self):
        return [1.0, -1.0] if self.score() > 0 else [-1.0, 1.0]  # komi leaves no draw


def perft(game, depth):
    moves = game.legal()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = game.copy()
        after.play(move)
        total += perft(after, depth - 1)
    return total


def choose_move(game, legal, choose):
    """Half of the time a move that takes stones, if there is one; seldom a pass."""
    stones = game.stones[0] | game.stones[1]
    takes = [move for move in legal[:-1] if sum(map(len, game.after(move))) <= len(stones)]
    if takes and choose.random() < 0.5:
        return choose.choice(takes)
    return choose.choice(legal[:-1]) if legal[:-1] and choose.random() < 0.98 else legal[-1]


def record_game(size, seed):
    choose = random.Random(seed)
    game = Game(size)
    counts, changes, before, num_repeats = [], [], set(), 0
    while not game.over():
        legal = game.legal()
        free = set(range(size ** 2)) - game.stones[0] - game.stones[1]
        num_repeats += sum(game.after(point) in game.seen for point in free)
        counts.append(len(legal))
        changes.append(sorted(before.symmetric_difference(legal)))
        before = set(legal)
        game.play(choose_move(game, legal, choose))
    line = {"type": "game", "moves": game.moves, "legal_counts": counts, "legal_changes": changes,
            "returns": game.returns()}
    return line, num_repeats


def record(path, size, num_games):
    meta = {"type": "meta", "env": "go", "action": "discrete",
            "settings": {"board_size": size, "komi": KOMI, "superko": "positional"}}
    lines, num_repeats, num_moves = [meta], 0, 0
    for seed in range(num_games):
        line, repeats = record_game(size, seed)
        lines.append(line)
        num_repeats += repeats
        num_moves += len(line["moves"])
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{path.name}: {num_games} games, {num_moves} moves, {num_repeats} times a point was "
          "forbidden by a repetition", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path, nargs="?")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--perft", type=int, nargs=2, metavar=("SIZE", "DEPTH"))
    arguments = parser.parse_args()
    if arguments.perft:
        size, depth = arguments.perft
        for d in range(1, depth + 1):
            print(f"depth {d}: {perft(Game(size), d)}", flush=True)
        return
    if arguments.out_dir is None:
        parser.error("OUT_DIR or --perft is needed")
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    if arguments.small:
        record(arguments.out_dir / "go5_positional_games.jsonl", 5, 10)
        return
    for size, num_games in ((5, 200), (7, 20), (9, 2)):
        record(arguments.out_dir / f"go{size}_positional_games.jsonl", size, num_games)


if __name__ == "__main__":
    main()
