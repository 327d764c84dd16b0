"""The program itself on the null GPU: it trains with a device, evaluates, and plays runs of both devices against
each other in either order.

    program_test.py RUN_SCRIPT LIBRARY_FOLDER LZERO FOLDER
"""

import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONFIG = ROOT / "configs/boards/tictactoe_alphazero.yaml"
SHORT = ["stop.max_env_steps=200", "train.start_env_steps=50"]
RUN = []


class Program(unittest.TestCase):
    def lzero(self, *arguments, level="numbers"):
        script, libraries, lzero, folder = RUN
        found = subprocess.run(["sh", script, libraries, f"level={level}", lzero, *map(str, arguments)], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(found.returncode, 0, found.stdout)
        return found.stdout

    def train(self, name, *settings, config=CONFIG, level="numbers"):
        return self.lzero("train", config, *SHORT, *settings, "--run-dir", name, level=level)

    def test_the_doctor_finds_the_device(self):
        self.assertIn("Null GPU, sm_90", self.lzero("doctor"))

    def test_runs_of_both_devices_play_in_either_order(self):
        self.train("cpu")
        self.train("cuda", "inference.device=cuda", level="late,seed=1")
        for pair in (("cpu", "cuda"), ("cuda", "cpu")):
            self.assertIn("A in all", self.lzero("match", *pair, "--games", 2))

    def test_every_family_trains_and_evaluates_and_leaves_nothing_on_the_device(self):
        counting, game = "teaching/counting_unizero.yaml", "stochastic/2048_stochastic_muzero.yaml"
        for family, config in (("unizero", counting), ("muzero", counting), ("stochastic_muzero", game)):
            for level in ("numbers,nothing_left=1", "late,seed=2,nothing_left=1"):
                with self.subTest(family=family, level=level):
                    name = f"{family}_{level}"
                    self.train(name, f"model.family={family}", "inference.device=cuda", "train.batch_size=8",
                               "search.num_simulations=4", config=ROOT / "configs" / config, level=level)
                    self.lzero("eval", name, "--episodes", 1, level=level)

    def test_the_same_is_learned_with_a_graph_without_and_where_one_is_refused(self):
        settings = ["inference.device=cuda", "inference.runner=eager", "search.num_simulations=4"]
        counting = ROOT / "configs/teaching/counting_unizero.yaml"
        told = self.train("preferred", *settings, config=counting, level="numbers,fail_capture=1,nothing_left=1")
        self.assertIn("no graph, updates run one operation after the other", told)
        self.train("off", *settings, "inference.graphs=off", config=counting, level="numbers,nothing_left=1")
        self.train("recorded", *settings, config=counting, level="late,seed=1,nothing_left=1")
        weights = {(pathlib.Path(RUN[3]) / name / "checkpoints/latest/model.safetensors").read_bytes()
                   for name in ("preferred", "off", "recorded")}
        self.assertEqual(len(weights), 1, "not the same weights")


if __name__ == "__main__":
    RUN[:] = sys.argv[1:5]
    shutil.rmtree(RUN[3], ignore_errors=True)
    pathlib.Path(RUN[3]).mkdir(parents=True)
    unittest.main(argv=sys.argv[:1])
