#!/usr/bin/env python3
"""`lzero bench` as a user calls it: which cases, which keys, and what they are compared with. The work of a case
is counted in tests/tools/bench; no time is judged.

    bench_test.py LZERO FOLDER
"""
import itertools
import json
import pathlib
import re
import shutil
import sys

from program import Program

MACHINE = ["cpu", "commit", "load"]
SPEED = ["gflops", "peak_gflops", "gbs", "peak_gbs"]
STEP = ["device", "embed", "layers", "heads", "batch", "context", "support", "actions", "runner", "dtype",
        "threads"]
ENGINE = [*STEP, "policy", "sims"]
STEP_KEYS = ["bench", *STEP, "rounds", "us_min", "us_median", *SPEED, *MACHINE]
TRAIN_KEYS = ["bench", "encoder", "observation", "embed", "layers", "heads", "batch", "unroll", "context",
              "support", "actions", "threads", "rounds", "ms_min", "ms_median", "updates", "sample_ms_median",
              "sample_share", *SPEED[:2], *MACHINE]
TREE_KEYS = ["bench", "policy", "actions", "batch", "sims", "rounds", "ns_per_root_sim_min",
             "ns_per_root_sim_median", "mean_depth", "signature", *MACHINE]
SEARCH_KEYS = ["bench", "kind", *ENGINE, "past", "rounds", "us_per_sim_min", "us_per_sim_median", "cache_bytes",
               "resident_mib", *MACHINE]
UNLOAD_KEYS = ["bench", *ENGINE, "cycle", "load_ms", "search_ms", "unload_ms", "loaded_mib", "resident_mib",
               *MACHINE]
PARITY_KEYS = ["bench", *ENGINE, "searches", "value_error_ratio", "search_value_error_ratio",
               "changed_roots_share", "moved_visits_share", "changed_actions_share", *MACHINE]
SMALL = ["--embed", "32", "--batch", "2", "--runner", "packed"]


def measure(program, what, keys, *arguments):
    """The JSON objects of a benchmark, whose keys and times must be right, and the lines after them."""
    code, printed = program.output("bench", *arguments)
    lines = printed.splitlines()
    cases = [json.loads(line) for line in lines if line.startswith("{")]
    wrong = [list(case) for case in cases if list(case) != keys or len(case["load"]) != 2 or not case["cpu"]]
    for case in cases:
        for unit in ("us", "ms", "ns_per_root_sim", "us_per_sim"):
            if f"{unit}_min" in case and not 0 < case[f"{unit}_min"] <= case[f"{unit}_median"]:
                wrong.append(case)
    program.check(what, code if cases and not wrong else 1, f"{wrong}\n{printed}", 0)
    return cases, lines[len(cases):]


def expect(program, what, is_right, shown=""):
    program.check(what, 0 if is_right else 1, str(shown), 0)


def swept(cases, *keys):
    return [tuple(case[key] for key in keys) for case in cases]


def check_step(program):
    cases, table = measure(program, "bench step", STEP_KEYS, "step", "--embed", "32,64", "--layers", "1", "--heads", "2",
                           "--batch", "1,4", "--support", "21,101", "--actions", "3", "--runner", "packed", "--dtype",
                           "fp32,bf16", "--threads", "1,2")
    found = swept(cases, "embed", "batch", "support", "dtype", "threads")
    expect(program, "every combination once",
           found == list(itertools.product((32, 64), (1, 4), (21, 101), ("fp32", "bf16"), (1, 2))), found)
    expect(program, "what all share, a head and a row a case",
           len(table) == 2 + len(cases) and table[0].startswith("all cases: device cpu, layers 1, heads 2, context 8"))
    for case, row in zip(cases, table[2:]):
        shares = {"FLOPs": case["gflops"] / case["peak_gflops"], "reads": case["gbs"] / case["peak_gbs"]}
        limit = max(shares, key=shares.get)
        shown = float(row.split()[-2].rstrip("%"))
        expect(program, "the limit that binds", f"{limit}: " in row and abs(shown - 100 * shares[limit]) < 0.6, row)

    cases, rest = measure(program, "standard table", STEP_KEYS, "step", "--json")
    sizes = [(64, 2, 2, 1), (64, 2, 2, 8), (64, 2, 2, 32), (64, 2, 2, 128), (256, 4, 8, 8), (768, 2, 8, 8)]
    columns = [("eager", "fp32", 1), ("packed", "fp32", 1), ("packed", "bf16", 2)]
    found = swept(cases, "embed", "layers", "heads", "batch", "runner", "dtype", "threads")
    expect(program, "cases of the standard table", found == [size + column for size in sizes for column in columns], found)
    expect(program, "--json prints nothing else", not rest, rest)
    work = [case["gflops"] * case["us_min"] / 5308.416 for case in cases if case["embed"] == 64 and case["batch"] == 8]
    expect(program, "speed is work of (64, 2, B 8) by time", all(abs(each - 1) < 3e-4 for each in work), work)


