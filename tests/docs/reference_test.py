#!/usr/bin/env python3
"""The reference pages are what the program says of itself: every key, verb and metric.

    reference_test.py LZERO            compares; exit 1 where a page is older than the program
    reference_test.py LZERO --write    writes the pages
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = "Made from the program by `tests/docs/reference_test.py build/release/tools/lzero --write`; a test compares.\n"


def say(lzero, *arguments):
    done = subprocess.run([lzero, *arguments], capture_output=True, text=True, check=True)
    text = done.stdout.replace(str(lzero), "lzero")
    # The cores of this machine, and what their number does to the line.
    text = re.sub(r"(--threads INT:\[1 \.\. )\d+(?=\])", r"\1cores", text)
    return re.sub(r"(\[1 \.\. cores\] \.\.\.)\s+", r"\1  ", text)


def escape(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def config_page(lzero):
    """`config explain` prints a section as "name: what it is", a key with its facts indented below it."""
    lines = ["# Every key of a config", "", MADE,
             "`tools/run.sh config explain KEY` says the same of one key. Which config to copy: [README.md](README.md).", ""]
    for block in say(lzero, "config", "explain").strip().split("\n\n"):
        head, *facts = block.splitlines()
        if not facts:
            name, _, text = head.partition(": ")
            lines += [f"## {name}", "", escape(text), "", "| key | default | allowed | meaning |", "|---|---|---|---|"]
            continue
        said = {"default": "", "allowed": "", "unit": "", "source": ""}
        text = []
        for fact in map(str.strip, facts):
            name, _, value = fact.partition(": ")
            if name in said:
                said[name] = value
            else:
                text.append(fact)
        unit = f" {said['unit']}" if said["unit"] else ""
        source = f" [{said['source']}]" if said["source"] else ""
        lines.append(f"| `{head}` | {escape(said['default'])}{unit} | {escape(said['allowed'])} | "
                     f"{escape(' '.join(text) + source)} |")
    return "\n".join(add_blank_lines(lines)) + "\n"


def add_blank_lines(lines):
    """A table ends with an empty line where a heading follows."""
    for before, line in zip([""] + lines, lines):
        if line.startswith("##") and before.startswith("|"):
            yield ""
        yield line


def verbs_of(lzero, *path):
    """The verbs below `path`, as --help lists them."""
    _, _, rest = say(lzero, *path, "--help").partition("Subcommands:\n")
    return re.findall(r"^  ([a-z]\w*) ", rest, re.MULTILINE)


def verb_page(lzero):
    lines = ["# Every verb and option", "", MADE,
             "`tools/run.sh VERB --help` says the same. The verbs by purpose: [README.md](README.md).", ""]
    for verb in verbs_of(lzero):
        for path in [(verb,), *((verb, below) for below in verbs_of(lzero, verb))]:
            lines += [f"{'#' * (1 + len(path))} {' '.join(path)}", "", "```", say(lzero, *path, "--help").strip(), "```", ""]
    return "\n".join(lines)


def metric_page(lzero):
    lines = ["# Every metric", "", MADE,
             "Numbers of `metrics.jsonl` and TensorBoard. `tools/run.sh metrics NAME` says the same of one.", "",
             "| metric | meaning |", "|---|---|"]
    name = ""
    for line in say(lzero, "metrics").splitlines():
        if line.startswith("  "):
            lines.append(f"| `{name}` | {escape(line.strip())} |")
        else:
            name = line
    return "\n".join(lines) + "\n"


PAGES = {"configs/reference.md": config_page, "tools/verbs.md": verb_page, "tools/metrics.md": metric_page}


def main():
    lzero = pathlib.Path(sys.argv[1]).resolve()
    old = []
    for name, make in PAGES.items():
        page, path = make(lzero), ROOT / name
        if "--write" in sys.argv[2:]:
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            old.append(name)
    if old:
        sys.exit(f"older than the program: {', '.join(old)}; write them anew: {pathlib.Path(__file__).relative_to(ROOT)} "
                 f"{sys.argv[1]} --write")
    print(f"{len(PAGES)} pages say what the program says")


if __name__ == "__main__":
    main()
