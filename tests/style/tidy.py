"""Checks naming with clang-tidy (.clang-tidy), with the compiler flags of a build folder.

    tidy.py SOURCE_FOLDER BUILD_FOLDER            the files that were changed last and not checked since:
                                                  six that need torch, sixty that do not
    tidy.py SOURCE_FOLDER BUILD_FOLDER FILE...    these files, torch or not (slow with torch)

A file that passed is left out until it, its header or the rules change. A header without a .cc is
checked through the file that the build generates to compile it alone. Exit 77 (skipped) when
clang-tidy is not installed.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import layers

# Flags that GCC knows and clang does not, and the precompiled header, which is GCC's own.
_FOREIGN = re.compile(r"-fpch-preprocess|-Winvalid-pch|--param=|-Wno-(?:psabi|restrict|tsan|maybe-uninitialized)")


# A bound on what a test run spends, whatever a commit changes: with torch a file takes 10 to 20 s of a
# core, without it 4 s. A change of more files is for the second form.
MOST_TORCH_FILES = 6
MOST_PLAIN_FILES = 60


def find_program():
    """The clang-tidy of set-up, which is on no PATH, else the machine's; None without one."""
    root = pathlib.Path(__file__).resolve().parents[2]
    return shutil.which(root / ".deps/python_envs/bin/clang-tidy") or shutil.which("clang-tidy")


def clang_arguments(command):
    """The include paths and definitions of one GCC command."""
    kept, skip = [], False
    for argument in shlex.split(command)[1:]:
        if skip:
            skip = False
        elif argument in ("-o", "-c", "-include"):
            skip = True
        elif not _FOREIGN.match(argument):
            kept.append(argument)
    start = next((i for i, argument in enumerate(kept) if argument.startswith("-")), 0)
    return kept[start:]


def files_of(file):
    """The files that compiling `file` compiles: those that a unity source of CMake includes, or itself."""
    if file.parent.name == "Unity" and file.is_file():
        return [pathlib.Path(name) for name in re.findall(r'#include "(.+)"', file.read_text(encoding="utf-8"))]
    return [file]


def read_commands(source, build):
    """path -> (file to compile, arguments, whether it reads torch): sources under their own name,
    headers of headers_alone under the header's."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        command = (clang_arguments(entry["command"]), "torch_" in entry["command"])
        for file in files_of(pathlib.Path(entry["file"])):
            if file.parent.name == "headers_alone" and file.is_file():
                name = re.search(r'"(.+)"', file.read_text(encoding="utf-8")).group(1)
            elif file.suffix == ".cc" and source in file.parents and build not in file.parents:
                name = str(file.relative_to(source))
            else:
                continue
            commands[name] = (file, *command)
    return {name: command for name, command in commands.items()
            if not (name.endswith(".h") and name[:-2] + ".cc" in commands)}


def inputs_of(source, name):
    """The files whose change makes a new check necessary."""
    header = pathlib.Path(name).with_suffix(".h")
    return [path for path in (source / name, source / header, source / ".clang-tidy")
            if path.is_file()]


def passed_before(source, build, name):
    stamp = build / "tidy" / (name + ".passed")
    return stamp.is_file() and all(
        stamp.stat().st_mtime >= path.stat().st_mtime for path in inputs_of(source, name))


def check_file(program, source, build, name, command):
    """The findings in one file; none leaves a stamp."""
    file, arguments, _ = command
    result = subprocess.run(
        [program, "--quiet", f"--config-file={source / '.clang-tidy'}", str(file), "--", *arguments,
         "-Wno-unknown-warning-option", "-Wno-everything"],
        capture_output=True, text=True, check=False)
    if result.returncode == 0:
        stamp = build / "tidy" / (name + ".passed")
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        return ""
    return result.stdout + (result.stderr if "error:" not in result.stdout else "")


def changed_files(source):
    """Names, the last change first: the work tree, then commit by commit. Empty without git."""
    names = []
    if shutil.which("git") is None:
        return names
    for arguments in (["diff", "HEAD"], ["log", "-n", "50", "--format="]):
        result = subprocess.run(
            ["git", "-C", str(source), *arguments, "--name-only", "--", "*.cc", "*.h"],
            capture_output=True, text=True, check=False)
        names += result.stdout.split() if result.returncode == 0 else []
    return list(dict.fromkeys(names))


def chosen_names(commands, files, changed):
    """`files` if there are any; else the first that `changed` names, of those with torch and of those
    without. Without any change known: everything without torch."""
    def checked_as(name):
        return name if name in commands else re.sub(r"\.h$", ".cc", name)
    if files:
        wanted = {checked_as(str(pathlib.PurePath(file))) for file in files}
        return [name for name in commands if name in wanted]
    sources = {name: command for name, command in commands.items() if layers.floor_of(name) != "tests"}
    if not changed:
        return [name for name, command in sources.items() if not command[2]]
    recent = [name for name in dict.fromkeys(map(checked_as, changed)) if name in sources]
    plain = [name for name in recent if not sources[name][2]]
    with_torch = [name for name in recent if sources[name][2]]
    return plain[:MOST_PLAIN_FILES] + with_torch[:MOST_TORCH_FILES]


def main():
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} SOURCE_FOLDER BUILD_FOLDER [FILE...]")
    source, build = (pathlib.Path(folder).resolve() for folder in sys.argv[1:3])
    program = find_program()
    if program is None:
        print("skipped: clang-tidy is not installed (tools/setup.sh --tests installs it)")
        sys.exit(77)
    commands = read_commands(source, build)
    due = {name: command for name, command in commands.items() if not passed_before(source, build, name)}
    names = chosen_names(due, sys.argv[3:], changed_files(source))
    if not commands:
        sys.exit(f"no source files of {source} in {build}/compile_commands.json")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = [pool.submit(check_file, program, source, build, name, commands[name])
                  for name in names]
        findings = [check.result() for check in checks]
    text = "".join(findings).replace(f"{source}/", "")
    print(text, end="")
    num_bad = sum(1 for finding in findings if finding)
    print(f"{len(commands)} files, {len(names)} checked now, {num_bad} with findings")
    sys.exit(1 if num_bad else 0)


if __name__ == "__main__":
    main()
