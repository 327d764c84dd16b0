#!/usr/bin/env python3
"""Prints what gpu_check.sh found as one table. Reads its output folder alone: doctor.txt, stages.jsonl, the
reports of the test programs (NAME.json) and the lines of the benchmarks (NAME.jsonl). Exit code 1 when a
stage failed, checked nothing or was not run, when a test was skipped, when a search differs too far from an eager
one, and when a bar of memory or speed is missed.

    gpu_table.py FOLDER
"""
import json
import math
import pathlib
import re
import sys

STEP_A_US = 250.0   # a simulation on runner cuda_graph at two layers, whatever the batch is
STEP_B_US = 95.0    # a simulation on runner cuda_search_graph, E 768, two layers, 256 environments
GRAPH_RATIO = 2.0   # a search without graphs over one with them, E 64
FLAT_MIB = 2.0      # used after a cycle beside that after the second
# By dtype: the largest error of a value, relative to the largest value, and the share of visits that move.
PARITY = {"fp32": (1e-3, 0.05), "tf32": (0.02, 0.05), "bf16": (0.1, 0.15)}


def json_lines(path):
    """The objects in a file, one a line; other lines are left out, and a line that was cut off."""
    objects = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            objects += [json.loads(line)] if line.startswith("{") else []
        except ValueError:
            pass
    return objects


def bench_lines(folder, bench):
    return [each for path in sorted(folder.glob("*.jsonl")) for each in json_lines(path)
            if each.get("bench") == bench]


def rows_of(header, rows):
    """Columns as wide as their widest cell, the first to the left."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells]


def head_lines(folder):
    doctor = folder / "doctor.txt"
    lines = doctor.read_text().splitlines() if doctor.exists() else []
    return [line for line in lines if re.match(r"\S+ +(lzero|libtorch|processor|gpu) ", line)]


def tests_of(report):
    return [test for suite in report["testsuites"] for test in suite["testsuite"]]


def largest_errors(report):
    """(test, error) of every test that recorded one."""
    return [(test["name"], float(test["largest_error"])) for test in tests_of(report)
            if "largest_error" in test]


def skipped_tests(folder):
    """(program, number of its tests that were skipped) of each report."""
    counts = []
    for path in sorted(folder.glob("*_test.json")):
        try:
            tests = tests_of(json.loads(path.read_text()))
        except ValueError:
            continue
        counts.append((path.stem, sum(test["result"] == "SKIPPED" for test in tests)))
    return counts


def test_lines(folder):
    """Passed, failed and skipped of each test program; one that died before its report has none."""
    rows, errors = [], []
    for stage in json_lines(folder / "stages.jsonl"):
        if not stage["stage"].endswith("_test"):
            continue
        name, path = stage["stage"], folder / f"{stage['stage']}.json"
        try:
            report = json.loads(path.read_text())
        except (OSError, ValueError):
            rows.append([f"{name} left no report", "", "", "", stage["seconds"]])
            continue
        tests = tests_of(report)
        skipped = sum(test["result"] == "SKIPPED" for test in tests)
        failed = sum("failures" in test for test in tests)
        rows.append([name, len(tests) - failed - skipped, failed, skipped, stage["seconds"]])
        errors += largest_errors(report)
        for test in tests:
            rows += [[f"  FAILED {test['name']}", "", "", "", ""]] if "failures" in test else []
    lines = rows_of(["gpu tests", "passed", "failed", "skipped", "s"], rows)
    return lines + [f"largest error in {name}: {error:.2g} beside eager on the CPU"
                    for name, error in errors]


def is_number(value):
    """A figure that is not finite is null in JSON."""
    return value is not None and math.isfinite(value)


def parity_faults(line):
    """{key: limit} of what differs too far. Values of searches are compared where no visit moved: a visit to
    another action changes its root's value by more than rounding does."""
    error, moved = PARITY[line["dtype"]]
    limits = {"value_error_ratio": error, "moved_visits_share": moved,
              "search_value_error_ratio": error if line["changed_roots_share"] == 0 else float("inf")}
    return {key: limit for key, limit in limits.items()
            if not is_number(line[key]) or line[key] > limit}


def parity_cell(line, key, template, scale=1):
    text = template.format(scale * line[key]) if is_number(line[key]) else "NaN"
    return f"{text} FAILED" if key in parity_faults(line) else text


