#!/usr/bin/env python3
"""tools/plot_curves.py: what is drawn lies where it belongs, and bad files are named."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import plot_curves  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


class PlotCurvesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = pathlib.Path(folder.name) / "evaluations.csv"

    def run_script(self, text, *options):
        self.csv.write_text(text)
        return subprocess.run([sys.executable, "-B", ROOT / "tools/plot_curves.py", self.csv, *options],
                              capture_output=True, text=True)

    def test_a_panel_a_setting_and_a_line_a_seed(self):
        done = self.run_script("row,seed,wall_s,env_steps,mean_return\na,0,1,0,0\na,0,2,100,10\na,1,1,50,5\n"
                               "b,0,3,100,10\n",
                               "--target", "20")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("curves.svg: 2 settings, 3 runs", done.stdout)
        root = ElementTree.parse(self.csv.with_name("curves.svg")).getroot()
        panels = root.findall(f"{SVG}g")
        self.assertEqual([panel.find(f"{SVG}text").text for panel in panels], ["a", "b"])
        lines = panels[0].findall(f"{SVG}polyline")
        self.assertEqual([line.find(f"{SVG}title").text for line in lines], ["seed 0", "seed 1"])
        # The plot is 230 x 135 from (55, 30); returns 0 .. 20 with the target, steps 0 .. 100.
        self.assertEqual(lines[0].get("points"), "55.0,165.0 285.0,97.5")
        self.assertEqual(lines[1].get("points"), "170.0,131.2")

    def test_scales_are_shared_or_own(self):
        text = "row,seed,env_steps,mean_return\na,0,0,0\na,0,10,1\nb,0,0,0\nb,0,10,100\n"
        for options, height in [([], "165.0 285.0,163.7"), (["--own-scales"], "165.0 285.0,30.0")]:
            self.assertEqual(self.run_script(text, *options).returncode, 0)
            root = ElementTree.parse(self.csv.with_name("curves.svg")).getroot()
            self.assertEqual(next(root.iter(f"{SVG}polyline")).get("points"), f"55.0,{height}")

    def test_files_without_settings_and_flat_curves(self):
        done = self.run_script("env_steps,mean_return\n10,1\n20,1\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 settings, 1 runs", done.stdout)

    def test_ticks_are_round_and_within(self):
        self.assertEqual(plot_curves.ticks(0, 200), [0, 50, 100, 150, 200])
        self.assertEqual(plot_curves.ticks(-1200, -100), [-1000, -750, -500, -250])
        self.assertEqual(plot_curves.ticks(600, 15000), [5000, 10000, 15000])
        for low, high in [(0, 1), (0, 68512), (-2.3, 94), (1e-4, 3e-4)]:
            values = plot_curves.ticks(low, high)
            self.assertTrue(2 <= len(values) <= 6, values)
            self.assertTrue(all(low <= value <= high + 1e-9 for value in values), values)

    def test_bad_files_are_named(self):
        for text, part in [("", "no header"), ("seed,env_steps,mean_return\n", "no evaluations"),
                           ("seed,env_steps,mean_return\n0,1\n", ":2: 2 columns, the header has 3"),
                           ("seed,env_steps,mean_return\n0,1,x\n", "are no numbers: 1, x")]:
            done = self.run_script(text)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"error: {self.csv}", done.stderr)
            self.assertIn(part, done.stderr)
        missing = subprocess.run([sys.executable, "-B", ROOT / "tools/plot_curves.py", "/no/file"],
                                 capture_output=True, text=True)
        self.assertIn("error: ", missing.stderr)
        self.assertNotIn("Traceback", missing.stderr)


if __name__ == "__main__":
    unittest.main()
