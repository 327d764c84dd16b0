#!/usr/bin/env python3
"""Follows a page as a reader does, with a built lzero in place of tools/run.sh, which would build first. Commands that
build or install are left out: other tests run those. Exit 77 where packages of Python environments are missing that
a page needs.

    page_test.py LZERO SOURCE FOLDER PAGE
"""
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
# What builds, installs, tests or measures.
LEFT_OUT = ("tools/test.sh", "tools/setup.sh", "tools/build.sh", "tools/gpu_check.sh", "cmake ", "tools/tidy.sh",
            "tools/run.sh bench", ".deps/python_envs/bin/pip", "pip install")
NEEDS_GYMNASIUM = ("gymnasium:", "dm_control:", "configs/gymnasium")


def has_packages(python):
    try:
        return subprocess.run([python, "-c", "import Box2D, cv2, dm_control, gymnasium, minigrid"]).returncode == 0
    except OSError:
        return False


def main():
    lzero, source, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    page = source / sys.argv[4]
    text = page.read_text(encoding="utf-8")
    python = os.environ.get("LZERO_PYTHON") or source / ".deps/python_envs/bin/python3"
    if any(word in text for word in NEEDS_GYMNASIUM) and not has_packages(python):
        print(f"skipped: {python} lacks what tools/setup.sh --python-envs installs")
        sys.exit(SKIPPED)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tools").mkdir(parents=True)
    for part in ("configs", "envs", "tests", "experiments"):
        (folder / part).symlink_to(source / part)
    (folder / "tools/python").symlink_to(source / "tools/python")
    run = folder / "tools/run.sh"
    run.write_text(f"#!/bin/sh\nexport LZERO_COMMAND=tools/run.sh\nexec '{lzero}' \"$@\"\n")
    run.chmod(0o755)
    left_out = [line[4:] for line in text.splitlines() if line.startswith("    ") and line[4:].startswith(LEFT_OUT)]
    skip = [argument for line in left_out for argument in ("--skip", line)]
    environment = dict(os.environ, LZERO_PYTHON=str(python), LZERO_PROGRAM=str(lzero))
    sys.exit(subprocess.run([sys.executable, "-B", source / "tests/docs/run_page.py", page, folder, *skip],
                            env=environment).returncode)


if __name__ == "__main__":
    main()
