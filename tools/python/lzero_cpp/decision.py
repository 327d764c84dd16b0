"""What a search decided, and its tree."""
from __future__ import annotations

import dataclasses
from typing import List, Mapping, Optional

import numpy as np


def _short(array: np.ndarray) -> str:
    return np.array2string(array, precision=3, threshold=8, separator=", ").replace("\n", "")


@dataclasses.dataclass(frozen=True)
class Decision:
    """What was decided about B episodes. P: the actions of a discrete environment, or the sampled
    ones of a box.

    >>> import lzero_cpp
    >>> with lzero_cpp.load("runs/counting") as agent:
    ...     decision = agent.act_batch([[1] + [0] * 10])
    >>> decision
    <lzero_cpp.Decision of 1: actions [...], values [...]>
    >>> decision.actions.shape, decision.policies.shape, decision.values.dtype.name
    ((1,), (1, 3), 'float32')
    >>> int(decision.visits.sum()) == agent.simulations
    True
    """

    actions: np.ndarray  # [B] int32, or [B, D] float32 in the bounds of a box
    policies: np.ndarray  # [B, P] float32: visit shares, or Gumbel's improved policy
    values: np.ndarray  # [B] float32: of the root, by the search
    network_values: np.ndarray  # [B] float32: of the root, by the network alone
    visits: np.ndarray  # [B, P] int32
    sampled: Optional[np.ndarray]  # [B, P, D] float32: the actions that a box's policy is about
    seconds: float  # of the search, in the program

    def __repr__(self) -> str:
        return (f"<lzero_cpp.Decision of {len(self.actions)}: actions {_short(self.actions)}, "
                f"values {_short(self.values)}>")


@dataclasses.dataclass(frozen=True)
class Tree:
    """A search tree of M nodes as columns; node 0 is the root. A value is from the view of the player
    to move at its node, q of the one who chose the action.

    >>> import lzero_cpp
    >>> with lzero_cpp.load("runs/counting") as agent:
    ...     tree = agent.search([1] + [0] * 10)
    >>> tree
    <lzero_cpp.Tree of 9 nodes: value ..., principal variation [...]>
    >>> int(tree.parent[0]), int(tree.visits[0]) == agent.simulations + 1
    (-1, True)
    """

    decision: Decision  # B = 1
    parent: np.ndarray  # [M] int32, -1: of the root
    action: np.ndarray  # [M] int32: that led here; a chance outcome, or the slot of a box's action
    visits: np.ndarray  # [M] int32
    q: np.ndarray  # [M] float32: reward + discount * value
    prior: np.ndarray  # [M] float32
    value: np.ndarray  # [M] float32: mean of what was backed up
    network_value: np.ndarray  # [M] float32
    reward: np.ndarray  # [M] float32: of the step that led here
    action_values: Optional[np.ndarray]  # [M, D] float32: of a box, the action that led here; root: 0

    def __repr__(self) -> str:
        return (f"<lzero_cpp.Tree of {self.parent.size} nodes: value {self.value[0]:.3f}, "
                f"principal variation {self.principal_variation()}>")

    def principal_variation(self) -> List[int]:
        """The actions from the root to a leaf, each the most visited one.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     tree = agent.search([1] + [0] * 10)
        >>> tree.principal_variation()[0] in (0, 1, 2)
        True
        """
        actions: List[int] = []
        node = 0
        while True:
            children = np.flatnonzero(self.parent == node)
            if children.size == 0:
                return actions
            node = int(children[np.argmax(self.visits[children])])
            actions.append(int(self.action[node]))

    def columns(self) -> Mapping[str, np.ndarray]:
        """The columns by name, as `pandas.DataFrame` takes them; the numbers of a box's action are
        `action_0`, `action_1` and so on.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     columns = agent.search([1] + [0] * 10).columns()
        >>> sorted(columns)
        ['action', 'network_value', 'parent', 'prior', 'q', 'reward', 'value', 'visits']
        """
        names = [field.name for field in dataclasses.fields(self) if field.name not in ("decision", "action_values")]
        columns = {name: getattr(self, name) for name in names}
        if self.action_values is not None:
            columns.update((f"action_{d}", numbers) for d, numbers in enumerate(self.action_values.T))
        return columns
