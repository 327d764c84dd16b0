#!/usr/bin/env python3
"""The words that the program answers with: to another program's names, to long and strange arguments, to repeated
signals; what `inspect` and the first lines of `train` tell.

    words_test.py LZERO FOLDER
"""
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
STRANGE = "a\x1b[31mb" + "x" * 100000

# (what, exit code, parts, arguments)
COMMANDS = [
    ("a verb of another program", 2, ["unknown verb 'evaluate'; did you mean 'eval'?"], ["evaluate", "run"]),
    ("a config as an option", 2, ["unknown option '--config'; the config follows the verb: train x.yaml"],
     ["train", "--config", "x.yaml"]),
    ("a run as an option", 2, ["unknown option '--resume'; that is a verb: resume run"],
     ["train", COUNTING, "--resume", "run"]),
    ("a config for a run", 2, ["unknown option '--config'; a run goes on with its own config"],
     ["resume", "run", "--config", "x.yaml"]),
    ("an environment as an option", 2, ["given without dashes: env.id=catch"], ["train", COUNTING, "--env", "catch"]),
    ("another program's option", 2, ["given without dashes: train.learning_rate=0.1"],
     ["train", COUNTING, "--lr=0.1"]),
    ("another program's key", 2, ["gamma=0.9: unknown key; did you mean 'replay.discount'?"],
     ["train", COUNTING, "gamma=0.9"]),
    ("a key that has no equivalent", 2, ["unknown key; every run writes metrics.jsonl and TensorBoard files"],
     ["train", COUNTING, "train.wandb=true"]),
    ("explain of another program's key", 0, ["n_envs: here env.num_collectors\n", "default: "],
     ["config", "explain", "n_envs"]),
    ("explain of several words", 0, ["\ndeterministic\n", "search.root_noise_alpha  "],
     ["config", "explain", "seed", "deterministic", "_noise_"]),
    ("help as a word", 0, ["Usage: lzero [OPTIONS] SUBCOMMAND"], ["help"]),
    ("help of a verb", 0, ["Usage: lzero train [OPTIONS] config"], ["help", "train"]),
    ("help of a verb below a verb", 0, ["Usage: lzero envs check"], ["help", "envs", "check"]),
    ("help of no verb", 2, ["unknown verb 'trian'; did you mean 'train'?"], ["help", "trian"]),
    ("bench step beyond the memory", 2, ["a case needs ", "GiB of memory, this machine has ", "lower --embed, --layers"],
     ["bench", "step", "--embed", "65536", "--layers", "256", "--runner", "eager"]),
    ("bench train beyond the memory", 2, ["a case needs ", "lower --embed"],
     ["bench", "train", "--embed", "65536", "--layers", "256"]),
    ("bench unload beyond the memory", 2, ["a case needs ", "lower --embed"],
     ["bench", "unload", "--embed", "65536", "--layers", "256"]),
    ("a config that is near", 2, ["configs/teachin/counting_unizero.yaml: no such file; did you mean '", "configs/teaching'?"],
     ["train", ROOT / "configs/teachin/counting_unizero.yaml"]),
    ("a run that is near", 2, ["no such run folder: rum; did you mean 'run'?"], ["resume", "rum"]),
    ("a run that is near, in a folder", 2, ["no such run folder: ./rum; did you mean './run'?"], ["resume", "./rum"]),
    ("a run that is near, evaluated", 2, ["no such folder: rum/; did you mean 'run'?"], ["eval", "rum/"]),
    ("an override that is wrong for the environment", 2, ["command line: env.id=cartpol: no environment 'cartpol'"],
     ["train", COUNTING, "env.id=cartpol"]),
    ("seeds backwards, before anything is made", 2, ["error: --seeds: got '9..1'"],
     ["eval", "run", "--verbose", "--seeds", "9..1"]),
    ("steps as an option", 2, ["given without dashes: stop.max_env_steps=1000"], ["train", COUNTING, "--steps", "1000"]),
    ("a config as an Option", 2, ["the config follows the verb: train x.yaml"], ["train", "--Config", "x.yaml"]),
    ("a run as an option of eval", 2, ["unknown option '--run'; that word follows the verb"], ["eval", "--run", "run"]),
    ("one dash", 2, ["-run-dir"], ["train", COUNTING, "-run-dir", "x"]),
    ("an editor's dash", 0, ["environment   counting"], ["train", COUNTING, "\u2014dry-run"]),
    ("several seeds", 2, ["for several runs: sweep CONFIG --seeds 1,2"], ["train", COUNTING, "seed=1,2"]),
    ("several values", 2, ["for several runs: sweep CONFIG train.batch_size=16,32"],
     ["train", COUNTING, "train.batch_size=16,32"]),
    ("version as a word", 0, ["lzero 0."], ["version"]),
]

