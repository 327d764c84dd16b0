#!/usr/bin/env python3
"""Settings of environments and environments of Python, as a user types them: what is taken, what is refused
and with which words, and that no process is left behind, however lzero ends.

    envs_test.py LZERO FOLDER
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from program import ROOT, Program

PYTHON = ROOT / ".deps/python_envs/bin/python3"
CARTPOLE = ROOT / "configs/gymnasium/cartpole_unizero.yaml"

PONG = ROOT / "configs/gymnasium/pong_unizero.yaml"

MODULE = '''
import gymnasium, numpy
class Faulty(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0.0, 9.0, (1,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)
    def __init__(self, fault="none"): self.fault = fault
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed); self.place = 0
        return numpy.zeros(1, numpy.float32), {}
    def step(self, action):
        self.place += 1
        if self.fault == "raise" and self.place == 3: raise RuntimeError("the wheel came off")
        if self.fault == "hang" and self.place == 3: import time; time.sleep(60)
        return numpy.full(1, self.place, numpy.float32), 1.0, self.place == 9 and self.fault != "endless", False, {}
gymnasium.register("Faulty-v0", Faulty)
class Words(Faulty):
    metadata = {"render_modes": ["ansi"]}
    action_space = gymnasium.spaces.MultiDiscrete([2, 3])
    def __init__(self, render_mode): self.fault, self.render_mode = "print", render_mode
    def step(self, action):
        print("a word on standard output", flush=True)
        return super().step(action)
    def render(self): return f"place {self.place}"
gymnasium.register("Words-v0", Words)
'''

# (what, exit code, parts, arguments)
SETTINGS = [
    ("setting", 0, ["observation    float32 {5, 5, 5}"], ["envs", "info", "go", "board_size=5"]),
    ("settings are listed", 0, ["setting        superko=draw", "setting        komi=7.5"], ["envs", "info", "go"]),
    ("unknown setting", 2, ["'go' has no setting 'kom'; allowed: board_size, komi, superko; did you mean 'komi'?"],
     ["envs", "check", "go", "kom=7"]),
    ("setting out of range", 2, ["board_size of 'go': out of range; got '20'; allowed: an integer from 5 to 19"],
     ["envs", "check", "go", "board_size=20"]),
    ("setting of the wrong kind", 2, ["superko of 'go': unknown; got 'situational'; allowed: one of draw, positional"],
     ["envs", "check", "go", "superko=situational"]),
    ("no setting at all", 2, ["not a setting; got 'board_size'; allowed: name=value"],
     ["envs", "check", "go", "board_size"]),
    ("setting twice", 2, ["setting 'komi' is given twice"], ["envs", "check", "go", "komi=1", "komi=2"]),
    ("setting where there are none", 2, ["'counting' has no setting 'size'; allowed: none"],
     ["envs", "check", "counting", "size=3"]),
    ("settings of a match", 0, ["game          gomoku board_size=5"],
     ["envs", "match", "gomoku", "random", "random", "board_size=5", "--games", "2"]),
    ("a position", 0, ["depth 2: 191"], ["envs", "perft", "chess", "fen=8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", "--depth", "2"]),
    ("no position", 2, ["fen of 'chess': castling is 'KK'; allowed: some of KQkq, each once, or -"],
     ["envs", "info", "chess", "fen=k7/8/8/8/8/8/8/K7 w KK -"]),
    ("no board game", 2, ["environment 'catch' is no board game for two players"],
     ["envs", "match", "catch", "random", "random"]),
    ("trace", 0, ["100 steps"], ["envs", "rollout", "cartpole", "--steps", "100", "--out", "trace.jsonl"]),
    ("other cap than the trace's", 2,
     ["--max-episode-steps is 3, the trace was recorded with 500; leave it out: the trace decides"],
     ["envs", "replay", "cartpole", "--trace", "trace.jsonl", "--max-episode-steps", "3"]),
    ("other settings than the trace's", 2, ["the trace was recorded with other settings; leave yours out"],
     ["envs", "replay", "cartpole", "length=2", "--trace", "trace.jsonl"]),
    ("in a config", 2, ["env.settings: 'cartpole' has no setting 'size'"],
     ["train", ROOT / "configs/classic/cartpole_unizero.yaml", "env.settings.size=3", "--dry-run"]),
    ("board size in a config", 2, ["env.board_size=9: board_size of 'cartpole' is 9; allowed: 0"],
     ["train", ROOT / "configs/classic/cartpole_unizero.yaml", "env.board_size=9", "--dry-run"]),
    ("box actions without samples", 2, ["search.num_sampled_actions: got null, but pendulum has box actions"],
     ["train", ROOT / "configs/classic/cartpole_unizero.yaml", "env.id=pendulum", "--dry-run"]),
    ("no such Python", 2, ["env.python=/nowhere/python: the Python of environments (env.python): cannot start '/nowhere/python': No such file"],
     ["train", CARTPOLE, "env.python=/nowhere/python", "--dry-run"]),
    ("Python without Gymnasium", 2, ["needs the Python package", "tools/setup.sh --python-envs"],
     ["train", CARTPOLE, "env.python=lonely", "--dry-run"]),
]

PYTHON_ENVS = [
    ("unknown id", 2, ["environment 'gymnasium:CartPol-v1': ", "Did you mean: `CartPole`?"],
     ["envs", "info", "gymnasium:CartPol-v1"]),
    ("family left out", 2, ["no environment 'CartPole-v1'; did you mean 'gymnasium:CartPole-v1'?"],
     ["envs", "info", "CartPole-v1"]),
    ("unknown argument", 2, ["unexpected keyword argument 'grvity'"],
     ["envs", "info", "gymnasium:Pendulum-v1", "grvity=3"]),
    ("arguments", 0, ["gymnasium:Pendulum-v1 conforms"],
     ["envs", "check", "gymnasium:Pendulum-v1", "g=3.5", "--steps", "100"]),
    ("own module", 0, ["gymnasium:faulty:Faulty-v0 conforms"],
     ["envs", "check", "gymnasium:faulty:Faulty-v0", "--steps", "100"]),
    ("exception in a step", 1, ["RuntimeError: the wheel came off", "given up after 3 restarts (env.max_restarts)"],
     ["envs", "bench", "gymnasium:faulty:Faulty-v0", "fault=raise", "--seconds", "0.1"]),
    ("box actions of Python without samples", 2,
     ["search.num_sampled_actions: got null, but gymnasium:Pendulum-v1 has box actions"],
     ["train", CARTPOLE, "env.id=gymnasium:Pendulum-v1", "--dry-run"]),
    ("box actions of Python", 0, ["actions of 1 number", "20 sampled actions"],
     ["train", CARTPOLE, "env.id=gymnasium:Pendulum-v1", "search.num_sampled_actions=20", "--dry-run"]),
    ("what actions stand for", 0, ["  0 is [0, 0], 1 is [0, 1], ..., 5 is [1, 2] of MultiDiscrete([2 3])",
                                   "start with seed 0:\nplace 0\n"], ["envs", "info", "gymnasium:faulty:Words-v0"]),
    ("text of Python", 0, ["return 1\nplace 1\n\nstep 2, "],
     ["envs", "rollout", "gymnasium:faulty:Words-v0", "--render", "text", "--steps", "2"]),
    ("an exception fails the check", 1, ["FAIL  random_steps  seed 0, step 2: the environment failed"],
     ["envs", "check", "gymnasium:faulty:Faulty-v0", "fault=raise"]),
    ("an exception ends a rollout", 2, ["seed 0, step 2: the environment failed"],
     ["envs", "rollout", "gymnasium:faulty:Faulty-v0", "fault=raise"]),
    ("an Atari game", 0, ["environment   gymnasium:ALE/Pong-v5: observation [3, 64, 64], 6 actions", "408/404 |", "0 episodes in"],
     ["train", PONG, "stop.max_env_steps=404", "train.start_env_steps=200", "--run-dir", "pong"]),
    ("a worker that hangs", 1, ["(env.step_timeout_s) and was ended", "given up after 0 restarts", "nothing was saved: mend that"],
     ["train", CARTPOLE, "env.id=gymnasium:faulty:Faulty-v0", "env.settings.fault=hang", "env.step_timeout_s=0.5",
      "env.max_restarts=0", "env.max_episode_steps=0", "stop.target_return=null", "--run-dir", "hang"]),
]


def workers_of(folder):
    """Processes of Python that run lzero's script in `folder`."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"/proc/self/fd/5" in words and os.readlink(process / "cwd") == str(folder):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def check_ends(program):
    """However lzero ends, its workers end too."""
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
        log = program.folder / f"end_{int(number)}.log"
        with open(log, "w") as output:
            process = subprocess.Popen(
                [program.lzero, "train", str(CARTPOLE), "stop.target_return=null", "train.start_env_steps=64",
                 "--run-dir", f"end_{int(number)}"], cwd=program.folder, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True)
        limit = time.monotonic() + 60
        while "| eval" not in log.read_text() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        running = workers_of(program.folder)
        os.killpg(process.pid, number)  # as Ctrl-C at a terminal: the whole group
        got = process.wait(timeout=60)
        limit = time.monotonic() + 10
        while workers_of(program.folder) and time.monotonic() < limit:
            time.sleep(0.05)
        text = f"{len(running) > 0} workers, then {len(workers_of(program.folder))}\n" + log.read_text()
        program.check(f"ended by signal {int(number)}", got, text, code, "True workers, then 0")