def check_train(program):
    cases, _ = measure(program, "bench train", TRAIN_KEYS, "train", "--embed", "16,32", "--layers", "1", "--batch", "4,8",
                       "--unroll", "2", "--support", "21", "--actions", "3", "--observation", "5")
    expect(program, "sizes of updates", swept(cases, "embed", "batch") == list(itertools.product((16, 32), (4, 8))))
    expect(program, "every update is counted", all(case["updates"] >= 10 for case in cases), cases)
    measure(program, "bench train of images", TRAIN_KEYS, "train", "--embed", "16", "--batch", "2", "--unroll", "2",
            "--encoder", "image", "--observation", "1x16x20", "--json")


def check_searches(program):
    cases, table = measure(program, "bench search", TREE_KEYS, "search", "--actions", "2,3", "--batch", "4", "--sims", "8",
                           "--policy", "puct,gumbel")
    expect(program, "sizes of trees", swept(cases, "policy", "actions") == list(
        itertools.product(("puct", "gumbel"), (2, 3))))
    expect(program, "the signature comes last", table[-1] == f"signature {cases[0]['signature']}", table)
    cases, _ = measure(program, "bench search of engines", SEARCH_KEYS, "search", "--runner", "packed,eager", "--embed", "32",
                       "--batch", "2,3", "--sims", "8,40", "--past", "2,30")
    expect(program, "sizes of engines", swept(cases, "batch", "runner", "sims", "past") == list(
        itertools.product((2, 3), ("packed", "eager"), (8, 40), (2, 30))))
    same = {case["cache_bytes"] for case in cases if case["batch"] == 2 and case["sims"] == 8}
    expect(program, "a long episode needs no more cache", len(same) == 1, same)

    cases, _ = measure(program, "bench unload", UNLOAD_KEYS, "unload", "--cycles", "3", "--runner", "packed,eager", "--embed",
                       "32")
    expect(program, "cycles of one runner, then of the next", swept(cases, "runner", "cycle") == list(
        itertools.product(("packed", "eager"), (1, 2, 3))))
    expect(program, "memory is shown", all(case["resident_mib"] > 0 for case in cases))
    cases, _ = measure(program, "bench parity", PARITY_KEYS, "parity", "--searches", "3", "--embed", "32", "--sims", "8")
    expect(program, "fp32 agrees with eager",
           swept(cases, "dtype") == [("fp32",), ("bf16",)] and cases[0]["value_error_ratio"] < 1e-5, cases)


def check_work(program, folder):
    """FLOPs of a step whose policy is read cell by cell, counted by hand: of 2 boards of 9 cells."""
    config = folder / "cells.yaml"
    config.write_text("env: {id: tictactoe, num_collectors: 2}\nsearch: {num_simulations: 2}\ntrain: {batch_size: 2}\n"
                      "model: {family: muzero, latent_loss: none, encoder: board, encoder_channels: 16, encoder_blocks: 0, "
                      "head_dim: 8, policy_cells: true, support_size: 3}\n")
    _, printed = program.output("bench", "run", "--config", str(config), "--part", "search", "--json")
    case = json.loads(printed.splitlines()[0])
    step, policy, scalar = 16 * 17 * 9 * 9, (16 * 8 + 8) * 9, 16 * 16 * 9 + 16 * 9 * 8 + 8 * 3
    flops = case["gflops"] * case["us_min"] * 1000
    expect(program, "work of a step", abs(flops / (2 * 2 * (step + policy + 2 * scalar)) - 1) < 0.01, printed)


