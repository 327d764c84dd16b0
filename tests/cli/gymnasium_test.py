#!/usr/bin/env python3
"""Environments of Gymnasium as they are: each is planned (--dry-run) and trained for 500 steps with a small model,
and a run is evaluated and resumed from another folder than its modules. Exit 77 where the packages are missing.

    gymnasium_test.py LZERO FOLDER
"""
import os
import shutil
import subprocess
import sys

from program import ROOT, Program

PYTHON = os.environ.get("LZERO_PYTHON") or ROOT / ".deps/python_envs/bin/python3"
SMALL = """extends: {base}
env: {{num_collectors: 2, num_evaluators: 1, num_workers: 1}}
model: {{embed_dim: 16, num_layers: 1, num_heads: 1, support_size: 21}}
search: {{num_simulations: 2}}
replay: {{capacity: 1000, num_unroll_steps: 2, td_steps: 2, segment_length: 50}}
train: {{batch_size: 4, updates_per_env_step: 0.02, start_env_steps: 200}}
evaluate: {{every_updates: 0, episodes: 1}}
checkpoint: {{every_updates: 0}}
stop: {{max_env_steps: 500, target_return: null}}
"""
IMAGE, SAMPLED = "model.encoder=image", "search.num_sampled_actions=4"
CAP = "env.max_episode_steps=40"  # so that the evaluation ends soon
PLANES = "model.encoder_channels=4"
# (id, what is planned, settings)
ENVIRONMENTS = [
    ("LunarLander-v3", "observation [8], 4 actions", [CAP]),
    ("Taxi-v4", "observation [500], 6 actions", [CAP]),
    ("FrozenLake-v1", "observation [16], 4 actions", ["env.settings.is_slippery=false"]),
    ("Blackjack-v1", "observation [45], 2 actions", []),
    ("MiniGrid-Empty-5x5-v0", "observation [151], 7 actions", [CAP]),
    ("MiniGrid-DoorKey-5x5-v0", "observation [3, 7, 7], 7 actions",
     [CAP, PLANES, "model.encoder=board", "env.wrappers=minigrid.wrappers:ImgObsWrapper"]),
    ("CarRacing-v3", "observation [2, 48, 48], 5 actions",
     [CAP, PLANES, IMAGE, "env.settings.continuous=false",
      "env.wrappers=[gymnasium.wrappers:GrayscaleObservation, gymnasium.wrappers:ResizeObservation((48, 48)), "
      "gymnasium.wrappers:FrameStackObservation(2)]"]),
    ("BipedalWalker-v3", "observation [24], actions of 4 numbers", [CAP, SAMPLED]),
    ("HalfCheetah-v5", "observation [17], actions of 6 numbers", [CAP, SAMPLED]),
]
MODULE = """
import gymnasium, numpy
class Short(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0.0, 9.0, (1,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed); self.place = 0
        return numpy.zeros(1, numpy.float32), {}
    def step(self, action):
        self.place += 1
        if self.place > 9: raise ValueError("\\x1b[31mbeyond the end")
        return numpy.full(1, self.place, numpy.float32), 1.0, self.place == self.length, False, {}
    def __init__(self, length=9): self.length = length
gymnasium.register("Short-v0", Short)
def same(env): return env
"""
UNSTABLE = """
import gymnasium
class Unstable(gymnasium.Wrapper):
    def step(self, action):
        self.unwrapped.data.qpos[:] = 1e20
        return self.env.step(action)
"""


def check_environments(program, small):
    for name, planned, settings in ENVIRONMENTS:
        arguments = ["train", small, f"env.id=gymnasium:{name}", *settings]
        program.expect(f"{name}: plan", 0, [planned], *arguments, "--dry-run")
        program.expect(f"{name}: 500 steps", 0, ["500 env steps", "evaluation    mean return"],
                       *arguments, "--run-dir", name)


def check_warnings(program):
    """What MuJoCo warns of leaves no file in the working folder."""
    (program.folder / "unstable.py").write_text(UNSTABLE)
    program.expect("an unstable simulation", 0, ["\"step\""], "envs", "rollout", "gymnasium:HalfCheetah-v5",
                   "--wrapper", "unstable:Unstable", "--steps", "3")
    log = program.folder / "MUJOCO_LOG.TXT"
    program.check("no file of warnings", log.exists(), str(log), False)


