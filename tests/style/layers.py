"""Checks that includes go down the floors of the house, and nowhere else.

The table below is the one of the architecture: what each folder may include.
"""

import re

import source_tree

_CONFIG = {"base", "config"}
_ENV = _CONFIG | {"env"}
_MCTS = _CONFIG | {"mcts", "mcts/tree", "mcts/device"}
_RESULTS = _CONFIG | {"statistics", "run", "results"}
_NN = _CONFIG | {"tensor", "kernels", "packed", "nn"}
_KV_CACHE = _CONFIG | {"kv_cache"}
_REPLAY = _CONFIG | {"replay"}
_MODEL = _NN | {"model"}
_INFERENCE = _KV_CACHE | _MCTS | {"kernels", "packed", "inference"}
_INFERENCE_TENSOR = _INFERENCE | _MODEL | {"kv_cache/tensor", "graph", "statistics", "run", "inference/tensor"}
_PLAYERS = _INFERENCE | _ENV | {"env/check", "family/packed"}
_FAMILY = _INFERENCE_TENSOR | _PLAYERS | {"family"}
_AGENT = _MCTS | {"agent"}
_WORKER = _AGENT | _REPLAY | _ENV | {"worker"}
_PIPE = _WORKER | {"pipe"}
_PLAYER = _PLAYERS | _WORKER | {"statistics", "run", "envs", "player"}
_TRAIN = _FAMILY | _PLAYER | {"env/python", "train"}
_PLAIN_TOOLS = _AGENT | _REPLAY | _ENV | _RESULTS | {
    "env/check", "env/python", "mcts/golden", "envs", "report", "pipe", "family/unizero/rules", "tools/verbs/plain",
    "tools/verbs/support", "tools/verbs/sweep", "tools/bench/table"}
_PLAYER_TOOLS = _PLAIN_TOOLS | _PLAYER | {"tools/verbs/player"}

# Floors: folders below lzero/, or envs and tools, with what is below them but is no floor of its own.
ALLOWED = {
    "base": {"base"},
    "config": _CONFIG,
    "kernels": {"base", "kernels"},
    "packed": _CONFIG | {"kernels", "packed"},
    "tensor": {"base", "tensor"},
    "env": _ENV,
    "env/check": _ENV | {"env/check"},
    "env/python": _ENV | {"env/python"},
    "mcts": _MCTS,
    "mcts/tree": _CONFIG | {"mcts", "mcts/tree"},
    "mcts/device": _MCTS,
    "mcts/golden": _MCTS | {"mcts/golden"},
    "nn": _NN,
    "kv_cache": _KV_CACHE,
    "kv_cache/tensor": _KV_CACHE | {"tensor", "kv_cache/tensor"},
    "graph": {"base", "tensor", "graph"},
    "statistics": {"base", "statistics"},
    "run": _CONFIG | {"statistics", "run"},
    "results": _RESULTS,
    "report": _RESULTS | {"report"},
    "replay": _REPLAY,
    "model": _MODEL,
    "inference": _INFERENCE,
    "inference/tensor": _INFERENCE_TENSOR,
    "family": _FAMILY,
    "family/packed": _PLAYERS,
    "family/unizero/packed": _CONFIG | {"kernels", "family/unizero/packed"},
    "family/unizero/rules": _CONFIG | {"family/unizero/rules"},
    "agent": _AGENT,
    "worker": _WORKER,
    "pipe": _PIPE,
    "player": _PLAYER,
    "train": _TRAIN,
    "envs": _ENV | {"env/check", "env/python", "envs"},
    "tools": _PLAYER_TOOLS | _TRAIN | {"tools", "tools/verbs", "tools/bench"},
    "tools/verbs": _PLAYER_TOOLS | _TRAIN | {"tools/verbs"},
    "tools/verbs/player": _PLAYER_TOOLS,
    "tools/verbs/plain": _PLAIN_TOOLS,
    "tools/verbs/support": _PLAIN_TOOLS,
    "tools/verbs/sweep": _PLAIN_TOOLS,
    "tools/bench": _PLAIN_TOOLS | _TRAIN | {
        "tools/bench", "family/unizero", "family/unizero/engine", "family/unizero/packed"},
    "tools/bench/table": _PLAIN_TOOLS | {"kernels"},  # the machine's peaks
}
TORCH_FLOORS = {
    "tensor", "nn", "kv_cache/tensor", "graph", "model", "inference/tensor", "family", "train", "tools",
    "tools/verbs", "tools/bench",
}
TORCH_INCLUDE = re.compile(r"(torch|ATen|c10|caffe2)/|lzero/tensor/torch\.h$")
# Libraries that stay out of every header but those of tests.
ONLY_IN_SOURCES = re.compile(r"(nlohmann|yaml-cpp|CLI|Eigen)/|lzero/tensor/torch\.h$")

GENERATED = {"lzero/env/plugin_interface.h"}  # by the build
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


def floor_of(path):
    """The floor of a file or include, the longest of the table that holds it: 'mcts/tree', 'family/muzero'
    (each family is one), 'envs', 'tests'; None for a foreign one."""
    parts = str(path).split("/")
    if parts[0] == "tests":
        return "tests"
    if parts[0] not in ("lzero", "envs", "tools"):
        return None
    folders = parts[1:-1] if parts[0] == "lzero" else parts[:-1]
    for length in range(len(folders), 0, -1):
        floor = "/".join(folders[:length])
        if floor in ALLOWED or re.fullmatch(r"family/\w+(/(packed|engine|rules))?", floor):
            return floor
    return "/".join(folders) or "lzero"


def allowed_of(floor):
    """The floors that `floor` may include; None where the table does not know it. A family may include
    what all families may, and itself: never another one."""
    if floor not in ALLOWED and floor.startswith("family/"):
        family = "/".join(floor.split("/")[:2])
        own = {family + part for part in ("/packed", "/engine", "/rules")}
        return _FAMILY | own | {family} if floor == family else _PLAYERS | own
    return ALLOWED.get(floor)


def has_torch(floor):
    return floor in TORCH_FLOORS or (floor not in ALLOWED and re.fullmatch(r"family/\w+", floor) is not None)


def home_of(path):
    """The floor whose internal/ folder this file may use: tests/X belongs to X."""
    parts = str(path).split("/")
    return floor_of("/".join(["lzero", *parts[1:]])) if parts[0] == "tests" else floor_of(path)


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
    if floor == "tests":
        return
    allowed = allowed_of(floor)
    if allowed is not None and target not in allowed:
        names = " ".join(sorted(allowed - {floor})) or "no other floor"
        tree.report(path, line, f'{floor} includes "{included}"; {floor} may include: {names}')


def check_file(tree, path):
    floor = floor_of(path)
    if floor != "tests" and allowed_of(floor) is None:
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
        if TORCH_INCLUDE.match(included) and floor != "tests" and not has_torch(floor):
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
