#!/usr/bin/env python3
"""`lzero bench` as a user calls it: how many cases, which keys, and figures that agree with arithmetic
of their own from the layers of the world model. No time is judged.

    bench_test.py LZERO FOLDER
"""
import itertools
import json
import pathlib
import re
import shutil
import sys

from program import Program

STEP_KEYS = ["bench", "device", "runner", "embed", "layers", "heads", "batch", "context", "support", "actions",
             "dtype", "threads", "us_min", "us_median", "gflops", "peak_gflops", "gbs", "peak_gbs",
             "cpu", "commit", "load"]
TRAIN_KEYS = ["bench", "encoder", "observation", "embed", "layers", "heads", "batch", "unroll", "context",
              "support", "actions", "threads", "updates", "ms_min", "ms_median", "sample_ms_median",
              "sample_share", "gflops", "peak_gflops", "cpu", "commit", "load"]
SEARCH_KEYS = ["bench", "policy", "actions", "batch", "sims", "rounds", "ns_per_root_sim_min",
               "ns_per_root_sim_median", "mean_depth", "signature", "cpu", "commit", "load"]
ENGINE_SEARCH_KEYS = ["bench", "kind", "device", "runner", "embed", "layers", "heads", "batch", "context",
                      "support", "actions", "dtype", "threads", "policy", "sims", "rounds",
                      "us_per_sim_min", "us_per_sim_median", "cpu", "commit", "load"]
STANDARD = [(*size, *column)
            for size in [(64, 2, 2, 1), (64, 2, 2, 8), (64, 2, 2, 32), (64, 2, 2, 128), (256, 4, 8, 8),
                         (768, 2, 8, 8)]
            for column in [("eager", "fp32", 1), ("packed", "fp32", 1), ("packed", "bf16", 2)]]


def step_work(case):
    """Floating-point operations of one step, and bytes of the weights that it reads."""
    embed, atoms, hidden = case["embed"], case["support"], 4 * case["embed"]
    attention = embed * 3 * embed + embed * embed
    feed_forward = embed * hidden + hidden * embed
    token = case["layers"] * (attention + feed_forward)
    heads = sum(embed * hidden + hidden * out for out in (case["actions"], atoms, atoms, embed))
    weights = 2 * token + heads  # an action token, then a latent token
    return 2 * case["batch"] * weights, (2 if case["dtype"] == "bf16" else 4) * weights


def wrong_in(case):
    """What does not fit in the JSON object of one case of `bench step`."""
    if list(case) != STEP_KEYS:
        return [f"keys {list(case)}"]
    flops, read_bytes = step_work(case)
    near = {"gflops": flops / case["us_min"] / 1e3, "gbs": read_bytes / case["us_min"] / 1e3}
    wrong = [f"{key} {case[key]}, expected {value}" for key, value in near.items()
             if abs(case[key] - value) > 2e-4 * value]
    wrong += [key for key in ("us_min", "peak_gflops", "peak_gbs") if not case[key] > 0]
    wrong += ["us_median"] if case["us_median"] < case["us_min"] else []
    wrong += [key for key in ("commit", "cpu") if not case[key]]
    wrong += ["load"] if len(case["load"]) != 2 else []
    return wrong


def binding_limit(case):
    """The end of the table's line of a case."""
    shares = {"FLOPs": case["gflops"] / case["peak_gflops"], "reads": case["gbs"] / case["peak_gbs"]}
    limit = max(shares, key=shares.get)
    return limit, 100 * shares[limit]


def run_step(program, what, *arguments):
    """The JSON objects of a `bench step`, each checked, and the lines after them."""
    code, printed = program.output("bench", "step", *arguments)
    lines = printed.splitlines()
    cases = [json.loads(line) for line in lines if line.startswith("{")]
    wrong = [text for case in cases for text in wrong_in(case)]
    program.check(what, code if not wrong else 1, f"{wrong}\n{printed}", 0)
    return cases, lines[len(cases):]


def check_sweep(program):
    cases, _ = run_step(program, "sweep", "--embed", "32,64", "--layers", "1", "--heads", "2",
                        "--batch", "1,4", "--context", "4,8", "--support", "21,101", "--actions", "3",
                        "--runner", "eager", "--dtype", "fp32", "--threads", "1")
    swept = [tuple(case[key] for key in ("embed", "batch", "context", "support")) for case in cases]
    expected = list(itertools.product((32, 64), (1, 4), (4, 8), (21, 101)))
    program.check("every combination once", 0 if swept == expected else 1, str(swept), 0)
    lists_of_one = {tuple(case[key] for key in ("layers", "heads", "actions", "threads"))
                    for case in cases}
    program.check("the lists of one", 0 if lists_of_one == {(1, 2, 3, 1)} else 1, str(cases), 0)


