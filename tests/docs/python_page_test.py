#!/usr/bin/env python3
"""Follows envs/add_python.md with a built lzero; its first command, which installs, is left out. Exit 77
where the packages are missing that it installs.

    python_page_test.py LZERO SOURCE FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77


def main():
    lzero, source, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    python = os.environ.get("LZERO_PYTHON") or source / ".deps/python_envs/bin/python3"
    try:
        found = subprocess.run([python, "-c", "import Box2D, cv2, dm_control, gymnasium, minigrid"]).returncode == 0
    except OSError:
        found = False
    if not found:
        print(f"skipped: {python} lacks what tools/setup.sh --python-envs installs")
        sys.exit(SKIPPED)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tools").mkdir(parents=True)
    (folder / "configs").symlink_to(source / "configs")
    run = folder / "tools/run.sh"  # the real one would build first
    run.write_text(f"#!/bin/sh\nexec '{lzero}' \"$@\"\n")
    run.chmod(0o755)
    result = subprocess.run(
        [sys.executable, "-B", source / "tests/docs/run_page.py", source / "envs/add_python.md", folder,
         "--skip", "tools/setup.sh --python-envs"], env=dict(os.environ, LZERO_PYTHON=str(python)))
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