def parity_lines(folder):
    rows = []
    for each in bench_lines(folder, "parity"):
        rows.append([f"{each['runner']}, {each['dtype']}", each["embed"], each["batch"], each["searches"],
                     parity_cell(each, "value_error_ratio", "{:.2g}"),
                     parity_cell(each, "search_value_error_ratio", "{:.2g}"),
                     parity_cell(each, "moved_visits_share", "{:.2f} %", scale=100),
                     f"{100 * each['changed_actions_share']:.2f} %"])
    return rows_of(["parity with eager on the GPU", "E", "B", "searches", "root values", "search values",
                    "visits moved", "best actions"], rows)


PLACES = {"device_mib": "device", "device_reserved_mib": "reserved", "resident_mib": "process"}


def memory_cycles(folder):
    """{(runner, place): MiB after each cycle}."""
    cycles = {}
    for each in bench_lines(folder, "unload"):
        for key, place in PLACES.items():
            if key in each:
                cycles.setdefault((each["runner"], place), []).append((each["cycle"], each[key]))
    return {what: [value for _, value in sorted(values)] for what, values in cycles.items()}


def growth(place, mib):
    """(most that a cycle has beyond the second, whether that is too much); None before a third."""
    if len(mib) < 3:
        return None
    worst = max((value - mib[1] for value in mib[2:]), key=abs)
    limit = {"device": FLAT_MIB, "reserved": 0.0, "process": float("inf")}[place]
    return worst, abs(worst) > limit


def memory_lines(folder):
    """A row for each runner and place of memory: MiB after each cycle, and the last less the second."""
    cycles = memory_cycles(folder)
    count = max(map(len, cycles.values()), default=0)
    rows = []
    for (runner, place), mib in cycles.items():
        grown = growth(place, mib)
        flat = "-" if grown is None else f"{grown[0]:+.2f}{' MISSED' if grown[1] else ''}"
        rows.append([f"{runner}, {place}", *(f"{value:.1f}" for value in mib),
                     *[""] * (count - len(mib)), flat])
    return rows_of(["MiB after unloading, cycle", *range(1, count + 1), "most from 2nd"], rows)


def time_of(cases, key, **wanted):
    """The least time of the cases that are `wanted`; None when none was measured."""
    return min((each[key] for each in cases if all(each.get(name) == value for name, value in wanted.items())),
               default=None)


def ratio_of(slow, fast):
    return None if slow is None or fast is None else slow / fast


def times(folder):
    """{(embed, layers, batch, dtype): {column: microseconds}}; what is eager is fp32 in every dtype."""
    steps = bench_lines(folder, "step")
    searches = [each for each in bench_lines(folder, "search") if each.get("kind") == "engine"]
    found = {}
    for case in sorted({tuple(each[key] for key in ("embed", "layers", "batch", "dtype"))
                        for each in steps + searches}):
        size = dict(zip(("embed", "layers", "batch"), case))
        graph = {**size, "dtype": case[3]}
        found[case] = {
            "step eager": time_of(steps, "us_min", runner="eager", **size),
            "step graph": time_of(steps, "us_min", runner="cuda_graph", **graph),
            "eager": time_of(searches, "us_per_sim_min", runner="eager", **size),
            "A": time_of(searches, "us_per_sim_min", runner="cuda_graph", **graph),
            "B": time_of(searches, "us_per_sim_min", runner="cuda_search_graph", **graph)}
    return found


def missed_times(folder):
    """{(case, column): why} of the bars of speed that are missed. A bar of time is met by the fastest dtype."""
    found, missed = times(folder), {}
    for (embed, layers, batch, dtype), row in found.items():
        case, best = (embed, layers, batch, dtype), {}
        for column in ("A", "B"):
            best[column] = min((found[other][column] for other in found
                                if other[:3] == case[:3] and found[other][column] is not None), default=None)
        for column, limit, is_held in (("A", STEP_A_US, layers == 2),
                                       ("B", STEP_B_US, (embed, layers, batch) == (768, 2, 256))):
            if is_held and row[column] is not None and row[column] == best[column] > limit:
                missed[case, column] = f"{row[column]:.1f} us a simulation, at most {limit:.0f}"
        gain = ratio_of(row["eager"], row["A"])
        if embed == 64 and gain is not None and gain < GRAPH_RATIO:
            missed[case, "off/on"] = f"{gain:.2f}x, at least {GRAPH_RATIO:.0f}x"
    return missed


