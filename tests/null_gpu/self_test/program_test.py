"""The program itself on the null GPU: it trains with a device, evaluates, and plays runs of both devices against
each other in either order; a device that is broken, full or that records no graph is told in words.

    program_test.py RUN_SCRIPT LIBRARY_FOLDER LZERO FOLDER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONFIG = ROOT / "configs/boards/tictactoe_alphazero.yaml"
COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"
SHORT = ["stop.max_env_steps=200", "train.start_env_steps=50"]
# What a plan may say beyond what is taken: blocks of libtorch that might be needed and are not, a bound of activations.
SLACK_FACTOR, SLACK_BYTES = 1.5, 64 << 20
RUN = []


class Program(unittest.TestCase):
    def lzero(self, *arguments, level="numbers", codes=(0,), libraries=None):
        script, made, lzero, folder = RUN
        libraries = libraries or made
        found = subprocess.run(["sh", script, libraries, f"level={level}", lzero, *map(str, arguments)], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertIn(found.returncode, codes, found.stdout)
        return found.stdout

    def train(self, name, *settings, config=CONFIG, level="numbers", codes=(0,)):
        return self.lzero("train", config, *SHORT, *settings, "--run-dir", name, level=level, codes=codes)

    def train_with(self, fault, *settings, codes=(0,)):
        """A run of unizero on a device with a fault, after which nothing may be left there."""
        return self.train("_".join([fault, *settings]), "inference.device=cuda",
                          "train.batch_size=8", "search.num_simulations=4", *settings,
                          config=COUNTING,
                          level=f"numbers,nothing_left=1,{fault}", codes=codes)

    def weights_of(self, name):
        return (pathlib.Path(RUN[3]) / name / "checkpoints/latest/model.safetensors").read_bytes()

    def expect_same_weights(self, *names):
        self.assertEqual(len({self.weights_of(name) for name in names}), 1, f"not the same weights: {names}")

    def train_apart(self, name, inference, learner, level, *settings):
        """A run of all roles with the learner on one device and the searches on another, of two."""
        return self.train(name, f"inference.device={inference}", f"train.device={learner}", "train.batch_size=8",
                          "search.num_simulations=4", "replay.reanalyze_ratio=0.5", *settings, config=COUNTING,
                          level=f"{level},devices=2,nothing_left=1,print_counts=1")

    def test_the_same_is_learned_on_one_device_as_on_two(self):
        levels = ("numbers", "late", "late,seed=1", "late,seed=2")
        for level in levels:
            for inference, learner in (("cuda", "null"), ("cuda:1", "null"), ("cuda:1", "cuda"), ("cuda", "cuda:1")):
                with self.subTest(level=level, inference=inference, learner=learner):
                    text = self.train_apart(f"{inference}_{learner}_{level}", inference, learner, level)
                    if (inference, learner) == ("cuda:1", "null"):
                        self.assertIn("null GPU: contexts_1 1\n", text)
                        self.assertNotIn("null GPU: contexts_0", text)
                    self.expect_same_weights("cuda_null_numbers", f"{inference}_{learner}_{level}")

    def test_a_processor_collects_for_a_device_and_the_other_way_round(self):
        for inference, learner in (("cpu", "cuda"), ("cpu", "cuda:1"), ("cuda", "cpu"), ("cuda:1", "cpu")):
            for level in ("numbers", "late", "late,seed=1"):
                with self.subTest(level=level, inference=inference, learner=learner):
                    self.train_apart(f"{inference}_{learner}_{level}", inference, learner, level)
                    kind = inference.partition(":")[0] + "_" + learner.partition(":")[0]
                    self.expect_same_weights(f"{kind}_numbers", f"{inference}_{learner}_{level}")

    def test_a_run_of_two_devices_goes_on_and_is_evaluated(self):
        for inference, learner in (("cuda:1", "cuda"), ("cpu", "cuda:1")):
            with self.subTest(inference=inference, learner=learner):
                name, two = f"{inference}_{learner}_on", "late,seed=1,devices=2,nothing_left=1"
                self.train_apart(name, inference, learner, "numbers", "deterministic=true", "checkpoint.every_updates=8")
                straight = self.weights_of(name)
                middle = sorted((pathlib.Path(RUN[3]) / name / "checkpoints").glob("step_*"))[0]
                self.lzero("resume", middle, level=two)
                self.assertEqual(self.weights_of(name), straight)
                self.lzero("eval", name, "--episodes", 1, level=two)
                # On a machine with one device.
                if inference == "cuda:1":
                    text = self.lzero("eval", name, "--episodes", 1, codes=(2,))
                    self.assertIn("inference.device: cuda:1: this machine has 1 device: Null GPU, sm_90, 80.0 GiB; "
                                  "allowed here: cpu, cuda", text)
                    self.lzero("eval", name, "--episodes", 1, "--device", "cuda")

    def test_a_device_that_is_not_there_is_told_before_anything_is_made(self):
        for key in ("inference.device", "train.device"):
            for more in ([], ["--dry-run"]):
                text = self.train("absent", f"{key}=cuda:2", *more, level="numbers,devices=2,print_counts=1", codes=(2,))
                self.assertIn(f"error: {key}: cuda:2: this machine has 2 devices: Null GPU, sm_90, 80.0 GiB; Null GPU, "
                              "sm_90, 80.0 GiB; allowed here: cpu, cuda, cuda:1\n", text)
                self.assertNotIn("null GPU: contexts", text)
        self.assertFalse((pathlib.Path(RUN[3]) / "absent").exists())

    def test_the_doctor_finds_the_device(self):
        self.assertIn("Null GPU, sm_90, 80.0 GiB; 0.0 GiB of cuda:0 are in use", self.lzero("doctor"))

    def test_devices_are_listed_without_a_context_on_each(self):
        listed = self.lzero("doctor", level="numbers,devices=3,print_counts=1")
        self.assertEqual(listed.count("Null GPU, sm_90"), 3, listed)
        self.assertIn("null GPU: contexts 1\n", listed)

    def test_a_driver_that_cannot_be_loaded_is_told(self):
        broken = pathlib.Path(RUN[3]) / "broken_driver"
        broken.mkdir()
        for library in pathlib.Path(RUN[1]).glob("*.so*"):
            (broken / library.name).symlink_to(library)
        (broken / "libcuda.so.1").unlink()
        (broken / "libcuda.so.1").touch()
        preload = (pathlib.Path(RUN[1]) / "preload.txt").read_text().split(":")
        (broken / "preload.txt").write_text(":".join(path for path in preload if "libcuda.so" not in path))
        text = self.lzero("doctor", libraries=broken)
        self.assertIn(f"sm_90, 80.0 GiB, but cannot load CUDA's driver: {broken}/libcuda.so.1: file too short", text)

    def test_a_capture_that_fails_leaves_eager_steps_or_is_an_error(self):
        step, search = "inference.runner=cuda_graph", "inference.runner=cuda_search_graph"
        # After the learner's, collector and evaluator record steps of 4 and 2 rows, two graphs for as many roots, and
        # searches.
        for number, runner, recorded in ((2, step, "a step of 4"), (3, step, "a step of 2"), (4, step, "4 roots"),
                                         (9, step, "a step of 2"), (5, search, "2 roots"),
                                         (6, search, "a search of 4")):
            with self.subTest(number=number, runner=runner):
                cause = f"recording {recorded}: capture failed: libtorch: CUDA error: operation failed due to a " \
                        "previous error during capture\n"
                text = self.train_with(f"fail_capture={number}", runner, "inference.graphs=preferred")
                self.assertIn("run one operation after the other (inference.graphs: preferred): " + cause, text)
                text = self.train_with(f"fail_capture={number}", runner, "inference.graphs=required", codes=(2,))
                self.assertTrue(text.endswith("error: " + cause), text)

    def test_memory_that_another_process_takes_later_is_told(self):
        # From the learner's weights, over engines, to the first update.
        total = 8192
        for mebibytes in (0, 2, 4, 6, 24, 40, 72, 100):
            with self.subTest(mebibytes=mebibytes):
                text = self.train_with(f"memory_mib={total},taken_mib={total - mebibytes}", codes=(1, 2))
                self.assertRegex(text, r"error: .*libtorch: CUDA out of memory\. Tried to allocate [0-9.]+ MiB\. "
                                       r"GPU 0 has a total capacity of [^\n]+ is free\.\n")

    def test_a_run_that_cannot_fit_is_refused_before_anything_is_allocated(self):
        for more in ([], ["--dry-run"]):
            text = self.train_with("memory_mib=100,print_counts=1", *more, codes=(2,))
            self.assertRegex(text, r"error: the run needs [0-9.]+ MiB of cuda:0, which has 100\.0 MiB free of "
                                   r"100\.0 MiB: learner [0-9.]+ KiB, batch .*, workspaces of cuBLAS 128\.0 MiB, .*; "
                                   r"lower .*, or let inference\.device or train\.device name another device\n")
            self.assertNotIn("peak_device_bytes", text)
        # Each device is asked for its own part.
        text = self.train("halves", "inference.device=cuda:1", "train.device=cuda", config=COUNTING,
                          level="numbers,devices=2,memory_mib=100", codes=(2,))
        self.assertRegex(text, r"error: the run needs [0-9.]+ MiB of cuda:0, .* workspaces of cuBLAS 64\.0 MiB, ")

    def planned_and_taken(self, name, *settings, config=COUNTING, level="numbers"):
        """For each device the bytes that libtorch allocates: at most by the plan, and at most at any time."""
        text = self.train(name, "--verbose", *settings, config=config, level=f"{level},devices=2,print_counts=1")
        if "inference.graphs=off" not in settings:
            self.assertRegex(text, r"graphs +learner: \d+ nodes recorded, with [0-9.]+ [KM]iB more of the device")
        units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
        found = {}
        for device, parts in re.findall(r"; of cuda:(\d): ([^;\n]*)", text):
            allocated = re.split("(?:^|, )(?:graphs|the driver) ", parts)[0]
            planned = sum(float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+) ([KMG]iB)", allocated))
            found[device] = planned, int(re.search(rf"peak_device_bytes_{device} (\d+)", text).group(1))
        return found

    def test_no_more_is_taken_than_planned_and_not_much_less(self):
        game = ROOT / "configs/stochastic/2048_stochastic_muzero.yaml"
        pixels = ROOT / "configs/teaching/catch_pixels_unizero.yaml"
        small = ["train.batch_size=8", "search.num_simulations=4", "evaluate.episodes=1"]
        wide = [*small[1:], "model.embed_dim=256", "model.num_layers=4", "train.batch_size=64"]
        one, two = ["inference.device=cuda"], ["inference.device=cuda:1", "train.device=cuda"]
        cases = {"unizero": (COUNTING, [*one, *small]), "apart": (COUNTING, [*two, *small]),
                 "wide": (COUNTING, [*one, *wide]), "wide_apart": (COUNTING, [*two, *wide]),
                 "reanalyze": (COUNTING, [*one, *small, "replay.reanalyze_ratio=0.5"]),
                 "eager": (COUNTING, [*one, *small, "inference.graphs=off"]),
                 "search": (COUNTING, [*one, *small, "inference.runner=cuda_search_graph"]),
                 "pictures": (pixels, [*one, *small]),
                 "muzero": (COUNTING, [*one, *small, "model.family=muzero"]),
                 "stochastic": (game, [*one, *small, "env.max_episode_steps=20"]),
                 "alphazero": (CONFIG, [*one, *small])}
        for name, (config, settings) in cases.items():
            # With libtorch's own kernels too, but where the numbers that they leave out end a run, or cuDNN is asked.
            for level in ("numbers",) if "wide" in name or name == "pictures" else ("numbers", "control"):
                found = self.planned_and_taken(f"memory_{name}_{level}", *settings, config=config, level=level)
                self.assertEqual(len(found), 2 if "apart" in name else 1)
                for device, (planned, taken) in found.items():
                    with self.subTest(name=name, level=level, device=device):
                        print(f"{name:12} {level:8} cuda:{device} planned {planned / 2**20:6.1f} MiB, "
                              f"taken {taken / 2**20:6.1f} MiB")
                        self.assertGreaterEqual(planned, taken)
                        self.assertLessEqual(planned, SLACK_FACTOR * taken + SLACK_BYTES)

    def test_runs_of_both_devices_play_in_either_order(self):
        self.train("cpu")
        self.train("cuda", "inference.device=cuda", level="late,seed=1")
        self.train("second", "inference.device=cuda:1", "train.device=cuda", level="numbers,devices=2")
        # An eager engine on the CPU asks libtorch first; a packed one never does.
        eager = "inference.runner=eager"
        for pair in (("cpu", "cuda", "--a", eager), ("cuda", "cpu", "--b", eager), ("cpu", "cuda"),
                     ("second", "cuda"), ("cpu", "second")):
            self.assertIn("A in all", self.lzero("match", *pair, "--games", 2, level="numbers,devices=2"))

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
        told = self.train("preferred", *settings, config=COUNTING, level="numbers,fail_capture=1,nothing_left=1")
        self.assertIn("no graph, updates run one operation after the other", told)
        self.train("off", *settings, "inference.graphs=off", config=COUNTING, level="numbers,nothing_left=1")
        self.train("recorded", *settings, config=COUNTING, level="late,seed=1,nothing_left=1")
        self.expect_same_weights("preferred", "off", "recorded")


if __name__ == "__main__":
    RUN[:] = sys.argv[1:5]
    shutil.rmtree(RUN[3], ignore_errors=True)
    pathlib.Path(RUN[3]).mkdir(parents=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