def check_table(program):
    cases, table = run_step(program, "table", "--embed", "32,256", "--runner",
                            "packed", "--threads", "1,2")
    threads = [case["threads"] for case in cases]
    program.check("threads are swept", 0 if threads == [1, 2, 1, 2] else 1, str(threads), 0)
    program.check("a line for each number of threads", 0, "\n".join(table[:2]), 0,
                  "machine, 1 thread: ", "machine, 2 threads: ", "GFLOP/s fp32 FMA peak", "GB/s from")
    rows = table[3:]
    wrong = [] if len(rows) == len(cases) else [f"{len(rows)} rows"]
    for case, row in zip(cases, rows):
        limit, share = binding_limit(case)
        shown = float(row.split()[-2].rstrip("%"))
        if f"{limit}: " not in row or abs(shown - share) > 0.6:
            wrong.append(row)
    program.check("the limit that binds", 1 if wrong else 0, str(wrong), 0)


def objects_of(printed, bench):
    objects = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return [each for each in objects if each["bench"] == bench]


def has_loads(each):
    """The load before and after."""
    return isinstance(each.get("load"), list) and len(each["load"]) == 2


def check_memory_and_parity(program):
    code, printed = program.output("bench", "unload", "--cycles", "3", "--runner", "packed,eager", "--embed", "32")
    cycles = objects_of(printed, "unload")
    right = [(each["runner"], each["cycle"]) for each in cycles] == list(
        itertools.product(("packed", "eager"), (1, 2, 3)))
    program.check("bench unload", code if right else 1, printed, 0)
    right = all(has_loads(each) and "gpu" not in each for each in cycles)
    program.check("load before and after unload", 0 if right else 1, printed, 0)
    program.check("memory is shown", 0 if all(each["resident_mib"] > 0 for each in cycles) else 1, printed, 0)

    code, printed = program.output("bench", "growth", "--sims", "250", "--steps", "100", "--embed", "32")
    kinds = [each["kind"] for each in objects_of(printed, "growth")]
    right = all(has_loads(each) for each in objects_of(printed, "growth"))
    program.check("bench growth", code if right else 1, printed, 0)
    program.check("one long search, two steps", 0 if kinds == ["simulations", "episode", "episode"] else 1,
                  printed, 0)

    code, printed = program.output("bench", "parity", "--searches", "3", "--embed", "32", "--sims", "8")
    parity = objects_of(printed, "parity")
    program.check("bench parity", code, printed, 0, "fp32: values of roots", "bf16: values of roots")
    exact = [each["dtype"] for each in parity] == ["fp32", "bf16"] and parity[0]["value_error_ratio"] < 1e-5
    program.check("fp32 agrees with eager", 0 if exact else 1, printed, 0)
    right = all(has_loads(each) for each in parity)
    program.check("load before and after parity", 0 if right else 1, printed, 0)


def check_against(program, folder):
    """Every verb compares what it measures with a saved run."""
    small = ["--embed", "32", "--batch", "2", "--runner", "packed"]
    verbs = {"step": (["step", *small], "us_min"), "search": (["search", "--actions", "2", "--batch", "4"],
                                                              "ns_per_root_sim_min"),
             "search of engines": (["search", *small, "--sims", "8"], "us_per_sim_min"),
             "train": (["train", "--embed", "16", "--batch", "2", "--unroll", "2"], "ms_min"),
             "growth": (["growth", *small, "--sims", "201", "--steps", "10"], "last_us_min"),
             "unload": (["unload", *small, "--cycles", "1"], "load_ms"),
             "parity": (["parity", *small, "--searches", "2"], "value_error_ratio")}
    known = {arguments[0] for arguments, _ in verbs.values()}
    _, printed = program.output("bench", "--help")
    listed = set(re.findall(r"^  ([a-z]+) ", printed.partition("Subcommands:")[2], re.MULTILINE))
    program.check("every verb of bench is compared", 0 if listed == known else 1, f"{listed}\n{printed}", 0)
    for name, (arguments, figure) in verbs.items():
        saved = folder / "saved.txt"
        code, printed = program.output("bench", *arguments)
        saved.write_text(printed)
        code, printed = program.output("bench", *arguments, "--against", str(saved))
        compared = printed.partition("\nagainst ")[2].splitlines()[1:]
        right = all("x)" in line for line in compared) and re.search(
            rf"{figure} \S+ -> \S+ \(\S+x\)", "\n".join(compared))
        program.check(f"bench {name} against a saved run", code if right else 1, printed, 0)


def check_engine_search(program):
    code, printed = program.output("bench", "search", "--runner", "packed,eager", "--embed", "32", "--batch",
                                "2,3", "--sims", "8", "--policy", "puct,gumbel")
    cases = objects_of(printed, "search")
    swept = [(case["batch"], case["runner"], case["policy"]) for case in cases]
    right = swept == list(itertools.product((2, 3), ("packed", "eager"), ("puct", "gumbel")))
    program.check("bench search of engines", code if right else 1, printed, 0, "whole searches")
    right = all(list(case) == ENGINE_SEARCH_KEYS and 0 < case["us_per_sim_min"] <= case["us_per_sim_median"]
                for case in cases)
    program.check("keys and times of engines", 0 if right else 1, printed, 0)


