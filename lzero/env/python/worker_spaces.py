"""The spaces of worker_tasks.py: how observations and actions of Gymnasium become arrays of numbers and
back. One text with it and worker.py, which follow; lzero_cpp has it too, for `Agent.policy_for`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Protocol, Tuple

if TYPE_CHECKING:
    import numpy as np

MAX_ACTIONS = 65536  # of a discrete space
MAX_PRODUCT = 4096   # a product of discrete actions is listed up to this many
MAX_TOLD_PARTS = 50  # of an observation


class Refused(Exception):
    """Something that this worker cannot do, told without a traceback."""


class Writer(Protocol):
    """What makes numbers of observations."""

    shape: Tuple[int, ...]
    description: Dict[str, Any]

    def write(self, observation: Any, row: np.ndarray) -> None:
        """Fills `row` [*shape]."""


def bounds(values: np.ndarray) -> List[Optional[float]]:
    """A list for JSON: None where there is no bound, one number when all are equal.

    >>> import numpy
    >>> bounds(numpy.array([[0, numpy.inf]])), bounds(numpy.ones(3))
    ([0.0, None], [1.0])
    """
    numbers = [float(value) for value in values.reshape(-1)]
    flat = [None if math.isinf(value) or abs(value) > 3.4e38 else value for value in numbers]
    return flat[:1] if all(value == flat[0] for value in flat) else flat


def shortly(value: Any) -> str:
    """What Python shows of a value, a line of it.

    >>> shortly("long " * 99)
    "'long long long long long long long long long long long long..."
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:60] + "..."


def shape_text(shape: Tuple[int, ...]) -> str:
    """As C++ writes it.

    >>> shape_text((3, 96, 96))
    '{3, 96, 96}'
    """
    return "{" + ", ".join(str(length) for length in shape) + "}"


class Numbers:
    """An array of numbers as it is, as float32.

    >>> import gymnasium, numpy
    >>> numbers, row = Numbers(gymnasium.spaces.Box(-1, 1, (2,)), numpy), numpy.zeros(2, "f4")
    >>> numbers.write([0.5, 1], row)
    >>> row
    array([0.5, 1. ], dtype=float32)
    """

    def __init__(self, space: Any, numpy: Any) -> None:
        self.numpy, self.space_shape = numpy, space.shape
        self.shape = space.shape or (1,)
        self.description: Dict[str, Any] = {"type": "float32", "shape": list(self.shape),
                                            "low": bounds(space.low), "high": bounds(space.high)}

    def write(self, observation: Any, row: np.ndarray) -> None:
        try:
            fits = observation.shape == self.shape and observation.dtype.kind in "biuf"
        except AttributeError:
            fits = False
        row[...] = observation if fits else self.fit(observation)

    def fit(self, observation: Any) -> np.ndarray:
        """A list or a single number as an array; numpy itself would repeat a number for all."""
        try:
            array: np.ndarray = self.numpy.asarray(observation, dtype=self.numpy.float32)
        except (TypeError, ValueError):
            raise ValueError(f"an observation that is no array of numbers: {shortly(observation)}") from None
        if array.shape != self.space_shape:
            raise ValueError(f"an observation of shape {array.shape}; its space has {self.space_shape}")
        return array


def checked_bytes(picture: Any, shape: Tuple[int, ...]) -> np.ndarray:
    """A picture of bytes; ValueError for another.

    >>> import numpy
    >>> checked_bytes(numpy.zeros(2), (2,))
    Traceback (most recent call last):
        ...
    ValueError: a picture of float64; its space has uint8
    """
    kind = getattr(picture, "dtype", type(picture).__name__)
    if kind != "uint8":  # numbers beyond a byte would be cut, fractions rounded
        raise ValueError(f"a picture of {kind}; its space has uint8")
    if picture.shape != shape:  # with its axes in another order it would be taken
        raise ValueError(f"a picture of shape {picture.shape}; its space has {shape}")
    pixels: np.ndarray = picture
    return pixels


