"""An agent in an environment of Gymnasium that is not the program's own: what it sees there, and what it does."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

import numpy as np

from lzero_cpp import worker_spaces
from lzero_cpp.child import LzeroError

if TYPE_CHECKING:
    from lzero_cpp.agent import Agent


def _row_of(batch: Any, space: Any, row: int) -> Any:
    """One observation of a batch, whose parts are batches themselves."""
    parts = getattr(space, "spaces", None)  # of a Dict or a Tuple
    if parts is None:
        return batch[row]
    if isinstance(parts, tuple):
        return tuple(_row_of(batch[i], part, row) for i, part in enumerate(parts))
    return {key: _row_of(batch[key], part, row) for key, part in parts.items()}


class Policy:
    """`predict` for an environment of Gymnasium, or a vector of them, made by `Agent.policy_for`. Observations
    become numbers, and actions those of the environment, as in the training of a run of `gymnasium:`.

    >>> import gymnasium, lzero_cpp
    >>> class Count(gymnasium.Env):
    ...     observation_space = gymnasium.spaces.Dict({"place": gymnasium.spaces.Discrete(11)})
    ...     action_space = gymnasium.spaces.Discrete(3, start=-1)
    >>> with lzero_cpp.load("runs/counting") as agent:
    ...     policy = agent.policy_for(Count())
    ...     action, state = policy.predict({"place": 0})
    >>> policy
    <lzero_cpp.Policy of <lzero_cpp.Agent of 'counting', 8 simulations> in Dict('place': Discrete(11))>
    >>> action in (-1, 0, 1)
    True
    """

    def __init__(self, agent: "Agent", env: Any) -> None:
        from gymnasium import spaces

        if not hasattr(env, "observation_space"):
            raise LzeroError(f"env={env!r}; allowed: an environment of Gymnasium, as gymnasium.make gives it")
        self._agent = agent
        self._space = getattr(env, "single_observation_space", env.observation_space)
        action_space = getattr(env, "single_action_space", env.action_space)
        try:
            self._observations = worker_spaces.observation_writer(
                self._space, spaces, np, {"observation": agent.facts["observation"], "keeps_pixels": False})
            self._actions = worker_spaces.Actions(action_space, spaces, np)
        except worker_spaces.Refused as refusal:
            raise LzeroError(str(refusal)) from None
        spec, given = agent.spec, self._actions.description
        wanted = spec.shape, "box" if spec.action_dim else "discrete", spec.action_dim or spec.num_actions
        found = tuple(self._observations.shape), given["kind"], given["size"]
        if found != wanted:
            raise LzeroError(f"the environment has (observation, kind and number of actions) {found}; allowed: {wanted}, "
                             f"as {spec.id!r} had in training, with all of its wrappers")
        self._path, self._leaf = next((path, leaf) for path, leaf in worker_spaces.leaves_of(self._space, spaces)
                                      if worker_spaces.can_flatten(leaf, spaces))

    def __repr__(self) -> str:
        return f"<lzero_cpp.Policy of {self._agent!r} in {self._space}>"

    def predict(self, observation: Any, state: Optional[Tuple[np.ndarray, ...]] = None, episode_start: Any = None,
                deterministic: bool = True, action_masks: Any = None) -> Tuple[Any, Optional[Tuple[np.ndarray, ...]]]:
        """As `Agent.predict`.

        >>> import gymnasium, lzero_cpp
        >>> class Count(gymnasium.Env):
        ...     observation_space, action_space = gymnasium.spaces.Discrete(11), gymnasium.spaces.MultiDiscrete([3, 1])
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     actions, state = agent.policy_for(Count()).predict([0, 0, 1])
        >>> actions.shape, set(actions[:, 1].tolist())
        ((3, 2), {0})
        """
        try:
            rows, is_batch = self._rows(observation)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise LzeroError(f"an observation that is not of {self._space}: {error}") from None
        actions, state = self._agent.predict(rows, state, episode_start, deterministic, action_masks)
        taken = [self._taken(action) for action in actions]
        return (np.asarray(taken) if is_batch else taken[0]), state

    def _rows(self, observation: Any) -> Tuple[np.ndarray, bool]:
        first = observation
        for key in self._path:
            first = first[key]
        is_batch = np.ndim(first) > len(self._leaf.shape)
        parts: List[Any] = [_row_of(observation, self._space, b) for b in range(len(first))] if is_batch else [observation]
        is_bytes = self._observations.description["type"] == "uint8"
        rows = np.empty((len(parts), *self._observations.shape), np.uint8 if is_bytes else np.float32)
        for part, row in zip(parts, rows):
            self._observations.write(part, row)
        return rows, is_batch

    def _taken(self, action: Any) -> Any:
        if self._actions.table is None:
            return self._actions.take(action.reshape(self._actions.shape))
        taken = self._actions.table[int(action)]
        return taken.copy() if self._actions.copies else taken
