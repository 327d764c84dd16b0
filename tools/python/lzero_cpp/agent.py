"""A trained agent: actions, searches and what they found, from the program's own search."""
from __future__ import annotations

import os
import reprlib
import struct
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from lzero_cpp.arguments import integers, path_text, reals
from lzero_cpp.child import Child, LzeroError, Path
from lzero_cpp.decision import Decision, Tree
from lzero_cpp.policy import Policy
from lzero_cpp.spec import Spec

_RESET, _ACT, _SEARCH = 1, 2, 3
_PLAYED, _LEGAL, _STATES, _OBSERVE, _ALONE = 1, 2, 4, 8, 16

Action = Union[int, np.ndarray]


class _Body:
    """Reads arrays from the front of a frame."""

    def __init__(self, body: memoryview) -> None:
        self._body, self._offset = body, 0

    def take(self, dtype: Any, *shape: int) -> np.ndarray:
        count = 1
        for length in shape:
            count *= length
        array = np.frombuffer(self._body, dtype, count, self._offset)
        self._offset += array.nbytes
        return array.reshape(shape) if len(shape) > 1 else array

    def unpack(self, layout: struct.Struct) -> Tuple[Any, ...]:
        values = layout.unpack_from(self._body, self._offset)
        self._offset += layout.size
        return values


_DECISION_HEAD = struct.Struct("<IId")
_COUNT = struct.Struct("<I")


