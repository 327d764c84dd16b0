#!/usr/bin/env python3
"""lzero sweep: what is wrong is told before anything starts, and nothing is left behind. The folder of
another sweep, or of something else, is refused and stays as it was.

    sweep_input_test.py LZERO FOLDER
"""
import os
import pathlib
import shutil
import sys

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
CARTPOLE = ROOT / "configs/classic/cartpole_unizero.yaml"
SETTINGS = ["train.learning_rate=0.001,0.01", "stop.max_env_steps=40", "train.start_env_steps=20", "evaluate.episodes=1"]


def listing(folder):
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def check_folders(program):
    """Folders that are taken stay as they are."""
    taken = ["--out", "taken", "--seeds", "0"]
    program.expect("a sweep", 0, ["(2/2)"], "sweep", COUNTING, *SETTINGS, *taken)
    (program.folder / "other").mkdir()
    (program.folder / "other/notes").touch()
    before = listing(program.folder)
    for what, parts, words in [
            ("other seeds", ["taken holds another sweep: seeds 0 there, 1,2 asked for"],
             [COUNTING, *SETTINGS, "--out", "taken", "--seeds", "1..2"]),
            ("another grid", ["train.learning_rate=0.001,0.01 there, no grid asked for"],
             [COUNTING, *SETTINGS[1:], *taken]),
            ("another setting", ["train.batch_size=32 there, 16 asked for"],
             [COUNTING, *SETTINGS, "train.batch_size=16", *taken]),
            ("another config", ["config counting_unizero there, cartpole_unizero asked for", "more; give a new"],
             [CARTPOLE, *SETTINGS, *taken]),
            ("a folder for a config", ["taken is the folder of a sweep; go on with it:  lzero sweep", "--out taken"], ["taken"]),
            ("no sweep", ["other is not empty and holds no sweep (it holds notes)"], [COUNTING, "--out", "other"]),
            ("a file", ["other/notes is a file"], [COUNTING, "--out", "other/notes"])]:
        program.expect(what, 2, parts, "sweep", *words)
    program.check("all stays as it was", listing(program.folder) != before, "", 0)


def check_words(program):
    """What is wrong with the words, all at once."""
    for what, parts, words in [
            ("no seeds", ["--seeds: got '0..x', allowed: A..B"], [COUNTING, "--seeds", "0..x"]),
            ("seeds that go down", ["--seeds: got '5..2'"], [COUNTING, "--seeds", "5..2"]),
            ("a seed that is too large", ["seed=9007199254740994"], [COUNTING, "--seeds", "9007199254740994"]),
            ("seeds as a setting", ["--seeds 0..4"], [COUNTING, "seed=1,2"]),
            ("no such config", ["no such file", f"did you mean '{COUNTING}'?"],
             [str(COUNTING).replace("counting_u", "conting_u")]),
            ("an unknown key", ["train.learning_rat=", "did you mean 'train.learning_rate'?"],
             [COUNTING, "train.learning_rat=0.1,0.2"]),
            ("bad values in two cells", ["train.batch_size=0: ", "replay.discount=7: "],
             [COUNTING, "train.batch_size=32,0", "replay.discount=0.9,7"]),
            ("a value twice", ["the same value twice"], [COUNTING, "train.batch_size=32,32"]),
            ("equal values", ["train.batch_size=32,loss.value_weight=1 and train.batch_size=32,loss.value_weight=1.0"],
             [COUNTING, "train.batch_size=32,64", "loss.value_weight=1,1.0"]),
            ("a value that is missing", ["an empty value"], [COUNTING, "train.batch_size=32,"]),
            ("no jobs", ["--jobs: got '0', allowed: an integer from 1"], [COUNTING, "--jobs", "0"]),
            ("more memory than there is", ["--jobs: 1000 runs at a time", "allowed: 1 to "],
             [COUNTING, "--jobs", "1000", "--seeds", "0..2000"]),
            ("too many runs", ["too many runs; allowed: 10000"], [COUNTING, SETTINGS[0], "--seeds", "0..5000"])]:
        program.expect(what, 2, parts, "sweep", *words, "--out", "refused")
    program.expect("help", 0, ["key.path=a,b,c", "0..4, or 3, or 0,3,7", "Runs at a time", "list the runs"],
                   "sweep", "--help")
    cores = len(os.sched_getaffinity(0))
    code, printed = program.run("sweep", COUNTING, "plugins=[]", f"env.num_threads={cores}", "--jobs", "90", "--seeds",
                                "3,4", "--dry-run")
    program.check("a dry run", code, printed, 0, "starts       runs/sweeps/counting_unizero-", "runs/seed_3",
                  f"2 runs at a time with {cores} thread")
    many = ",".join(map(str, range(1, 46)))
    program.expect("many combinations", 0, ["checking combination ", " of 2,025\n", "2025 runs, 1 at a time"], "sweep", COUNTING,
                   f"search.num_simulations={many}", f"train.batch_size={many}", "--seeds", "0", "--dry-run")
    left = [name for name in ("refused", "runs") if (program.folder / name).exists()]
    program.check("nothing is left behind", len(left), str(left), 0)


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    check_folders(program)
    check_words(program)
    program.finish()


if __name__ == "__main__":
    main()
