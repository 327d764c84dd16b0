"""The lzero program as a child process: how it is found, started, asked by frames over a pipe, and
ended together with this Python. Frames: tools/python/PROTOCOL.md of the repository."""
from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import threading
import weakref
from typing import Any, Callable, Deque, Iterable, Mapping, Optional, Tuple, Union

PROTOCOL = 2
ERROR = 129  # types of frames
HELLO = 128
_HEAD = struct.Struct("<IBBH")
_MOST_BYTES = 64 << 20
_ARGUMENTS = {"sims": "simulations", "plugin": "plugins", "wrapper": "wrappers"}  # of the program's options

Path = Union[str, "os.PathLike[str]"]


class LzeroError(Exception):
    """What the program refused or could not do, in its words.

    >>> import lzero_cpp
    >>> lzero_cpp.load("runs/nowhere")
    Traceback (most recent call last):
        ...
    lzero_cpp.child.LzeroError: no such folder: runs/nowhere
    """


def find_program(program: Optional[Path] = None) -> str:
    """The path of the program: `program`, else the environment variable LZERO_PROGRAM, else `lzero` on
    PATH, else the one that was built in a source tree: that of this file, of the working folder or of
    one above it. LzeroError when there is none.

    >>> import lzero_cpp, os
    >>> os.path.basename(lzero_cpp.find_program())
    'lzero'
    """
    named = program or os.environ.get("LZERO_PROGRAM")
    found = shutil.which(os.fspath(named)) if named else shutil.which("lzero")
    here = pathlib.Path.cwd()
    for tree in () if found or named else (pathlib.Path(__file__).resolve().parents[3], here, *here.parents):
        found = found or shutil.which(tree / "build/release/tools/lzero")
    if found is None:
        what = f"{os.fspath(named)!r} is no program" if named else "the program lzero was not found"
        raise LzeroError(f"{what}; allowed: the argument program=, the environment variable LZERO_PROGRAM, "
                         "or a folder of PATH that has lzero. tools/build.sh release lzero builds it, as "
                         "build/release/tools/lzero of the source tree")
    return found


def run_program(arguments: Iterable[Any], program: Optional[Path] = None) -> str:
    """What the program prints, once it has ended well; LzeroError with its words otherwise.

    >>> import lzero_cpp
    >>> lzero_cpp.run_program(["--version"]).split()[0]
    'lzero'
    """
    command = [find_program(program), *map(os.fspath, arguments)]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", start_new_session=True)
    if ended.returncode != 0:
        raise LzeroError(words_of(ended.stderr.splitlines(), ended.returncode))
    return ended.stdout


def words_of(lines: Iterable[str], code: int) -> str:
    """Why a program ended with `code`, by the last `lines` that it wrote to stderr. Its words about an option are
    about the argument of Python that gave it."""
    text = "\n".join(lines).strip()
    if "error: " in text:
        text = text[text.index("error: ") + len("error: "):]
        return re.sub(r"^[a-z ]+: --([a-z-]+)(?=: got)",
                      lambda option: _ARGUMENTS.get(option[1], option[1].replace("-", "_")), text)
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"the program {how}{'; it had said: ' if text else ''}{text}"


def _drain(stream: Any, lines: Deque[str]) -> None:
    with stream:
        for line in stream:
            lines.append(line.decode(errors="replace").rstrip())


def _end(process: "subprocess.Popen[bytes]", thread: threading.Thread, owner: int) -> None:
    """Kills the process if it still runs, and reaps it; not from a fork of its owner."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    thread.join(timeout=1.0)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _environment(python_path: Iterable[Path]) -> Mapping[str, str]:
    """This process's environment variables, with folders before those of PYTHONPATH."""
    folders = [*(os.fspath(folder) for folder in python_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)} if folders else os.environ


class Child:
    """A running `lzero ... --stdio`. Ends when it is closed, collected, or Python ends; and when a
    call is interrupted, as nobody would read its answer. Calls of several threads wait for each other."""

    def __init__(self, arguments: Iterable[str], program: Optional[Path] = None,
                 python_path: Iterable[Path] = ()) -> None:
        command = [find_program(program), *map(os.fspath, arguments), "--stdio"]
        # A session of its own: Ctrl-C at the terminal is for Python.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0, start_new_session=True,
                                   env=_environment(python_path))
        self._lines: Deque[str] = collections.deque(maxlen=30)
        thread = threading.Thread(target=_drain, args=(process.stderr, self._lines), daemon=True)
        thread.start()
        self._process, self._thread = process, thread
        self._end = weakref.finalize(self, _end, process, thread, os.getpid())
        self._lock = threading.Lock()
        kind, body = self._guarded(self._read)
        self.hello: Mapping[str, Any] = json.loads(bytes(body)) if kind == HELLO else {}
        if self.hello.get("protocol") != PROTOCOL:
            self.close()
            raise LzeroError(f"{command[0]} speaks protocol {self.hello.get('protocol')}, this package "
                             f"{PROTOCOL}: use a program and a package of the same version")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_closed(self) -> bool:
        return not self._end.alive

    def close(self) -> None:
        """Ends the program. May be called again."""
        self._end()

    def ask(self, kind: int, flags: int = 0, parts: Iterable[bytes] = ()) -> Tuple[int, memoryview]:
        """The type and body of the answer to one frame. LzeroError when the program refuses, or is gone."""
        body = b"".join(parts)
        if len(body) + 4 > _MOST_BYTES:
            raise LzeroError(f"a request of {len(body)} bytes; allowed: {_MOST_BYTES}, so ask for fewer at once")
        request = _HEAD.pack(len(body) + 4, kind, flags, 0) + body
        with self._lock:
            if self.is_closed:
                raise LzeroError("this has been closed, or its program has ended")
            kind, answer = self._guarded(lambda: self._exchange(request))
        if kind == ERROR:
            (code,) = struct.unpack_from("<I", answer)
            if code != 1:  # it ends after this
                self.close()
            raise LzeroError(bytes(answer[4:]).decode(errors="replace"))
        return kind, answer

    def _guarded(self, call: Callable[[], Tuple[int, memoryview]]) -> Tuple[int, memoryview]:
        try:
            return call()
        except (BrokenPipeError, EOFError):
            raise LzeroError(self._last_words()) from None
        except BaseException:  # as KeyboardInterrupt: the next answer would be that of this request
            self.close()
            raise

    def _exchange(self, request: bytes) -> Tuple[int, memoryview]:
        assert self._process.stdin is not None
        descriptor = self._process.stdin.fileno()
        view = memoryview(request)
        while view:
            view = view[os.write(descriptor, view):]
        return self._read()

    def _read(self) -> Tuple[int, memoryview]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        received = bytearray(os.read(descriptor, 1 << 16))  # most frames, whole
        while len(received) < _HEAD.size or len(received) < 4 + _HEAD.unpack_from(received)[0]:
            more = os.read(descriptor, 1 << 20)
            if not more:
                raise EOFError
            received += more
        return _HEAD.unpack_from(received)[1], memoryview(received)[_HEAD.size:]

    def _last_words(self) -> str:
        """Why the program is gone."""
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            code = 0
        self._thread.join(timeout=1.0)
        self.close()
        return words_of(self._lines, code)
