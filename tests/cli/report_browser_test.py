#!/usr/bin/env python3
"""lzero report in a browser: the page is drawn, and nothing outside of the file is asked for. Skipped without
`chromium` (Debian: apt-get install chromium). The browser finds no host, so the test needs no network.

    report_browser_test.py LZERO FOLDER
"""
import json
import pathlib
import shutil
import subprocess
import sys

from program import Program
from short_runs import train

SKIPPED = 77
BLANK = '<!DOCTYPE html><img src="http://outside.invalid/x.png">'


def open_page(page):
    """What the page asks the network for, and the bytes of its screenshot, which stays beside it."""
    log, picture = page.with_suffix(".netlog"), page.with_suffix(".png")
    subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1000,3000",
                    f"--user-data-dir={page.with_suffix('.profile')}", f"--log-net-log={log}", f"--screenshot={picture}",
                    page.as_uri()], check=True, timeout=100, capture_output=True)
    shutil.rmtree(page.with_suffix(".profile"))
    # The browser has requests of its own, which no origin began.
    begun = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    asked = {params["url"] for params in begun if params.get("initiator", "not an origin") != "not an origin"}
    return sorted(asked), picture.stat().st_size


def main():
    if shutil.which("chromium") is None:
        print("SKIPPED: no chromium on the PATH")
        sys.exit(SKIPPED)
    folder = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(sys.argv[1], folder)
    for rate in (0.01, 0.002):
        for seed in range(2):
            train(program, f"sweep/{rate}/{seed}", seed=seed, train__learning_rate=rate)
    program.expect("a report", 0, ["runs 4, groups 2"], "report", "sweep", "--out", "report.html")
    (folder / "blank.html").write_text(BLANK)
    asked, blank_size = open_page(folder / "blank.html")
    program.check("a page that asks is found out", 0, str(asked), 0, "['http://outside.invalid/x.png']")
    asked, size = open_page(folder / "report.html")
    program.check("nothing is asked for", 0, str(asked), 0, "[]")
    program.check("the page is drawn", 0, f"{size > 5 * blank_size} {size} {blank_size}", 0, "True")
    program.finish()


if __name__ == "__main__":
    main()
