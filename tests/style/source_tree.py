"""What the style checks share: the source files of a tree, C++ text without comments and strings, and
how findings are reported. Not a check itself."""

import pathlib
import re
import sys

FOLDERS = ("lzero", "envs", "tools", "tests")
CPP = (".h", ".cc", ".cu", ".cuh")

_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>(?<![\w])\d(?:'?[\w.])*)
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)


def _blank(text):
    """Spaces in place of `text`, with its line breaks kept."""
    return re.sub(r"[^\n]", " ", text)


def _erase(match, kinds):
    if match.lastgroup == "mark" or match.group("raw"):
        kind = "raw"
    else:
        kind = match.lastgroup
    text = match.group(0)
    if kind not in kinds:
        return text
    if kind == "comment":
        return _blank(text)
    quote = "'" if kind == "char" else '"'
    return quote + _blank(text[1:-1]) + quote


def without_comments(text):
    """C++ `text` with comments blanked; lines and columns stay."""
    return _TOKEN.sub(lambda match: _erase(match, ("comment",)), text)


def code_only(text):
    """C++ `text` with comments and the insides of literals blanked; lines and columns stay."""
    return _TOKEN.sub(lambda match: _erase(match, ("comment", "raw", "string", "char")), text)


def without_preprocessor(code):
    """`code` with directives, continued lines included, blanked."""
    directive = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
    return directive.sub(lambda match: _blank(match.group(0)), code)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Tree:
    """The source files below `root`, as paths relative to it, and the findings of one check."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.findings = []
        self.num_files = 0

    def files(self, suffixes=CPP, folders=FOLDERS):
        found = []
        for folder in folders:
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts:
                    found.append(path.relative_to(self.root))
        self.num_files += len(found)
        return found

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def report(self, path, line, message):
        self.findings.append(f"{path}:{line}: {message}")


def run(check):
    """Runs check(tree) on the folder named on the command line; exits 1 when it found something or
    had nothing to look at."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} SOURCE_FOLDER")
    tree = Tree(sys.argv[1])
    check(tree)
    for finding in tree.findings:
        print(finding)
    if tree.num_files == 0:
        sys.exit(f"no source files below {sys.argv[1]}")
    print(f"{tree.num_files} files, {len(tree.findings)} findings")
    sys.exit(1 if tree.findings else 0)
