#!/usr/bin/env python3
"""Checkpoints of every family and encoder, played by the program with or without libtorch: episodes and matches end as
they did in libtorch's own operations (inference.runner eager), which are another implementation.

    checkpoints_test.py LZERO FOLDER
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import ROOT, Program

CHECKPOINTS = ROOT / "tests" / "golden" / "checkpoints"

# Returns of the episodes 0 .. 4 of `eval`.
RETURNS = {
    "unizero_vector": [73.0, 93.0, 119.0, 121.0, 61.0],
    "stochastic_muzero": [1124.0, 900.0, 1352.0, 1496.0, 596.0],
    "muzero_image": [1.0, 1.0, 1.0, 1.0, 1.0],
}
# To a part in a hundred: actions are numbers, which round otherwise on other processors.
BOX_RETURNS = {"unizero_box": [-634.3, -627.1, -631.0, -1095.3, -1533.2]}
# Won, drawn and lost of 20 games against mcts:20, seed 1.
GAMES = {"unizero_board": (1, 1, 18), "muzero": (2, 5, 13), "alphazero": (6, 0, 14),
         "alphazero_cells": (8, 6, 6)}


def check_play(program):
    for name, returns in (RETURNS | BOX_RETURNS).items():
        code, text = program.output("eval", CHECKPOINTS / name, "--seeds", "0..4", "--json", timeout=600)
        program.check(f"episodes of {name}", code, text, 0)
        played = json.loads(text)["returns"]
        slack = 0.01 if name in BOX_RETURNS else 0.0
        if any(abs(a - b) > slack * abs(b) for a, b in zip(played, returns, strict=True)):
            program.failures.append(f"episodes of {name}: returns {played}, not {returns}")
    for name, (won, drawn, lost) in GAMES.items():
        code, text = program.output("match", CHECKPOINTS / name, "mcts:20", "--games", 20, "--seed", 1, "--json",
                                    timeout=600)
        program.check(f"games of {name}", code, text, 0,
                      f'"all":{{"games":20,"won":{won},"drawn":{drawn},"lost":{lost},')


def main():
    program = Program(sys.argv[1], sys.argv[2])
    check_play(program)
    program.check("a grade", *program.run("eval", CHECKPOINTS / "muzero", "--grade"), 0, "optimal moves")
    program.check("imagination", *program.run("eval", CHECKPOINTS / "muzero", "--imagination", "--episodes", 3), 0,
                  "of 3 random games", "1 own move", "2 reply", "\n4 ")
    program.check("imagination of one player", *program.run("eval", CHECKPOINTS / "unizero_vector", "--imagination"), 2,
                  "games for two players without chance")
    program.check("simulations of imagination",
                  *program.run("eval", CHECKPOINTS / "muzero", "--imagination", "--sims", 9), 2, "excludes")
    if "train " not in program.run("--help")[1]:
        program.check("a device without libtorch",
                      *program.run("eval", CHECKPOINTS / "muzero", "--device", "cuda"), 1, "built without libtorch")
    program.finish()


if __name__ == "__main__":
    main()