class Agent:
    """A checkpoint that plays; made by `load`. Episodes have numbers, ids, of 0 .. max_batch - 1, each
    with its past: call `reset` when an episode begins. A fork of this Python must not use it.

    >>> import lzero_cpp
    >>> agent = lzero_cpp.load("runs/counting")
    >>> agent
    <lzero_cpp.Agent of 'counting', 8 simulations>
    >>> agent.close()
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self.spec = Spec(child.hello["env"])
        facts: Mapping[str, Any] = child.hello["policy"]
        self.facts = facts
        self.simulations = int(facts["simulations"])
        self.max_batch = int(facts["max_batch"])
        self.checkpoint = str(facts["checkpoint"])
        self._steps = np.zeros(0, np.int64)  # of the episodes of `predict`

    @property
    def observation_space(self) -> Any:
        """What `act` takes, as a space of gymnasium, which this needs.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.observation_space.shape, agent.action_space
        ((11,), Discrete(3))
        """
        return self.spec.observation_space()

    @property
    def action_space(self) -> Any:
        """What `act` gives, likewise.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.action_space.contains(agent.act([1] + [0] * 10))
        True
        """
        return self.spec.action_space()

    def __repr__(self) -> str:
        return f"<lzero_cpp.Agent of {self.spec.id!r}, {self.simulations} simulations>"

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of the program.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.pid > 0
        True
        """
        return self._child.pid

    def close(self) -> None:
        """Ends the program. May be called again; leaving a `with` block does it, too.

        >>> import lzero_cpp
        >>> agent = lzero_cpp.load("runs/counting")
        >>> agent.close()
        >>> agent.act([1] + [0] * 10)
        Traceback (most recent call last):
            ...
        lzero_cpp.child.LzeroError: this has been closed, or its program has ended
        """
        self._child.close()

    def reset(self, ids: Union[None, int, Sequence[int], np.ndarray] = None) -> None:
        """Episodes `ids` begin anew; without ids all do, as if the agent had just been loaded.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.reset()
        ...     agent.reset([0, 5])
        """
        numbers = self._ids([] if ids is None else ids, "ids")
        if ids is None or numbers.size > 0:
            self._child.ask(_RESET, 0, [numbers.tobytes()])

    def act(self, obs: Any, legal: Any = None, *, to_play: int = 0, state: Optional[bytes] = None,
            played: Any = None, id: int = 0) -> Action:
        """The best action at the next observation of episode `id`: an int, or [D] float32 of a box.

        `legal`: [A], true where an action is legal (default: all). `played`: the action that was played
        at the last observation, if it is not the one that was decided. `state`: `save()` of an
        environment made by `make`, for families that search in the environment itself (alphazero).

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.act([1] + [0] * 10) in (0, 1, 2)
        ...     agent.act([0, 1] + [0] * 9, legal=[0, 0, 1])
        True
        2
        """
        flags, parts = self._request(obs, self._ids(id, "id", 1), to_play, legal, None if state is None else [state], played)
        body = _Body(self._child.ask(_ACT, flags, parts)[1])
        body.unpack(_DECISION_HEAD)
        if self.spec.action_dim:
            return body.take(np.float32, self.spec.action_dim)
        return int(body.unpack(_COUNT)[0])

    def act_batch(self, obs: Any, ids: Optional[Sequence[int]] = None, legal: Any = None, *,
                  to_play: Any = None, states: Optional[Sequence[bytes]] = None, played: Any = None) -> Decision:
        """The same for B episodes at once (default ids: 0 .. B - 1), in one search.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.act_batch([[1] + [0] * 10] * 3, ids=[4, 0, 7]).actions.shape
        (3,)
        """
        return self._decision(_Body(self._child.ask(*self._ask_batch(obs, ids, legal, to_play, states, played))[1]))

    def observe(self, obs: Any, *, played: Any = None, to_play: int = 0, id: int = 0) -> None:
        """Adds an observation to the past of episode `id` without deciding, as where the other player
        is to move; the next call must then say what was `played`.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.observe([1] + [0] * 10)
        ...     action = agent.act([0, 1] + [0] * 9, played=0)
        """
        flags, parts = self._request(obs, self._ids(id, "id", 1), to_play, None, None, played)
        self._child.ask(_ACT, flags | _OBSERVE, parts)

    def search(self, obs: Any, legal: Any = None, *, to_play: int = 0, state: Optional[bytes] = None,
               played: Any = None, id: Optional[int] = None) -> Tree:
        """The tree of a search at `obs`: a position that stands alone, or with `id` what `act` would
        search next in that episode. Changes nothing for `act`.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     tree = agent.search([1] + [0] * 10)
        >>> tree.parent.size <= agent.simulations + 1
        True
        """
        flags, parts = self._request(obs, self._ids(id or 0, "id", 1), to_play, legal, None if state is None else [state], played)
        body = _Body(self._child.ask(_SEARCH, flags | (_ALONE if id is None else 0), parts)[1])
        decision = self._decision(body)
        (num_nodes,) = body.unpack(_COUNT)
        columns: List[Any] = [body.take(np.int32, num_nodes) for _ in range(3)]
        columns += [body.take(np.float32, num_nodes) for _ in range(5)]
        dim = self.spec.action_dim
        columns.append(body.take(np.float32, num_nodes, dim) if dim else None)
        return Tree(decision, *columns)

    def predict(self, observation: Any, state: Optional[Tuple[np.ndarray, ...]] = None,
                episode_start: Any = None, deterministic: bool = True,
                action_masks: Any = None) -> Tuple[Any, Optional[Tuple[np.ndarray, ...]]]:
        """Stable-Baselines3's `predict`, for one observation or a batch of a VecEnv: actions, and the
        state to hand to the next call. As there, state None begins new episodes, and so does
        `episode_start` where it is true. The past itself stays with the agent, as episodes 0 .. B - 1.

        >>> import lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     actions, state = agent.predict([[1] + [0] * 10] * 2)
        ...     actions, state = agent.predict([[0, 1] + [0] * 9] * 2, state, episode_start=[False, True])
        >>> actions.shape
        (2,)
        >>> state
        (array([1, 0]),)
        """
        if not deterministic:
            raise LzeroError("deterministic=False: the agent plays the best action that its search finds")
        rows = self._rows(observation)
        is_batch = self.spec.is_batch(observation)
        starts = np.full(len(rows), state is None)
        if episode_start is not None:
            starts |= reals(episode_start, "episode_start", len(rows)).astype(bool).reshape(-1)
        if state is not None and not (isinstance(state, tuple) and len(state) == 1 and
                                      len(self._steps) == len(rows) and np.array_equal(state[0], self._steps)):
            raise LzeroError(f"state={reprlib.repr(state)}; allowed: what the last predict of this agent gave, "
                             "or None to begin")
        steps = np.where(starts, 0, 0 if state is None else self._steps + 1)
        self.reset(np.flatnonzero(starts))
        legal = None if action_masks is None else reals(action_masks, "action_masks", len(rows) * self.spec.num_actions or None)
        actions = self.act_batch(rows, legal=legal).actions
        self._steps = steps
        return (actions if is_batch else actions[0]), (steps.copy(),)

    def policy_for(self, env: Any) -> Policy:
        """`predict` with the observations and actions of `env`, an environment of Gymnasium that the program
        does not run, or a vector of them; needs gymnasium. LzeroError for one unlike that of the training.

        >>> import gymnasium, lzero_cpp
        >>> with lzero_cpp.load("runs/counting") as agent:
        ...     agent.policy_for(gymnasium.make("CartPole-v1"))
        Traceback (most recent call last):
            ...
        lzero_cpp.child.LzeroError: the environment has ... ((4,), 'discrete', 2); allowed: ((11,), 'discrete', 3)...
        """
        return Policy(self, env)

    def _ask_batch(self, obs: Any, ids: Optional[Sequence[int]], legal: Any, to_play: Any,
                   states: Optional[Sequence[bytes]], played: Any) -> Tuple[int, int, List[bytes]]:
        rows = self._rows(obs)
        numbers = self._ids(range(len(rows)) if ids is None else ids, "ids", len(rows))
        players = [0] * len(rows) if to_play is None else to_play
        return (_ACT, *self._request(rows, numbers, players, legal, states, played))

    def _rows(self, obs: Any) -> np.ndarray:
        rows = self.spec.rows(obs)
        if len(rows) > self.max_batch:
            raise LzeroError(f"{len(rows)} observations at once; allowed: {self.max_batch}, or load with "
                             f"max_batch={len(rows)}")
        return rows

    def _ids(self, ids: Any, name: str, size: Optional[int] = None) -> np.ndarray:
        return integers(ids, name, 0, self.max_batch - 1, size).astype(np.int32)

    def _request(self, obs: Any, ids: np.ndarray, to_play: Any, legal: Any,
                 states: Optional[Sequence[bytes]], played: Any) -> Tuple[int, List[bytes]]:
        """The flags and parts of a frame; the program checks what arrays say together."""
        num_rows = len(ids)
        flags = 0
        spec = self.spec
        players = integers(to_play, "to_play", 0, spec.players - 1, num_rows)
        parts = [_COUNT.pack(num_rows), ids.tobytes(), players.astype(np.int32).tobytes(),
                 spec.rows(obs, num_rows).tobytes()]
        if played is not None:
            flags |= _PLAYED
            actions = (reals(played, "played", num_rows * spec.action_dim).astype(np.float32) if spec.action_dim
                       else integers(played, "played", 0, spec.num_actions - 1, num_rows).astype(np.int32))
            parts.append(actions.tobytes())
        if legal is not None and not spec.action_dim:
            flags |= _LEGAL
            parts.append(reals(legal, "legal", num_rows * spec.num_actions).astype(bool).tobytes())
        if states is not None:
            flags |= _STATES
            if len(states) != num_rows:
                raise LzeroError(f"states has {len(states)} of them; allowed: {num_rows}, one an episode")
            for state in states:
                if not isinstance(state, (bytes, bytearray)):
                    raise LzeroError(f"state={reprlib.repr(state)}; allowed: bytes, the save() of an environment")
                parts += [_COUNT.pack(len(state)), state]
        return flags, parts

    def _decision(self, body: _Body) -> Decision:
        num_rows, policy_size, seconds = body.unpack(_DECISION_HEAD)
        dim = self.spec.action_dim
        actions = body.take(np.float32, num_rows, dim) if dim else body.take(np.int32, num_rows)
        policies = body.take(np.float32, num_rows, policy_size)
        values, network_values = body.take(np.float32, num_rows), body.take(np.float32, num_rows)
        visits = body.take(np.int32, num_rows, policy_size)
        sampled = body.take(np.float32, num_rows, policy_size, dim) if dim else None
        return Decision(actions, policies, values, network_values, visits, sampled, seconds)


def load(run: Path, *, task: Optional[str] = None, simulations: Optional[int] = None,
         device: Optional[str] = None, threads: Optional[int] = None, max_batch: int = 32, plugins: Sequence[Path] = (),
         program: Optional[Path] = None) -> Agent:
    """The agent of a run folder (its best checkpoint) or of a checkpoint, in a program of its own.

    `task`: which one of a run of several, `simulations` a move (default: as the run evaluates), `device` cpu, cuda
    or cuda:N (default: as the run), `threads` of the network (default: as the run), `max_batch` episodes at once.
    LzeroError when it cannot be loaded.

    >>> import lzero_cpp
    >>> with lzero_cpp.load("runs/counting", simulations=4) as agent:
    ...     agent.facts["family"], agent.facts["simulations"]
    ('unizero', 4)
    """
    arguments = ["policy", path_text(run, "run"), "--max-batch", str(max_batch)]
    for option, value in (("--threads", threads), ("--sims", simulations), ("--device", device), ("--task", task)):
        arguments += [] if value is None else [option, str(value)]
    arguments += [word for file in plugins for word in ("--plugin", os.fspath(file))]
    return Agent(Child(arguments, program))
