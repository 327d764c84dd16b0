#!/usr/bin/env python3
"""The bundle on another machine, as far as one without a GPU shows it: small, no library but those of the
target, no folder of the build machine, symbol versions that the target has; and, copied elsewhere, its
scripts: the program runs, gpu_check.sh is skipped or says what does not fit.

    bundle_test.py BUNDLE FOLDER PYTHON      PYTHON has the torch of the build
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

MEBIBYTE = 1 << 20
ALLOWED = re.compile(r"(libc|libm|libdl|librt|libpthread|ld-linux-x86-64|libstdc\+\+|libgcc_s|libtorch_cpu|"
                     r"libtorch_cuda|libc10|libc10_cuda|libcudart)\.so[.0-9]*")
# The versions of Ubuntu 24.04; Debian 12 has GLIBC 2.36, GLIBCXX 3.4.30 and CXXABI 1.3.13.
NEWEST = {"GLIBC": (2, 39), "GLIBCXX": (3, 4, 33), "CXXABI": (1, 3, 15), "GCC": (14, 0, 0)}


def printed_by(*command, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return done.returncode, done.stdout


class BundleTest(unittest.TestCase):
    bundle = folder = python = None

    def binaries(self):
        return sorted([*self.bundle.glob("bin/*"), *self.bundle.glob("lib/*")])

    def test_it_is_small(self):
        size = sum(path.stat().st_size for path in self.bundle.rglob("*") if path.is_file())
        print(f"bundle: {size / MEBIBYTE:.1f} MiB")
        self.assertLess(size, 60 * MEBIBYTE)

    def test_nothing_is_needed_but_the_c_and_cpp_libraries_torch_and_cuda(self):
        for path in self.binaries():
            _, dynamic = printed_by("readelf", "-d", path)
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
            self.assertEqual([name for name in needed if not ALLOWED.fullmatch(name)], [], path)
            self.assertEqual(re.findall(r"PATH\).*\[(.*)\]", dynamic), ["$ORIGIN/../lib"], path)

    def test_the_target_has_the_symbol_versions(self):
        newest = {}
        for path in self.binaries():
            _, symbols = printed_by("objdump", "-T", path)
            for name, version in re.findall(r"\((GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)\)", symbols):
                numbers = tuple(int(number) for number in version.split("."))
                newest[name] = max(newest.get(name, ()), numbers)
        print("bundle: needs", ", ".join(f"{name}_{'.'.join(map(str, numbers))}"
                                         for name, numbers in sorted(newest.items())))
        for name, numbers in newest.items():
            self.assertLessEqual(numbers, NEWEST[name], name)

    def test_programs_export_what_the_graph_library_takes_from_them(self):
        library = self.bundle / "lib/liblzero_cuda_graph.so"
        if not library.exists():
            self.skipTest("built without nvcc")
        ours = re.compile(r" (_Z\w*?[45](?:absl|lzero)\w*)")
        taken = set(ours.findall(printed_by("nm", "-D", "--undefined-only", library)[1]))
        self.assertTrue(taken)
        for program in ("lzero", "torch_cuda_test"):
            given = set(ours.findall(printed_by("nm", "-D", "--defined-only", self.bundle / "bin" / program)[1]))
            self.assertEqual(sorted(taken - given), [], program)

    def elsewhere(self):
        """A copy in a folder with a space in its name, and an environment without a GPU."""
        copy = self.folder / "somewhere else"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.bundle, copy)
        env = {key: os.environ[key] for key in ("PATH", "HOME", "LZERO_TORCH_DIR") if key in os.environ}
        return copy, {**env, "LZERO_PYTHON": self.python, "CUDA_VISIBLE_DEVICES": "-1"}

    def test_it_runs_elsewhere(self):
        copy, env = self.elsewhere()
        code, printed = printed_by(copy / "lzero.sh", "config", "validate",
                                   copy / "configs/classic/cartpole_unizero.yaml", env=env)
        self.assertEqual(code, 0, printed)

    def test_without_a_gpu_the_check_is_skipped(self):
        copy, env = self.elsewhere()
        code, printed = printed_by(copy / "gpu_check.sh", "--out", self.folder / "out", env=env)
        if (copy / "lib/liblzero_cuda.so").exists():
            self.assertEqual(code, 77, printed)
            self.assertRegex(printed, r"\Agpu_check: skipped: .+\n\Z")
        else:
            self.assertEqual(code, 1, printed)
            self.assertIn("it was built without nvcc", printed)
        self.assertFalse((self.folder / "out").exists())

    def test_another_version_of_torch_is_refused(self):
        copy, env = self.elsewhere()
        build = json.loads((copy / "BUILD.json").read_text())
        (copy / "BUILD.json").write_text(json.dumps({**build, "torch": "2.10.0"}))
        for script in ("gpu_check.sh", "lzero.sh"):
            code, printed = printed_by(copy / script, env=env)
            self.assertEqual(code, 1, printed)
            self.assertIn(f"has torch {build['torch']} for CUDA", printed)
            self.assertIn("this build needs torch 2.10.0 for CUDA", printed)

    def test_a_python_without_torch_is_told(self):
        copy, env = self.elsewhere()
        env.pop("LZERO_TORCH_DIR", None)
        bare = self.folder / "bare_python"
        bare.write_text(f'#!/bin/sh\nexec "{self.python}" -S "$@"\n')  # without its site-packages
        bare.chmod(0o755)
        code, printed = printed_by(copy / "gpu_check.sh", env={**env, "LZERO_PYTHON": str(bare)})
        self.assertEqual(code, 1, printed)
        self.assertIn("has no torch; this build needs torch", printed)

    def test_wrong_arguments_are_told(self):
        copy, env = self.elsewhere()
        for arguments, part in ((["--fast"], "unknown argument '--fast'"), (["--out"], "--out needs a folder")):
            code, printed = printed_by(copy / "gpu_check.sh", *arguments, env=env)
            self.assertEqual(code, 2, printed)
            self.assertIn(part, printed)
        code, printed = printed_by(copy / "gpu_check.sh", "--bundle", self.folder, env=env)
        self.assertEqual(code, 1, printed)
        self.assertIn("is not a bundle: no bin/lzero", printed)


if __name__ == "__main__":
    BundleTest.bundle, BundleTest.folder = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    BundleTest.python = sys.argv[3]
    shutil.rmtree(BundleTest.folder, ignore_errors=True)
    BundleTest.folder.mkdir(parents=True)
    unittest.main(argv=sys.argv[:1])