def check_cuda(program):
    """Without a GPU every bench that takes a device says why, at once; with one it measures."""
    small = {"step": ["--embed", "32", "--batch", "2"], "search": ["--embed", "32", "--batch", "2"],
             "unload": ["--embed", "32", "--cycles", "2"], "parity": ["--embed", "32", "--searches", "2"]}
    for bench, sizes in small.items():
        code, printed = program.run("bench", bench, "--device", "cuda", *sizes)
        if code == 0:
            on_gpu = all(each["device"] == "cuda" and each["gpu"] and has_loads(each) for each in objects_of(printed, bench))
            program.check(f"bench {bench} on a GPU", 0 if on_gpu else 1, printed, 0)
        else:
            program.check(f"bench {bench} without a GPU", code, printed, 2, "error: inference.device: cuda: ")


def update_flops(case):
    """Floating-point operations of one update of a model with the vector encoder."""
    embed, atoms, hidden = case["embed"], case["support"], 4 * case["embed"]
    first, rest = int(case["observation"]) * 128, 128 * embed
    token = case["layers"] * (4 * embed * embed + 2 * embed * hidden)
    heads = sum(embed * hidden + hidden * out for out in (case["actions"], atoms, atoms, embed))
    learned = 3 * (first + rest + 2 * token + heads) - first  # no gradient of the observations
    target = 2 * (first + rest) + token + embed * hidden + hidden * atoms
    return 2 * case["batch"] * case["unroll"] * (learned + target)


def check_train(program):
    code, printed = program.output("bench", "train", "--embed", "16,32", "--layers", "1", "--heads", "2",
                                "--batch", "4,8", "--unroll", "2", "--support", "21", "--actions", "3",
                                "--observation", "5", "--threads", "1")
    lines = printed.splitlines()
    cases = [json.loads(line) for line in lines if line.startswith("{")]
    swept = [(case["embed"], case["batch"]) for case in cases]
    wrong = [] if swept == list(itertools.product((16, 32), (4, 8))) else [f"cases {swept}"]
    for case in cases:
        wrong += [f"keys {list(case)}"] if list(case) != TRAIN_KEYS else []
        gflops = update_flops(case) / case["ms_min"] / 1e6
        wrong += [f"gflops {case['gflops']}, expected {gflops}"] if abs(
            case["gflops"] - gflops) > 2e-4 * gflops else []
        share = case["sample_ms_median"] / case["ms_median"]
        wrong += ["sample_share"] if abs(case["sample_share"] - share) > 2e-4 * share else []
        wrong += ["times"] if not 0 < case["ms_min"] <= case["ms_median"] else []
        wrong += ["updates"] if case["updates"] < 10 else []
    program.check("bench train", code if not wrong else 1, f"{wrong}\n{printed}", 0)
    program.check("bench train: a row for each case", 0 if len(lines) == 2 * len(cases) + 2 else 1,
                  printed, 0, "machine, 1 thread: ", "GFLOP/s fp32 FMA peak")
    code, printed = program.output("bench", "train", "--embed", "16", "--batch", "2", "--unroll", "2",
                                "--encoder", "image", "--observation", "1x16x20", "--json")
    case = json.loads(printed)
    program.check("bench train of images", code, printed, 0, '"encoder":"image"')
    program.check("--json prints nothing else", 0 if list(case) == TRAIN_KEYS else 1, printed, 0)


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    check_sweep(program)
    check_table(program)
    check_train(program)

    cases, rest = run_step(program, "standard table", "--json")
    sizes = [tuple(case[key] for key in ("embed", "layers", "heads", "batch", "runner", "dtype", "threads"))
             for case in cases]
    program.check("sizes of the standard table", 0 if sizes == STANDARD else 1, str(sizes), 0)
    program.check("--json prints nothing else", len(rest), "\n".join(rest), 0)
    small = next(case for case in cases if case["batch"] == 8 and case["embed"] == 64)
    program.check("work of (64, 2, B 8)", 0 if step_work(small) == (5308416, 1327104) else 1, "", 0)

    code, printed = program.output("bench", "search", "--actions", "2,3", "--batch", "4", "--sims", "8",
                                "--policy", "puct,gumbel")
    lines = printed.splitlines()
    cases = [json.loads(line) for line in lines if line.startswith("{")]
    right = len(cases) == 4 and all(list(case) == SEARCH_KEYS for case in cases)
    program.check("bench search", code if right else 1, printed, 0)
    program.check("the signature comes last", 0, lines[-1], 0, f"signature {cases[0]['signature']}")
    check_memory_and_parity(program)
    check_against(program, folder)
    check_engine_search(program)
    check_cuda(program)
    program.finish()


if __name__ == "__main__":
    main()