def time_lines(folder):
    missed = missed_times(folder)

    def cell(case, column, text, value):
        return "-" if value is None else text.format(value) + (" MISSED" if (case, column) in missed else "")

    rows = []
    for case, row in times(folder).items():
        embed, layers, batch, dtype = case
        rows.append([f"({embed}, {layers}) B {batch}, {dtype}",
                     cell(case, "", "{:.1f}", row["step eager"]), cell(case, "", "{:.1f}", row["step graph"]),
                     cell(case, "", "{:.2f}x", ratio_of(row["step eager"], row["step graph"])),
                     cell(case, "", "{:.1f}", row["eager"]), cell(case, "A", "{:.1f}", row["A"]),
                     cell(case, "off/on", "{:.2f}x", ratio_of(row["eager"], row["A"])),
                     cell(case, "B", "{:.1f}", row["B"]), cell(case, "", "{:.2f}x", ratio_of(row["A"], row["B"]))])
    return rows_of(["us a simulation, least", "step: eager", "graph", "off/on", "search: eager", "Step A",
                    "off/on", "Step B", "A/B"], rows)


def tree_lines(folder):
    """What the tree kernels cost alone, as their test prints it."""
    path = folder / "mcts_cuda_test.log"
    text = path.read_text(errors="replace") if path.exists() else ""
    lines = re.findall(r"^((?:puct|gumbel) .*us a simulation)$", text, re.MULTILINE)
    return [f"tree kernels alone, {line}" for line in lines]


def training_status(folder):
    """What the run on the GPU says of itself; empty without one."""
    try:
        return json.loads((folder / "run/status.json").read_text())
    except (OSError, ValueError):
        return {}


def training_lines(folder):
    status = training_status(folder)
    speeds = [each["time/updates_per_s"] for each in json_lines(folder / "run/metrics.jsonl")
              if is_number(each.get("time/updates_per_s"))]
    if not status or not speeds:
        return []
    return [f"training on the GPU: {status['updates']} updates, {max(speeds):.0f} a second at best, "
            f"mean return {status['eval_return']} at the end"]


def nothing_checked(folder, stage):
    """Why a stage that went well proves nothing, or too little; else an empty text."""
    name, lines = stage["stage"], stage["lines"]
    if name == "train":
        return "" if training_status(folder).get("updates", 0) > 0 else "made no update"
    if not name.endswith("_test"):
        printed = len(json_lines(folder / f"{name}.jsonl"))
        return f"printed {printed} of {lines} lines" if printed < lines else ""
    try:
        return "" if tests_of(json.loads((folder / f"{name}.json").read_text())) else "ran no test"
    except (OSError, ValueError):
        return "left no report"


def failed_lines(folder):
    """What failed; a test that was skipped beside a GPU did not check what it should."""
    lines = [f"FAILED {name}: {count} tests skipped" for name, count in skipped_tests(folder) if count > 0]
    for line in bench_lines(folder, "parity"):
        for key, limit in parity_faults(line).items():
            what = f"{line[key]:.2g}, at most {limit:.2g} is allowed" if is_number(line[key]) else "not a number"
            lines.append(f"FAILED parity of {line['runner']}, {line['dtype']}: {key} is {what}")
    for (runner, place), mib in memory_cycles(folder).items():
        grown = growth(place, mib)
        if grown is not None and grown[1]:
            lines.append(f"FAILED memory of {runner}, {place}: {grown[0]:+.2f} MiB beside the second cycle")
    lines += [f"FAILED speed of ({case[0]}, {case[1]}) B {case[2]}, {case[3]}, {column}: {why}"
              for (case, column), why in missed_times(folder).items()]
    stages = json_lines(folder / "stages.jsonl")
    for stage in stages:
        name, code = stage["stage"], stage["exit"]
        why = f"over its time limit of {stage['limit_s']} s" if code in (124, 137) else f"exit code {code}"
        if code == 0:
            why = nothing_checked(folder, stage)
        lines += [f"FAILED {name}: {why}; see {name}.log"] if why else []
    return lines if stages else [*lines, "FAILED: no stage was run, nothing was checked"]


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = failed_lines(folder)
    parts = [head_lines, test_lines, parity_lines, training_lines, memory_lines, time_lines, tree_lines]
    blocks = [part(folder) for part in parts] + [failed or ["all stages went well"]]
    print("\n\n".join("\n".join(block) for block in blocks if block))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
