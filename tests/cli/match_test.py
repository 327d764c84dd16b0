#!/usr/bin/env python3
"""Matches as a user plays them: checkpoints and built-in players, tables and JSON, a bar, Ctrl-C, and a
clear message for everything that cannot be played.

    match_test.py LZERO FOLDER
"""
import json
import pathlib
import shutil
import sys

from program import ROOT, Program

SHORT = ["stop.max_env_steps=80", "train.start_env_steps=50", "search.num_simulations=4",
         "evaluate.every_updates=0", "evaluate.episodes=2", "env.num_evaluators=2"]
KNOWN = "(known: random, alpha_beta:PLIES, mcts:SIMULATIONS, or a run folder or checkpoint: PATH"

# (what, exit code, parts, arguments)
COMMANDS = [
    ("player that is none", 2, ["error: no player 'alpha-beta:2'; did you mean 'alpha_beta'? " + KNOWN],
     ["alpha-beta:2", "random"]),
    ("missing folder", 2, ["error: no player 'runs/nowhere': no such folder"], ["board", "runs/nowhere"]),
    ("word that is none", 2, ["error: no player 'nowhere' " + KNOWN], ["board", "nowhere"]),
    ("folder without a checkpoint", 2, ["error: empty: empty holds no checkpoint"], ["empty", "random"]),
    ("simulations that are none", 2,
     ["player 'board@many': simulations a move: got 'many', allowed: an integer from 0 (the policy head "
      "alone) to 100000"], ["board@many", "random"]),
    ("depth out of range", 2, ["player 'alpha_beta:99': alpha_beta takes the plies of its look-ahead, 1 .. 64"],
     ["board", "alpha_beta:99"]),
    ("one player", 2, ["error: match: b is needed"], ["board"]),
    ("no game", 2, ["error: which game? none of the players is a checkpoint; name it, as in --env connect4"],
     ["random", "mcts:5"]),
    ("game beside a checkpoint", 2, ["error: --env go: a checkpoint plays the game of its run"],
     ["board", "random", "--env", "go"]),
    ("setting beside a checkpoint", 2, ["error: board_size=5: a checkpoint plays the game of its run"],
     ["board", "random", "board_size=5"]),
    ("two games", 2, ["error: the checkpoints play different games: board plays tictactoe, counting plays "
                      "counting"], ["board", "counting"]),
    ("two sizes of a game", 2, ["different games: gomoku5 plays gomoku board_size=5, gomoku6 plays gomoku "
                                "board_size=6"], ["gomoku5", "gomoku6"]),
    ("checkpoint of no board game", 2, ["error: environment 'counting' is no board game for two players"],
     ["counting", "random"]),
    ("no board game", 2, ["error: environment 'catch' is no board game for two players"],
     ["random", "random", "--env", "catch"]),
    ("unknown game", 2, ["error: no environment 'conect4'; did you mean 'connect4'?"],
     ["random", "random", "--env", "conect4"]),
    ("unknown setting", 2, ["'go' has no setting 'board_sze'"],
     ["random", "random", "board_sze=5", "--env", "go"]),
    ("no setting", 2, ["not a setting; got '5'; allowed: name=value"], ["random", "random", "5", "--env", "go"]),
    ("no games", 2, ["error: match: --games: got '0', allowed: an integer from 1 to 1000000"],
     ["board", "random", "--games", "0"]),
    ("half a pair of games", 2, ["error: --games 3: games come in pairs, with colors swapped"],
     ["board", "random", "--games", "3"]),
    ("too long an opening", 2, ["--opening-plies: got '101', allowed: an integer from 0 to 100"],
     ["board", "random", "--opening-plies", "101"]),
    ("bar above all points", 2, ["--min-score: got '1.5', allowed: a number from 0 to 1"],
     ["board", "random", "--min-score", "1.5"]),
    ("unknown device", 2, ["--device: got 'tpu', allowed: cpu, cuda"], ["board", "random", "--device", "tpu"]),
    ("negative seed", 2, ["--seed: got '-1', allowed: an integer from 0"], ["board", "random", "--seed", "-1"]),
    ("bar of a ladder", 2, ["error: --min-score is for two players; the ladder has many"],
     ["board", "ladder", "--min-score", "0.5"]),
    ("judge of a ladder", 2, ["error: --judge is for two players; the ladder has many"], ["board", "ladder", "--judge"]),
    ("an opening as long as a game", 2, ["error: got 9 opening plies, but a game of tictactoe is over after at most 9; "
                                         "allowed: 0 .. 8"], ["board", "random", "--opening-plies", "9"]),
    ("setting of weights", 2, ["error: board: settings: model.embed_dim=8: not of how a checkpoint plays"],
     ["board", "random", "--a", "model.embed_dim=8"]),
    ("setting of a built-in player", 2, ["error: --b search.pb_c_init=2: random is no checkpoint"],
     ["board", "random", "--b", "search.pb_c_init=2"]),
    ("a config in place of a run", 2, ["tictactoe_alphazero.yaml is a file, no run folder or checkpoint"],
     [ROOT / "configs/boards/tictactoe_alphazero.yaml", "random"]),
    ("setting of a ladder", 2, ["error: --b search.pb_c_init=2: ladder is no checkpoint"],
     ["board", "ladder", "--b", "search.pb_c_init=2"]),
    ("judge of no solved game", 2, ["error: --judge: perfect moves of go are not known; allowed: connect4, "
                                    "tictactoe"], ["random", "random", "--env", "go", "--judge"]),
    ("a ladder as the first", 2, ["error: no player 'ladder' (known: "], ["ladder", "board"]),
    ("damaged checkpoint", 1, ["error: worn: ", "model.safetensors"], ["worn", "random"]),
]


