"""Checks habits that the compiler lets pass: paths of one machine, exceptions, macros that libtorch
defines too, leftovers and riddles in comments, pages that are named and missing, and the standard
headers that torch headers would hide."""

import re

import layers
import source_tree

MACHINE_PATH = re.compile(r"""(?<![\w./$}*])/(?:work|root|home|tmp|mnt|media|Users)/""")
LEFTOVER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
# Words that make a riddle of a comment or page, beginning with sentences that have no subject.
RIDDLE = re.compile(r"\bOf(?=\s)|\btold (?:so|once)\b|\bfor people\b|\bbusiness\b"
                    r"|\bcaller's bugs?\b|\bdevice's words\b")
# A page that is named in words: not a string of a program, nor the text of a link.
PAGE = re.compile(r"""(?<!["'\w./-])[\w./-]*\w\.md\b(?!\]\()""")
BARE_MACRO = re.compile(
    r"(?<![\w:])(?:D?CHECK(?:_[A-Z]{2})?|D?LOG(?:_[A-Z]+)?|VLOG|assert|TORCH_CHECK|ABSL_CHECK)\s*\(")
THROW = re.compile(r"\bthrow\b")
TORCH_ERROR = re.compile(r"\b(?:c10|at|torch)::(?:\w+::)*\w*Error\b")

# torch's headers bring half of the standard library: on torch floors a missing include goes unseen.
STANDARD = {
    "vector": "vector", "string": "string", "array": "array", "optional": "optional",
    "function": "functional", "unique_ptr": "memory", "shared_ptr": "memory", "pair": "utility",
    "tuple": "tuple", "map": "map", "unordered_map": "unordered_map", "set": "set",
    "unordered_set": "unordered_set", "deque": "deque", "mutex": "mutex", "thread": "thread",
    "atomic": "atomic", "condition_variable": "condition_variable", "variant": "variant",
}
_STANDARD_NAME = re.compile(r"\bstd::(" + "|".join(STANDARD) + r")\b")
_TORCH_NAME = re.compile(r"\b(?:torch|at|c10)::")


def report_all(tree, path, pattern, text, message):
    for match in pattern.finditer(text):
        tree.report(path, source_tree.line_of(text, match.start()),
                    message.format(match.group(0).strip("( ")))


def may_catch_torch_errors(path):
    return path.stem in ("torch_status", "torch_status_test") and "tensor" in path.parts


def check_cpp(tree, path, text):
    code = source_tree.code_only(text)
    report_all(tree, path, THROW, code, "'{}': errors are absl::Status, bugs are LZ_CHECK")
    macros = source_tree.without_preprocessor(code)
    report_all(tree, path, BARE_MACRO, macros, "'{}' is libtorch's or none of ours: use LZ_CHECK or LZ_LOG")
    if not may_catch_torch_errors(path):
        report_all(tree, path, TORCH_ERROR, code, "'{}': only tensor/torch_status.h meets torch's errors")


def without_hash_comments(text):
    """A script's or CMake's `text` with comments blanked."""
    return re.sub(r"(?:^|(?<=\s))#.*", "", text, flags=re.MULTILINE)


def comments_of(text, without_comments):
    """(first line, text of each line) of the comments of `text`; whole-line comments that follow each
    other are one."""
    code = without_comments(text).split("\n")
    comments = []
    joins = False
    for number, (line, rest) in enumerate(zip(text.split("\n"), code), 1):
        is_whole = line != rest and not rest.strip()
        words = line[len(rest.rstrip()):].strip(" /*#")
        if joins and is_whole:
            comments[-1][1].append(words)
        elif line != rest:
            comments.append((number, [words]))
        joins = is_whole
    return comments


def check_words(tree, path, text):
    """Comments and pages are plain English; a phrase may go over the end of a line."""
    if path.suffix == ".md":
        comments = [(1, text.split("\n"))]
    else:
        comments = comments_of(text, source_tree.without_comments if path.suffix in source_tree.CPP
                               else without_hash_comments)
    for first, lines in comments:
        words = " ".join(lines)
        for match in RIDDLE.finditer(words):
            line, end = first, len(lines[0])
            while end < match.start():
                line += 1
                end += 1 + len(lines[line - first])
            tree.report(path, line, f"'{match.group(0)}' in a comment: write subject, verb, object; "
                        "a duty is \"the caller must ...\"")


def check_pages(tree, path, text):
    """A page that is named stands there, or beside the file that names it."""
    for match in PAGE.finditer(text):
        page = match.group(0)
        if not any((folder / page).is_file() for folder in (tree.root, tree.root / path.parent)):
            tree.report(path, source_tree.line_of(text, match.start()),
                        f"'{page}' is not in the repository: say the rule, or name the paper")


def check_header_includes(tree, path, text):
    """On torch floors, where the precompiled header would hide them, headers name what they use."""
    included = {name for _, _, name in layers.includes_of(text)}
    code = source_tree.code_only(text)
    for match in _STANDARD_NAME.finditer(code):
        header = STANDARD[match.group(1)]
        if header not in included:
            included.add(header)
            tree.report(path, source_tree.line_of(code, match.start()),
                        f"uses {match.group(0)} without including <{header}>")
    torch_name = _TORCH_NAME.search(code)
    if torch_name and not any(layers.TORCH_INCLUDE.match(name) for name in included):
        tree.report(path, source_tree.line_of(code, torch_name.start()),
                    f"uses {torch_name.group(0)} without including a torch header")


def check(tree):
    for path in tree.files((".md",), source_tree.FOLDERS + ("configs", "experiments")):
        text = tree.read(path)
        check_words(tree, path, text)
        check_pages(tree, path, text)
    for path in tree.files(source_tree.CPP + (".py", ".sh", ".cmake", ".txt")):
        text = tree.read(path)
        # Tests may name temporary folders; this file and its test hold the patterns.
        if path.parts[0] != "tests":
            report_all(tree, path, MACHINE_PATH, text, "'{}' is a path of one machine")
        if path.parts[:2] != ("tests", "style"):
            report_all(tree, path, LEFTOVER, text, "'{}': finish it or file an issue")
            check_words(tree, path, text)
            check_pages(tree, path, text)
        if path.suffix in source_tree.CPP:
            check_cpp(tree, path, text)
        if path.suffix == ".h" and layers.has_torch(layers.floor_of(path) or ""):
            check_header_includes(tree, path, text)


if __name__ == "__main__":
    source_tree.run(check)
