"""Tests of habits.py: it finds each bad habit in a small bad tree, and nothing in a good one."""

import unittest

import habits
import style_test


class HabitsTest(style_test.StyleTest):
    def test_accepts_good_code(self):
        self.write("lzero/nn/a.h", "#include <torch/torch.h>\n#include <vector>\n"
                                   "std::vector<torch::Tensor> F();  // throw\n")
        self.write("lzero/nn/a.cc", 'LZ_CHECK(a); Say("throw LOG(x)"); NOT_A_CHECK(x);\n')
        self.write("tools/a.sh", "ls /usr/local/cuda $root/work/x build/tmp/x\n")
        self.assertEqual(self.findings(habits.check), [])

    def test_refuses_bad_code(self):
        for line, part in (('Open("/work/x");', "path of one machine"), ("// TODO: later", "finish"),
                           ('throw Error("x");', "absl::Status"), ("CHECK_EQ(a, b);", "LZ_CHECK"),
                           ("LOG(INFO) << a;", "LZ_LOG"), ("assert(a);", "LZ_CHECK"),
                           ("catch (const c10::Error& e) {}", "torch_status.h")):
            with self.subTest(line):
                self.write("lzero/base/a.cc", "\n" + line + "\n")
                self.expect_one(habits.check, "lzero/base/a.cc:2:", part)

    def test_refuses_riddles_in_comments(self):
        good = "// FamilyOf(x): of a root.\n// The caller must wait.\n\nint Of ();  // \"Offset\"\n"
        for riddle in ("Of a root.", "It is the caller's\n// bug.", "That is its business.",
                       "Who sets it is told so.", "Lines for people.", "With the device's words."):
            with self.subTest(riddle):
                self.write("envs/a.cc", good + "int x;  // plain\n//\n// What it is.\n// " + riddle)
                self.expect_one(habits.check, "envs/a.cc:8:", "the caller must")

    def test_refuses_riddles_in_scripts_and_pages(self):
        for name, start in (("envs/CMakeLists.txt", "set(Of ${#x})\n#\nuse(x)  # "), ("envs/a.md", "# Page\n\n")):
            self.write(name, start + "All of them.\n")
            self.assertEqual(self.findings(habits.check), [])
            self.write(name, start + "Of them all.\n")
            self.expect_one(habits.check, name + ":3:", "subject, verb, object")
            (self.root / name).unlink()

    def test_refuses_pages_that_are_missing(self):
        self.write("README.md", "")
        self.write("envs/README.md", "See [model.md](../README.md), README.md\n")
        self.write("envs/a.cc", '// See envs/README.md, README.md, all *.md.\nOpen("page.md");\n')
        self.assertEqual(self.findings(habits.check), [])
        for line in ("// [model.md section 2]", "// The rule (see docs/README.md).", "// As\n// in envs/a.md"):
            with self.subTest(line):
                self.write("envs/a.cc", line + "\n")
                self.expect_one(habits.check, "envs/a.cc:", "is not in the repository")

    def test_refuses_headers_that_lean_on_the_precompiled_one(self):
        self.write("lzero/nn/a.h", "#include <torch/torch.h>\nstd::vector<int> F();\n")
        self.expect_one(habits.check, "lzero/nn/a.h:2:", "without including <vector>")
        self.write("lzero/nn/a.h", "\ntorch::Tensor F();\n")
        self.expect_one(habits.check, "lzero/nn/a.h:2:", "without including a torch header")


if __name__ == "__main__":
    unittest.main()