def train(program, config, name, *overrides):
    program.expect(f"train {name}", 0, ["run folder"], "train", ROOT / config, *SHORT, *overrides,
                   "--run-dir", name)


def check_tables(program):
    code, printed = program.run("match", "board", "mcts:20", "--games", "10")
    program.check("checkpoint against mcts", code, printed, 0, "game          tictactoe\n",
                  "A             board: 4 simulations a move, board/checkpoints/step_", "B             mcts:20\n",
                  "openings      2 random moves, 5 different, each played twice with colors swapped",
                  "A as first         5 ", "A in all          10 ", "Elo of A - B  ", "verdict       ")
    program.expect("the policy alone against more simulations", 0,
                   ["A             board@0: the policy head alone, ", "B             board@9: 9 simulations a move"],
                   "match", "board@0", "board@9", "--games", "4")
    program.expect("judged, with a setting of the search", 0,
                   ["4 simulations a move, search.q_transform=min_max, board/", "\nmoves of A    optimal ",
                    "\nmoves of B    optimal "],
                   "match", "board", "random", "--a", "search.q_transform=min_max", "--judge", "--games", "4")
    program.expect("evaluated with a setting of the search", 0, ["optimal moves"], "eval", "board", "--grade",
                   "search.q_transform=min_max")
    program.expect("evaluated with a key that is none", 2, ["search.q_transfrom=min_max: unknown key; did you mean "
                   "'search.q_transform'?"], "eval", "board", "search.q_transfrom=min_max")
    program.expect("the same games again", 0,
                   ["openings      none, colors alternate", "warning       both players always play the same "
                    "moves: 4 pairs repeat the games of 1 opening"],
                   "match", "board", "board", "--games", "8", "--opening-plies", "0")
    for game in (["--env", "othello"], ["board_size=5", "--env", "go"], ["board_size=5", "--env", "gomoku"],
                 ["--env", "connect4"]):
        program.expect(f"built-in players, {game}", 0, ["verdict       B is stronger"], "match", "random",
                       "mcts:40", *game, "--games", "20", "--threads", "2")


def check_json(program):
    arguments = ["match", "board", "random", "--games", "12", "--seed", "3", "--json"]
    code, printed = program.output(*arguments)
    match = json.loads(printed)
    program.check("one JSON object", code, str(match["all"]["games"]), 0, "12")
    program.check("games by color", match["as_first"]["games"], "", 6)
    program.check("the same again", int(program.output(*arguments)[1] != printed), printed, 0)
    threads = program.output(*arguments, "--threads", "2")[1]
    program.check("threads change nothing", int(threads != printed), threads, 0)
    program.check("pairs", sum(match["pairs_by_half_points"]), printed, 6)
    program.expect("below the bar", 3, ["A takes 0", "of the points, below --min-score 0.9"], "match", "random",
                   "alpha_beta:4", "--env", "connect4", "--games", "20", "--min-score", "0.9")
    program.expect("above the bar", 0, ["A is stronger"], "match", "alpha_beta:4", "random", "--env",
                   "connect4", "--games", "20", "--min-score", "0.9")


def check_ladder(program):
    program.expect("ladder", 0, ["A             mcts:160\n", "against        games", "\nrandom            10 ",
                                 "\nmcts:640          10 ", "\nstronger than "],
                   "match", "mcts:160", "ladder", "--env", "tictactoe", "--games", "10")
    code, printed = program.output("match", "board", "ladder", "--games", "4", "--json")
    rungs = [match["b"]["player"] for match in json.loads(printed)["matches"]]
    program.check("ladder --json", code, str(rungs), 0, "['random', 'mcts:10', 'mcts:40', 'mcts:160', 'mcts:640']")


def check_interrupt(program):
    arguments = ["match", "mcts:3000", "mcts:3000", "--env", "connect4", "--games", "1000000"]
    code, printed = program.interrupt(*arguments, after="score of A so far", seconds=120)
    program.check("Ctrl-C", code, printed, 130, "interrupted: the match ends here, with the score so far",
                  " of 1000000 games ended\n", "A in all  ")
    # The agent is loaded, no game begun.
    code, printed = program.interrupt("match", "board@5000", "random", "--games", "1000", "--verbose", after="runner")
    program.check("Ctrl-C before the first game", code, printed, 130,
                  "interrupted: the match ends here, with the score so far", " of 1000 games ended\n")


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    board = "configs/boards/tictactoe_unizero.yaml"
    train(program, board, "board")
    train(program, "configs/teaching/counting_unizero.yaml", "counting")
    for size in (5, 6):
        train(program, board, f"gomoku{size}", "env.id=gomoku", f"env.board_size={size}",
              "env.random_opening_fraction=0")
    (folder / "empty").mkdir()
    shutil.copytree(folder / "board", folder / "worn", symlinks=True)
    for model in (folder / "worn").glob("checkpoints/step_*/model.safetensors"):
        model.write_bytes(b"")
    for what, code, parts, arguments in COMMANDS:
        program.expect(what, code, parts, "match", *arguments)
    check_tables(program)
    check_json(program)
    check_ladder(program)
    check_interrupt(program)
    program.expect("help", 0, ["PATH@SIMULATIONS", "--opening-plies", "--min-score"], "match", "--help")
    program.finish()


if __name__ == "__main__":
    main()
