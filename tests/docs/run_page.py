#!/usr/bin/env python3
"""Runs the commands of a Markdown page, as a reader would, and compares what they print.

    run_page.py PAGE FOLDER [--skip LINE]... [--show]

Every line indented by four spaces is a line of a shell script; fenced blocks are not run. The script runs
in FOLDER under `set -euo pipefail`, as one, so that folders and variables last. Lines that begin with
`#>` are promises: what follows must appear in what the lines above it printed since the last promises,
in this order. --skip leaves out a line that the caller has run, word by word; it must be there. Exit 1
when a command fails or a promise is not kept; the output is then shown.
"""
import argparse
import pathlib
import subprocess
import sys

MARK = "@@ run_page "


def read_steps(text, skipped):
    """[(commands, promises)] of the page: a step ends with its promises, or with the next one."""
    steps, fenced, unused = [], False, set(skipped)
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if fenced or not line.startswith("    "):
            continue
        line = line[4:]
        if line in unused or line in skipped:
            unused.discard(line)
        elif line.startswith("#>"):
            if not steps:
                raise ValueError(f"a promise before any command: {line}")
            steps[-1][1].append(line[2:].strip())
        elif steps and not steps[-1][1]:
            steps[-1][0].append(line)
        else:
            steps.append(([line], []))
    if unused:
        raise ValueError(f"the page has no line {sorted(unused)}")
    if not steps:
        raise ValueError("the page has no commands")
    return steps


def script_of(steps):
    lines = ["set -euo pipefail"]
    for number, (commands, _) in enumerate(steps):
        lines += [f"echo '{MARK}{number}'", *commands]
    return "\n".join(lines) + f"\necho '{MARK}end'\n"


def missing_promise(promises, printed):
    """The first of `promises` that does not appear in `printed` after the one before it, or None."""
    start = 0
    for promise in promises:
        found = printed.find(promise, start)
        if found < 0:
            return promise
        start = found + len(promise)
    return None


def run(page, folder, skipped):
    """What went wrong, or "", and everything that was printed."""
    steps = read_steps(page.read_text(encoding="utf-8"), skipped)
    folder.mkdir(parents=True, exist_ok=True)
    process = subprocess.run(["bash", "-c", script_of(steps)], cwd=folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed = process.stdout.decode(errors="replace")
    parts = printed.split(MARK)[1:]
    if not parts or not parts[-1].startswith("end"):
        last = steps[len(parts) - 1][0] if parts else []
        return f"exit code {process.returncode} in: " + "; ".join(last), printed
    for (commands, promises), part in zip(steps, parts):
        promise = missing_promise(promises, part)
        if promise is not None:
            return f"not printed, or not in this order: '{promise}' by: " + "; ".join(commands), printed
    return "", printed


def main():
    parser = argparse.ArgumentParser(description="Runs the commands of a Markdown page.")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--skip", action="append", default=[], metavar="LINE")
    parser.add_argument("--show", action="store_true", help="print the output of a page that passes too")
    options = parser.parse_args()
    try:
        problem, printed = run(options.page, options.folder, options.skip)
    except ValueError as error:
        sys.exit(f"{options.page}: {error}")
    if problem or options.show:
        print(printed)
    if problem:
        sys.exit(f"{options.page}: {problem}")
    print(f"{options.page.name}: every command ran and every promise was kept")


if __name__ == "__main__":
    main()
