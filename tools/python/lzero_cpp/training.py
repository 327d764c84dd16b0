"""Training runs as children of this Python."""
from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import reprlib
import signal
import subprocess
import threading
import time
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence, Union

from lzero_cpp.arguments import path_text, seeds_text
from lzero_cpp.child import LzeroError, Path, find_program, words_of
from lzero_cpp.runs import Run

_INTERRUPTED = 130  # the exit code of what stopped at its first Ctrl-C

OnMetrics = Callable[[Dict[str, Any]], Any]


def setting_text(value: Any) -> str:
    """`value` as the command line takes it.

    >>> import numpy as np
    >>> from lzero_cpp.training import setting_text
    >>> [setting_text(value) for value in (True, None, 0.001, "puct", ["a", "b"], np.arange(2))]
    ['true', 'null', '0.001', 'puct', '["a", "b"]', '[0, 1]']
    """
    return value if isinstance(value, str) else json.dumps(value, default=_number)


def _number(value: Any) -> Any:
    """What `value`, of numpy, holds."""
    if not hasattr(value, "tolist"):
        hint = "; did you mean on_metrics?" if callable(value) else ""
        raise LzeroError(f"a setting is {reprlib.repr(value)}; allowed: text, numbers, None, and lists and dicts of "
                         f"those{hint}")
    return value.tolist()


