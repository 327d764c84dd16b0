#!/usr/bin/env python3
"""Going on from a checkpoint that is not the latest: after damage by the command that the program prints,
and by choice. `latest`, `best`, `keep` and the metrics follow. A closed terminal leaves a checkpoint too.

    resume_test.py LZERO FOLDER
"""
import json
import os
import pathlib
import shutil
import signal
import sys

from program import ROOT, Program

COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=400", "train.start_env_steps=50", "checkpoint.every_updates=20",
         "checkpoint.keep=3", "evaluate.every_updates=30", "evaluate.episodes=2",
         "train.log_every_updates=5"]


def steps_of(run):
    return sorted(path.name for path in (run / "checkpoints").glob("step_*"))


def linked(run, name):
    return os.readlink(run / "checkpoints" / name)


def env_steps_of_metrics(run):
    return [json.loads(line)["env_steps"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x40
    path.write_bytes(content)


def check_run(program, what, run, keep):
    """The run is at its end, its links point at what is there, nothing is newer than `latest`."""
    steps = [name for name in steps_of(run) if not name.endswith(".aside")]
    metrics = env_steps_of_metrics(run)
    wrong = []
    if linked(run, "latest") != steps[-1] or int(steps[-1][5:]) < 400:
        wrong.append(f"latest is {linked(run, 'latest')} of {steps}")
    if linked(run, "best") not in steps:
        wrong.append(f"best is {linked(run, 'best')} of {steps}")
    if len(steps) > keep + 1:
        wrong.append(f"{len(steps)} checkpoints are kept")
    if metrics != sorted(metrics) or len(set(metrics)) < 10:
        wrong.append(f"metrics over env steps {metrics}")
    program.check(f"{what}: links, checkpoints, metrics", 1 if wrong else 0, str(wrong), 0)
    program.expect(f"{what}: every file intact", 0, ["every file intact"], "inspect", run)
    program.expect(f"{what}: evaluated", 0, ["mean"], "eval", run, "--episodes", "2")


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    run = folder / "run"
    code, printed = program.run("train", COUNTING, *SHORT, "--run-dir", "run")
    program.check("a good run to begin with", code, printed, 0, "run folder")
    shutil.copytree(run, folder / "chosen", symlinks=True)

    damaged = run / "checkpoints" / linked(run, "latest")
    before = [name for name in steps_of(run) if name < damaged.name][-1]
    flip_a_byte(damaged / "model.safetensors")
    os.environ["LZERO_COMMAND"] = "tools/run.sh"
    code, printed = program.run("resume", "run", "stop.max_updates=1000000")
    command = f"go on from it with:  tools/run.sh resume run/checkpoints/{before} stop.max_updates=1000000"
    program.check("a flipped byte", code, printed, 1, f"{damaged}/model.safetensors", command)
    typed = printed.split("go on from it with:  tools/run.sh ")[1].split()
    code, printed = program.run(*typed)
    program.check("the printed command", code, printed, 0, before, f"{damaged.name}.aside")
    check_run(program, "after damage", run, keep=3)
    program.expect("resumed once more", 0, ["resuming"], "resume", "run")
    program.expect("resume of what was set aside", 2, ["no checkpoint of", "step_N"], "resume",
                   f"{damaged}.aside")

    early = folder / "early"
    shutil.copytree(run, early, symlinks=True)
    shutil.rmtree(early / "checkpoints")
    lost = (early / "metrics.jsonl").read_text()
    code, printed = program.run("resume", "early")
    program.check("its checkpoints are lost", code, printed, 0, "its checkpoints are gone", "run folder")
    kept = (early / "metrics.jsonl.aside").read_text() == lost
    program.check("their metrics are set aside", 0 if kept else 1, "", 0)
    (early / "status.json").unlink()
    shutil.rmtree(early / "checkpoints")
    code, printed = program.run("resume", "early")
    program.check("killed before the first checkpoint", code, printed, 0, "no checkpoint, from the start", "run folder")
    check_run(program, "from the start", early, keep=3)

    chosen = folder / "chosen"
    first = steps_of(chosen)[0]
    newer = steps_of(chosen)[1:]
    program.expect("resume by choice", 0, [first], "resume", f"chosen/checkpoints/{first}")
    missing = [name for name in newer if not (chosen / "checkpoints" / f"{name}.aside").is_dir()]
    program.check("newer checkpoints are set aside", 1 if missing else 0, str(missing), 0)
    check_run(program, "by choice", chosen, keep=3)
    shutil.copytree(chosen / "checkpoints" / first, folder / "copied")
    program.expect("eval of a copy outside a run", 0, ["mean"], "eval", "copied", "--episodes", "2")
    program.expect("resume of a copy outside a run", 2, ["not the folder of a run"], "resume", "copied")

    code, printed = program.interrupt("train", COUNTING, "stop.max_env_steps=1000000", "--run-dir", "hung_up",
                                      after="env steps/s", by=signal.SIGHUP)
    program.check("a closed terminal", code, printed, 130, "interrupted: finishing", "resume hung_up")
    program.finish()


if __name__ == "__main__":
    main()