class Pixels:
    """A picture of bytes as it is, [height, width, channels]: lzero's own preprocessing follows.

    >>> import gymnasium
    >>> Pixels(gymnasium.spaces.Box(0, 255, (210, 160), "uint8")).shape
    (210, 160, 1)
    """

    def __init__(self, space: Any) -> None:
        self.space_shape = space.shape
        self.shape = space.shape if len(space.shape) == 3 else (*space.shape, 1)
        self.description: Dict[str, Any] = {"type": "uint8", "shape": list(self.shape), "low": [0.0], "high": [1.0]}

    def write(self, observation: Any, row: np.ndarray) -> None:
        row[...] = checked_bytes(observation, self.space_shape).reshape(self.shape)


def choose_form(space: Any, numpy: Any) -> str:
    """The rule of env.observation `auto` for a Box; "" for an array that stays as it is.

    A picture goes from 0 to 255, or from 0 to 1 where it is not of bytes; it has three axes, or is of bytes and
    has two. Anything else of three axes is a board. Channels are last where that axis is the shortest.

    >>> import gymnasium, numpy
    >>> boxes = [gymnasium.spaces.Box(0, 255, (96, 96, 3), "uint8"), gymnasium.spaces.Box(-1, 1, (4, 9, 9)),
    ...          gymnasium.spaces.Box(-1, 1, (2,))]
    >>> [choose_form(box, numpy) for box in boxes]
    ['picture_last', 'board_first', '']
    """
    is_bytes, shape = space.dtype == numpy.uint8, space.shape
    is_bright = (space.high == 255).all() or (not is_bytes and (space.high == 1).all())
    is_picture = is_bright and (space.low >= 0).all()
    if len(shape) == 3:
        return ("picture" if is_picture else "board") + ("_last" if shape[2] < min(shape[:2]) else "_first")
    return "picture_last" if len(shape) == 2 and is_bytes and is_picture else ""


class Planes:
    """An array [rows, columns, channels] (`last`) or [channels, rows, columns] (`first`), given channels first;
    one of two axes has one channel. The elements of a `board` are as they are. Those of a `picture` are
    divided by 255 when they are bytes, which stay bytes on the way, or reach up to 255.

    >>> import gymnasium, numpy
    >>> planes = Planes(gymnasium.spaces.Box(-1, 1, (4, 9, 2)), "board_last", numpy)
    >>> planes.shape, planes.description["parts"]
    ((2, 4, 9), ['board, channels last {4, 9, 2} -> {2, 4, 9}, numbers as they are (env.observation: board_last)'])
    """

    def __init__(self, space: Any, form: str, numpy: Any) -> None:
        kind, _, place = form.partition("_")
        self.numbers, self.is_last = Numbers(space, numpy), place == "last"
        self.source_shape = space.shape
        if len(space.shape) == 2:
            self.source_shape = (*space.shape, 1) if self.is_last else (1, *space.shape)
        self.shape: Tuple[int, ...] = self.source_shape
        if self.is_last:
            self.shape = (self.source_shape[2], *self.source_shape[:2])
        self.is_bytes = kind == "picture" and space.dtype == numpy.uint8
        self.divisor = 255 if self.is_bytes or (kind == "picture" and (space.high == 255).all()) else 1
        self.description: Dict[str, Any] = {
            "type": "uint8" if self.is_bytes else "float32", "shape": list(self.shape),
            "parts": [self.words(kind, space.shape, form)]}
        for side, values in (("low", space.low), ("high", space.high)):
            self.description[side] = bounds(self.in_order(values) / self.divisor)
        if self.is_bytes:
            self.description.update(low=[0.0], high=[1.0])

    def words(self, kind: str, shape: Tuple[int, ...], form: str) -> str:
        """What is done to an observation, for `lzero envs info`."""
        moved = "" if self.shape == shape else " -> " + shape_text(self.shape)
        scaled = "as they are" if self.divisor == 1 else "/ 255"
        return (f"{kind}, channels {'last' if self.is_last else 'first'} {shape_text(shape)}{moved}, "
                f"{'bytes' if self.is_bytes else 'numbers'} {scaled} (env.observation: {form})")

    def in_order(self, array: np.ndarray) -> np.ndarray:
        """Channels first."""
        array = array.reshape(self.source_shape)
        return array.transpose(2, 0, 1) if self.is_last else array

    def write(self, observation: Any, row: np.ndarray) -> None:
        if self.is_bytes:
            row[...] = self.in_order(checked_bytes(observation, self.numbers.space_shape))
        else:
            row[...] = self.in_order(self.numbers.fit(observation))
            if self.divisor != 1:
                row /= self.divisor