def _setting_texts(settings: Mapping[str, Any], overrides: Optional[Mapping[str, Any]], comma: str = "") -> List[str]:
    """`key=value` of each; with a `comma` a list is several values."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    named.update(overrides or {})
    return [f"{name}=" + (comma.join(map(setting_text, value)) if comma and isinstance(value, (list, tuple, range))
                          else setting_text(value)) for name, value in named.items()]


class _Training:
    """The program at work: hands over new lines of metrics.jsonl, and remembers what it said."""

    def __init__(self, command: List[str], run_dir: Optional[str] = None, on_metrics: Optional[OnMetrics] = None,
                 offset: int = 0) -> None:
        if on_metrics is not None and not callable(on_metrics):
            raise LzeroError(f"on_metrics={reprlib.repr(on_metrics)}; allowed: a function of one dict")
        self.folder = run_dir
        self.lines: Deque[str] = collections.deque(maxlen=60)
        self._on_metrics = on_metrics
        self._offset = offset  # in metrics.jsonl, of what has been told
        # A session of its own: Ctrl-C at the terminal is for Python, which passes it on once.
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace",
                                        start_new_session=True)
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip("\n"))
                named = re.search(r"(?:run|sweep) folder {2,4}(.+)$", line)
                if named and self.folder is None:
                    self.folder = named.group(1).strip()

    def run(self) -> str:
        """Waits for its end; the folder. An exception, as Ctrl-C, stops it in good order first."""
        try:
            while self.process.poll() is None:
                self._tell()
                try:
                    self.process.wait(timeout=0.1)
                except subprocess.TimeoutExpired:
                    pass
            self._reader.join(timeout=5.0)
            self._tell()
        except KeyboardInterrupt:
            self._stop()
            if self.process.returncode != _INTERRUPTED or self.folder is None:
                raise
            raise KeyboardInterrupt(f"stopped in good order; its folder is {self.folder}") from None
        except BaseException:
            self._stop()
            raise
        if self.process.returncode != 0 or self.folder is None:
            raise LzeroError(words_of(self.lines, self.process.returncode))
        return self.folder

    def _stop(self) -> None:
        """One SIGINT, which writes a checkpoint; another exception meanwhile ends it at once. As in the program,
        two Ctrl-C within a second count as one."""
        began = time.monotonic()
        try:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGINT)
            while self.process.poll() is None:
                try:
                    self.process.wait()
                except KeyboardInterrupt:
                    if time.monotonic() - began > 1:
                        raise
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(timeout=5.0)

    def _tell(self) -> None:
        if self._on_metrics is None or self.folder is None:
            return
        path = pathlib.Path(self.folder) / "metrics.jsonl"
        if not path.is_file():
            return
        with open(path, "rb") as file:
            file.seek(self._offset)
            whole, _, _ = file.read().rpartition(b"\n")
        if not whole:
            return
        self._offset += len(whole) + 1
        for line in whole.split(b"\n"):
            self._on_metrics(json.loads(line))


def train(config: Path, run_dir: Optional[Path] = None, on_metrics: Optional[OnMetrics] = None, *,
          overrides: Optional[Mapping[str, Any]] = None, program: Optional[Path] = None, **settings: Any) -> Run:
    """Trains as `lzero train CONFIG` does, and waits for the end.

    `settings` are config keys with two underscores for the dot (`train__batch_size=64`); `overrides`
    the same by their names ({"train.batch_size": 64}). `on_metrics` gets every line of metrics.jsonl as
    a dict. An exception in it, or Ctrl-C, lets the program write a checkpoint, and goes on from here.
    LzeroError, in the program's words, for a wrong config and for a failure.

    >>> import lzero_cpp, tempfile
    >>> seen = []
    >>> run = lzero_cpp.train("configs/teaching/counting_unizero.yaml", tempfile.mkdtemp() + "/run", seen.append,
    ...                       stop__max_env_steps=300, overrides={"train.batch_size": 16})
    >>> run.status["env_steps"] >= 300, run.config["train"]["batch_size"], len(seen) == len(run.rows())
    (True, 16, True)
    >>> lzero_cpp.train("configs/teaching/counting_unizero.yaml", train__batch_sise=16)
    Traceback (most recent call last):
        ...
    lzero_cpp.child.LzeroError: ...did you mean 'train.batch_size'?...
    """
    command = [find_program(program), "train", path_text(config, "config"), *_setting_texts(settings, overrides)]
    folder = None if run_dir is None else path_text(run_dir, "run_dir")
    if folder is not None:
        command += ["--run-dir", folder]
    return Run(_Training(command, folder, on_metrics).run(), program)


def resume(run: Union[Path, Run], on_metrics: Optional[OnMetrics] = None, *,
           overrides: Optional[Mapping[str, Any]] = None, program: Optional[Path] = None, **settings: Any) -> Run:
    """Goes on where the last checkpoint of a run is, as `lzero resume RUN` does; otherwise as `train`.
    `on_metrics` gets the lines that are new.

    >>> import lzero_cpp, tempfile
    >>> run = lzero_cpp.train("configs/teaching/counting_unizero.yaml", tempfile.mkdtemp() + "/run",
    ...                       stop__max_env_steps=300)
    >>> lzero_cpp.resume(run, stop__max_env_steps=400).status["env_steps"]
    400
    """
    known = run if isinstance(run, Run) else Run(run, program)
    checkpoints = known.checkpoints()
    env_steps = int(checkpoints[-1].name[len("step_"):]) if checkpoints else 0
    rows = known.path / "metrics.jsonl"
    told = [line for line in (rows.read_bytes() if rows.is_file() else b"").splitlines(keepends=True)
            if line.endswith(b"\n") and json.loads(line)["env_steps"] <= env_steps]
    command = [find_program(program), "resume", os.fspath(known.path), *_setting_texts(settings, overrides)]
    return Run(_Training(command, None, on_metrics, sum(map(len, told))).run(), program)


def sweep(config: Path, out: Optional[Path] = None, *, seeds: Union[str, range, Sequence[int]] = range(5),
          jobs: int = 1, overrides: Optional[Mapping[str, Any]] = None, program: Optional[Path] = None,
          **settings: Any) -> List[Run]:
    """Trains every combination of settings with every seed, as `lzero sweep CONFIG` does; the runs in the
    order of their folders. A list is the values of a setting. With the same `out` a sweep goes on.

    >>> import lzero_cpp, tempfile
    >>> runs = lzero_cpp.sweep("configs/teaching/counting_unizero.yaml", tempfile.mkdtemp() + "/sweep",
    ...                        seeds=range(2), train__batch_size=[8, 16], stop__max_env_steps=200)
    >>> [(run.config["train"]["batch_size"], run.config["seed"]) for run in runs]
    [(16, 0), (16, 1), (8, 0), (8, 1)]
    """
    command = [find_program(program), "sweep", path_text(config, "config"), *_setting_texts(settings, overrides, ",")]
    command += ["--jobs", str(jobs), "--seeds", seeds_text(seeds)]
    if out is not None:
        command += ["--out", path_text(out, "out")]
    folder = pathlib.Path(_Training(command).run())
    found = {path.parent for path in folder.rglob("seed_*/config.resolved.yaml")}
    return [Run(path, program) for path in sorted(found, key=lambda path: (path.parent, int(path.name[len("seed_"):])))]
