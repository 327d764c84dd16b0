"""Checks that includes go down the floors of the house, and nowhere else.

The table below is the one of the architecture: what each folder may include beside itself.
"""

import re

import source_tree

_BASE = {"base"}
_ENV = {"base", "config", "env"}
_MCTS = {"base", "config", "mcts"}
_NN = {"base", "config", "tensor", "nn"}
_KV_CACHE = {"base", "config", "tensor", "kv_cache"}
_REPLAY = {"base", "config", "replay"}
_WORLD_MODEL = _NN | {"world_model"}
_GRAPH = {"base", "tensor", "graph"}
_INFERENCE = _WORLD_MODEL | _KV_CACHE | _GRAPH | _MCTS | _ENV | {"inference"}
_AGENT = _MCTS | {"agent"}
_WORKER = _AGENT | _REPLAY | _ENV | {"worker"}
_TRAIN = _INFERENCE | _WORKER | {"envs", "train"}

ALLOWED = {
    "base": _BASE,
    "config": {"base", "config"},
    "tensor": {"base", "tensor"},
    "env": _ENV,
    "mcts": _MCTS,
    "nn": _NN,
    "kv_cache": _KV_CACHE,
    "graph": _GRAPH,
    "replay": _REPLAY,
    "world_model": _WORLD_MODEL,
    "inference": _INFERENCE,
    "agent": _AGENT,
    "worker": _WORKER,
    "train": _TRAIN,
    "envs": _ENV | {"envs"},
    "tools": _TRAIN | {"tools"},
}
# Single headers beyond the table.
ALLOWED_HEADERS = {"worker": {"lzero/kv_cache/kv_cache_manager.h"}}
TORCH_FLOORS = {
    "tensor", "nn", "kv_cache", "graph", "world_model", "inference", "worker", "train", "tools",
}
TORCH_INCLUDE = re.compile(r"(torch|ATen|c10|caffe2)/|lzero/tensor/torch\.h$")
# Libraries that stay out of every header but those of tests.
ONLY_IN_SOURCES = re.compile(r"(nlohmann|yaml-cpp|CLI)/|lzero/tensor/torch\.h$")

GENERATED = {"lzero/env/plugin_interface.h"}  # by the build
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


def floor_of(path):
    """The floor of a file or include: 'mcts', 'envs', 'tools', 'tests'; None for a foreign one."""
    parts = str(path).split("/")
    if parts[0] == "lzero":
        return parts[1] if len(parts) > 2 else "lzero"
    return parts[0] if parts[0] in ("envs", "tools", "tests") else None


def home_of(path):
    """The floor whose internal/ folder this file may use: tests/X belongs to X."""
    parts = str(path).split("/")
    return parts[1] if parts[0] == "tests" and len(parts) > 2 else floor_of(path)


def includes_of(text):
    """(line, quoted or not, path) of each include."""
    clean = source_tree.without_comments(text)
    for match in INCLUDE.finditer(clean):
        yield source_tree.line_of(clean, match.start()), match.group(1) == '"', match.group(2)


def check_own_include(tree, path, line, included):
    """A file of ours includes a file of ours."""
    floor = floor_of(path)
    target = floor_of(included)
    if included not in GENERATED and not (tree.root / included).is_file():
        tree.report(path, line, f'"{included}" does not exist')
    if "/internal/" in included and home_of(path) != target:
        tree.report(path, line, f'"{included}" is internal to {target}')
    if floor == "tests" or included in ALLOWED_HEADERS.get(floor, ()):
        return
    if floor in ALLOWED and target not in ALLOWED[floor]:
        names = " ".join(sorted(ALLOWED[floor] - {floor})) or "no other floor"
        tree.report(path, line, f'{floor} includes "{included}"; {floor} may include: {names}')


def check_file(tree, path):
    floor = floor_of(path)
    if floor not in ALLOWED and floor != "tests":
        tree.report(path, 1, f"folder '{floor}' is not a floor of the table in tests/style/layers.py")
    own = []
    for line, quoted, included in includes_of(tree.read(path)):
        if floor_of(included) is not None:
            if not quoted:
                tree.report(path, line, f"<{included}> is our file: include it with quotes")
            check_own_include(tree, path, line, included)
            own.append(included)
        elif quoted and "/" not in included:
            tree.report(path, line, f'"{included}": an include carries its folder')
        if TORCH_INCLUDE.match(included) and floor not in TORCH_FLOORS | {"tests"}:
            tree.report(path, line, f"<{included}>: {floor} is a floor without torch")
        if included == "torch/torch.h":
            tree.report(path, line, 'include "lzero/tensor/torch.h": the parts of it that are precompiled')
        if ONLY_IN_SOURCES.match(included) and path.suffix == ".h" and floor != "tests":
            tree.report(path, line, f"<{included}> belongs into .cc files, not into a header")
        if included.startswith("spdlog/") and str(path) != "lzero/base/log.cc":
            tree.report(path, line, f"<{included}>: only lzero/base/log.cc includes spdlog")
    return own


def report_cycles(tree, graph):
    """Depth-first search; each file on a cycle of headers is reported once."""
    state = {}

    def visit(node, trail):
        state[node] = "open"
        for target in graph.get(node, ()):
            if state.get(target) == "open":
                cycle = trail[trail.index(target):] + [target]
                tree.report(node, 1, "include cycle: " + " -> ".join(cycle))
            elif target not in state:
                visit(target, trail + [target])
        state[node] = "closed"

    for node in graph:
        if node not in state:
            visit(node, [node])


def check(tree):
    graph = {}
    for path in tree.files():
        graph[str(path)] = check_file(tree, path)
    report_cycles(tree, graph)


if __name__ == "__main__":
    source_tree.run(check)
