"""Tests of the style checks: each check finds what it must in a small bad tree, and nothing in a good
one. The trees are written to a temporary folder."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import functions
import layers
import names
import sizes
import source_tree
import tidy

HERE = pathlib.Path(__file__).parent


def guarded(name, body=""):
    return f"#ifndef {name}\n#define {name}\n{body}\n#endif  // {name}\n"


class StyleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def findings(self, check):
        tree = source_tree.Tree(self.root)
        check(tree)
        return tree.findings

    def expect_one(self, check, start, part):
        found = self.findings(check)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(start), found)
        self.assertIn(part, found[0])


class LayersTest(StyleTest):
    def setUp(self):
        super().setUp()
        for path in ("lzero/base/log.h", "lzero/config/load.h", "lzero/mcts/tree/tree.h", "envs/catch.h",
                     "lzero/mcts/golden/golden.h", "lzero/family/packed/model_family.h", "lzero/family/muzero/network.h",
                     "lzero/kv_cache/kv_cache.h", "lzero/kv_cache/internal/pool.h", "lzero/tensor/torch.h"):
            self.write(path, "")

    def test_accepts_includes_that_go_down(self):
        self.write("lzero/mcts/search.cc", '#include "lzero/mcts/tree/tree.h"\n#include "lzero/base/log.h"\n')
        self.write("lzero/train/build.cc", '#include "lzero/tensor/torch.h"\n#include "envs/catch.h"\n')
        self.write("tests/kv_cache/pool_test.cc", '#include "lzero/kv_cache/internal/pool.h"\n')
        self.write("lzero/base/log.cc", '// #include "envs/catch.h"\n#include "spdlog/spdlog.h"\n')
        self.assertEqual(self.findings(layers.check), [])

    def test_refuses_an_include_that_goes_up(self):
        self.write("lzero/base/log.cc", '\n#include "lzero/config/load.h"\n')
        self.expect_one(layers.check, "lzero/base/log.cc:2:", "base may include: no other floor")

    def test_refuses_an_include_sideways(self):
        self.write("envs/catch.cc", '#include "lzero/mcts/tree/tree.h"\n')
        self.expect_one(layers.check, "envs/catch.cc:1:", "envs may include: base config env")

    def test_refuses_the_cache_to_workers(self):
        self.write("lzero/worker/collector.cc", '#include "lzero/kv_cache/kv_cache.h"\n')
        self.expect_one(layers.check, "lzero/worker/collector.cc:1:", "worker includes")

    def test_knows_floors_inside_folders(self):
        self.write("lzero/mcts/search.cc", '#include "lzero/mcts/golden/golden.h"\n')
        self.expect_one(layers.check, "lzero/mcts/search.cc:1:", "mcts includes")
        self.write("lzero/mcts/search.cc", '#include "lzero/mcts/tree/tree.h"\n')
        self.write("tools/verbs/plain/replay.cc", '#include "lzero/mcts/golden/golden.h"\n')
        self.assertEqual(self.findings(layers.check), [])
        self.write("tools/verbs/plain/replay.cc", "#include <torch/nn.h>\n")
        self.expect_one(layers.check, "tools/verbs/plain/replay.cc:1:", "without torch")

    def test_keeps_families_apart(self):
        self.write("lzero/family/dreamer/family.cc", '#include "lzero/family/packed/model_family.h"\n'
                   '#include "lzero/tensor/torch.h"\n')
        self.assertEqual(self.findings(layers.check), [])
        self.write("lzero/family/dreamer/family.cc", '#include "lzero/family/muzero/network.h"\n')
        self.expect_one(layers.check, "lzero/family/dreamer/family.cc:1:", "family/dreamer includes")
        self.write("lzero/family/dreamer/family.cc", "")
        self.write("lzero/inference/engine.cc", '#include "lzero/family/packed/model_family.h"\n')
        self.expect_one(layers.check, "lzero/inference/engine.cc:1:", "inference includes")

    def test_refuses_internal_headers_elsewhere(self):
        self.write("tools/main.cc", '#include "lzero/kv_cache/internal/pool.h"\n')
        self.expect_one(layers.check, "tools/main.cc:1:", "is internal to kv_cache")

    def test_refuses_torch_on_floors_without_it(self):
        for number, header in enumerate(("torch/nn.h", "ATen/ATen.h", "c10/core/Device.h")):
            with self.subTest(header):
                self.write("lzero/agent/agent.cc", "\n" * number + f"#include <{header}>\n")
                self.expect_one(layers.check, f"lzero/agent/agent.cc:{number + 1}:", "without torch")

    def test_refuses_unknown_floors_and_missing_or_bare_files(self):
        self.write("lzero/new_floor/x.cc", "")
        self.expect_one(layers.check, "lzero/new_floor/x.cc:1:", "not a floor")
        self.write("lzero/new_floor/x.cc", '#include "log.h"\n')
        self.assertIn("carries its folder", "\n".join(self.findings(layers.check)))
        self.write("lzero/new_floor/x.cc", '#include "lzero/base/absent.h"\n')
        self.assertIn("does not exist", "\n".join(self.findings(layers.check)))

    def test_keeps_heavy_libraries_out_of_headers(self):
        self.write("lzero/config/load.h", "#include <nlohmann/json.hpp>\n")
        self.expect_one(layers.check, "lzero/config/load.h:1:", ".cc files")
        self.write("lzero/config/load.h", "")
        self.write("lzero/nn/layers.h", '#include "lzero/tensor/torch.h"\n')
        self.expect_one(layers.check, "lzero/nn/layers.h:1:", ".cc files")

    def test_keeps_all_of_torch_out(self):
        self.write("lzero/nn/layers.cc", "#include <torch/torch.h>\n")
        self.expect_one(layers.check, "lzero/nn/layers.cc:1:", "lzero/tensor/torch.h")

    def test_finds_include_cycles(self):
        self.write("lzero/mcts/tree/tree.h", '#include "lzero/mcts/node.h"\n')
        self.write("lzero/mcts/node.h", '#include "lzero/mcts/tree/tree.h"\n')
        self.expect_one(layers.check, "lzero/mcts/", "include cycle")


class FunctionsTest(unittest.TestCase):
    def find(self, text):
        return functions.find_functions(text)

    def test_finds_functions_in_scopes(self):
        text = """namespace a::b {
template <typename T = int>
class X : public Y<T> {
 public:
  X(int a, int b)
      : a_{a}, b_(b), c_{a == b} {
    if (a) { Use("}{"); }
  }
  bool operator==(const X& other) const { return true; }
  int operator()(int v = 3) const noexcept override {
    return v;
  }

 private:
  int a_ = {0};
  std::vector<int> b_{1, 2};
};
enum class E { kA, kB };
constexpr int kTable[] = {1, 2,
                          3};
auto Free(int n = F({1, 2})) -> std::vector<int> {
  auto inner = [&](int i) { return i; };
  return {};
}
const auto kLambda = [](int v) {
  return v;
};
extern "C" {
void Exported() {}
}
}  // namespace a::b
"""
        self.assertEqual(self.find(text), [
            ("X", 5, 8), ("operator", 9, 9), ("operator", 10, 12), ("Free", 21, 24),
            ("kLambda", 25, 27), ("Exported", 29, 29)])

    def test_ignores_braces_in_literals_comments_and_macros(self):
        text = """#define OPEN(x) \\
  if (x) {
// {
const char* kText = R"x({ " )" {)x";
const char kBrace = '{';
int Count() {
  /* { */ return 1'000;
}
"""
        self.assertEqual(self.find(text), [("Count", 6, 8)])

    def test_refuses_unbalanced_braces(self):
        with self.assertRaises(ValueError):
            self.find("void F() {\n")
        with self.assertRaises(ValueError):
            self.find("}\n")


class SizesTest(StyleTest):
    def test_accepts_the_limits(self):
        body = "  Use();\n" * 58
        self.write("lzero/base/x.cc", "void F() {\n" + body + "}\n" + "\n" * 340)
        self.write("tests/base/x_test.cc", "")
        self.write("lzero/kv_cache/internal/y.cc", "")
        self.write("tests/kv_cache/y_test.cc", "")
        self.write("lzero/family/packed/z.cc", "")
        self.write("tests/family/packed/z_test.cc", "")
        self.write("tools/main.cc", "")
        self.assertEqual(self.findings(sizes.check), [])

    def test_refuses_a_long_function(self):
        self.write("tools/main.cc", "\nvoid F() {\n" + "  Use();\n" * 59 + "}\n")
        self.expect_one(sizes.check, "tools/main.cc:2:", "function F has 61 lines")
        self.write("tools/main.cc", "")
        self.write("tools/a.py", "def f():\n" + "    pass\n" * 60)
        self.expect_one(sizes.check, "tools/a.py:1:", "function f has 61 lines")

    def test_refuses_a_long_file(self):
        self.write("tools/main.cc", "\n" * 401)
        self.expect_one(sizes.check, "tools/main.cc:401:", "401 lines")

    def test_refuses_a_folder_of_many_files(self):
        for number in range(25):
            self.write(f"tools/a{number}.sh", "")
        self.write("tools/README.md", "")
        self.write("tools/CMakeLists.txt", "")
        self.write("tools/b/a.sh", "")
        self.assertEqual(self.findings(sizes.check), [])
        self.write("tools/a25.sh", "")
        self.expect_one(sizes.check, "tools:1:", "26 files, allowed are 25")

    def test_refuses_a_source_without_its_test(self):
        self.write("envs/catch.cc", "")
        self.expect_one(sizes.check, "envs/catch.cc:1:", "has no test tests/envs/catch_test.cc")

    def test_wants_the_test_of_an_inner_folder_in_the_same_folder(self):
        self.write("lzero/family/packed/x.cc", "")
        self.write("tests/family/x_test.cc", "")
        self.expect_one(sizes.check, "lzero/family/packed/x.cc:1:",
                        "has no test tests/family/packed/x_test.cc")

    def test_reports_what_it_cannot_read(self):
        self.write("tools/main.cc", "void F() {\n")
        self.expect_one(sizes.check, "tools/main.cc:1:", "cannot find the functions")


class NamesTest(StyleTest):
    def test_accepts_good_names(self):
        self.write("lzero/kv_cache/internal/pool.h", guarded(
            "LZERO_KV_CACHE_INTERNAL_POOL_H_",
            'int terminated; auto p = x.data(); auto q = spdlog::level::info; Print("done");'))
        self.write("tools/cmake/FindLzTorch.cmake", "")
        self.assertEqual(self.findings(names.check), [])

    def test_accepts_the_toggling_guard_of_highway(self):
        guard = "LZERO_NN_LANES_INL_H_"
        toggle = (f"#if defined({guard}) == defined(HWY_TARGET_TOGGLE)\n#ifdef {guard}\n#undef {guard}\n"
                  f"#else\n#define {guard}\n#endif\nint x;\n#endif  // {guard}\n")
        self.write("lzero/nn/lanes_inl.h", toggle)
        self.assertEqual(self.findings(names.check), [])
        (self.root / "lzero/nn/lanes_inl.h").unlink()
        self.write("lzero/nn/lanes.h", toggle.replace("_INL", ""))
        self.expect_one(names.check, "lzero/nn/lanes.h:1:", "must be LZERO_NN_LANES_H_")

    def test_refuses_words(self):
        for line in ("bool done = false;", "Info* info;", "int new_size = 1;", "float gamma_ = 0;",
                     "Context& ctx;", "bool is_done;", "void tmp();", "Tensor hidden_states;"):
            with self.subTest(line):
                self.write("tools/a.cc", "\n" + line + "\n")
                self.expect_one(names.check, "tools/a.cc:2:", "is not a name here")

    def test_refuses_file_names(self):
        for name, part in (("tools/BadName.cc", "snake_case"), ("tools/utils.cc", "does not say"),
                           ("tools/old_tree.cc", "does not say"), ("tools/Sub/a.cc", "folder 'Sub'")):
            with self.subTest(name):
                self.write(name, "")
                self.expect_one(names.check, name + ":1:", part)
                (self.root / name).unlink()

    def test_refuses_wrong_guards(self):
        self.write("envs/a.h", guarded("A_H"))
        self.expect_one(names.check, "envs/a.h:1:", "must be LZERO_ENVS_A_H_")
        self.write("envs/a.h", "#ifndef LZERO_ENVS_A_H_\n#define LZERO_ENVS_A_H_\n#endif\n")
        self.expect_one(names.check, "envs/a.h:3:", "must end with")


class ProgramsTest(StyleTest):
    def exit_code(self, *command):
        return subprocess.run(command, capture_output=True, check=False).returncode

    def test_a_check_fails_on_findings_and_on_nothing_to_look_at(self):
        command = (sys.executable, "-B", HERE / "habits.py", self.root)
        self.assertEqual(self.exit_code(*command), 1)
        self.write("tools/a.cc", "int x;\n")
        self.assertEqual(self.exit_code(*command), 0)
        self.write("tools/a.cc", "throw 1;\n")
        self.assertEqual(self.exit_code(*command), 1)

    def test_clang_format_fails_on_bad_format(self):
        for folder in source_tree.FOLDERS:
            (self.root / folder).mkdir()
        (self.root / ".clang-format").write_text("BasedOnStyle: Google\n")
        command = (HERE / "clang_format.sh", self.root)
        if self.exit_code(*command) == 77:
            self.skipTest("clang-format 14 is not installed")
        self.assertEqual(self.exit_code(*command), 1)
        self.write("tools/a.cc", "int x;\n")
        self.assertEqual(self.exit_code(*command), 0)
        self.write("tools/a.cc", "int    x ;\n")
        self.assertEqual(self.exit_code(*command), 1)

    def test_clang_tidy_takes_files_when_they_change(self):
        commands = {name: (None, [], "base" not in name) for name in (
            "lzero/base/a.cc", "lzero/train/b.cc", "lzero/train/c.cc", "lzero/nn/d.h", "tests/train/b_test.cc")}
        changed = ["lzero/train/b.h", "lzero/base/a.h", "lzero/nn/d.h", "tests/train/b_test.cc"]
        chosen = tidy.chosen_names(commands, [], changed)
        self.assertEqual(chosen, ["lzero/base/a.cc", "lzero/train/b.cc", "lzero/nn/d.h"])
        self.assertEqual(tidy.chosen_names(commands, [], []), ["lzero/base/a.cc"])
        chosen = tidy.chosen_names(commands, ["tests/train/b_test.cc"], ["lzero/train/b.cc"])
        self.assertEqual(chosen, ["tests/train/b_test.cc"])

    def test_clang_tidy_takes_only_the_files_that_were_changed_last(self):
        for floor, torch, most in (("train", True, tidy.MOST_TORCH_FILES), ("env", False, tidy.MOST_PLAIN_FILES)):
            commands = {f"lzero/{floor}/{i}.cc": (None, [], torch) for i in range(most + 9)}
            changed = [f"lzero/{floor}/{i}.{end}" for i in range(most + 8, -1, -1) for end in ("h", "cc")]
            self.assertEqual(tidy.chosen_names(commands, [], changed),
                             [f"lzero/{floor}/{i}.cc" for i in range(most + 8, 8, -1)])

    def test_changed_files_are_none_without_git(self):
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = str(self.root)
        self.assertEqual(tidy.changed_files(HERE.parents[1]), [])

    def test_changed_files_begin_with_the_last_change(self):
        if shutil.which("git") is None:
            self.skipTest("git is not installed")
        def git(*arguments):
            subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                           check=True, capture_output=True)
        self.assertEqual(tidy.changed_files(self.root), [])
        git("init")
        for name in ("lzero/base/a.cc", "lzero/base/b.cc", "lzero/base/c.cc"):
            self.write(name, "int old;\n")
            git("add", "-A")
            git("commit", "-m", name)
        self.write("lzero/base/a.cc", "int changed;\n")
        self.assertEqual(tidy.changed_files(self.root), ["lzero/base/a.cc", "lzero/base/c.cc", "lzero/base/b.cc"])

    def test_clang_tidy_fails_on_bad_names_and_remembers_good_files(self):
        if tidy.find_program() is None:
            self.skipTest("clang-tidy is not installed")
        shutil.copy(HERE.parents[1] / ".clang-tidy", self.root)
        self.write("lzero/base/a.h", "int Twice(int number);\n")
        self.write("lzero/base/a.cc", '#include "lzero/base/a.h"\nint Twice(int n) { return n; }\n')
        self.write("build/compile_commands.json", json.dumps([{
            "directory": str(self.root), "file": str(self.root / "lzero/base/a.cc"),
            "command": f"ccache g++ -I{self.root} -fpch-preprocess --param=ggc-min-heapsize=9 -o a.o -c a.cc"}]))
        command = (sys.executable, "-B", HERE / "tidy.py", self.root, self.root / "build")
        self.assertEqual(self.exit_code(*command), 0)
        self.assertTrue((self.root / "build/tidy/lzero/base/a.cc.passed").is_file())
        self.write("lzero/base/a.h", "int twice(int number);\n")
        later = time.time() + 5
        os.utime(self.root / "lzero/base/a.h", (later, later))
        self.assertEqual(self.exit_code(*command), 1)
        self.assertEqual(self.exit_code(*command), 1)


if __name__ == "__main__":
    unittest.main()
