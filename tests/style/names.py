"""Checks names: files in snake_case, include guards, and the words that this house does not use.

What clang-tidy can judge (CamelCase, trailing underscores) is tools/tidy.sh's.
"""

import re

import source_tree

FILE_NAME = re.compile(r"[a-z][a-z0-9_]*\.(h|cc|cu|cuh|py|sh|cmake)")
FOLDER_NAME = re.compile(r"[a-z][a-z0-9_]*")
# CMake's own conventions.
OTHER_FILE_NAMES = re.compile(r"__init__\.py|CMakeLists\.txt|Find[A-Za-z]+\.cmake|Lz[A-Za-z]+\.cmake")

WORDS = ("hidden_state", "rollout", "done", "gamma", "wm", "ctx", "cfg", "tmp", "data", "info", "utils")
PREFIXES = ("new_", "old_", "legacy_", "custom_")
# A file may be named after the verb 'lzero envs rollout'.
FILE_WORDS = tuple(word for word in WORDS if word != "rollout") + ("util", "helper", "helpers", "misc", "common")
_WORD = re.compile(
    r"(?<![\w.:>])(?:(?:is_|num_|the_)?(?P<word>" + "|".join(WORDS) + r")s?_?"
    r"|(?P<prefix>" + "|".join(PREFIXES) + r")\w+)(?!\w)(?!\s*::)"
)


def guard_of(path):
    """lzero/base/check.h -> LZERO_BASE_CHECK_H_, envs/catch.h -> LZERO_ENVS_CATCH_H_."""
    name = re.sub(r"[^A-Za-z0-9]", "_", str(path)).upper() + "_"
    return name if name.startswith("LZERO_") else "LZERO_" + name


def guard_start_of(path):
    """How a header begins. One that Highway includes once for each instruction set, x_inl.h, has a
    guard that toggles."""
    guard = guard_of(path)
    if path.stem.endswith("_inl"):
        return (f"#if defined({guard}) == defined(HWY_TARGET_TOGGLE)\n#ifdef {guard}\n#undef {guard}\n"
                f"#else\n#define {guard}\n#endif\n")
    return f"#ifndef {guard}\n#define {guard}\n"


def check_guard(tree, path, text):
    guard = guard_of(path)
    code = source_tree.without_comments(text).strip()
    if not code.startswith(guard_start_of(path)):
        tree.report(path, 1, f"the include guard must be {guard}")
    elif not text.rstrip().endswith(f"#endif  // {guard}"):
        tree.report(path, len(text.splitlines()), f"must end with '#endif  // {guard}'")
    if "#pragma once" in text:
        tree.report(path, 1, f"#pragma once: use the include guard {guard}")


def check_words(tree, path, text):
    code = source_tree.without_preprocessor(source_tree.code_only(text))
    for match in _WORD.finditer(code):
        name = match.group(0)
        called = code[match.end():].lstrip().startswith("(")
        if called and match.group("word") == "data":
            continue  # the accessor every container has
        word = match.group("word") or match.group("prefix")
        tree.report(path, source_tree.line_of(code, match.start()),
                    f"name '{name}': '{word}' is not a name here, say what it is")


def check_file_name(tree, path):
    if OTHER_FILE_NAMES.fullmatch(path.name):
        return
    if not FILE_NAME.fullmatch(path.name):
        tree.report(path, 1, "file names are snake_case")
    stem = path.stem.removesuffix("_test")
    if stem in FILE_WORDS or stem.startswith(PREFIXES):
        tree.report(path, 1, f"file name '{path.name}' does not say what the file is")
    for folder in path.parts[:-1]:
        if not FOLDER_NAME.fullmatch(folder):
            tree.report(path, 1, f"folder '{folder}': folder names are snake_case")


def check(tree):
    for path in tree.files(source_tree.CPP + (".py", ".sh", ".cmake")):
        check_file_name(tree, path)
        if path.suffix in source_tree.CPP:
            text = tree.read(path)
            check_words(tree, path, text)
            if path.suffix in (".h", ".cuh"):
                check_guard(tree, path, text)


if __name__ == "__main__":
    source_tree.run(check)
