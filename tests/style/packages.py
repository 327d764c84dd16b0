"""Checks that what the build installs and looks for is used: every C++ library of tools/setup.sh (the Debian
packages that end in -dev) and every find_package of CMake has an entry here, and some source includes it."""

import re

import source_tree

# Package, as Debian or CMake names it, and the start of what a user of it includes.
INCLUDES = {
    "libabsl-dev": "absl/", "absl": "absl/",
    "libcli11-dev": "CLI/", "CLI11": "CLI/",
    "libeigen3-dev": "Eigen/", "Eigen3": "Eigen/",
    "libgif-dev": "gif_lib.h", "GIF": "gif_lib.h",
    "libgmock-dev": "gmock/", "libgtest-dev": "gtest/", "GTest": "gtest/",
    "libhwy-dev": "hwy/",
    "libpng-dev": "png.h", "PNG": "png.h",
    "librandom123-dev": "Random123/",
    "libspdlog-dev": "spdlog/", "spdlog": "spdlog/",
    "libyaml-cpp-dev": "yaml-cpp/", "yaml-cpp": "yaml-cpp/",
    "nlohmann-json3-dev": "nlohmann/", "nlohmann_json": "nlohmann/",
    "CUDAToolkit": "cuda_runtime", "LzTorch": "torch/", "Threads": "thread", "lzero": "lzero/",
}
_DEBIAN = re.compile(r"(?<![\w-])[a-z0-9+-]+-dev(?![\w-])")
_CMAKE = re.compile(r"\b(?:find_package|lz_find_archives)\(([\w -]+)\)")
_WORDS = {"REQUIRED", "NO_MODULE"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


def packages_of(path, text):
    """(name, position) of every package that a script of the build names."""
    text = re.sub(r"(?m)^[ \t]*#.*", lambda match: " " * len(match.group(0)), text)
    if path.suffix == ".sh":
        return [(match.group(0), match.start()) for match in _DEBIAN.finditer(text)]
    return [(name, match.start()) for match in _CMAKE.finditer(text)
            for name in match.group(1).split() if name not in _WORDS]


def check(tree):
    included = set()
    for path in tree.files():
        included.update(_INCLUDE.findall(source_tree.without_comments(tree.read(path))))
    scripts = [path.relative_to(tree.root) for path in tree.root.glob("CMakeLists.txt")]
    scripts += [path for path in tree.files((".txt", ".cmake", ".sh"))
                if path.name in ("CMakeLists.txt", "setup.sh") or path.suffix == ".cmake"]
    for path in scripts:
        text = tree.read(path)
        for name, position in packages_of(path, text):
            line = source_tree.line_of(text, position)
            if name not in INCLUDES:
                tree.report(path, line, f"package {name} has no entry in tests/style/packages.py")
            elif not any(header.startswith(INCLUDES[name]) for header in included):
                tree.report(path, line, f"package {name}: no source includes {INCLUDES[name]}")


if __name__ == "__main__":
    source_tree.run(check)
