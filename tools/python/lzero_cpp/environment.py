"""An environment of the program as a `gymnasium.Env`. The one module that needs gymnasium."""
from __future__ import annotations

import os
import struct
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import gymnasium
import numpy as np

from lzero_cpp.arguments import integers, reals
from lzero_cpp.child import Child, LzeroError, Path
from lzero_cpp.spec import Spec
from lzero_cpp.training import setting_text

_RESET, _STEP, _SAVE, _TEXT, _PICTURE = 16, 17, 18, 19, 20
_STEP_HEAD = struct.Struct("<BBBBifid")  # ends, player, reward, chance outcome, return
_SIZE = struct.Struct("<II")


class Environment(gymnasium.Env):
    """One environment, in a program of its own; made by `make`. The seed of `reset` gives the same
    episode as in the program. In games for two players a reward is of the player who moved, and
    `info["to_play"]` says who moves next. `info["action_mask"]` is 1 where an action is legal; the
    program refuses others with LzeroError.

    >>> import lzero_cpp
    >>> env = lzero_cpp.make("tictactoe", render_mode="ansi")
    >>> env
    <lzero_cpp.Environment of 'tictactoe'>
    >>> obs, info = env.reset(seed=1)
    >>> obs.shape, info["to_play"], info["action_mask"].tolist()
    ((3, 3, 3), 0, [1, 1, 1, 1, 1, 1, 1, 1, 1])
    >>> obs, reward, terminated, truncated, info = env.step(4)
    >>> info["to_play"], int(info["action_mask"][4])
    (1, 0)
    >>> env.close()
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}

    def __init__(self, child: Child, render_mode: Optional[str] = None) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            child.close()
            raise LzeroError(f"render_mode {render_mode!r}; allowed: None, 'rgb_array', 'ansi'")
        self._child = child
        self.render_mode = render_mode
        self.spec_of_program = Spec(child.hello["env"])
        self.observation_space = self.spec_of_program.observation_space()
        self.action_space = self.spec_of_program.action_space()

    def __repr__(self) -> str:
        return f"<lzero_cpp.Environment of {self.spec_of_program.id!r}>"

    __str__ = __repr__

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Mapping[str, Any]] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Begins an episode. Without a seed one is drawn, as gymnasium does it.

        >>> import lzero_cpp
        >>> env = lzero_cpp.make("cartpole")
        >>> bool((env.reset(seed=3)[0] == env.reset(seed=3)[0]).all())
        True
        >>> env.close()
        """
        number = None if seed is None else int(integers(seed, "seed", 0, 2**64 - 1, 1)[0])
        super().reset(seed=number)
        number = int(self.np_random.integers(2**63)) if number is None else number
        obs, _, _, _, info = self._time_step(_RESET, struct.pack("<Q", number))
        return obs, info

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """Plays `action`: an int, or [D] float32 of a box.

        >>> import lzero_cpp
        >>> env = lzero_cpp.make("counting")
        >>> obs, info = env.reset(seed=0)
        >>> obs, reward, terminated, truncated, info = env.step(0)
        >>> reward, terminated, truncated, info["episode_return"]
        (1.0, False, False, 1.0)
        >>> env.close()
        """
        spec = self.spec_of_program
        values = (reals(action, "action", spec.action_dim).astype(np.float32) if spec.action_dim
                  else integers(action, "action", 0, spec.num_actions - 1, 1).astype(np.int32))
        return self._time_step(_STEP, values.tobytes())

    def render(self) -> Any:
        """A picture [height, width, 3] uint8 (`rgb_array`) or a text (`ansi`).

        >>> import lzero_cpp
        >>> env = lzero_cpp.make("cartpole", render_mode="rgb_array")
        >>> obs, info = env.reset(seed=0)
        >>> env.render().dtype.name, env.render().shape[2]
        ('uint8', 3)
        >>> env.close()
        """
        if self.render_mode == "ansi":
            return bytes(self._child.ask(_TEXT)[1]).decode(errors="replace")
        if self.render_mode == "rgb_array":
            body = self._child.ask(_PICTURE)[1]
            width, height = _SIZE.unpack_from(body)
            return np.frombuffer(body, np.uint8, offset=_SIZE.size).reshape(height, width, 3).copy()
        return None

    def save(self) -> bytes:
        """All that the environment is now: the `state` that `Agent.act` takes.

        >>> import lzero_cpp
        >>> env = lzero_cpp.make("tictactoe")
        >>> obs, info = env.reset(seed=0)
        >>> len(env.save()) > 0
        True
        >>> env.close()
        """
        return bytes(self._child.ask(_SAVE)[1])

    def close(self) -> None:
        """Ends the program.

        >>> import lzero_cpp
        >>> env = lzero_cpp.make("cartpole")
        >>> env.close()
        """
        self._child.close()

    def _time_step(self, kind: int, body: bytes) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        answer = self._child.ask(kind, 0, [body])[1]
        terminated, truncated, interrupted, _, to_play, reward, chance, episode_return = _STEP_HEAD.unpack_from(answer)
        spec = self.spec_of_program
        obs = np.frombuffer(answer, np.float32, spec.size, _STEP_HEAD.size).reshape(spec.shape).copy()
        info: Dict[str, Any] = {"episode_return": episode_return, "to_play": to_play}
        if spec.num_actions:
            mask = np.frombuffer(answer, np.int8, spec.num_actions, _STEP_HEAD.size + obs.nbytes)
            info["action_mask"] = mask.copy()
        if chance >= 0:
            info["chance_outcome"] = chance
        if interrupted:
            info["interrupted"] = True
        return obs, reward, bool(terminated), bool(truncated), info


def open_environment(env_id: str, render_mode: Optional[str], max_episode_steps: Optional[int],
                     plugins: Sequence[Path], program: Optional[Path], settings: Mapping[str, Any],
                     wrappers: Sequence[str] = (), observation: Optional[str] = None,
                     python_path: Sequence[Path] = ()) -> Environment:
    """What `make` does.

    >>> from lzero_cpp.environment import open_environment
    >>> open_environment("counting", None, None, (), None, {}).close()
    """
    arguments = ["envs", "serve", env_id]
    for name, value in settings.items():
        arguments.append(f"{name}={setting_text(value)}")
    if max_episode_steps is not None:
        arguments += ["--max-episode-steps", str(max_episode_steps)]
    for plugin in plugins:
        arguments += ["--plugin", os.fspath(plugin)]
    for wrapper in wrappers:
        arguments += ["--wrapper", wrapper]
    if observation is not None:
        arguments += ["--observation", observation]
    return Environment(Child(arguments, program, python_path), render_mode)