def check_against(program, folder):
    """Every verb compares what it measures with a saved run, and with another build in turn."""
    config = folder / "small.yaml"
    config.write_text("env: {id: catch, num_collectors: 2}\nsearch: {num_simulations: 2}\n"
                      "model: {embed_dim: 16}\ntrain: {batch_size: 2}\n")
    for options, words in ((["--config", str(config), "--part", "learn"], "allowed: search, update"), ([], "--config is needed"),
                           (["--config", "nothing.yaml"], "no such file")):
        code, printed = program.run("bench", "run", *options)
        program.check(f"bench run {options}", code, printed, 2, "error: ", words)
    check_work(program, folder)
    verbs = {"step": (["step", *SMALL], "us_min"),
             "search": (["search", "--actions", "2", "--batch", "4", "--sims", "8,9"], "ns_per_root_sim_min"),
             "search of engines": (["search", *SMALL, "--sims", "8"], "us_per_sim_min"),
             "train": (["train", "--embed", "16", "--batch", "2", "--unroll", "2"], "ms_min"),
             "run": (["run", "--config", str(config)], "us_min"),
             "unload": (["unload", *SMALL, "--cycles", "2"], "load_ms"),
             "parity": (["parity", *SMALL, "--searches", "2"], "value_error_ratio")}
    known = {arguments[0] for arguments, _ in verbs.values()} | {"counts"}  # which measures no time
    _, printed = program.output("bench", "--help")
    listed = set(re.findall(r"^  ([a-z]+) ", printed.partition("Subcommands:")[2], re.MULTILINE))
    expect(program, "every verb of bench is compared", listed == known, f"{listed}\n{printed}")
    saved = folder / "saved.txt"
    for name, (arguments, metric) in verbs.items():
        saved.write_text(program.output("bench", *arguments)[1])
        for other in (str(saved), program.lzero):
            code, printed = program.output("bench", *arguments, "--against", other)
            objects = [line for line in printed.splitlines() if line.startswith("{")]
            compared = printed.partition("\nagainst ")[2].splitlines()[1:]
            right = len(objects) == len(compared) and all(
                re.search(rf"{metric} \S+ -> \S+ \(\S+x\)", line) for line in compared)
            program.check(f"bench {name} against {other}", code if right else 1, printed, 0)
    script = folder / "old_build"
    for line, part in (("echo 'error: unknown option --dtype' >&2; exit 2", "it said 'error: unknown option --dtype'"),
                       ("""echo '{"bench":"step","embed":9}'""", "has other cases"), ("true", "no line of bench step")):
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o755)
        code, printed = program.run("bench", "step", *SMALL, "--against", str(script))
        program.check(f"bench against: {part}", 0 if code in (1, 2) else 1, printed, 0, "error: ", part)


def check_cuda(program):
    """Without a GPU every bench that takes a device says why, at once; with one it measures."""
    for bench, more in {"step": [], "search": [], "unload": ["--cycles", "2"], "parity": ["--searches", "2"]}.items():
        code, printed = program.run("bench", bench, "--device", "cuda", *SMALL[:4], *more)
        if code == 0:
            cases = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
            expect(program, f"bench {bench} on a GPU", all(case["device"] == "cuda" and case["gpu"] for case in cases))
        else:
            program.check(f"bench {bench} without a GPU", code, printed, 2, "error: inference.device: cuda: ")


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    check_step(program)
    check_train(program)
    check_searches(program)
    check_against(program, folder)
    check_cuda(program)
    program.finish()


if __name__ == "__main__":
    main()
