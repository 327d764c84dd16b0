#!/usr/bin/env python3
"""The table of gpu_check.sh from recorded lines: a test that failed, one that was skipped, a program that
died, a benchmark over its time limit, a bar that was missed, numbers that differ; and from nothing at all.

    gpu_table_test.py
"""
import json
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
            for file in ("doctor.txt", "parity.jsonl", "step_768_2.jsonl"):
                shutil.copy(SAMPLE / file, folder)
            (folder / "stages.jsonl").write_text(
                '{"stage": "parity", "exit": 0, "seconds": 9, "limit_s": 60, "lines": 0}\n')
            code, printed = table_of(folder)
        self.assertEqual(code, 0)
        self.assertIn("all stages went well", printed)
        self.assertNotIn("FAILED", printed)

    def test_an_empty_folder(self):
        with tempfile.TemporaryDirectory() as name:
            code, printed = table_of(name)
        self.assertEqual(code, 1)
        self.assertIn("us a simulation, least", printed)
        self.assertIn("FAILED: no stage was run, nothing was checked", printed)

    def test_training(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "stages.jsonl").write_text('{"stage": "train", "exit": 0, "seconds": 9, "limit_s": 60, "lines": 0}\n')
            code, printed = table_of(folder)
            self.assertEqual(code, 1)
            self.assertIn("FAILED train: made no update; see train.log", printed)
            (folder / "run").mkdir()
            (folder / "run/status.json").write_text('{"updates": 251, "eval_return": 200.0}')
            (folder / "run/metrics.jsonl").write_text('{"time/updates_per_s": 50.2}\n{"time/updates_per_s": 67.8}\n')
            code, printed = table_of(folder)
        self.assertEqual(code, 0)
        self.assertIn("training on the GPU: 251 updates, 68 a second at best, mean return 200.0 at the end", printed)

    def test_a_stage_that_checked_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            stage = '{"stage": "%s", "exit": 0, "seconds": 9, "limit_s": 60, "lines": %d}\n'
            (folder / "stages.jsonl").write_text(stage % ("step", 2) + stage % ("search", 2) + stage % ("a_test", 0) +
                                                 stage % ("b_test", 0))
            (folder / "a_test.json").write_text('{"testsuites": []}')
            (folder / "step.jsonl").write_text("{}\n{}\n")
            (folder / "search.jsonl").write_text("{}\n")
            code, printed = table_of(folder)
        self.assertEqual(code, 1)
        self.assertIn("FAILED search: printed 1 of 2 lines; see search.log\n"
                      "FAILED a_test: ran no test; see a_test.log\n"
                      "FAILED b_test: left no report; see b_test.log\n", printed)

    def parity(self, **changes):
        """Exit code and lines about parity of a check whose only line of parity is changed so."""
        line = {**json.loads((SAMPLE / "parity.jsonl").read_text()), **changes}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "parity.jsonl").write_text(json.dumps(line) + "\n")
            (folder / "stages.jsonl").write_text(
                '{"stage": "parity", "exit": 0, "seconds": 9, "limit_s": 60, "lines": 0}\n')
            code, printed = table_of(folder)
        return code, " ".join(printed.split())

    def test_parity_within_its_limits(self):
        for changes in ({"value_error_ratio": 1e-3}, {"moved_visits_share": 0.05},
                        {"changed_roots_share": 0.01, "search_value_error_ratio": 0.02}):
            code, printed = self.parity(**changes)
            self.assertEqual(code, 0, printed)
            self.assertNotIn("FAILED", printed)

    def test_parity_beyond_its_limits(self):
        for changes, cell, words in (
                ({"value_error_ratio": 0.0011}, "0.0011 FAILED", "is 0.0011, at most 0.001 is allowed"),
                ({"moved_visits_share": 0.051}, "5.10 % FAILED", "is 0.051, at most 0.05 is allowed"),
                ({"changed_roots_share": 0, "search_value_error_ratio": 0.02}, "0.02 FAILED",
                 "is 0.02, at most 0.001 is allowed"),
                ({"value_error_ratio": None}, "NaN FAILED", "is not a number"),
                ({"search_value_error_ratio": None}, "NaN FAILED", "is not a number"),
                ({"search_value_error_ratio": float("nan")}, "NaN FAILED", "is not a number")):
            code, printed = self.parity(**changes)
            self.assertEqual(code, 1, printed)
            self.assertIn(cell, printed)
            self.assertIn(f"FAILED parity of cuda_graph, fp32: {list(changes)[-1]} {words}", printed)

    def judged(self, *lines):
        """The lines of failures of a check that printed these."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "all.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            (folder / "stages.jsonl").write_text('{"stage": "all", "exit": 0, "seconds": 9, "limit_s": 60, "lines": 0}\n')
            code, printed = table_of(folder)
        failures = [line for line in printed.splitlines() if line.startswith("FAILED")]
        self.assertEqual(code, 1 if failures else 0, printed)
        return failures

    def test_every_dtype_has_its_own_limits_of_parity(self):
        line = json.loads((SAMPLE / "parity.jsonl").read_text())
        for dtype, limit in (("tf32", 0.02), ("bf16", 0.1)):
            self.assertEqual(self.judged({**line, "dtype": dtype, "value_error_ratio": limit}), [])
            self.assertEqual(self.judged({**line, "dtype": dtype, "value_error_ratio": 1.01 * limit}),
                             [f"FAILED parity of cuda_graph, {dtype}: value_error_ratio is {1.01 * limit:.2g}, "
                              f"at most {limit:.2g} is allowed"])

    def test_memory_after_a_cycle(self):
        def cycles(*reserved, used=(100, 120, 120)):
            return [{"bench": "unload", "runner": "eager", "cycle": i + 1, "device_mib": used[i],
                     "device_reserved_mib": reserved[i]} for i in range(3)]
        self.assertEqual(self.judged(*cycles(0, 2, 2, used=(100, 120, 122))), [])
        self.assertEqual(self.judged(*cycles(0, 2, 4)),
                         ["FAILED memory of eager, reserved: +2.00 MiB beside the second cycle"])
        self.assertEqual(self.judged(*cycles(0, 2, 2, used=(100, 120, 117))),
                         ["FAILED memory of eager, device: -3.00 MiB beside the second cycle"])

    def test_bars_of_speed(self):
        def search(runner, microseconds, embed=64, layers=2, batch=8, dtype="fp32"):
            return {"bench": "search", "kind": "engine", "runner": runner, "embed": embed, "layers": layers,
                    "batch": batch, "dtype": dtype, "us_per_sim_min": microseconds}
        self.assertEqual(self.judged(search("eager", 400), search("cuda_graph", 200)), [])
        self.assertEqual(self.judged(search("eager", 399), search("cuda_graph", 200)),
                         ["FAILED speed of (64, 2) B 8, fp32, off/on: 2.00x, at least 2x"])
        # The fastest dtype meets a bar of time.
        self.assertEqual(self.judged(search("cuda_graph", 900, 768), search("cuda_graph", 250, 768, dtype="bf16")), [])
        self.assertEqual(self.judged(search("cuda_graph", 900, 768), search("cuda_graph", 251, 768, dtype="bf16")),
                         ["FAILED speed of (768, 2) B 8, bf16, A: 251.0 us a simulation, at most 250"])
        self.assertEqual(self.judged(search("cuda_graph", 900, 768, layers=8)), [])
        step_b = {"embed": 768, "batch": 256, "dtype": "bf16"}
        self.assertEqual(self.judged(search("cuda_search_graph", 95, **step_b)), [])
        self.assertEqual(self.judged(search("cuda_search_graph", 96, **step_b)),
                         ["FAILED speed of (768, 2) B 256, bf16, B: 96.0 us a simulation, at most 95"])


if __name__ == "__main__":
    unittest.main()
