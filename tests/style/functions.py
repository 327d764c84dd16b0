"""Finds the functions of a C++ file by counting braces: right for code in our format, no parser.

Only braces at namespace or class scope are judged: everything inside a function belongs to it.
"""

import bisect
import re

import source_tree

_OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|<=>|[-+*/%^&|~!=<>]{1,3}|,)")
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\balignas\s*\([^()]*\)|\b__attribute__\s*\(\([^()]*\)\)")
_NAME = re.compile(r"([\w:~]+)\s*\(")


def _without_template(head):
    """`head` without leading template<...> lists."""
    head = head.lstrip()
    while re.match(r"template\s*<", head):
        depth, at = 0, head.index("<")
        for at in range(at, len(head)):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            if depth == 0:
                break
        head = head[at + 1:].lstrip()
    return head


def _outside_brackets(head):
    """`head` with everything in parentheses and braces removed: f(int a = 1) const -> f() const."""
    kept, depth = [], 0
    for c in head:
        if c in ")}":
            depth -= 1
        if depth == 0:
            kept.append(c)
        if c in "({":
            depth += 1
    return "".join(kept)


def kind_of(head):
    """What the brace after `head` opens: 'scope', 'function' or 'other' (initialisers, enums)."""
    head = _ATTRIBUTE.sub(" ", _OPERATOR.sub("operator_name", _without_template(head)))
    if re.search(r"\bnamespace\b", head) or re.fullmatch(r'\s*extern\s*"\s*"\s*', head):
        return "scope"
    if re.match(r"\s*(?:friend\s+)?(?:class|struct|union)\b", head):
        return "scope"
    if re.match(r"\s*(?:typedef\s+)?enum\b", head):
        return "other"
    plain = _outside_brackets(head)
    if re.search(r"=\s*\[[^\]]*\]", plain):
        return "function"  # a lambda with a name
    if "=" in plain or "(" not in plain:
        return "other"
    # X::X(int a) : a_{a}, b_(2) {   a brace right after a member's name initialises that member.
    initialisers = re.search(r"\)\s*(?:noexcept\s*(?:\(\))?\s*)?:(?!:)(.*)$", plain, re.DOTALL)
    if initialisers and re.search(r"[\w>]\s*$", plain):
        return "other"
    return "function"


def _name_of(head):
    plain = _ATTRIBUTE.sub(" ", _without_template(head))
    match = _NAME.search(plain)
    if match is None:
        match = re.search(r"(\w+)\s*=", plain)
    return match.group(1) if match else "?"


def find_functions(text):
    """(name, first line, last line) of each function; the first line is where its head begins."""
    code = source_tree.without_preprocessor(source_tree.code_only(text))
    line_starts = [0] + [match.end() for match in re.finditer("\n", code)]

    def line(position):
        return bisect.bisect_right(line_starts, position)

    functions = []
    open_braces = []  # (kind, start of head) of each open brace
    head_start, parentheses = 0, 0
    for match in re.finditer(r"[{};()]|\b(?:public|private|protected)\s*:", code):
        at, token = match.start(), match.group(0)
        inside = bool(open_braces) and open_braces[-1][0] != "scope"
        if token == "{":
            kind = "other" if inside or parentheses else kind_of(code[head_start:at])
            open_braces.append((kind, head_start))
            if kind == "scope" or inside or parentheses == 0 and kind == "function":
                head_start = at + 1
        elif token == "}":
            if not open_braces:
                raise ValueError(f"line {line(at)}: closing brace without an opening one")
            kind, start = open_braces.pop()
            if kind == "function":
                head = code[start:at].lstrip()
                functions.append((_name_of(head), line(at - len(head)), line(at)))
            if kind != "other":
                head_start = at + 1
        elif not inside:
            if token == "(":
                parentheses += 1
            elif token == ")":
                parentheses -= 1
            elif token == ";" and parentheses == 0 or token[0] == "p":
                head_start = at + len(token)
    if open_braces:
        raise ValueError(f"line {line(open_braces[-1][1])}: a brace is never closed")
    return functions
