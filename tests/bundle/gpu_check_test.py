#!/usr/bin/env python3
"""gpu_check.sh from beginning to end on a machine without a GPU: a bundle of stand-ins that answer with
recorded lines. One test program dies and one benchmark fails; all the others must still be run and shown.
And what ends it before the first stage: a bundle without its GPU parts, no GPU, a driver that sees none.

    gpu_check_test.py
"""
import json
import os
import pathlib
import re
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
  "doctor ") sleep ${{DOCTOR_SECONDS:-0}}; cat "${{DOCTOR:-{SAMPLE}/doctor.txt}}" ;;
  "bench parity") cat "{SAMPLE}/parity.jsonl" ;;
  "bench unload") cat "{SAMPLE}/unload.jsonl" ;;
  "bench step") echo "no memory for it" >&2; exit 1 ;;
  "train "*) echo "run folder    run" ;;
  "bench search") case "$*" in
      *cuda_search_graph*) cat "{SAMPLE}/search_b_768_2.jsonl" ;;
      *) cat "{SAMPLE}/search_768_2.jsonl" ;;
    esac ;;
  *) exit 2 ;;
esac
"""
GOOD_TEST = """#!/bin/sh
echo "[ RUN      ] Suite.Works"
echo "a warning of a library that both streams must keep" >&2
echo "puct   actions  6 roots 256: 3.25 us a simulation"
echo "another one" >&2
report='{"testsuites": [{"testsuite": [{"name": "Works", "result": "COMPLETED", "largest_error": "1e-06"}]}]}'
for argument in "$@"; do echo "$report" > "${argument#--gtest_output=json:}"; done
"""


def make_bundle(folder):
    """Scripts as they are, programs and torch as stand-ins."""
    bundle = folder / "bundle"
    (bundle / "bin").mkdir(parents=True)
    for script in ("gpu_check.sh", "gpu_table.py", "find_torch.py"):
        shutil.copy(TOOLS / script, bundle)
    (bundle / "lib").mkdir()
    for library in ("liblzero_cuda.so", "liblzero_cuda_graph.so"):
        (bundle / "lib" / library).touch()
    (bundle / "BUILD.json").write_text('{"torch": "2.11.0", "cuda": "13.0"}')
    (folder / "torch/lib").mkdir(parents=True)
    (folder / "torch/version.py").write_text("__version__ = '2.11.0+cu130'\ncuda = '13.0'\n")
    programs = {"lzero": PROGRAM, "mcts_cuda_test": GOOD_TEST, "torch_cuda_test": "#!/bin/sh\nkill -SEGV $$\n"}
    for name, text in programs.items():
        (bundle / "bin" / name).write_text(text)
        (bundle / "bin" / name).chmod(0o755)
    return bundle


def run_check(script, folder, *arguments, **variables):
    """Exit code and output, with the stand-in of torch in `folder`."""
    done = subprocess.run([script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, cwd=folder,
                          env={**os.environ, "LZERO_TORCH_DIR": str(folder / "torch"), **variables})
    return done.returncode, done.stdout


class GpuCheckTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.bundle, self.out = make_bundle(self.folder), self.folder / "out"
        self.code, self.printed = run_check(self.bundle / "gpu_check.sh", self.folder, "--out", self.out)

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
        self.assertRegex(self.printed, r"\(768, 2\) B 8, fp32 +- +- +- +1010\.0 +230\.0 +4\.39x +46\.0 +5\.00x")
        self.assertIn("FAILED search_64_2: printed 4 of 9 lines; see search_64_2.log", self.printed)

    def test_every_line_is_kept(self):
        stages = [json.loads(line) for line in (self.out / "stages.jsonl").read_text().splitlines()]
        names = [stage["stage"] for stage in stages]
        self.assertEqual(names[:5], ["mcts_cuda_test", "torch_cuda_test", "parity", "train", "unload"])
        self.assertEqual(len(names), 5 + 3 * 4)
        self.assertEqual((self.out / "parity.jsonl").read_text(), (SAMPLE / "parity.jsonl").read_text())
        self.assertEqual((self.out / "step_64_2.log").read_text(), "no memory for it\n")
        self.assertIn((self.out / "table.txt").read_text(), self.printed)

    def test_both_streams_of_a_test_program_are_kept(self):
        self.assertEqual((self.out / "mcts_cuda_test.log").read_text(),
                         "[ RUN      ] Suite.Works\na warning of a library that both streams must keep\n"
                         "puct   actions  6 roots 256: 3.25 us a simulation\nanother one\n")

    def test_the_sizes_of_the_design_are_asked_for(self):
        calls = (self.bundle / "calls.txt").read_text()
        for size in ("--embed 64 --layers 2 --heads 2", "--embed 256 --layers 4 --heads 8",
                     "--embed 768 --layers 2 --heads 8", "--embed 768 --layers 8 --heads 8"):
            self.assertIn("bench step --json --device cuda --runner eager,cuda_graph --dtype fp32,bf16 "
                          f"{size} --batch 8,64,256", calls)
        self.assertIn("--runner eager,cuda_graph,cuda_search_graph --cycles 10", calls)
        self.assertIn("configs/classic/cartpole_unizero.yaml inference.device=cuda", calls)

    def test_an_output_folder_that_holds_something_is_left_alone(self):
        code, printed = run_check(self.bundle / "gpu_check.sh", self.folder, "--out", self.out)
        self.assertEqual(code, 1)
        self.assertIn("is not empty; give another --out", printed)


class BeforeTheFirstStageTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.bundle = make_bundle(self.folder)
        self.no_gpu = self.folder / "no_gpu.txt"
        self.no_gpu.write_text("note  gpu            no CUDA device: driver too old; inference.device: cpu is all\n")

    def tearDown(self):
        self.place.cleanup()

    def check(self, **variables):
        return run_check(self.bundle / "gpu_check.sh", self.folder, **variables)

    def test_a_bundle_without_its_gpu_parts_fails(self):
        parts = ("bin/torch_cuda_test", "bin/mcts_cuda_test", "lib/liblzero_cuda.so", "lib/liblzero_cuda_graph.so")
        for part in parts:
            hidden = (self.bundle / part).rename(self.folder / "hidden")
            for doctor in (SAMPLE / "doctor.txt", self.no_gpu):
                code, printed = self.check(DOCTOR=str(doctor))
                self.assertEqual(code, 1, printed)
                self.assertIn(f"lacks {part}: it was built without nvcc", printed)
            hidden.rename(self.bundle / part)

    def test_no_gpu_is_skipped(self):
        code, printed = self.check(DOCTOR=str(self.no_gpu), CUDA_VISIBLE_DEVICES="-1")
        self.assertEqual((code, printed), (77, "gpu_check: skipped: no CUDA device: driver too old\n"))

    def test_a_driver_that_sees_no_gpu_fails(self):
        (self.folder / "nvidia-smi").write_text("#!/bin/sh\n")
        (self.folder / "nvidia-smi").chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        code, printed = self.check(DOCTOR=str(self.no_gpu), CUDA_VISIBLE_DEVICES="0", PATH=path)
        self.assertEqual(code, 1, printed)
        self.assertIn("is here, but lzero sees no GPU: no CUDA device: driver too old", printed)

    def test_the_first_look_at_the_gpu_counts(self):
        _, printed = self.check(DOCTOR_SECONDS="4")
        seconds = int(re.search(r"gpu_check: (\d+) s; every line", printed).group(1))
        self.assertGreaterEqual(seconds, 4, printed)

    def test_the_repository_sets_up_cuda_and_builds(self):
        tools = self.folder / "repository/tools"
        tools.mkdir(parents=True)
        shutil.copy(TOOLS / "gpu_check.sh", tools)
        note = 'echo "$(basename "$0") $*" >> "$(dirname "$0")/../calls.txt"'
        make = 'mkdir -p "$(dirname "$0")/../build/release" && ' \
               f'cp -r "{self.bundle}" "$(dirname "$0")/../build/release/bundle"'
        for name, text in (("setup.sh", note), ("build.sh", f"{note}\n{make}")):
            (tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (tools / name).chmod(0o755)
        code, printed = run_check(tools / "gpu_check.sh", self.folder, DOCTOR=str(self.no_gpu),
                                  CUDA_VISIBLE_DEVICES="-1")
        self.assertEqual(code, 77, printed)
        self.assertEqual((tools.parent / "calls.txt").read_text(), "setup.sh --quiet --cuda\nbuild.sh portable\n")


if __name__ == "__main__":
    unittest.main()
