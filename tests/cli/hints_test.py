#!/usr/bin/env python3
"""What the program says where a user could be left wondering: a run that has nothing left to do or was not
solved, a damaged best, a second Ctrl-C, a long evaluation, self-play, paths as they were typed.

    hints_test.py LZERO FOLDER
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=400", "train.start_env_steps=50", "checkpoint.every_updates=20",
         "checkpoint.keep=9", "evaluate.every_updates=30", "evaluate.episodes=2", "stop.patience=1"]


def command_behind(printed, mark):
    """The arguments of the command that is printed behind `mark` on its line."""
    line = next((line for line in printed.splitlines() if mark in line), mark + "lzero (no such line)")
    return line.split(mark)[1].split()[1:]


def check_stop_rules(program):
    code, printed = program.run("train", COUNTING, *SHORT, "stop.target_return=10", "--run-dir", "run/")
    program.check("not solved", code, printed, 0, "not solved    target 10, best ", "--logdir run/tb",
                  "pip install tensorboard", "eval run\n")
    code, printed = program.run("resume", "run/")
    program.check("resume at the limit", code, printed, 0,
                  "nothing to do: stop.max_env_steps=400 is reached (400 are done); go on with:  lzero "
                  "resume run stop.max_env_steps=800", "--logdir run/tb")
    code, printed = program.run(*command_behind(printed, "go on with:  "))
    program.check("resume goes on", code, printed, 0, "\n800 env steps")
    program.check("resume that goes on says nothing of the kind", int("nothing to do" in printed), printed, 0)
    program.expect("resume to a limit below", 0, ["stop.max_env_steps=100 is reached (800 are done); go on"],
                   "resume", "run", "stop.max_env_steps=100")
    program.expect("resume of a solved run", 0, ["solved        after 804 env steps"], "resume", "run",
                   "stop.target_return=-1", "stop.max_env_steps=801", "evaluate.every_updates=1")
    program.expect("resume of a solved run again", 0,
                   ["stop.target_return=-1 is reached and stop.max_env_steps=80", " are done); go on with:  "
                    "lzero resume run stop.end_at_target=false stop.max_env_steps="], "resume", "run")


def check_run_dir(program, folder):
    before = sorted(path.name for path in (folder / "run").iterdir())
    program.expect("dry run in a used folder", 2, ["run folder run is not empty (it holds ", "resume run"],
                   "train", COUNTING, "--dry-run", "--run-dir", "run/")
    (folder / "file").write_text("x")
    program.expect("dry run in a file", 2, ["run folder file is a file"], "train", COUNTING, "--dry-run",
                   "--run-dir", "file")
    program.expect("dry run in a new folder", 0, ["parameters"], "train", COUNTING, "--dry-run", "--run-dir",
                   "new")
    left = (folder / "new").exists() or before != sorted(path.name for path in (folder / "run").iterdir())
    program.check("a dry run makes nothing", int(left), "", 0)
    program.expect("no run folder", 2, ["error: train: --run-dir: got '', allowed: a folder"], "train",
                   COUNTING, "--dry-run", "--run-dir", "")


def check_paths(program, folder):
    first = sorted(path.name for path in (folder / "run/checkpoints").glob("step_*"))[0]
    code, printed = program.run("resume", f"run/checkpoints/{first}/", "stop.max_updates=3",
                                "stop.end_at_target=true")
    program.check("resume from a checkpoint", code, printed, 0, f"resuming      run/checkpoints/{first}\n",
                  "run folder    run\n", "eval run\n", "--logdir run/tb")


def check_damaged_best(program, folder):
    shutil.copytree(folder / "run", folder / "worn", symlinks=True)
    steps = folder / "worn/checkpoints"
    names = sorted(path.name for path in steps.glob("step_*"))
    (steps / "best").unlink()
    (steps / "best").symlink_to(names[0])
    (steps / names[0] / "model.safetensors").write_bytes(b"")
    code, printed = program.run("eval", "worn")
    program.check("eval of a damaged best", code, printed, 1,
                  f"newest intact checkpoint: {steps}/{names[-1]}",
                  f"evaluate it with:  lzero eval worn/checkpoints/{names[-1]}")
    program.expect("the printed command", 0, ["IQM"], *command_behind(printed, "with:  "), "--episodes", "1")
    for name in names[1:]:
        (steps / name / "model.safetensors").write_bytes(b"")
    program.expect("eval where nothing is intact", 1, ["no other checkpoint of this run is intact"], "eval",
                   "worn")


def wait_for(log, text, process):
    limit = time.monotonic() + 30
    while text not in log.read_text() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)


def check_second_interrupt(program, folder):
    """Steps of several seconds: the second signal comes before the first is obeyed."""
    log = folder / "started.log"
    slow = ["train.updates_per_env_step=500", "train.start_env_steps=50", "train.batch_size=512"]
    with program.started("train", COUNTING, *slow, "--run-dir", "slow", after="run folder") as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        wait_for(log, "finishing this step", process)
        time.sleep(1.2)  # within a second it is the same one
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=60)
    status = json.loads((folder / "slow/status.json").read_text())
    program.check("a second Ctrl-C in status.json", 0, status["state"], 0, "stopped")
    program.check("a second Ctrl-C", code, log.read_text(), 130, "interrupted: finishing this step", "stopping      ",
                  " updates made in ",
                  "stopped at once, without a checkpoint: resume goes on from the last one")


def check_long_eval(program):
    settings = ["eval", "run", "--episodes", "100000"]
    code, printed = program.interrupt(*settings, after="mean return so far")
    program.check("Ctrl-C in eval", code, printed, 130, "/100000 | mean return so far ",
                  "interrupted: the evaluation ends here, without a report")
    program.check("eval finishes no step", int("finishing this step" in printed), printed, 0)


def check_self_play(program):
    board = ROOT / "configs/boards/tictactoe_unizero.yaml"
    code, printed = program.run("train", board, "stop.max_env_steps=80", "train.start_env_steps=50",
                                "search.num_simulations=2", "evaluate.every_updates=0",
                                "evaluate.episodes=2", "--run-dir", "board")
    program.check("self-play trained", code, printed, 0, "which is no measure of strength",
                  "evaluate      lzero eval board --grade")
    program.expect("self-play evaluated", 0, ["which is no measure of strength",
                                              "lzero eval board --grade"], "eval", "board/", "--episodes", "2")
    printed = program.run("eval", "run", "--episodes", "2")[1]
    program.check("no such remark with one player", int("measure of strength" in printed), printed, 0)


def check_set_up(program):
    """Nothing is said at every call where nothing is missing."""
    script = [str(ROOT / "tools/setup.sh")]
    if subprocess.run([*script, "--check"], capture_output=True, check=False).returncode != 0:
        return
    done = subprocess.run([*script, "--quiet"], capture_output=True, text=True, check=False)
    program.check("set-up --quiet", done.returncode, done.stdout + done.stderr, 0)
    program.check("set-up --quiet says nothing", len(done.stdout + done.stderr), done.stderr, 0)


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop("LZERO_COMMAND", None)
    program = Program(lzero, folder)
    check_stop_rules(program)
    check_run_dir(program, folder)
    check_self_play(program)
    check_long_eval(program)
    check_damaged_best(program, folder)
    check_paths(program, folder)
    check_second_interrupt(program, folder)
    check_set_up(program)
    os.environ["LZERO_COMMAND"] = "tools/run.sh"
    program.expect("help names the command", 0, ["Usage: tools/run.sh envs check", "tools/run.sh envs list",
                                                 "--seed UINT=0", "=1000"], "envs", "check", "--help")
    program.expect("defaults of eval", 0, ["]=20 ", "Threads of the network (default: as in the run)"], "eval", "--help")
    program.expect("doctor names the command", 0, ["tools/run.sh envs list"], "doctor")
    program.finish()


if __name__ == "__main__":
    main()
