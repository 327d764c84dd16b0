#!/usr/bin/env python3
"""A table of wrong configs, command lines, checkpoints and actions: each must give a clear message and
the exit code of the contract (2 usage or config, 1 failure), and leave what was there untouched.

    bad_input_test.py LZERO FOLDER [--table]      --table prints the table in Markdown
"""
import hashlib
import json
import pathlib
import shutil
import sys

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=400", "train.start_env_steps=50", "checkpoint.every_updates=20",
         "evaluate.every_updates=0", "evaluate.episodes=2"]

# (what, YAML text below `extends: counting`, parts of the message)
CONFIGS = [
    ("unknown key", "train: {bach_size: 32}", ["bach_size", "did you mean", "batch_size"]),
    ("unknown section", "trian: {batch_size: 32}", ["trian", "did you mean"]),
    ("duplicate key", "train: {batch_size: 32, batch_size: 64}", ["batch_size"]),
    ("word for a number", "train: {batch_size: many}", ["train.batch_size", "many"]),
    ("number for a word", "search: {policy: 3}", ["search.policy", "puct"]),
    ("misspelt choice", "search: {policy: pukt}", ["pukt", "did you mean 'puct'"]),
    ("out of range", "replay: {discount: 1.5}", ["replay.discount", "1.5"]),
    ("negative", "train: {batch_size: -1}", ["train.batch_size", "-1"]),
    ("octal-looking number", "train: {batch_size: 010}", ["010"]),
    ("boolean word", "deterministic: maybe", ["deterministic", "maybe"]),
    ("null where none is allowed", "train: {batch_size: null}", ["train.batch_size"]),
    ("list for a number", "train: {batch_size: [1, 2]}", ["batch_size"]),
    ("scalar for a section", "train: 5", ["train"]),
    ("heads do not divide", "model: {embed_dim: 33}", ["embed_dim"]),
    ("norm does not fit loss", "model: {latent_norm: sim_norm}", ["latent_norm"]),
    ("even support", "model: {support_size: 20}", ["support_size"]),
    ("support too small", "model: {support_size: 1}", ["support_size"]),
    ("odd context", "model: {context_length: 7}", ["context_length"]),
    ("graphs without a graph runner", "inference: {graphs: required}", ["graphs"]),
    ("gumbel with a transform of puct", "search: {policy: gumbel, q_transform: min_max}",
     ["q_transform"]),
    ("replay too small", "replay: {capacity: 10}", ["capacity"]),
    ("replay too small for its environments",
     "env: {num_collectors: 8}\nreplay: {capacity: 200}", ["replay.capacity = 200", "raise"]),
    ("no limit at all", "stop: {max_env_steps: null}", ["stop"]),
    ("merge key", "train: {<<: {batch_size: 3}}", ["<<"]),
    ("tab indentation", "train:\n\tbatch_size: 3", ["config.yaml:3"]),
    ("unclosed bracket", "train: {batch_size: 3", ["config.yaml"]),
    ("two documents", "---\nseed: 1\n---\nseed: 2", ["config.yaml"]),
    ("binary junk", "\x01\x02\x03", ["config.yaml"]),
    ("unknown environment", "env: {id: cartpol}", ["cartpol", "cartpole"]),
    ("board encoder on a vector", "model: {encoder: board}", ["encoder", "vector"]),
    ("target return of self-play", "env: {id: tictactoe}\nstop: {target_return: 0.5}",
     ["stop.target_return", "two players"]),
    ("option of another environment", "env: {random_opening_fraction: 0.5}", ["random"]),
]

