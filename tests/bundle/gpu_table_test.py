#!/usr/bin/env python3
"""The table of gpu_check.sh from recorded lines: a test that failed, one that was skipped, a program that
died, a benchmark over its time limit, a bar that was missed; and from nothing at all.

    gpu_table_test.py
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "tools/gpu_table.py"
SAMPLE = HERE / "gpu_check_sample"


def table_of(folder):
    done = subprocess.run([sys.executable, "-B", TABLE, folder], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class GpuTableTest(unittest.TestCase):
    def test_a_check_with_failures(self):
        code, printed = table_of(SAMPLE)
        self.assertEqual(printed, (SAMPLE / "expected.txt").read_text())
        self.assertEqual(code, 1)

    def test_a_check_that_went_well(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in ("doctor.txt", "parity.jsonl", "step_768_2.jsonl", "search_768_2.jsonl"):
                shutil.copy(SAMPLE / file, folder)
            (folder / "stages.jsonl").write_text(
                '{"stage": "parity", "exit": 0, "seconds": 9, "limit_s": 60}\n')
            code, printed = table_of(folder)
        self.assertEqual(code, 0)
        self.assertIn("all stages went well", printed)
        self.assertNotIn("FAILED", printed)

    def test_an_empty_folder(self):
        with tempfile.TemporaryDirectory() as name:
            code, printed = table_of(name)
        self.assertEqual(code, 0)
        self.assertIn("us a simulation, least", printed)


if __name__ == "__main__":
    unittest.main()