def can_flatten(space: Any, spaces: Any) -> bool:
    """Whether Gymnasium makes numbers of it.

    >>> from gymnasium import spaces
    >>> can_flatten(spaces.Discrete(3), spaces), can_flatten(spaces.Text(3), spaces)
    (True, False)
    """
    try:
        return bool(space.is_np_flattenable) and not isinstance(space, spaces.Text)
    except NotImplementedError:
        return False


def refused_observations(space: Any) -> Refused:
    """The error of a space that holds no numbers.

    >>> import gymnasium
    >>> refused_observations(gymnasium.spaces.Text(3))
    Refused('cannot make numbers of the observation space Text(1, 3, charset=...)')
    """
    return Refused(f"cannot make numbers of the observation space {space}")


def leaves_of(space: Any, spaces: Any, path: Tuple[Any, ...] = ()) -> Iterator[Tuple[Tuple[Any, ...], Any]]:
    """(path, space) of every part of a space that is no Dict or Tuple of others, in the order of its vector.

    >>> from gymnasium import spaces
    >>> list(leaves_of(spaces.Dict({"doors": spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3)])}), spaces))
    [(('doors', 0), Discrete(2)), (('doors', 1), Discrete(3))]
    """
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        parts = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        for key, part in parts:
            yield from leaves_of(part, spaces, (*path, key))
    else:
        yield path, space


def part_words(space: Any, spaces: Any) -> str:
    """What is made of a part of an observation, for `lzero envs info`.

    >>> from gymnasium import spaces
    >>> part_words(spaces.Discrete(4), spaces), part_words(spaces.Box(0, 1, (2, 3)), spaces)
    ('one of 4, one-hot', '{2, 3}')
    """
    if isinstance(space, spaces.Discrete):
        return f"one of {space.n}, one-hot"
    if isinstance(space, spaces.MultiDiscrete):
        return f"one of each of {', '.join(str(n) for n in space.nvec.reshape(-1))}, one-hot"
    return shape_text(space.shape)


class Flattened:
    """Any other space that Gymnasium can flatten: one vector. Parts that are no numbers are left out.

    >>> import numpy
    >>> from gymnasium import spaces
    >>> space = spaces.Dict({"place": spaces.Discrete(4), "name": spaces.Text(9)})
    >>> Flattened(space, spaces, numpy).description["parts"]
    ['name         left out, a Text holds no numbers', 'place        [0..4) one of 4, one-hot']
    """

    def __init__(self, space: Any, spaces: Any, numpy: Any) -> None:
        self.flatten = spaces.flatten
        self.leaves: List[Tuple[Tuple[Any, ...], str, Any, int, int]] = []
        told: List[str] = []
        low: List[np.ndarray] = []
        high: List[np.ndarray] = []
        start = 0
        for path, part in leaves_of(space, spaces):
            name = ".".join(str(key) for key in path).ljust(12) + " " if path else ""
            flat = spaces.flatten_space(part) if can_flatten(part, spaces) else None
            if flat is None:
                told.append(f"{name}left out, a {type(part).__name__} holds no numbers")
                continue
            end = start + flat.shape[0]
            self.leaves.append((path, "".join(f" {key}" for key in path), part, start, end))
            told.append(f"{name}[{start}..{end}) {part_words(part, spaces)}")
            low.append(flat.low)
            high.append(flat.high)
            start = end
        if start == 0:
            raise refused_observations(space)
        if len(told) > MAX_TOLD_PARTS:
            told[MAX_TOLD_PARTS:] = [f"and {len(told) - MAX_TOLD_PARTS} more"]
        self.shape: Tuple[int, ...] = (start,)
        self.description: Dict[str, Any] = {
            "type": "float32", "shape": [start], "low": bounds(numpy.concatenate(low)),
            "high": bounds(numpy.concatenate(high)), "parts": told}

    def write(self, observation: Any, row: np.ndarray) -> None:
        for path, name, space, start, end in self.leaves:
            part = observation
            try:
                for key in path:
                    part = part[key]
            except (KeyError, IndexError, TypeError):
                raise ValueError(f"an observation without{name}, which its space has") from None
            vector = self.flatten(space, part)
            if vector.shape != (end - start,):
                raise ValueError(f"an observation{name} of {vector.size} numbers; its space has {end - start}")
            row[start:end] = vector