# Arguments that a message quotes, with {} for the strange or the long one.
QUOTED = [["{}"], ["train", "{}"], ["train", COUNTING, "env.id={}"], ["train", COUNTING, "{}=1"], ["train", COUNTING, "--{}"],
          ["resume", "{}"], ["resume", "run", "{}"], ["eval", "{}"], ["eval", "run", "--render", "{}"],
          ["eval", "run", "--seeds", "{}"], ["eval", "run", "{}"], ["eval", "run", "--device", "{}"], ["inspect", "{}"],
          ["metrics", "{}"], ["config", "explain", "{}"], ["config", "validate", "{}"], ["envs", "info", "{}"],
          ["envs", "rollout", "catch", "--actions", "{}"], ["search", "replay", "{}"], ["match", "{}", "random"]]


def check_quoted(program):
    for arguments in QUOTED:
        code, printed = program.run(*[str(part).replace("{}", STRANGE) for part in arguments])
        name = f"strange argument of {' '.join(map(str, arguments[:2]))}"
        program.check(name, code, printed, 2, "error: ")
        program.check(f"{name}: as it is shown", int("\x1b" in printed or len(printed) > 2000), printed[:3000], 0)


def check_repeated_signal(program, folder):
    """timeout(1) and batch systems send two at once."""
    endless = ["stop.max_env_steps=10000000", "--run-dir", "twice"]
    with program.started("train", COUNTING, *endless, after="run folder") as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
    printed = (folder / "started.log").read_text()
    program.check("two signals at once", code, printed, 130, "interrupted   go on with:  lzero resume twice")
    state = json.loads((folder / "twice/status.json").read_text())["state"]
    program.check("two signals at once: a checkpoint", 0 if (folder / "twice/checkpoints/latest").exists() else 1,
                  state, 0, "interrupted")


def check_plugin_crash(program, folder, plugin):
    """The run says what ended it."""
    code, printed = program.run("train", COUNTING, "env.id=plugin:walk", "env.settings.fault=segfault", f"plugins={plugin}",
                                "env.max_episode_steps=20", "--run-dir", "crashed")
    line = "error: the program crashed in plugin:walk"
    program.check("a plugin crashes", code, printed, -signal.SIGSEGV, line)
    program.check("a plugin crashes: log.txt", 0, (folder / "crashed/log.txt").read_text(), 0, line)
    program.check("a plugin crashes: state", 0, (folder / "crashed/status.json").read_text(), 0, '"state": "stopped"')


def check_inspect(program, folder):
    code, printed = program.run("inspect", "run")
    program.check("inspect", code, printed, 0, "environment   counting\nfamily        unizero\nseed          0\n"
                  "config        counting_unizero\ncommit        ", "\nstate         finished (20", "\nenv steps     200\n",
                  "\nmean return   last ", ", best ", "every file intact")
    program.check("inspect lists no tensors", int("action_embedding" in printed), printed, 0)
    program.expect("inspect of a checkpoint", 0, ["environment   counting", "state         finished"], "inspect",
                   "run/checkpoints/latest")
    program.expect("inspect with tensors", 0, ["action_embedding"], "inspect", "run", "--tensors")
    endless = ["stop.max_env_steps=10000000", "checkpoint.every_updates=20", "train.start_env_steps=50"]
    with program.started("train", COUNTING, *endless, "--run-dir", "killed", after="run folder") as process:
        while not (folder / "killed/checkpoints/latest").exists() and process.poll() is None:
            time.sleep(0.02)
        program.expect("inspect at work", 0, [f"state         running, process {process.pid} ("], "inspect", "killed")
    program.expect("inspect of a killed run", 0, [f"was running, but its process {process.pid} is gone; go on with:  "
                                                  "lzero resume killed"], "inspect", "killed/")
    shutil.copytree(folder / "run/checkpoints/latest", folder / "alone")
    program.expect("inspect of a checkpoint without its run", 0, ["environment   counting"], "inspect", "alone")


