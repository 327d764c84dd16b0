#!/usr/bin/env python3
"""A user's plugin, from installing lzero to a resumed run, outside the source tree.

    plugin_test.py SOURCE BUILD FOLDER CXX

Installs BUILD to FOLDER/prefix, then works with that alone: the commands of the installed README.md,
plugins that must be refused, and what the prefix holds.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys


class Journey:
    def __init__(self, source, build, folder, compiler):
        self.source, self.build, self.compiler = source, build, compiler
        self.prefix = folder / "prefix"
        self.work = folder / "work"
        self.lzero = self.prefix / "bin/lzero"
        self.template = self.prefix / "share/lzero/template"

    def run(self, *command, code=0, cwd=None):
        """What the command prints; it must end with `code`."""
        result = subprocess.run([str(part) for part in command], cwd=cwd or self.work,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = result.stdout.decode(errors="replace")
        if result.returncode != code:
            sys.exit(f"exit code {result.returncode}, not {code}: {' '.join(map(str, command))}\n{printed}")
        return printed

    def refuse(self, plugin, *parts):
        """Both ways to a plugin refuse this one with a message that holds all parts."""
        flag = self.run(self.lzero, "envs", "list", "--plugin", plugin, code=2)
        key = self.run(self.lzero, "train", self.work / "landing/build/landing.yaml", f"plugins=[{plugin}]",
                       "--dry-run", code=2)
        for printed, beginning in ((flag, "error: --plugin: "),
                                   (key, f"error: command line: plugins=[{plugin}]: {plugin}: ")):
            missing = [part for part in (beginning, *parts) if part not in printed]
            if missing or len(printed.splitlines()) != 1:
                sys.exit(f"{plugin} must be refused in one line with {missing}; got:\n{printed}")

    def install(self):
        self.run("cmake", "--install", self.build, "--prefix", self.prefix, "--component", "lzero",
                 cwd=self.build)
        # Not as a part of another path: the source may be /lzero, and templates name $LZERO/share/lzero.
        paths = "|".join(re.escape(str(path)) for path in (self.source, self.build))
        holds_path = re.compile(rf"(?:(?<=-[IL])|(?<![\w.]))({paths})(?![\w.-])")
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.parent.name not in ("bin", "lib"):
                text = path.read_text(encoding="utf-8")
                if holds_path.search(text):
                    sys.exit(f"{path} names a folder of the build machine")

    def follow_the_page(self):
        os.environ["LZERO"] = str(self.prefix)
        print(self.run(
            sys.executable, "-B", self.source / "tests/docs/run_page.py", self.template / "README.md",
            self.work, "--skip", "export LZERO=$HOME/lzero", "--skip", "tools/setup.sh",
            "--skip", "tools/build.sh release lzero_package",
            "--skip", "cmake --install build/release --prefix $LZERO --component lzero").rstrip())
        # The page moves the library.
        shutil.copy(self.work / "landing/moved.so", self.work / "landing/build/liblanding.so")

    def include_every_header(self):
        """All that is installed, and nothing of the source tree."""
        include = self.prefix / "include"
        headers = sorted(path.relative_to(include) for path in include.rglob("*.h"))
        probe = self.work / "headers.cc"
        probe.write_text("".join(f'#include "{header}"\n' for header in headers))
        self.run(self.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", include,
                 probe)

    def refuse_other_versions(self):
        other = self.work / "other"
        flags = '-DLZERO_PLUGIN_INTERFACE=\\"0.0.9,\\ interface\\ 0123456789ab\\"'
        self.run("cmake", "-G", "Ninja", "-S", self.template, "-B", other, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                 f"-DCMAKE_CXX_FLAGS={flags}")
        self.run("cmake", "--build", other)
        self.refuse(other / "liblanding.so", "built against another lzero; got 'lzero 0.0.9, interface "
                    "0123456789ab', needed 'lzero 0.1.0, interface ", "rebuild it with CMake's find_package")
        printed = self.run("cmake", "-G", "Ninja", "-S", self.template, "-B", self.work / "older",
                           f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_PROJECT_INCLUDE="
                           f"{self.write('ask.cmake', 'find_package(lzero 0.2 REQUIRED)')}", code=1)
        if 'compatible with requested version "0.2"' not in " ".join(printed.split()):
            sys.exit(f"find_package must ask for the version:\n{printed}")

    def refuse_what_is_no_plugin(self):
        plain = self.work / "libplain.so"
        source = self.write("plain.cc", "int Answer() { return 42; }\n")
        self.run(self.compiler, "-shared", "-fPIC", source, "-o", plain)
        self.refuse(plain, f"{plain}: no plugin of lzero; allowed: a library with LZ_PLUGIN")
        self.refuse(source, f"{source}: no plugin of lzero")
        self.refuse(self.work / "landing/build/liblandin.so",
                    "liblandin.so: no such plugin; did you mean 'liblanding.so'?")

    def write(self, name, text):
        path = self.work / name
        path.write_text(text)
        return path


def main():
    source, build, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    journey = Journey(source, build, folder, sys.argv[4])
    journey.work.mkdir(parents=True)
    journey.install()
    journey.follow_the_page()
    journey.include_every_header()
    journey.refuse_other_versions()
    journey.refuse_what_is_no_plugin()
    print("the plugin was built outside the tree, trained, resumed, and refused where it must be")


if __name__ == "__main__":
    main()
