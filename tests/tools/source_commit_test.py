#!/usr/bin/env python3
"""The commit that a build writes into the program follows the sources.

    source_commit_test.py CMAKE FOLDER
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def main():
    cmake, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if shutil.which("git") is None:
        sys.exit(SKIPPED)
    shutil.rmtree(folder, ignore_errors=True)
    source, header = folder / "source", folder / "build/tools/source_commit.h"
    (source / "lzero").mkdir(parents=True)

    def git(*arguments):
        return subprocess.run(["git", "-C", str(source), "-c", "user.name=test", "-c", "user.email=test@test",
                               *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def expect(what, commit):
        subprocess.run([cmake, "-D", f"SOURCE={source}", "-D", f"HEADER={header}", "-P",
                        str(ROOT / "tools/cmake/source_commit.cmake")], check=True)
        got = header.read_text()
        assert got == f'#define LZERO_COMMIT "{commit}"\n', f"{what}: got {got}, expected {commit}"

    (source / "lzero/a.cc").write_text("int a;\n")
    expect("no git", "unknown")
    git("init", "-q")
    expect("no commit", "unknown")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    first = git("rev-parse", "--short", "HEAD")
    expect("clean", first)
    written = header.stat().st_mtime_ns
    expect("still clean", first)
    assert header.stat().st_mtime_ns == written, "written again although nothing has changed"
    (source / "notes.txt").write_text("not a source\n")
    expect("a file that is no source", first)
    (source / "lzero/b.cc").write_text("int b;\n")
    expect("a new source file", f"{first}-dirty")
    (source / "lzero/b.cc").unlink()
    (source / "lzero/a.cc").write_text("int c;\n")
    expect("a changed file", f"{first}-dirty")
    git("commit", "-q", "-a", "-m", "second")
    expect("the next commit", git("rev-parse", "--short", "HEAD"))
    assert git("rev-parse", "--short", "HEAD") != first


if __name__ == "__main__":
    main()
