#!/usr/bin/env python3
"""A table of wrong configs, command lines, checkpoints and actions: each must give a clear message and
the exit code of the contract (2 usage or config, 1 failure), and leave what was there untouched.

    bad_input_test.py LZERO FOLDER [--table]      --table prints the table in Markdown
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=400", "train.start_env_steps=50", "checkpoint.every_updates=20",
         "evaluate.every_updates=0", "evaluate.episodes=2"]

# (what, YAML text below `extends: counting`, parts of the message)
CONFIGS = [
    ("unknown key", "train: {bach_size: 32}",
     ["config.yaml:2:9: train.bach_size: unknown key; did you mean 'train.batch_size'?"]),
    ("unknown section", "trian: {batch_size: 32}",
     ["config.yaml:2:1: trian: unknown key; did you mean 'train'?"]),
    ("duplicate key", "train: {batch_size: 32, batch_size: 64}",
     ["config.yaml:2:25: train.batch_size: duplicate key; first set at line 2, column 9"]),
    ("word for a number", "train: {batch_size: many}",
     ["config.yaml:2:21: train.batch_size: not an integer; got 'many'; allowed: an integer from 1 to"]),
    ("number for a word", "search: {policy: 3}",
     ["config.yaml:2:18: search.policy: unknown choice; got '3'; allowed: one of puct, gumbel"]),
    ("misspelt choice", "search: {policy: pukt}", ["search.policy: unknown choice; got 'pukt'",
                                                   "did you mean 'puct'?"]),
    ("out of range", "replay: {discount: 1.5}",
     ["replay.discount: out of range; got '1.5'; allowed: a number above 0 to 1"]),
    ("negative", "train: {batch_size: -1}", ["train.batch_size: out of range; got '-1'"]),
    ("octal-looking number", "train: {batch_size: 010}",
     ["train.batch_size: an integer with leading zeros; got '010'", "did you mean '10'?"]),
    ("boolean word", "deterministic: maybe", ["deterministic: not a truth value; got 'maybe'"]),
    ("null where none is allowed", "train: {batch_size: null}",
     ["train.batch_size: a value is needed; got null"]),
    ("list for a number", "train: {batch_size: [1, 2]}",
     ["train.batch_size: a single value is needed; got a list"]),
    ("scalar for a section", "train: 5", ["train: a section is a map of its keys; got '5'"]),
    ("heads do not divide", "model: {embed_dim: 33}",
     ["model.num_heads: must divide embed_dim; got num_heads 2, embed_dim 33"]),
    ("norm does not fit loss", "model: {latent_norm: sim_norm}",
     ["model.latent_loss: does not fit latent_norm; got latent_loss mse, latent_norm sim_norm"]),
    ("even support", "model: {support_size: 20}", ["model.support_size: must be odd", "got 20"]),
    ("support too small", "model: {support_size: 1}", ["model.support_size: out of range; got '1'"]),
    ("odd context", "model: {context_length: 7}", ["model.context_length: must be even", "got 7"]),
    ("graphs without a graph runner", "inference: {graphs: required}",
     ["inference.graphs: no graph runner on device cpu; got required"]),
    ("gumbel with a transform of puct", "search: {policy: gumbel, q_transform: min_max}",
     ["search.q_transform: does not fit policy gumbel; got min_max"]),
    ("replay too small", "replay: {capacity: 10}", ["replay.capacity: must hold a whole segment; got"]),
    ("no limit at all", "stop: {max_env_steps: null}",
     ["stop.max_env_steps: the run would never end; got null for max_env_steps, max_updates and"]),
    ("merge key", "train: {<<: {batch_size: 3}}", ["train.<<: merge keys are not supported"]),
    ("tab indentation", "train:\n\tbatch_size: 3", ["config.yaml:3:1: a tab in the indentation"]),
    ("unclosed bracket", "train: {batch_size: 3", ["config.yaml:3:1: not valid YAML"]),
    ("two documents", "---\nseed: 1\n---\nseed: 2", ["config.yaml:2:1: a second document begins here"]),
    ("binary junk", "\x01\x02\x03", ["config.yaml:2:1: not a text file; got byte 0x01"]),
    ("unknown environment", "env: {id: cartpol}",
     ["config.yaml:2:11: env.id: no environment 'cartpol'; did you mean 'cartpole'?"]),
    ("board encoder on a vector", "model: {encoder: board}",
     ["config.yaml:2:18: model.encoder: board needs observations [channels, height, width]"]),
    ("option of another environment", "env: {random_opening_fraction: 0.5}",
     ["config.yaml:2:32: env.random_opening_fraction: random_opening_fraction of 'counting' is 0.5"]),
]

# (what, exit code, parts, arguments)
COMMANDS = [
    ("unknown verb", 2, ["unknown verb 'trian'; did you mean 'train'?"], ["trian"]),
    ("unknown option", 2, ["error: train: unknown option '--turbo'; a setting of the config is given without dashes"],
     ["train", COUNTING, "--turbo"]),
    ("misspelt option", 2, ["error: train: unknown option '--run-dirr'; did you mean '--run-dir'?"],
     ["train", "--run-dirr", "x"]),
    ("setting with dashes", 2, ["unknown option '--seed=3'", "given without dashes: seed=3"],
     ["train", COUNTING, "--seed=3"]),
    ("option without its value", 2, ["error: train: --run-dir needs a value; see: lzero train --help"],
     ["train", COUNTING, "--run-dir"]),
    ("no verb", 2, ["error: a verb is needed; the verbs are: train, resume, sweep, eval"], []),
    ("no verb below envs", 2, ["error: envs: a verb is needed; the verbs are: envs list, envs info"], ["envs"]),
    ("no environment", 2, ["error: envs info: id is needed; see: lzero envs info --help"], ["envs", "info"]),
    ("a word too many", 2, ["error: doctor: unexpected argument 'twice'"], ["doctor", "twice"]),
    ("option before its verb", 2, ["envs check: option '--steps' stands before the verb that takes it"],
     ["envs", "--steps", "3", "check", "catch"]),
    ("eval with 0 simulations", 2, ["error: eval: --sims: got '0', allowed: an integer from 1 to 100000"],
     ["eval", "run", "--sims", "0"]),
    ("eval with a word for a number", 2, ["error: eval: --threads: got 'many', allowed: an integer from 1"],
     ["eval", "run", "--threads", "many"]),
    ("missing config file", 2, ["nowhere.yaml: no such file"], ["train", "nowhere.yaml"]),
    ("config is a folder", 2, [f"{ROOT / 'configs'}: a folder; allowed: a YAML file"],
     ["train", ROOT / "configs"]),
    ("override without value", 2, ["command line: seed: not a setting; allowed: key.path=value"],
     ["train", COUNTING, "seed"]),
    ("override of an unknown key", 2,
     ["command line: train.bach_size=3: unknown key; did you mean 'train.batch_size'?"],
     ["train", COUNTING, "train.bach_size=3"]),
    ("override with a bad value", 2, ["command line: train.batch_size=many: not an integer; got 'many'"],
     ["train", COUNTING, "train.batch_size=many"]),
    ("replay that holds no sequence", 2, ["replay.capacity=150: got 150 transitions, but the smallest useful"],
     ["train", COUNTING, "replay.capacity=150"]),
    ("resume of nothing", 2, ["no such run folder: nowhere"], ["resume", "nowhere"]),
    ("resume of no run", 2, [f"{ROOT} is not the folder of a run: no manifest.json"], ["resume", ROOT]),
    ("resume as another run", 2, ["resume: model.embed_dim=64 would make it another run; allowed: stop.*"],
     ["resume", "run", "model.embed_dim=64"]),
    ("eval of nothing", 2, ["no such folder: nowhere"], ["eval", "nowhere"]),
    ("eval of 0 episodes", 2, ["error: eval: --episodes: got '0', allowed: an integer from 1 to 100000"],
     ["eval", "run", "--episodes", "0"]),
    ("eval of seeds backwards", 2, ["--seeds: got '9..1', allowed: A..B with A <= B"],
     ["eval", "run", "--seeds", "9..1"]),
    ("eval of an octal-looking number", 2,
     ["error: eval: --episodes: got '010', allowed: an integer from 1 to 100000"],
     ["eval", "run", "--episodes", "010"]),
    ("eval with a bar that nothing misses", 2, ["error: eval: --min-return: got 'nan', allowed: a number"],
     ["eval", "run", "--min-return", "nan"]),
    ("eval of octal-looking seeds", 2, ["--seeds: got '010..012', allowed: A..B with A <= B"],
     ["eval", "run", "--seeds", "010..012"]),
    ("eval rendered to a jpeg", 2, ["--render: got 'jpeg', allowed: text, gif"],
     ["eval", "run", "--render", "jpeg"]),
    ("grade of a game nobody solved", 2,
     ["environment 'counting' has no exact grader; those with one: "],
     ["eval", "run", "--grade"]),
    ("grade with episodes", 2, ["error: eval: --episodes excludes --grade"],
     ["eval", "run", "--grade", "--episodes", "3"]),
    ("grade with seeds", 2, ["--seeds excludes --grade"], ["eval", "run", "--grade", "--seeds", "1..2"]),
    ("grade with a picture", 2, ["--render excludes --grade"],
     ["eval", "run", "--grade", "--render", "text"]),
    ("grade with a bar", 2, ["--min-return excludes --grade"],
     ["eval", "run", "--grade", "--min-return", "1"]),
    ("chance where there is none", 2, ["environment 'counting' tells of no chance outcomes"],
     ["eval", "run", "--chance"]),
    ("chance and grade", 2, ["error: eval: --grade excludes --chance"], ["eval", "run", "--chance", "--grade"]),
    ("chance with a bar", 2, ["excludes --chance"], ["eval", "run", "--chance", "--min-return", "1"]),
    ("run folder not empty", 2, ["run folder run is not empty (it holds ", "with: lzero resume run"],
     ["train", COUNTING, "--run-dir", "run"]),
    ("run folder that cannot be made", 1, ["cannot create folder /proc/x: "],
     ["train", COUNTING, "--run-dir", "/proc/x"]),
    ("explain of an unknown key", 2,
     ["error: unknown key; got 'train.bach_size'; did you mean 'train.batch_size'?"],
     ["config", "explain", "train.bach_size"]),
    ("info of an unknown environment", 2, ["no environment 'cartpol'; did you mean 'cartpole'?"],
     ["envs", "info", "cartpol"]),
    ("negative seed", 2, ["--seed: got '-1', allowed: an integer from 0 to 18446744073709551615"],
     ["envs", "rollout", "catch", "--seed", "-1"]),
    ("octal-looking seed", 2, ["--seed: got '010', allowed: an integer from 0"],
     ["envs", "rollout", "catch", "--seed", "010"]),
    ("seed of more than 64 bits", 2, ["--seed: got '99999999999999999999999', allowed: an integer from 0"],
     ["envs", "rollout", "catch", "--seed", "99999999999999999999999"]),
    ("step cap below none", 2,
     ["--max-episode-steps: got '-1', allowed: an integer from 0 to 1000000000"],
     ["envs", "check", "catch", "--max-episode-steps", "-1"]),
    ("openings more often than always", 2, ["--random-openings: got '1.5', allowed: a number from 0 to 1"],
     ["envs", "check", "tictactoe", "--random-openings", "1.5"]),
    ("replay of a missing trace", 2, ["cannot open none.jsonl: No such file or directory"],
     ["envs", "replay", "cartpole", "--trace", "none.jsonl"]),
    ("replay of another environment's trace", 2,
     ["the trace is of environment 'catch', this is 'counting'"],
     ["envs", "replay", "counting", "--trace", "catch.jsonl"]),
    ("search replay of junk", 2, ["error: junk.json: golden tree: broken JSON at byte 6, in '[1, 2'"],
     ["search", "replay", "junk.json"]),
    ("search replay of nothing", 2, ["error: cannot open nofile.json: No such file or directory"],
     ["search", "replay", "nofile.json"]),
    ("bench of odd sizes", 2, ["model.num_heads=2: must divide embed_dim; got num_heads 2, embed_dim 63"],
     ["bench", "step", "--embed", "63"]),
    ("bench of a runner that is none", 2,
     ["inference.runner=eagre: unknown choice; got 'eagre'", "did you mean 'eager'?"],
     ["bench", "step", "--runner", "eagre,packed"]),
    ("bench of numbers that are none", 2, ["inference.dtype=int8: unknown choice; got 'int8'; allowed: one of fp32, tf32, bf16"],
     ["bench", "step", "--dtype", "int8"]),
    ("bench of eager in bf16", 2, ["--dtype bf16: runner eager has fp32 alone; use --runner packed"],
     ["bench", "step", "--runner", "eager", "--dtype", "bf16"]),
    ("counts of no device", 2, ["counts are of a device; got inference.device: cpu"],
     ["bench", "counts", COUNTING]),
    ("bench of graphs without a device", 2, ["--runner cuda_search_graph needs --device cuda; got --device cpu"],
     ["bench", "search", "--runner", "cuda_search_graph"]),
    ("bench against nothing", 2, ["cannot open nofile.txt"], ["bench", "step", "--against", "nofile.txt"]),
    ("bench against junk", 2, ["junk.json: no line of bench search"], ["bench", "search", "--against", "junk.json"]),
    ("bench against no name", 2, ["--against: got '', allowed: a program or a file"], ["bench", "step", "--against", ""]),
    ("bench of a tree with an engine's sizes", 2, ["--embed is of an engine's search; add --runner"],
     ["bench", "search", "--embed", "64"]),
    ("eval on a device that is none", 2, ["--device: got 'tpu', allowed: cpu, cuda"],
     ["eval", "run", "--device", "tpu"]),
    ("a rollout into no folder", 2, ["cannot create nowhere/x.jsonl: no folder"],
     ["envs", "rollout", "catch", "--out", "nowhere/x.jsonl"]),
    ("bench unload of odd sizes", 2, ["model.num_heads=2: must divide embed_dim"],
     ["bench", "unload", "--embed", "63"]),
    ("bench on two devices", 2, ["--device: got several, allowed: one"],
     ["bench", "step", "--device", "cuda,cpu", "--runner", "auto"]),
    ("bench on no thread", 2, ["--threads: got '0', allowed: an integer from 1 to "],
     ["bench", "step", "--threads", "0"]),
    ("bench of a device that is none", 2, ["inference.device=tpu: unknown choice; got 'tpu'"],
     ["bench", "step", "--device", "tpu"]),
    ("bench of packed on a GPU", 2, ["inference.runner=packed: packed runs on the CPU; got packed on device cuda"],
     ["bench", "unload", "--device", "cuda", "--runner", "packed"]),
    ("bench of graphs on the CPU", 2, ["--runner cuda_graph needs --device cuda; got --device cpu"],
     ["bench", "search", "--runner", "cuda_graph"]),
    ("bench of too few rounds", 2, ["--rounds", "5"], ["bench", "step", "--rounds", "4"]),
    ("bench of words", 2, ["error: bench step: --batch: got 'many', allowed: an integer from 1 to 65536"],
     ["bench", "step", "--batch", "8,many"]),
    ("unknown bench", 2, ["'bench tree'", "bench search, bench step, bench train"], ["bench", "tree"]),
    ("bench of an observation that is none", 2, ["--observation 3x", "e.g. 4 or 3x64x64"],
     ["bench", "train", "--observation", "3x"]),
    ("bench search of trees beyond the memory", 2, ["the search trees of 1000000 roots", "GiB; allowed: "],
     ["bench", "search", "--actions", "1000", "--batch", "1000000", "--sims", "1000"]),
    ("bench search of an unknown policy", 2, ["best", "puct"], ["bench", "search", "--policy", "best"]),
]

# (what, lines of the action file, parts)
ACTIONS = [
    ("action out of range", "7\n",
     ["action number 1: action 7 is out of range; 'cartpole' takes 0 .. 1"]),
    ("negative action", "-1\n",
     ["action number 1: action -1 is out of range; 'cartpole' takes 0 .. 1"]),
    ("action that is no number", "left\n", ["actions.txt: line 1: 'left' is not an integer"]),
]

# (what, YAML text, parts): each value is right by itself, the run as a whole cannot be made
PLANS = [
    ("replay too small for its environments", "env: {num_collectors: 8}\nreplay: {capacity: 200}",
     ["replay.capacity: got 200 transitions, but the smallest useful content of 8 environments", "raise"]),
    ("target return of self-play", "env: {id: tictactoe}\nstop: {target_return: 0.5}",
     ["stop.target_return", "two players"]),
    ("symmetries that are not there", "replay: {augment_symmetries: true}",
     ["replay.augment_symmetries: got true, but the environment declares no symmetries"]),
    ("a shift of what is no picture", "replay: {augment_shift: 4}",
     ["replay.augment_shift: got 4, but the environment's observation is [",
      "]; allowed: 0, or pictures [channels, height, width] with height and width above 8"]),
    ("several at once", "env: {id: tictactoe}\nreplay: {capacity: 100}\nstop: {target_return: 0.5}",
     ["config.yaml:3:20: replay.capacity: got 100", "config.yaml:4:23: stop.target_return: got 0.5"]),
]

# (what, parts, settings): in range, and beyond any machine; refused before anything is made
GIANTS = [
    ("a model beyond this machine", ["GiB of memory, this machine has", "lower model.embed_dim"],
     ["model.embed_dim=65536", "model.num_layers=64"]),
    ("heads beyond this machine", ["GiB of memory, this machine has", "lower model.embed_dim"],
     ["model.support_size=100001", "model.head_dim=1048576"]),
    ("a cache beyond this machine", ["GiB of memory, this machine has", "lower env.num_collectors"],
     ["env.num_collectors=4096", "replay.capacity=1000000", "replay.max_mebibytes=100000",
      "model.context_length=65536", "model.embed_dim=1024"]),
]


def tree_hash(folder):
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "log.txt":
            digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()


def damage(folder, how):
    """A copy of the run with its latest checkpoint damaged; returns the copy."""
    copy = folder / f"damaged_{how}"
    shutil.copytree(folder / "run", copy, symlinks=True)
    model = copy / "checkpoints/latest/model.safetensors"
    content = bytearray(model.read_bytes())
    if how == "truncated":
        model.write_bytes(content[: len(content) // 2])
    elif how == "flipped":
        content[len(content) // 2] ^= 0x40
        model.write_bytes(content)
    elif how == "missing":
        model.unlink()
    elif how == "empty":
        model.write_bytes(b"")
    elif how == "state":
        (copy / "checkpoints/latest/state.json").write_text("{")
    elif how == "shape":  # another architecture, checkpoint intact
        config = copy / "config.resolved.yaml"
        config.write_text(config.read_text().replace("embed_dim: 32", "embed_dim: 64"))
    return copy


def check_damaged(program, folder):
    """Every verb that reads a checkpoint refuses a damaged one and leaves it as it is."""
    damaged = {"truncated": "model.safetensors", "flipped": "model.safetensors",
               "missing": "model.safetensors", "empty": "model.safetensors", "state": "state.json"}
    for how, name in damaged.items():
        copy = damage(folder, how)
        before = tree_hash(copy)
        step = os.readlink(copy / "checkpoints/latest")
        part = [f"damaged checkpoint: {copy}/checkpoints/{step}/{name}: "]
        program.expect(f"checkpoint: {how}, resumed", 1, part, "resume", copy)
        program.expect(f"checkpoint: {how}, inspected", 1, part, "inspect", copy)
        program.expect(f"checkpoint: {how}, evaluated", 1, part, "eval", copy / "checkpoints/latest")
        same = tree_hash(copy) == before
        program.check(f"checkpoint: {how}, still as it was", 0 if same else 1, "", 0)
    copy = damage(folder, "shape")
    before = tree_hash(copy)
    parts = ["the saved tensors do not fit", "encoder.last.bias: expected Float [64], got Float [32]"]
    program.expect("checkpoint: other shape, resumed", 1, parts, "resume", copy)
    program.expect("checkpoint: evaluated with the config that it holds", 0, ["mean"], "eval", copy,
                   "--episodes", "1")
    same = tree_hash(copy) == before
    program.check("checkpoint: other shape, still as it was", 0 if same else 1, "", 0)


def check_no_gpu(program):
    """A config of a device that this machine has not: the reason, before anything is made."""
    code, printed = program.run("doctor")
    program.check("gpu: the doctor names it or the reason", code, printed, 0, " gpu ")
    if "ok    gpu" in printed:
        return
    part = ["error: inference.device: cuda: "]
    program.expect("gpu: trained without one", 2, part, "train", COUNTING, "inference.device=cuda")
    program.expect("gpu: a plan", 2, [*part, " of cuda:0 planned: "], "train", COUNTING, "inference.device=cuda", "--dry-run")


def check_full_output(program):
    """What is printed onto a full disk is lost, and the exit code says so."""
    for arguments in (["--help"], ["config", "show", COUNTING], ["envs", "rollout", "catch", "--steps", "3"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program.lzero, *arguments], cwd=program.folder, stdout=full,
                                  stderr=subprocess.PIPE)
        program.check(f"full output: {' '.join(arguments[:2])}", done.returncode, done.stderr.decode(), 1,
                      "error: cannot write the output: ")


def check_in_use(program):
    """While a process trains in a folder no other one may, and looking on is free."""
    with program.started("train", COUNTING, "stop.max_env_steps=10000000", "checkpoint.every_updates=20",
                         "--run-dir", "busy", after="env steps/s") as process:
        parts = [f"run folder busy is in use by process {process.pid}:"]
        program.expect("in use: resumed", 2, parts, "resume", "busy")
        program.expect("in use: trained in", 2, parts, "train", COUNTING, "--run-dir", "busy")
        program.expect("in use: inspected", 0, ["every file intact"], "inspect", "busy")
        program.check("in use: its owner goes on", 0 if process.poll() is None else 1, "", 0)


def check_out_of_memory(program, folder):
    """An update that asks for more than there is: a failed run with a message, not a crash."""
    # One array of logits takes 4096 * 5 * 10001 * 4 bytes, 0.8e9; the plan, several of them.
    settings = ["model.head_dim=8", "train.batch_size=4096", "replay.num_unroll_steps=5",
                "stop.max_env_steps=400", "train.start_env_steps=50", "env.num_collectors=1"]
    code, printed = program.run("train", COUNTING, *settings, "model.support_size=10001", "--run-dir", "hungry",
                                memory=3_000_000_000)
    program.check("memory: runs out in an update", code, printed, 1, "can't allocate memory")
    status = json.loads((folder / "hungry/status.json").read_text())
    program.check("memory: the status says failed", 0, str(status), 0, "'state': 'failed'",
                  "can't allocate memory")
    # What no machine has is refused before anything is made.
    program.expect("memory: an update beyond this machine", 2, ["an update up to", "lower train.batch_size"],
                   "train", COUNTING, *settings, "model.support_size=100001", "train.batch_size=65536",
                   "--dry-run")


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    code, printed = program.run("train", COUNTING, *SHORT, "--run-dir", "run")
    program.check("a good run to begin with", code, printed, 0, "run folder")
    before = tree_hash(folder / "run")

    for what, text, parts in CONFIGS:
        (folder / "config.yaml").write_text(f"extends: {COUNTING}\n{text}\n")
        program.expect(f"config: {what}", 2, parts, "train", "config.yaml")
        program.expect(f"config: {what}, validated", 2, parts, "config", "validate", "config.yaml")
    for what, text, parts in PLANS:
        (folder / "config.yaml").write_text(f"extends: {COUNTING}\n{text}\n")
        program.expect(f"plan: {what}", 2, parts, "train", "config.yaml")
        program.expect(f"plan: {what}, dry run", 2, parts, "train", "config.yaml", "--dry-run")
        program.expect(f"plan: {what}, validated", 2, ["config.yaml:", *parts], "config", "validate",
                       "config.yaml")
    (folder / "junk.json").write_text("[1, 2")
    program.run("envs", "rollout", "catch", "--out", "catch.jsonl")
    for what, expected, parts, arguments in COMMANDS:
        program.expect(f"command: {what}", expected, parts, *arguments)
    for what, parts, settings in GIANTS:
        program.expect(f"memory: {what}", 2, parts, "train", COUNTING, *settings)
        program.expect(f"memory: {what}, planned", 2, parts, "train", COUNTING, *settings, "--dry-run")
    check_no_gpu(program)
    check_full_output(program)
    left = (folder / "runs").exists()
    program.check("what was refused left no run folder", 1 if left else 0, "", 0)
    for what, text, parts in ACTIONS:
        (folder / "actions.txt").write_text(text)
        program.expect(f"action: {what}", 2, parts, "envs", "rollout", "cartpole", "--actions",
                       "actions.txt", "--steps", "3")
    check_damaged(program, folder)
    check_in_use(program)
    check_out_of_memory(program, folder)

    untouched = tree_hash(folder / "run") == before
    program.check("the good run is untouched", 0 if untouched else 1, "", 0)
    if "--table" in sys.argv:
        print("| input | exit code | message |\n|---|---|---|")
        for what, code, message in program.rows:
            message = message.replace(str(folder) + "/", "").replace(str(ROOT) + "/", "")
            print(f"| {what} | {code} | {message.replace('|', '/')} |")
    program.finish()


if __name__ == "__main__":
    main()