def check_first_lines(program):
    """What a new user asks first, and nothing else; the rest is behind --verbose."""
    quick = [COUNTING, "stop.max_env_steps=60", "stop.target_return=9", "train.start_env_steps=50"]
    printed = program.run("train", *quick, "--run-dir", "first")[1]
    begins = [line[:14].rstrip() for line in printed.splitlines()[:6]]
    wanted = ["environment", "model", "search", "stops", "memory", "run folder"]
    program.check("the first lines", int(begins != wanted), printed, 0, "after 60 env steps, or with a mean return of 9 in ")
    details = ["\ncache         ", "\nrunner        collector: auto chose ", "\nreplay        up to ", " planned: learner "]
    program.check("they hold no details", sum(part in printed for part in details), printed, 0)
    code, printed = program.run("train", *quick, "--run-dir", "verbose", "--verbose")
    program.check("details", code, "\n" + printed, 0, *details)
    program.expect("details of an evaluation", 0, ["runner        evaluator: "], "eval", "run", "--episodes", "1", "--verbose")


def check_progress(program):
    """Lines of progress come every two seconds on a terminal, elsewhere a first one and then every ten."""
    endless = ["train", COUNTING, "stop.max_env_steps=10000000", "evaluate.every_updates=0"]
    lines = {}
    shown, terminal = pty.openpty()
    with open(program.folder / "plain.log", "w") as plain:
        processes = [subprocess.Popen([program.lzero, *map(str, endless), "--run-dir", f"at_{name}"], cwd=program.folder,
                                      stdout=subprocess.DEVNULL, stderr=errors)
                     for name, errors in (("terminal", terminal), ("plain", plain))]
        time.sleep(8)
        for process in processes:
            process.kill()
            process.wait()
    lines["terminal"] = os.read(shown, 1 << 20).decode().count(" env steps/s, ")
    lines["plain"] = (program.folder / "plain.log").read_text().count(" env steps/s, ")
    program.check("lines on a terminal", int(lines["terminal"] < 2), str(lines), 0)
    program.check("lines elsewhere", int(lines["plain"] != 1), str(lines), 0)


def check_divergence(program):
    code, printed = program.run("train", COUNTING, "train.learning_rate=5", "stop.max_env_steps=250", "train.start_env_steps=50",
                                "--run-dir", "diverged")
    program.check("training that diverges", code, printed, 0, "warning: the training diverges: loss/")
    program.check("it is told once", int(printed.count("diverges") != 1), printed, 0)


def check_full_disk(program):
    """What to do is said where a run ends for want of space; where this test may make so small a disk."""
    script = ('mkdir small && mount -t tmpfs -o size=1m small small && exec "$0" train "$1" checkpoint.every_updates=20 '
              'train.start_env_steps=50 --run-dir small/run')
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, program.lzero, COUNTING], cwd=program.folder,
                          capture_output=True, text=True)
    if "run folder" in done.stderr:
        program.check("a full disk", done.returncode, done.stderr, 1, "No space left on device",
                      "free space, then go on with:  lzero resume small/run\n")


def check_bench_output(program):
    """On a terminal the table; in a file, which --against may read, the JSON lines too."""
    step = ["bench", "step", "--embed", "32", "--batch", "2", "--runner", "packed", "--rounds", "5"]
    shown, terminal = pty.openpty()
    subprocess.run([program.lzero, *step], stdout=terminal, stderr=subprocess.DEVNULL, check=False)
    printed = os.read(shown, 1 << 20).decode()
    program.check("bench on a terminal", int('{"bench"' in printed), printed, 0, "all cases: device cpu")
    program.expect("bench in a file", 0, ['{"bench":"step"', "all cases: device cpu"], *step)


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop("LZERO_COMMAND", None)
    program = Program(lzero, folder)
    code, printed = program.run("train", COUNTING, "stop.max_env_steps=200", "train.start_env_steps=50", "--run-dir", "run")
    program.check("a run", code, printed, 0, "run folder")
    for what, code, parts, arguments in COMMANDS:
        program.expect(what, code, parts, *arguments)
    check_quoted(program)
    check_first_lines(program)
    check_progress(program)
    check_divergence(program)
    check_full_disk(program)
    check_bench_output(program)
    check_repeated_signal(program, folder)
    check_plugin_crash(program, folder, pathlib.Path(sys.argv[1]).parent.parent / "tests/plugins/libwalk_plugin.so")
    check_inspect(program, folder)
    program.finish()


if __name__ == "__main__":
    main()
