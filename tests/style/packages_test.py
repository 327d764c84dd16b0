"""Tests of packages.py on small bad trees and a good one."""

import unittest

import packages
import style_test


class PackagesTest(style_test.StyleTest):
    def setUp(self):
        super().setUp()
        self.write("lzero/a.cc", '#include <png.h>\n#include "yaml-cpp/parser.h"\n// #include <hwy/highway.h>\n')

    def test_accepts_what_is_included(self):
        self.write("CMakeLists.txt", "# find_package(Gone REQUIRED)\nfind_package(yaml-cpp REQUIRED)\n"
                                     "lz_find_archives(PNG)\nfind_package_handle_standard_args(Torch x)\n")
        self.write("tools/setup.sh", "packages=(\n  cmake libpng-dev libyaml-cpp-dev python3\n)\n# libgone-dev\n")
        self.assertEqual(self.findings(packages.check), [])

    def test_refuses_what_is_included_nowhere(self):
        self.write("CMakeLists.txt", "\nlz_find_archives(PNG GIF)\n")
        self.expect_one(packages.check, "CMakeLists.txt:2: ", "package GIF: no source includes gif_lib.h")
        self.write("CMakeLists.txt", "")
        self.write("tools/setup.sh", "packages=(\n  libhwy-dev\n)\n")
        self.expect_one(packages.check, "tools/setup.sh:2: ", "package libhwy-dev: no source includes hwy/")

    def test_refuses_what_it_does_not_know(self):
        self.write("tools/cmake/more.cmake", "find_package(Boost REQUIRED NO_MODULE)\n")
        self.expect_one(packages.check, "tools/cmake/more.cmake:1: ", "package Boost has no entry")


if __name__ == "__main__":
    unittest.main()