# (what, exit code, parts, arguments)
COMMANDS = [
    ("no verb", 2, ["subcommand"], []),
    ("unknown verb", 2, ["trian"], ["trian"]),
    ("unknown option", 2, ["--fast"], ["train", COUNTING, "--fast"]),
    ("missing config file", 2, ["nowhere.yaml"], ["train", "nowhere.yaml"]),
    ("config is a folder", 2, [str(ROOT / "configs")], ["train", ROOT / "configs"]),
    ("override without value", 2, ["seed"], ["train", COUNTING, "seed"]),
    ("override of an unknown key", 2, ["train.bach_size", "did you mean"],
     ["train", COUNTING, "train.bach_size=3"]),
    ("override with a bad value", 2, ["command line", "many"],
     ["train", COUNTING, "train.batch_size=many"]),
    ("resume of nothing", 2, ["nowhere"], ["resume", "nowhere"]),
    ("resume as another run", 2, ["model.embed_dim", "allowed"],
     ["resume", "run", "model.embed_dim=64"]),
    ("eval of nothing", 2, ["nowhere"], ["eval", "nowhere"]),
    ("eval of 0 episodes", 2, ["--episodes"], ["eval", "run", "--episodes", "0"]),
    ("eval of seeds backwards", 2, ["--seeds", "A..B"], ["eval", "run", "--seeds", "9..1"]),
    ("eval rendered to a jpeg", 2, ["--render", "text"], ["eval", "run", "--render", "jpeg"]),
    ("grade of a game nobody solved", 2, ["counting", "tictactoe"], ["eval", "run", "--grade"]),
    ("run folder in use", 2, ["run"], ["train", COUNTING, "--run-dir", "run"]),
    ("explain of an unknown key", 2, ["bach_size"], ["config", "explain", "train.bach_size"]),
    ("info of an unknown environment", 2, ["cartpol", "cartpole"], ["envs", "info", "cartpol"]),
    ("replay of a missing trace", 2, ["none.jsonl"],
     ["envs", "replay", "cartpole", "--trace", "none.jsonl"]),
    ("search replay of junk", 2, ["junk.json"], ["search", "replay", "junk.json"]),
    ("bench of odd sizes", 2, ["embed"], ["bench", "step", "--embed", "63"]),
    ("bench of a runner to come", 2, ["--runner packed", "has eager"],
     ["bench", "step", "--runner", "eager,packed"]),
    ("bench of numbers to come", 2, ["--dtype bf16", "has fp32"], ["bench", "step", "--dtype", "bf16"]),
    ("bench on no thread", 2, ["--threads 0", "1 .. 256"], ["bench", "step", "--threads", "0"]),
    ("bench of a device to come", 2, ["--device"], ["bench", "step", "--device", "cuda"]),
    ("bench of too few rounds", 2, ["--rounds", "5"], ["bench", "step", "--rounds", "4"]),
    ("bench of words", 2, ["--batch", "many"], ["bench", "step", "--batch", "8,many"]),
    ("unknown bench", 2, ["'bench train'", "bench search, bench step"], ["bench", "train"]),
    ("bench search of an unknown policy", 2, ["best", "puct"], ["bench", "search", "--policy", "best"]),
]

# (what, lines of the action file, parts)
ACTIONS = [
    ("action out of range", "7\n", ["7"]),
    ("negative action", "-1\n", ["-1"]),
    ("action that is no number", "left\n", ["left"]),
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
        program.expect(f"config: {what}, dry run", 2, parts, "train", "config.yaml", "--dry-run")
    (folder / "junk.json").write_text("[1, 2")
    program.check("wrong configs leave nothing", 1 if (folder / "runs").exists() else 0, "", 0)
    for what, expected, parts, arguments in COMMANDS:
        program.expect(f"command: {what}", expected, parts, *arguments)
    for what, text, parts in ACTIONS:
        (folder / "actions.txt").write_text(text)
        program.expect(f"action: {what}", 2, parts, "envs", "rollout", "cartpole", "--actions",
                       "actions.txt", "--steps", "3")
    for how in ["truncated", "flipped", "missing", "empty", "state"]:
        copy = damage(folder, how)
        name = "state.json" if how == "state" else "model.safetensors"
        program.expect(f"checkpoint: {how}, resumed", 1, [name], "resume", copy)
        program.expect(f"checkpoint: {how}, inspected", 1, [name], "inspect", copy)
    copy = damage(folder, "shape")
    program.expect("checkpoint: other shape, resumed", 1, ["transformer.block0", "64"], "resume", copy)
    program.expect("checkpoint: evaluated with the config that it holds", 0, ["mean"], "eval", copy,
                   "--episodes", "1")

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
