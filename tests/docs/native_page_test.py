#!/usr/bin/env python3
"""Follows envs/add_native.md in a copy of the source tree, in a build without libtorch: its last command,
which trains, is left out. What its commands wrote must make sense and keep to the style.

    native_page_test.py SOURCE FOLDER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

PARTS = ("configs", "envs", "lzero", "tests", "tools", "CMakeLists.txt", "CMakePresets.json", "LICENSE")


def main():
    source, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for part in PARTS:
        path = source / part
        if path.is_dir():
            shutil.copytree(path, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(path, folder / part)
    if (source / ".deps").exists():  # or set-up would make it again
        (folder / ".deps").symlink_to((source / ".deps").resolve())
    environment = dict(os.environ, LZERO_CMAKE_OPTIONS="-DLZERO_TORCH=OFF")
    result = subprocess.run(
        [sys.executable, "-B", source / "tests/docs/run_page.py", source / "envs/add_native.md", folder,
         "--skip", "tools/run.sh train configs/teaching/my_game_unizero.yaml"], env=environment)
    if result.returncode:
        sys.exit(result.returncode)
    # What was copied speaks of the new game alone, in words.
    for copied in (folder / "envs/teaching/my_game.cc", folder / "tests/envs/teaching/my_game_test.cc"):
        for number, line in enumerate(copied.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"(?i)my_?game[a-z]|bsuite/|by bsuite", line) and not re.search(r"MyGame(Entry|Test)\b", line):
                sys.exit(f"{copied.name}:{number}: left over by the page's commands: {line}")
    for check in ("sizes", "names"):
        done = subprocess.run([sys.executable, "-B", f"tests/style/{check}.py", "."], cwd=folder)
        if done.returncode:
            sys.exit(f"what the page's commands write is not in this house's style: {check}")


if __name__ == "__main__":
    main()
