"""What every family and runner asks of a device, held by numbers that no noise can hide (`lzero bench counts`). A
change that asks for more fails here; one that asks for less lowers the numbers below.

    counts_test.py RUN_SCRIPT LIBRARY_FOLDER LZERO
"""

import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SMALL = ["inference.device=cuda", "search.num_simulations=10", "train.batch_size=16", "env.num_collectors=4"]
COLUMNS = ("kernels", "graphs", "graph_kernels", "graph_copies", "copies", "waits")

# Level, config and settings; then what the roots of a search, a simulation and an update may ask for, in the order of
# COLUMNS. UniZero has two layers. Level numbers counts an operator of libtorch as a kernel: for convolutions, which
# level control does not run. An update is one graph, two copies (the batch in, the figures out) and one wait.
CASES = {
    ("control", "classic/cartpole_unizero.yaml", "inference.runner=eager"):
        ((124.38, 0, 0, 0, 15.38, 7.5), (113, 0, 0, 0, 11, 7), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml", "inference.runner=cuda_graph"):
        ((3.75, 1.38, 122.62, 4.62, 11.62, 7.5), (0, 1, 39, 0, 2, 1), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml",
     "inference.runner=cuda_graph", "inference.dtype=bf16", "train.dtype=bf16"):
        ((3.75, 1.38, 122.62, 4.62, 11.62, 7.5), (0, 1, 39, 0, 2, 1), (0, 1, 623, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml", "inference.runner=cuda_graph", "inference.root_context=carry"):
        ((3.75, 1.38, 122.62, 4.62, 11.62, 7.5), (0, 1, 39, 0, 2, 1), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml", "inference.runner=cuda_search_graph"):
        ((3.75, 1.38, 122.62, 4.62, 11.62, 7.5), (0, 0.1, 41.3, 0.2, 0.3, 0.1), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml", "search.cheap_fraction=0.5", "search.cheap_num_simulations=4"):
        ((3.75, 1.38, 122.62, 4.62, 11.62, 7.5), (0, 1, 39, 0, 2, 1), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml",
     "inference.runner=cuda_search_graph", "inference.dtype=bf16", "train.dtype=tf32"):
        ((3.75, 1.38, 122.62, 4.62, 11.62, 7.5), (0, 0.1, 41.3, 0.2, 0.3, 0.1), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero.yaml",
     "inference.runner=eager", "inference.cache_storage=growing"):
        ((124.38, 0, 0, 0, 15.38, 7.5), (113, 0, 0, 0, 11, 7), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/cartpole_unizero_gumbel.yaml", "inference.runner=cuda_search_graph"):
        ((3.5, 1.25, 112.75, 4.25, 10.75, 7), (0, 0.1, 41.3, 0.2, 0.3, 0.1), (0, 1, 441, 9, 2, 1)),
    ("control", "classic/pendulum_unizero.yaml", "inference.runner=cuda_graph"):
        ((3, 1, 94, 3, 9, 6), (0, 1, 39, 0, 2, 1), (0, 1, 494, 10, 2, 1)),
    ("numbers", "teaching/catch_pixels_unizero.yaml", "inference.runner=cuda_graph"):
        ((2.88, 1, 156.12, 0, 8.75, 5.75), (0, 1, 39, 0, 2, 1), (0, 1, 559, 0, 2, 1)),
    ("control", "classic/cartpole_muzero.yaml"):
        ((30, 0, 0, 0, 3, 4), (53, 0, 0, 0, 6, 7), (0, 1, 456, 7, 2, 1)),
    ("control", "stochastic/2048_stochastic_muzero.yaml"):
        ((30, 0, 0, 0, 3, 4), (55.48, 0, 0, 0, 6.81, 9.99), (0, 1, 769, 9, 2, 1)),
    ("control", "boards/tictactoe_alphazero.yaml"):
        ((32, 0, 0, 0, 5, 4), (30.4, 0, 0, 0, 4.75, 3.8), (0, 1, 277, 7, 2, 1)),
    ("numbers", "boards/connect4_alphazero.yaml"):
        ((52, 0, 0, 0, 3, 4), (52, 0, 0, 0, 3, 4), (0, 1, 327, 0, 2, 1)),
}
RUN = []


class Counts(unittest.TestCase):
    def count(self, level, config, *settings):
        script, libraries, lzero = RUN
        found = subprocess.run(["sh", script, libraries, f"level={level}", lzero, "bench", "counts", "--json",
                                ROOT / "configs" / config, *SMALL, *settings],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(found.returncode, 0, found.stdout)
        lines = map(json.loads, found.stdout.splitlines())
        return {line["what"]: [line[column] for column in COLUMNS] for line in lines}

    def test_no_case_asks_for_more(self):
        for case, limits in CASES.items():
            counted = self.count(*case)
            print(*case, "\n" + "".join(f"  {what:10} {counts}\n" for what, counts in counted.items()))
            self.assertEqual(list(counted), ["roots", "simulation", "update"])
            self.assertAlmostEqual(counted["simulation"][1], limits[1][1], msg="graphs")
            self.assertEqual([counted["update"][i] for i in (1, 4, 5)], [1, 2, 1], "graphs, copies and waits")
            for (what, counts), limit in zip(counted.items(), limits):
                with self.subTest(case=case, what=what):
                    for column, count, most in zip(COLUMNS, counts, limit):
                        self.assertLessEqual(count, most + 0.005, column)


if __name__ == "__main__":
    RUN[:] = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
