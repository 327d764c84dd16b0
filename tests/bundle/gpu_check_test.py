#!/usr/bin/env python3
"""gpu_check.sh from beginning to end on a machine without a GPU: a bundle of stand-ins that answer with
recorded lines. One test program dies and one benchmark fails; all the others must still be run and shown.

    gpu_check_test.py
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / "tools"
SAMPLE = HERE / "gpu_check_sample"

PROGRAM = f"""#!/bin/sh
echo "$@" >> "$(dirname "$0")/../calls.txt"
case "$1 $2" in
  "doctor ") cat "{SAMPLE}/doctor.txt" ;;
  "config explain") echo "allowed: one of auto, eager, packed, cuda_graph, cuda_search_graph" ;;
  "bench parity") cat "{SAMPLE}/parity.jsonl" ;;
  "bench unload") cat "{SAMPLE}/unload.jsonl" ;;
  "bench step") echo "no memory for it" >&2; exit 1 ;;
  "bench search") case "$*" in
      *cuda_search_graph*) cat "{SAMPLE}/search_b_768_2.jsonl" ;;
      *) cat "{SAMPLE}/search_768_2.jsonl" ;;
    esac ;;
  *) exit 2 ;;
esac
"""
GOOD_TEST = """#!/bin/sh
echo "puct   actions  6 roots 256: 3.25 us a simulation"
report='{"testsuites": [{"testsuite": [{"name": "Works", "result": "COMPLETED", "largest_error": "1e-06"}]}]}'
for argument in "$@"; do echo "$report" > "${argument#--gtest_output=json:}"; done
"""


def make_bundle(folder):
    """Scripts as they are, programs and torch as stand-ins."""
    bundle = folder / "bundle"
    (bundle / "bin").mkdir(parents=True)
    for script in ("gpu_check.sh", "gpu_table.py", "find_torch.py"):
        shutil.copy(TOOLS / script, bundle)
    (bundle / "BUILD.json").write_text('{"torch": "2.11.0", "cuda": "13.0"}')
    (folder / "torch/lib").mkdir(parents=True)
    (folder / "torch/version.py").write_text("__version__ = '2.11.0+cu130'\ncuda = '13.0'\n")
    programs = {"lzero": PROGRAM, "mcts_cuda_test": GOOD_TEST, "torch_cuda_test": "#!/bin/sh\nkill -SEGV $$\n"}
    for name, text in programs.items():
        (bundle / "bin" / name).write_text(text)
        (bundle / "bin" / name).chmod(0o755)
    return bundle


class GpuCheckTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.bundle, self.out = make_bundle(self.folder), self.folder / "out"
        done = subprocess.run([self.bundle / "gpu_check.sh", "--out", self.out], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120,
                              env={**os.environ, "LZERO_TORCH_DIR": str(self.folder / "torch")})
        self.code, self.printed = done.returncode, done.stdout

    def tearDown(self):
        self.place.cleanup()

    def test_what_fails_hides_nothing_else(self):
        self.assertEqual(self.code, 1, self.printed)
        self.assertIn("torch_cuda_test left no report", self.printed)
        self.assertIn("FAILED torch_cuda_test: exit code 139; see torch_cuda_test.log", self.printed)
        self.assertIn("FAILED step_768_8: exit code 1; see step_768_8.log", self.printed)
        self.assertIn("largest error in Works: 1e-06", self.printed)
        self.assertIn("tree kernels alone, puct", self.printed)
        self.assertIn("cuda_graph, device ", self.printed)
        self.assertRegex(self.printed, r"\(768, 2\) B 8 +- +- +- +1010\.0 +230\.0 ok +4\.39x +46\.0 +5\.00x")
        self.assertNotIn("FAILED search", self.printed)

    def test_every_line_is_kept(self):
        stages = [json.loads(line) for line in (self.out / "stages.jsonl").read_text().splitlines()]
        names = [stage["stage"] for stage in stages]
        self.assertEqual(names[:5], ["mcts_cuda_test", "torch_cuda_test", "parity", "unload", "step_64_2"])
        self.assertEqual(len(names), 4 + 3 * 4)
        self.assertEqual((self.out / "parity.jsonl").read_text(), (SAMPLE / "parity.jsonl").read_text())
        self.assertEqual((self.out / "step_64_2.log").read_text(), "no memory for it\n")
        self.assertIn((self.out / "table.txt").read_text(), self.printed)

    def test_the_sizes_of_the_design_are_asked_for(self):
        calls = (self.bundle / "calls.txt").read_text()
        for size in ("--embed 64 --layers 2 --heads 2", "--embed 256 --layers 4 --heads 8",
                     "--embed 768 --layers 2 --heads 8", "--embed 768 --layers 8 --heads 8"):
            self.assertIn(f"bench step --json --device cuda {size} --batch 8,64,256", calls)
        self.assertIn("--runner eager,cuda_graph,cuda_search_graph --cycles 10", calls)

    def test_an_output_folder_that_holds_something_is_left_alone(self):
        done = subprocess.run([self.bundle / "gpu_check.sh", "--out", self.out], capture_output=True, text=True,
                              env={**os.environ, "LZERO_TORCH_DIR": str(self.folder / "torch")})
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not empty; give another --out", done.stderr)


if __name__ == "__main__":
    unittest.main()