def check_endless(program):
    """Episodes that never end are told of before they are waited for, and a step cap saves the run."""
    run = ["train", CARTPOLE, "env.id=gymnasium:faulty:Faulty-v0", "env.settings.fault=endless", "env.max_episode_steps=0",
           "stop.max_env_steps=200", "stop.target_return=null", "train.start_env_steps=100", "--run-dir", "endless"]
    code, printed = program.interrupt(*run, after="no episode has ended in ")
    program.check("episodes that never end", code, printed, 130, "resume it with env.max_episode_steps=N")
    program.expect("they get a cap", 0, ["mean return 7.00"], "resume", "endless", "env.max_episode_steps=7")
    program.expect("it is kept", 2, ["env.max_episode_steps=8, where episodes end after 7 steps, would make it another run"],
                   "resume", "endless", "env.max_episode_steps=8")


def check_kills(program):
    """A run loses nothing but the episodes of the workers that are killed."""
    done = subprocess.run(
        [sys.executable, "-B", ROOT / "tools/check_workers.py", CARTPOLE, "--lzero", program.lzero, "--kills", "3",
         "--steps", "1500", "--out", program.folder / "kills"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    program.check("workers that are killed", done.returncode, done.stdout.decode(), 0, "| 3 |", "| 0 | 0 |")


def main():
    shutil.rmtree(sys.argv[2], ignore_errors=True)
    program = Program(sys.argv[1], sys.argv[2])
    (program.folder / "faulty.py").write_text(MODULE)
    lonely = program.folder / "lonely"  # an interpreter that sees no packages
    lonely.write_text("#!/bin/sh\nexec python3 -I -S \"$@\"\n")
    lonely.chmod(0o755)
    os.environ["PATH"] = f"{program.folder}:{os.environ['PATH']}"
    for what, code, parts, arguments in SETTINGS:
        program.expect(what, code, parts, *arguments)
    if PYTHON.exists() or os.environ.get("LZERO_PYTHON"):
        for what, code, parts, arguments in PYTHON_ENVS:
            program.expect(what, code, parts, *arguments)
        program.expect("inspect without a checkpoint", 2,
                       ["environment   gymnasium:faulty:Faulty-v0", "state         failed: ", "log           hang/log.txt",
                        "hang holds no checkpoint"], "inspect", "hang")
        check_endless(program)
        check_ends(program)
        check_kills(program)
        program.finish()
    if program.failures:
        program.finish()
    print("environments of Python were left out: tools/setup.sh --python-envs installs what they need")
    sys.exit(77)  # skipped, though the rest was as it should be


main()
