"""What an environment is: shapes, actions and players, as the program tells them."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

import numpy as np

from lzero_cpp.arguments import reals
from lzero_cpp.child import LzeroError


def _bounds(values: Any, shape: Tuple[int, ...], infinity: float) -> np.ndarray:
    """One bound for all elements, or one each; None stands for none."""
    filled = np.asarray([infinity if value is None else value for value in values], np.float32)
    return np.broadcast_to(filled, shape).copy() if filled.size == 1 else filled.reshape(shape)


class Spec:
    """`id`, `shape` of an observation, `num_actions` (0: a box) or `action_dim` (0: discrete),
    `players`, `max_episode_steps`, `can_save`.

    >>> import lzero_cpp
    >>> with lzero_cpp.load("runs/counting") as agent:
    ...     agent.spec
    <lzero_cpp.Spec of 'counting': observations (11,), 3 actions, players 1>
    """

    def __init__(self, env: Mapping[str, Any]) -> None:
        self.id = str(env["id"])
        self.shape: Tuple[int, ...] = tuple(env["observation"]["shape"])
        self.size = int(np.prod(self.shape))
        self.is_picture = env["observation"]["type"] == "uint8"
        self.num_actions = int(env["action"].get("n", 0))
        self.action_dim = len(env["action"].get("low", ()))
        self.players = int(env["players"])
        self.max_episode_steps = int(env["max_episode_steps"])
        self.can_save = bool(env["can_save"])
        self._env = env

    def __repr__(self) -> str:
        actions = f"{self.action_dim} numbers" if self.action_dim else f"{self.num_actions} actions"
        return f"<lzero_cpp.Spec of {self.id!r}: observations {self.shape}, {actions}, players {self.players}>"

    def observation_space(self) -> Any:
        """A `gymnasium.spaces.Box` of float32.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.spec.observation_space()
        Box(0.0, 1.0, (11,), float32)
        """
        from gymnasium import spaces

        seen = self._env["observation"]
        return spaces.Box(_bounds(seen["low"], self.shape, -np.inf), _bounds(seen["high"], self.shape, np.inf),
                          self.shape, np.float32)

    def action_space(self) -> Any:
        """A `gymnasium.spaces.Discrete`, or a Box of float32.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.spec.action_space()
        Discrete(3)
        """
        from gymnasium import spaces

        if not self.action_dim:
            return spaces.Discrete(self.num_actions)
        action, shape = self._env["action"], (self.action_dim,)
        return spaces.Box(_bounds(action["low"], shape, -np.inf), _bounds(action["high"], shape, np.inf),
                          shape, np.float32)

    def is_batch(self, obs: Any) -> bool:
        """Whether `obs` is a batch of observations, not one of them.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.spec.is_batch([0] * 11), agent.spec.is_batch([[0] * 11])
        (False, True)
        """
        return np.ndim(obs) > len(self.shape)

    def rows(self, obs: Any, count: Optional[int] = None) -> np.ndarray:
        """`obs`, one observation or B of them, as [B, *shape] float32. Pictures of bytes become k / 255,
        and channels that come last are moved to the front. LzeroError for another shape or count.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.spec.rows([0] * 11).shape
        (1, 11)
        """
        if isinstance(obs, dict):
            raise LzeroError("observations are a dict; allowed: numbers, or policy_for(env), which makes them of a dict")
        array = reals(obs, "observations")
        if self.is_picture and array.dtype == np.uint8:
            if array.shape[-3:] == (*self.shape[1:], self.shape[0]) != self.shape:
                array = np.moveaxis(array, -1, -3)
            array = array / np.float32(255)
        array = array.astype(np.float32, copy=False)
        if array.shape == self.shape:
            array = array[np.newaxis]
        if array.shape[1:] != self.shape or (count is not None and array.shape[0] != count):
            wanted = self.shape if count in (None, 1) else (count, *self.shape)
            raise LzeroError(f"observations of shape {np.shape(obs)}; allowed: {wanted}")
        return array
