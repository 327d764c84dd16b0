"""Checks sizes and the mirror rule: folders of at most 25 files, files of at most 400 lines, functions of
at most 60 (from the first line of the signature to the closing brace), and a test file for every .cc of
lzero/ and envs/."""

import ast
import collections
import pathlib

import functions
import source_tree

MAX_FOLDER_FILES = 25  # directly in it, whatever they hold; CMakeLists.txt and README.md do not count
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
SUFFIXES = source_tree.CPP + (".py", ".sh", ".cmake", ".txt")


def functions_of(path, text):
    """(name, first line, last line) of each function of a C++ or Python file."""
    if path.suffix in source_tree.CPP:
        return functions.find_functions(text)
    if path.suffix == ".py":
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
        return [(node.name, node.lineno, node.end_lineno) for node in nodes]
    return []


def test_of(path):
    """The test file of a .cc: lzero/F/x.cc and lzero/F/internal/x.cc -> tests/F/x_test.cc,
    lzero/F/G/x.cc -> tests/F/G/x_test.cc, envs/F/x.cc -> tests/envs/F/x_test.cc."""
    folders = path.parts[1:-1] if path.parts[0] == "lzero" else path.parts[:-1]
    folders = [folder for folder in folders if folder != "internal"]
    return pathlib.Path("tests", *folders, f"{path.stem}_test.cc")


def check_folders(tree):
    counts = collections.Counter()
    for folder in source_tree.FOLDERS + ("configs",):
        for path in (tree.root / folder).rglob("*"):
            if path.is_file() and path.name not in ("CMakeLists.txt", "README.md") and path.suffix != ".pyc":
                counts[path.parent.relative_to(tree.root)] += 1
    for folder, count in sorted(counts.items()):
        if count > MAX_FOLDER_FILES:
            tree.report(folder, 1, f"{count} files, allowed are {MAX_FOLDER_FILES}: a folder holds one thing")


def check(tree):
    check_folders(tree)
    for path in tree.files(SUFFIXES):
        text = tree.read(path)
        num_lines = len(text.splitlines())
        is_listing = path.suffix == ".txt" and path.name != "CMakeLists.txt"
        if num_lines > MAX_FILE_LINES and not is_listing:
            tree.report(path, num_lines, f"{num_lines} lines, allowed are {MAX_FILE_LINES}")
        try:
            found = functions_of(path, text)
        except (ValueError, SyntaxError) as error:
            tree.report(path, 1, f"cannot find the functions: {error}")
            continue
        for name, first, last in found:
            if last - first + 1 > MAX_FUNCTION_LINES:
                tree.report(path, first, f"function {name} has {last - first + 1} lines, "
                                         f"allowed are {MAX_FUNCTION_LINES}")
    for path in tree.files((".cc",), ("lzero", "envs")):
        if not (tree.root / test_of(path)).is_file():
            tree.report(path, 1, f"has no test {test_of(path)}")


if __name__ == "__main__":
    source_tree.run(check)
