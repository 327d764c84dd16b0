#!/usr/bin/env python3
"""lzero sweep: a sweep that is killed twice and interrupted ends as one that is not, byte for byte. A run that
fails is called that. No process is ever left.

    sweep_test.py LZERO FOLDER
"""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=200", "train.start_env_steps=50", "checkpoint.every_updates=5",
         "evaluate.every_updates=30", "evaluate.episodes=2"]
RATES = "train.learning_rate=0.001,0.003,0.01"
GRID = ["sweep", COUNTING, RATES, *SHORT, "--seeds", "0..2", "--jobs", "2"]
ENDLESS = ["sweep", COUNTING, "stop.max_env_steps=100000000", "--seeds", "0..3", "--jobs", "2"]
SECONDS = 60
MARK = f"LZERO_SWEEP_TEST={os.getpid()}".encode()


def wait_for(condition):
    limit = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < limit:
        time.sleep(0.01)
    return condition()


def processes_with(text):
    """Ids of the processes that this test started, itself or not, with `text` on their command line."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if text in (place / "cmdline").read_text(errors="replace") and MARK + b"\0" in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            pass  # it ended meanwhile, or is somebody else's
    return found


def is_at_work(sweep, most_steps=10**9):
    """Whether a run of the folder has a checkpoint, of no more than these steps, and is not at its end."""
    for latest in sweep.glob("*/seed_*/checkpoints/latest"):
        status = latest.parent.parent / "status.json"
        if (status.exists() and json.loads(status.read_text())["state"] == "running" and
                int(latest.resolve().name.removeprefix("step_")) <= most_steps):
            return True
    return False


def weights(sweep):
    return {path.relative_to(sweep).parts[:2]: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sweep.glob("*/seed_*/checkpoints/latest/model.safetensors")}


def table(printed):
    """The table, without its last column, which holds minutes."""
    lines = printed[printed.index("\nrun  "):printed.index("\ncompare ")].splitlines()
    return [line.split()[:-1] for line in lines if not line.startswith("failed")]


class Sweeps(Program):
    def start(self, out, *arguments):
        """The program with a process group of its own, as at a terminal; its log."""
        log = self.folder / f"{out}.log"
        with open(log, "w") as output:
            process = subprocess.Popen([self.lzero, *map(str, arguments), "--out", out], cwd=self.folder,
                                       stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        return process, log

    def check_gone(self, what, out):
        left = [] if wait_for(lambda: not processes_with(f"{out}/")) else processes_with(f"{out}/")
        self.check(f"{what}: no process is left", len(left), str(left), 0)
        for process in left:
            os.kill(process, signal.SIGKILL)


def check_exactness(program):
    """A sweep as it should be, and one that is killed twice, then interrupted."""
    code, whole = program.run(*GRID, "--out", "whole")
    program.check("a whole sweep", code, whole, 0, "9 runs, 2 at a time", "(9/9)", "3 of 3",
                  "lzero compare whole", "lzero report whole --out whole/report.html")
    broken = program.folder / "broken"
    for words in ("sweep folder", "(3/9)"):
        process, log = program.start("broken", *GRID)
        wait_for(lambda: words in log.read_text() and is_at_work(broken))
        process.kill()
        program.check(f"kill -9 after {words} meets a sweep at work", process.wait(SECONDS), log.read_text(), -signal.SIGKILL)
        program.check_gone(f"kill -9 after {words}", "broken")
    process, log = program.start("broken", *GRID)
    wait_for(lambda: "(5/9)" in log.read_text() and is_at_work(broken, 150))  # the last has 200
    os.killpg(process.pid, signal.SIGINT)
    code, printed = process.wait(SECONDS), log.read_text()
    program.check("Ctrl-C", code, printed, 130, "write their checkpoints (again to stop at once, without them)",
                  "go on with:  lzero sweep")
    program.check("Ctrl-C reaches each run once", printed.count("stopped at once"), printed, 0)
    program.check_gone("Ctrl-C", "broken")
    expected = "goes on" if any(json.loads(path.read_text())["state"] == "interrupted"
                                for path in broken.glob("*/seed_*/status.json")) else "none was interrupted"
    code, printed = program.run(*GRID, "--out", "broken", "--dry-run")
    program.check("what a dry run says", code, printed, 0, "is finished", "starts", expected)
    again = shlex.split(log.read_text().split("go on with:  lzero ")[1].splitlines()[0])
    code, printed = program.run(*again)
    program.check("the printed command", code, printed, 0, "(9/9)")
    program.check("the same table", table(printed) != table(whole), printed, 0)
    same = weights(broken) == weights(program.folder / "whole")
    program.check("the same weights", not same or len(weights(broken)) != 9, str(weights(broken)), 0)


def check_end_at_once(program):
    """The second Ctrl-C, while a run does not answer; another sweep in the same folder."""
    process, log = program.start("endless", *ENDLESS)
    wait_for(lambda: is_at_work(program.folder / "endless"))
    program.expect("a folder at work", 2, ["endless is in use by process"], *ENDLESS, "--out", "endless")
    runs = [run for run in processes_with("endless/") if run != process.pid]
    for run in runs:
        os.kill(run, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "interrupted" in log.read_text())
    time.sleep(1.2)  # a repeat sooner than that may be the same Ctrl-C
    process.send_signal(signal.SIGTERM)
    code = process.wait(SECONDS)
    for run in runs:
        os.kill(run, signal.SIGCONT)
    program.check("a second Ctrl-C", code, log.read_text(), 130, "stopped at once, without checkpoints",
                  "the same --out goes on")
    program.check_gone("a second Ctrl-C", "endless")


def check_worst_code(program):
    """Two runs end by signals, the worse one first."""
    process, log = program.start("signals", *ENDLESS[:-3], "0,1", *ENDLESS[-2:])
    for run, sent in (("seed_0", signal.SIGALRM), ("seed_1", signal.SIGKILL)):
        wait_for(lambda: processes_with(f"signals/runs/{run}"))
        for child in processes_with(f"signals/runs/{run}"):
            os.kill(child, sent)
        wait_for(lambda: f"killed by signal {sent.value};" in log.read_text())
    program.check("the worst code", process.wait(SECONDS), log.read_text(), 128 + signal.SIGALRM, "2 failed; go on with:")


def check_failures(program):
    """Runs that cannot go on, or whose result is damaged, have no numbers in the table; more seeds."""
    run = program.folder / "whole/train.learning_rate=0.003/seed_1"
    model = run / "checkpoints/latest/model.safetensors"
    content = model.read_bytes()
    model.write_bytes(content[:-1])
    code, printed = program.run(*GRID, "--out", "whole")
    program.check("a damaged result", code, printed, 1, "seed_1  damaged checkpoint: ", "model.safetensors",
                  "2 of 3", "8 of 9 runs are finished, 1 failed")
    status = json.loads((run / "status.json").read_text())
    (run / "status.json").write_text(json.dumps({**status, "state": "interrupted"}))
    code, printed = program.run(*GRID, "--out", "whole")
    log = f"whole/{run.parent.name}/seed_1.log"
    program.check("a run that fails", code, printed, 1, "seed_1 failed: exit code 1", "go on from it with:",
                  f"failed, see {log}", "2 of 3", "1 failed; go on with:")
    model.write_bytes(content)
    check_worst_code(program)
    more = [word.replace("0..2", "0..1,3,2") for word in map(str, GRID)]
    code, printed = program.run(*more, "--out", "whole")
    program.check("mended, and with more seeds", code, printed, 0, "3 combinations x 4 seeds", "4 of 4",
                  "8 finished, 1 to resume, 3 to start")


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.update([MARK.decode().split("=")])
    program = Sweeps(lzero, folder)
    check_exactness(program)
    check_end_at_once(program)
    check_failures(program)
    program.finish()


if __name__ == "__main__":
    main()
