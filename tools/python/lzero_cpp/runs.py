"""What a run folder holds, as arrays; and evaluations and comparisons by the program."""
from __future__ import annotations

import csv
import dataclasses
import json
import os
import pathlib
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from lzero_cpp.agent import Agent
from lzero_cpp.arguments import path_text, seeds_text
from lzero_cpp.child import LzeroError, Path, run_program


class Series(NamedTuple):
    """A metric: its values [n] and the env steps [n] at which they were written.

    >>> import lzero_cpp
    >>> lzero_cpp.Run("runs/counting").metrics()["loss/value"]
    <lzero_cpp.Series of 2 values, the last ... at env step 500>
    >>> env_steps, values = lzero_cpp.Run("runs/counting").metrics()["loss/value"]
    >>> env_steps.size == values.size, env_steps.dtype.name, values.dtype.name
    (True, 'int64', 'float64')
    """

    env_steps: np.ndarray
    values: np.ndarray

    def __repr__(self) -> str:
        last = f", the last {self.values[-1]:g} at env step {self.env_steps[-1]}" if self.values.size else ""
        return f"<lzero_cpp.Series of {self.values.size} values{last}>"


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Episodes that were played greedily, in the order of their seeds, and the program's `summary`.

    >>> import lzero_cpp
    >>> played = lzero_cpp.evaluate("runs/counting", seeds=range(3))
    >>> played
    <lzero_cpp.Evaluation of 3 episodes at 500 env steps: mean return 1>
    >>> played.seeds.tolist(), played.returns.shape, played.lengths.dtype.name
    ([0, 1, 2], (3,), 'int64')
    >>> bool(played.summary["return_mean"] == played.returns.mean())
    True
    """

    env_steps: int  # of the checkpoint
    seeds: np.ndarray  # [n] uint64
    returns: np.ndarray  # [n] float64, of player 0
    lengths: np.ndarray  # [n] int64, steps
    summary: Mapping[str, Any]

    def __repr__(self) -> str:
        return (f"<lzero_cpp.Evaluation of {self.returns.size} episodes at {self.env_steps} env steps: "
                f"mean return {self.returns.mean():g}>")


def evaluate(run: Union[Path, Agent], episodes: Optional[int] = None, *,
             seeds: Union[None, str, range, Sequence[int]] = None,
             simulations: Optional[int] = None, device: Optional[str] = None,
             program: Optional[Path] = None) -> Evaluation:
    """What `lzero eval` plays: `episodes` (default: 20), or one for each of `seeds`, as
    range(10) or [0, 3, 7]. An `Agent` stands for its checkpoint and its simulations.

    >>> import lzero_cpp
    >>> lzero_cpp.evaluate("runs/counting", episodes=2).returns.size
    2
    """
    if isinstance(run, Agent):
        simulations = run.simulations if simulations is None else simulations
        run = run.checkpoint
    arguments = ["eval", path_text(run, "run"), "--json"]
    if seeds is not None and episodes is not None:
        raise LzeroError(f"episodes={episodes} and seeds={seeds}; allowed: one of both")
    if seeds is None:
        arguments += ["--episodes", str(20 if episodes is None else episodes)]
    else:
        arguments += ["--seeds", seeds_text(seeds)]
    if simulations is not None:
        arguments += ["--sims", str(simulations)]
    if device is not None:
        arguments += ["--device", device]
    summary = json.loads(run_program(arguments, program))
    return Evaluation(summary["env_steps"], np.asarray(summary.pop("seeds"), np.uint64),
                      np.asarray(summary.pop("returns"), np.float64), np.asarray(summary.pop("lengths"), np.int64),
                      summary)


def compare(*runs: Path, unfinished: bool = False, program: Optional[Path] = None) -> Dict[str, Any]:
    """What `lzero compare RUN... --json` tells: which of the runs are better, and how sure that is. With `unfinished`
    also of those that still train or were interrupted.

    >>> import lzero_cpp
    >>> compared = lzero_cpp.compare("runs/counting")
    >>> compared["groups"][0]["environment"], len(compared["groups"][0]["runs"])
    ('counting', 1)
    """
    options = ["--json", *(["--unfinished"] if unfinished else [])]
    return dict(json.loads(run_program(["compare", *runs, *options], program)))


class Run:
    """A run folder. Reads what is there at every call, so a run may still train; its config never changes.

    >>> import lzero_cpp, os
    >>> run = lzero_cpp.Run("runs/counting")
    >>> run, os.fspath(run)
    (Run('runs/counting'), 'runs/counting')
    """

    def __init__(self, path: Path, program: Optional[Path] = None) -> None:
        self.path = pathlib.Path(path_text(path, "path"))
        self._program = program
        self._config: Optional[Dict[str, Any]] = None
        if not (self.path / "config.resolved.yaml").is_file():
            raise LzeroError(f"{os.fspath(path)!r} is no run folder: it has no config.resolved.yaml")

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.path)!r})"

    def rows(self) -> List[Dict[str, Any]]:
        """The lines of metrics.jsonl, oldest first. Several may be of the same env_steps.

        >>> import lzero_cpp
        >>> "env_steps" in lzero_cpp.Run("runs/counting").rows()[0]
        True
        """
        path = self.path / "metrics.jsonl"
        text = path.read_text() if path.is_file() else ""
        # A line that is being written has no end yet.
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def metrics(self) -> Dict[str, Series]:
        """Every metric by name, without the rows that lack it; `lzero metrics NAME` explains one.

        >>> import lzero_cpp
        >>> metrics = lzero_cpp.Run("runs/counting").metrics()
        >>> bool((metrics["eval/return_mean"].env_steps[1:] > 0).all())
        True
        """
        found: Dict[str, Any] = {}
        for row in self.rows():
            for name, value in row.items():
                if name != "env_steps" and isinstance(value, (int, float)):
                    found.setdefault(name, []).append((row["env_steps"], value))
        return {name: Series(np.asarray([step for step, _ in pairs], np.int64),
                             np.asarray([value for _, value in pairs], np.float64))
                for name, pairs in found.items()}

    def frame(self) -> Any:
        """`rows` as a `pandas.DataFrame`; needs pandas.

        >>> import lzero_cpp
        >>> "loss/value" in lzero_cpp.Run("runs/counting").frame()
        True
        """
        import pandas

        return pandas.DataFrame(self.rows())

    @property
    def config(self) -> Dict[str, Any]:
        """Every setting in force, by section.

        >>> import lzero_cpp
        >>> config = lzero_cpp.Run("runs/counting").config
        >>> config["env"]["id"], config["search"]["num_simulations"], config["seed"]
        ('counting', 8, 0)
        """
        if self._config is None:
            resolved = os.fspath(self.path / "config.resolved.yaml")
            self._config = json.loads(run_program(["config", "show", resolved, "--json"], self._program))
        return self._config

    @property
    def status(self) -> Dict[str, Any]:
        """status.json: the state of the run and how far it is.

        >>> import lzero_cpp
        >>> lzero_cpp.Run("runs/counting").status["state"]
        'finished'
        """
        return dict(json.loads((self.path / "status.json").read_text()))

    @property
    def train_log(self) -> str:
        """log.txt: what the run said.

        >>> import lzero_cpp
        >>> "run folder" in lzero_cpp.Run("runs/counting").train_log
        True
        """
        return (self.path / "log.txt").read_text(errors="replace")

    def make(self, render_mode: Optional[str] = None) -> Any:
        """The run's environment, with its settings and step cap, as `lzero_cpp.make` gives it.

        >>> import lzero_cpp
        >>> env = lzero_cpp.Run("runs/counting").make()
        >>> env.action_space
        Discrete(3)
        >>> env.close()
        """
        import lzero_cpp

        config = self.config
        env = config["env"]
        board = {"board_size": env["board_size"]} if env["board_size"] else {}
        return lzero_cpp.make(env["id"], render_mode=render_mode, max_episode_steps=env["max_episode_steps"] or None,
                              plugins=config["plugins"], program=self._program, wrappers=env["wrappers"],
                              observation=env["observation"], python_path=env["python_path"], **board,
                              **env["settings"])

    def evaluations(self) -> List[Evaluation]:
        """The evaluations of the training, oldest first.

        >>> import lzero_cpp
        >>> evaluations = lzero_cpp.Run("runs/counting").evaluations()
        >>> evaluations[-1].summary["num_episodes"] == evaluations[-1].returns.size
        True
        """
        found = []
        for folder in sorted((self.path / "eval").glob("step_*[0-9]")):
            summary = json.loads((folder / "summary.json").read_text())
            with open(folder / "episodes.csv", newline="") as file:
                episodes = list(csv.DictReader(file))
            found.append(Evaluation(summary["env_steps"], np.asarray([int(e["seed"]) for e in episodes], np.uint64),
                                    np.asarray([float(e["return"]) for e in episodes], np.float64),
                                    np.asarray([int(e["length"]) for e in episodes], np.int64), summary))
        return found

    def checkpoints(self) -> List[pathlib.Path]:
        """The checkpoints, oldest first; `load` and `evaluate` take them, too.

        >>> import lzero_cpp
        >>> [path.name[:5] for path in lzero_cpp.Run("runs/counting").checkpoints()][-1]
        'step_'
        """
        return sorted((self.path / "checkpoints").glob("step_*[0-9]"))
