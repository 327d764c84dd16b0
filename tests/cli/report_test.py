#!/usr/bin/env python3
"""lzero report: one file that needs nothing else, holds every number, and never costs a user a file.

    report_test.py LZERO FOLDER
"""
import html.parser
import json
import pathlib
import re
import shutil
import sys

from program import Program
from short_runs import mean_returns, train

ADDRESSES = ("src", "href", "srcset", "data", "poster", "action", "xlink:href", "background")


class Page(html.parser.HTMLParser):
    """Tags that are open at the end, addresses, the JSON of script elements, the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.json, self.text, self.scripts = [], [], {}, "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.addresses += [value for key, value in attributes.items() if key in ADDRESSES or key.startswith("on")]
        if tag not in ("meta", "img", "path", "rect", "polyline", "polygon", "br", "link"):
            self.open.append((tag, attributes))
        if tag in ("link", "iframe", "object", "embed", "base", "form"):
            self.addresses.append(f"<{tag}>")
        if tag == "script" and attributes.get("type") != "application/json":
            self.scripts.append(attributes)

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1][0] == "script":
            self.json[self.open[-1][1]["id"]] = json.loads(text)
        else:
            self.text += text


def check_page(program, name):
    """The page, which stands alone and is whole."""
    path = program.folder / name
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    outside = [address for address in page.addresses if not address.startswith("data:image/gif;base64,")]
    program.check(f"{name}: nothing from outside", 0, str(outside + page.scripts), 0, "[]")
    program.check(f"{name}: no address in the style", 0, str(re.findall(r"@import|url\(|https?:", text)), 0, "[]")
    program.check(f"{name}: whole", 0, str(page.open), 0, "[]")
    return page


def check_group(program):
    program.expect("a group", 0, ["report        group.html: runs 5, groups 1, "], "report", "group", "--out",
                   "group.html")
    page = check_page(program, "group.html")
    program.check("what it says", 0, page.text, 0, "counting: counting_unizero, 5 runs", "Return over env steps",
                  "Final returns", "Episodes", "worst: seed ", "median: seed ", "best: seed ", "Where the time went",
                  "calibration: returns against values", "value bias", "open loop: error of the value", "spread of latents", "replay memory", "env steps a second",
                  "lzero train ", "seed=4")
    pictures = [address for address in page.addresses if address.startswith("data:image/gif")]
    program.check("three episodes", 0, str(len(pictures)), 0, "3")
    program.check("small ones", 0, str(max(map(len, pictures)) < 280000), 0, "True")
    program.check("played again as in the evaluation", 0, str("played again it gave" in page.text), 0, "False")
    runs = page.json["comparison"]["groups"][0]["runs"]
    for run, series in zip(runs, page.json["series"]):
        means = mean_returns(program.folder / run["path"])
        program.check(f"{run['path']}: final return", 0, str(abs(run["final_return"] - means[max(means)]) < 1e-9), 0,
                      "True")
        program.check(f"{run['path']}: evaluations", 0, str(series["metrics"]["eval/return_mean"][0]), 0,
                      str(sorted(means)))


def check_files(program):
    """What --out may be."""
    program.expect("again into the same file", 0, ["report        group.html"], "report", "group/seed_0", "--out",
                   "group.html", "--no-pictures")
    program.check("no pictures", 0, str("Episodes" in (program.folder / "group.html").read_text()), 0, "False")
    other = program.folder / "notes.html"
    other.write_text("my notes")
    program.expect("a file that is no report", 2, ["error: --out: notes.html exists and is no report; it is left as it "
                                                   "is"], "report", "group", "--out", "notes.html")
    program.check("it is left", 0, other.read_text(), 0, "my notes")
    program.expect("a folder", 2, ["error: --out: group is a folder; allowed: a file"], "report", "group", "--out",
                   "group")
    program.expect("no folder", 2, ["error: --out: no folder nowhere"], "report", "group", "--out", "nowhere/x.html")
    program.expect("no --out", 2, ["error: report: --out is needed"], "report", "group")
    program.expect("an empty --out", 2, ["--out: got '', allowed: a file"], "report", "group", "--out", "")


def check_bad_runs(program):
    folder = program.folder
    program.expect("missing", 2, ["error: no such folder: nowhere"], "report", "nowhere", "--out", "x.html")
    program.expect("no run", 2, ["error: empty holds no run"], "report", "empty", "--out", "x.html")
    shutil.copytree(folder / "group", folder / "mixed", symlinks=True)
    metrics = folder / "mixed/seed_1/metrics.jsonl"
    lines = metrics.read_text().splitlines()
    metrics.write_text("\n".join([lines[0], "\x1b[31mnonsense<b>", *lines[1:], lines[0][:50]]))
    shutil.rmtree(folder / "mixed/seed_2/checkpoints")
    (folder / "mixed/seed_3/status.json").unlink()
    program.expect("a damaged line", 2, ["error: mixed/seed_1/metrics.jsonl:2: is no line of metrics; got '\\x1b[31mnonsense"],
                   "report", "mixed/seed_1", "--out", "x.html")
    program.check("no file is left", 0, str((folder / "x.html").exists()), 0, "False")
    program.expect("a damaged run among good ones", 0, ["skipped: mixed/seed_1: mixed/seed_1/metrics.jsonl:2: "],
                   "report", "mixed", "--out", "mixed.html", "--no-pictures")
    page = check_page(program, "mixed.html")
    program.check("it is named", 0, page.text, 0, "mixed/seed_1 is left out: mixed/seed_1/metrics.jsonl:2: ",
                  "mixed/seed_3 is stopped at 0 env steps")
    program.expect("no checkpoint", 0, ["no pictures: mixed/seed_2: ", "report        bare.html"], "report",
                   "mixed/seed_2", "--out", "bare.html")
    program.check("that is said", 0, check_page(program, "bare.html").text, 0, "no pictures: mixed/seed_2: ")


def check_long_runs(program):
    """Many lines become few points."""
    folder = program.folder / "long"
    for seed in range(3):
        shutil.copytree(program.folder / f"group/seed_{seed}", folder / str(seed), symlinks=True)
        path = folder / str(seed) / "metrics.jsonl"
        line = next(line for line in path.read_text().splitlines() if "loss/total" in line)
        row = json.loads(line)
        with open(path, "a") as file:
            for step in range(20000):
                row.update({"env_steps": 1000 + 8 * step, "loss/total": (step * 7919 % 1000) / 7})
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
    program.expect("long runs", 0, ["runs 3, groups 1"], "report", "long", "--out", "long.html", "--no-pictures")
    size = (program.folder / "long.html").stat().st_size
    program.check("few points", 0, f"{size < 1500000} {size}", 0, "True")
    series = check_page(program, "long.html").json["series"][0]["metrics"]["loss/total"]
    program.check("lowest and highest stay", 0, f"{min(series[1])} {max(series[1])}", 0, "0 142.714")


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    for seed in range(5):
        train(program, f"group/seed_{seed}", seed=seed, stop__max_env_steps=400, train__log_every_updates=5)
    train(program, "board", config="configs/boards/tictactoe_alphazero.yaml")
    (folder / "empty").mkdir()
    check_group(program)
    program.expect("two groups on different environments", 0, ["runs 6, groups 2"], "report", "group", "board",
                   "--out", "both.html")
    page = check_page(program, "both.html")
    program.check("both are shown", 0, page.text, 0, "Groups compared", "Not compared: groups on different", "Self-play",
                  "have no common scale", "Settings in which the groups differ")
    check_files(program)
    check_bad_runs(program)
    check_long_runs(program)
    program.finish()


if __name__ == "__main__":
    main()
