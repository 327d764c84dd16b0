#!/usr/bin/env python3
"""The scripts of tools/ say what they take before they do anything: nothing is set up, built or left behind."""
import fcntl
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        for name in ("build.sh", "test.sh"):
            shutil.copy2(ROOT / "tools" / name, self.root / "tools")
        shutil.copy2(ROOT / "CMakePresets.json", self.root)

    def run_script(self, *arguments):
        """Exit code, output and errors; whatever a script calls or makes beyond itself would be missed or left."""
        script, *rest = arguments
        done = subprocess.run([str(self.root / "tools" / script), *rest], capture_output=True, text=True, timeout=20)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["CMakePresets.json", "tools"])
        return done.returncode, done.stdout, done.stderr

    def test_help(self):
        for arguments in (["build.sh", "--help"], ["build.sh", "-h"], ["test.sh", "--help"], ["test.sh", "-h"],
                          ["test.sh", "--full", "--help"], ["test.sh", "-R", "replay", "--help"]):
            code, out, err = self.run_script(*arguments)
            self.assertEqual((code, err), (0, ""), arguments)
            self.assertIn(f"\n  tools/{arguments[0]} ", out)
            self.assertNotIn("pipefail", out)

    def test_presets(self):
        for name in ("releas", "--release", "common", "rel.*"):
            code, out, err = self.run_script("build.sh", name)
            self.assertEqual((code, out), (2, ""), name)
            self.assertEqual(err, f"build: error: no preset '{name}'; allowed: portable, "
                                  "dev, release, cuda, player, asan, tsan, fuzz\n")
        self.assertEqual(self.run_script("build.sh")[0], 2)

    def test_waiting(self):
        folder = self.root / "build/release"
        folder.mkdir(parents=True)
        (folder / "build.ninja").touch()
        with open(folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen([str(self.root / "tools/build.sh"), "release"], stderr=subprocess.PIPE,
                                  text=True) as build:
                said = build.stderr.readline()
                build.kill()
        self.assertEqual(said, "build: waiting for another build of release\n")


if __name__ == "__main__":
    unittest.main()
