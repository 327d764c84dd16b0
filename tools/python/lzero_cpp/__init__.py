"""lzero in Python: trained agents, their runs and the program's environments, by way of the program
itself as a child process. Needs numpy; `make`, `policy_for` and spaces need gymnasium, `Run.frame` pandas.
See README.md.

>>> import lzero_cpp
>>> "train" in dir(lzero_cpp), "Any" in dir(lzero_cpp)
(True, False)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence

from lzero_cpp.agent import Agent, load
from lzero_cpp.child import LzeroError, Path, find_program, run_program
from lzero_cpp.decision import Decision, Tree
from lzero_cpp.runs import Evaluation, Run, Series, compare, evaluate
from lzero_cpp.training import resume, sweep, train

if TYPE_CHECKING:
    from lzero_cpp.environment import Environment

__version__ = "0.1.0"
__all__ = ["Agent", "Decision", "Evaluation", "LzeroError", "Run", "Series", "Tree", "compare", "evaluate",
           "find_program", "load", "make", "resume", "run_program", "sweep", "train"]


def __dir__() -> List[str]:
    return [*__all__, "__version__"]


def make(env_id: str, *, render_mode: Optional[str] = None, max_episode_steps: Optional[int] = None,
         plugins: Sequence[Path] = (), program: Optional[Path] = None, wrappers: Sequence[str] = (),
         observation: Optional[str] = None, python_path: Sequence[Path] = (), **settings: Any) -> "Environment":
    """An environment of the program as a `gymnasium.Env`; `lzero envs list` names them, and
    `lzero envs info ID` their `settings`. For ids of Gymnasium there are `wrappers`, `observation` and
    `python_path`, as the keys of `env` in a config.

    >>> import lzero_cpp
    >>> env = lzero_cpp.make("catch", rows=6, columns=5)
    >>> env.observation_space.shape, env.action_space
    ((1, 6, 5), Discrete(3))
    >>> env.close()
    """
    try:
        from lzero_cpp.environment import open_environment
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise LzeroError("make needs gymnasium: pip install gymnasium") from None
    return open_environment(env_id, render_mode, max_episode_steps, plugins, program, settings, wrappers,
                            observation, python_path)