def check_folders(program, small):
    """A run finds its modules from any folder, and says where it looked for those that have moved."""
    home, away = program.folder / "home", program.folder / "away"
    home.mkdir()
    away.mkdir()
    (home / "short_module.py").write_text(MODULE)
    run = program.folder / "short"
    here = program.folder
    program.folder = home
    program.expect("a run of a module", 0, ["500 env steps"], "train", small, "env.id=gymnasium:short_module:Short-v0",
                   "env.wrappers=short_module:same", "--run-dir", run)
    program.folder = here
    (home / "short.yaml").write_text(
        f'extends: {small}\nenv: {{id: "gymnasium:short_module:Short-v0", python_path: [.]}}\nstop: {{max_env_steps: 250}}\n')
    for what in ("a sweep of a module", "the same sweep again"):
        program.expect(what, 0, ["1 of 1"], "sweep", "home/short.yaml", "--seeds", "0", "--out", "swept")
    program.folder = away
    program.expect("eval from another folder", 0, ["episodes      2"], "eval", run, "--episodes", "2")
    program.expect("resume from another folder", 0, ["600 env steps"], "resume", run, "stop.max_env_steps=600")
    (home / "short_module.py").rename(here / "short_module.py")
    program.expect("eval without the module", 1,
                   [f"modules are looked for in {home}, {away} and on PYTHONPATH"], "eval", run)
    shutil.rmtree(home)
    program.expect("resume without the folder", 2, [f"{home} (no such folder), {away} and on PYTHONPATH; "
                                                    "PYTHONPATH=FOLDER names another folder"], "resume", run)
    os.environ["PYTHONPATH"] = str(here)
    program.expect("the folder that is named", 0, ["episodes      1"], "eval", run, "--episodes", "1")
    del os.environ["PYTHONPATH"]
    program.expect("resume with the folder in the config", 0, ["700 env steps"], "resume", run,
                   f"env.python_path={here}", "stop.max_env_steps=700")
    program.expect("eval of an older checkpoint knows it too", 0, ["episodes      1"], "eval",
                   f"{run}/checkpoints/best", "--episodes", "1")
    program.folder = here
    code, printed = program.run("train", small, "env.id=gymnasium:short_module:Short-v0", "env.settings.length=99",
                                "env.max_restarts=1", "--run-dir", "beyond")
    printed += (program.folder / "beyond/log.txt").read_text()
    program.check("control bytes are escaped", code, printed, 1, "\\x1b[31mbeyond the end")
    program.check("none is printed", "\x1b[31mbeyond" in printed, printed, False)


def check_words(program, small):
    (program.folder / "actions").write_bytes(b"0\n\x1b[31m\n")
    program.expect("an action file of bytes", 2, ["actions: line 2: '\\x1b[31m' is not an integer"],
                   "envs", "rollout", "cartpole", "--actions", "actions")
    program.expect("the wrong encoder", 2, ["gives [3, 7, 7]; allowed: board, vector"],
                   "train", small, "env.id=gymnasium:MiniGrid-Empty-5x5-v0", IMAGE, PLANES,
                   "env.wrappers=minigrid.wrappers:ImgObsWrapper", "--dry-run")
    program.expect("the wrong wrapper", 2, ["environment 'gymnasium:CartPole-v1': wrapper "
                                            "'gymnasium.wrappers:FlatenObservation' is not there", "did you mean 'FlattenObservation'?"],
                   "train", small, "env.id=gymnasium:CartPole-v1", "env.wrappers=gymnasium.wrappers:FlatenObservation", "--dry-run")
    program.expect("wrappers of another environment", 2, ["wrappers of 'cartpole' is a:b; allowed: none"],
                   "train", small, "env.wrappers=a:b", "--dry-run")
    program.expect("wrappers of dm_control", 2, ["wrappers of 'dm_control:cartpole/swingup' is a:b; allowed: none, they are for"],
                   "envs", "info", "dm_control:cartpole/swingup", "--wrapper", "a:b")
    program.expect("the form of an Atari game", 2, ["observation of 'gymnasium:ALE/Pong-v5' is vector; allowed: auto"],
                   "envs", "info", "gymnasium:ALE/Pong-v5", "--observation", "vector")
    program.expect("a form that is not there", 2, ["--observation: got 'bord_last', allowed: auto, ", "did you mean 'board_last'?"],
                   "envs", "info", "gymnasium:CartPole-v1", "--observation", "bord_last")
    program.expect("the verdict", 1,
                   ["FAIL  same_seed_same_episode", "hinders training: no, because", "pass  bad_actions_refused",
                    "gymnasium:BipedalWalker-v3: 1 check failed; it may be trained; runs will not repeat bit for bit"],
                   "envs", "check", "gymnasium:BipedalWalker-v3", "--steps", "300")


def main():
    found = subprocess.run([PYTHON, "-c", "import Box2D, cv2, gymnasium, minigrid, mujoco"]).returncode == 0
    if not found:
        print(f"skipped: {PYTHON} lacks what tools/setup.sh --python-envs installs")
        sys.exit(77)
    os.environ["LZERO_PYTHON"] = str(PYTHON)
    shutil.rmtree(sys.argv[2], ignore_errors=True)
    program = Program(sys.argv[1], sys.argv[2])
    small = program.folder / "small.yaml"
    small.write_text(SMALL.format(base=ROOT / "configs/base/unizero.yaml"))
    check_words(program, small)
    check_folders(program, small)
    check_warnings(program)
    check_environments(program, small)
    program.finish()


main()