def observation_writer(space: Any, spaces: Any, numpy: Any, request: Dict[str, Any]) -> Writer:
    """What writes observations of a space the way of env.observation.

    >>> import numpy
    >>> from gymnasium import spaces
    >>> request = {"observation": "auto", "keeps_pixels": False}
    >>> observation_writer(spaces.Box(0, 255, (96, 96, 3), numpy.uint8), spaces, numpy, request).shape
    (3, 96, 96)
    """
    form = request["observation"]
    if isinstance(space, spaces.Box) and form != "vector":
        if 0 in space.shape:
            raise refused_observations(space)
        if request["keeps_pixels"] and len(space.shape) in (2, 3) and space.dtype == numpy.uint8:
            return Pixels(space)
        if form == "auto":
            form = choose_form(space, numpy)
        if not form:
            return Numbers(space, numpy)
        if len(space.shape) in (2, 3):
            return Planes(space, form, numpy)
    if form not in ("auto", "vector"):
        raise Refused(f"observation: got {form}, which needs an array of 2 or 3 axes; its space is {space}; "
                      "allowed: auto, vector")
    return Flattened(space, spaces, numpy)


class Actions:
    """How an index or a list of numbers becomes what the environment takes.

    >>> import numpy
    >>> from gymnasium import spaces
    >>> Actions(spaces.Discrete(3, start=-1), spaces, numpy).table
    [-1, 0, 1]
    >>> Actions(spaces.Box(-1, 1, (2,)), spaces, numpy).description["size"]
    2
    """

    def __init__(self, space: Any, spaces: Any, numpy: Any) -> None:
        self.table: Optional[List[Any]] = None
        self.copies = False  # the actions of the table are arrays, and the environment's to change
        if isinstance(space, spaces.Box):
            self.shape, self.dtype = space.shape, space.dtype
            self.rounds = numpy.issubdtype(space.dtype, numpy.integer)
            size = int(numpy.prod(space.shape))
            low = numpy.broadcast_to(space.low, space.shape).reshape(-1)
            high = numpy.broadcast_to(space.high, space.shape).reshape(-1)
            self.description = {
                "kind": "box", "size": size,
                "low": [None if math.isinf(x) else float(x) for x in low],
                "high": [None if math.isinf(x) else float(x) for x in high]}
            return
        if isinstance(space, spaces.Discrete):
            start = int(space.start)
            if space.n > MAX_ACTIONS:
                raise Refused(f"the action space {space} has more than {MAX_ACTIONS} actions")
            self.table = [start + i for i in range(int(space.n))]
        elif isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
            is_choice = isinstance(space, spaces.MultiDiscrete)
            sizes = space.nvec if is_choice else numpy.full(space.shape, 2)
            sizes = numpy.array(sizes, dtype=numpy.int64).reshape(-1)
            start = getattr(space, "start", 0)
            if float(numpy.prod(sizes.astype(float))) > MAX_PRODUCT:
                raise Refused(f"the action space {space} has more than {MAX_PRODUCT} combinations")
            self.table = [numpy.array(choice, dtype=space.dtype).reshape(space.shape) + start
                          for choice in numpy.ndindex(*sizes)]
            self.copies = True
        else:
            raise Refused(f"cannot choose actions of the space {space}; allowed: Discrete, "
                          "MultiDiscrete, MultiBinary, Box")
        self.description = {"kind": "discrete", "size": len(self.table),
                            "meaning": self.meaning(self.table, space, numpy)}

    def meaning(self, table: List[Any], space: Any, numpy: Any) -> str:
        """What the first two and the last number of an action stand for; "" where each stands for itself."""
        if not self.copies and table[0] == 0:
            return ""
        last = len(table) - 1
        shown = [f"{i} is {numpy.asarray(table[i]).tolist()}" for i in sorted({0, min(1, last), last})]
        shown[2:2] = ["..."] if last > 2 else []
        order = "; the last number changes fastest" if self.copies else ""
        return f"{', '.join(shown)} of {shortly(space)}{order}"

    def take(self, numbers: np.ndarray) -> Any:
        """The action of these numbers of a box, as an array of its own."""
        return (numbers.round() if self.rounds else numbers).astype(self.dtype)
