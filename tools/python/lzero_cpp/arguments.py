"""What callers give, as arrays of numbers. LzeroError names the argument, what was given and what is allowed."""
from __future__ import annotations

import os
import reprlib
from typing import Any, Optional

import numpy as np

from lzero_cpp.child import LzeroError


def _array(values: Any, kinds: str) -> Optional[np.ndarray]:
    """None where `values` are no numbers of these kinds of numpy."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # as of lists of different lengths
        return None
    if array.size == 0:
        return array.astype(np.uint8)
    return array if array.dtype.kind in kinds else None


def reals(values: Any, name: str, size: Optional[int] = None) -> np.ndarray:
    """Numbers as float32, or as they are where they are that or bytes; `size` of them.

    >>> from lzero_cpp.arguments import reals
    >>> reals([[0.5, 2]], "played", 2)
    array([[0.5, 2. ]], dtype=float32)
    >>> reals("left", "action")
    Traceback (most recent call last):
        ...
    lzero_cpp.child.LzeroError: action='left'; allowed: numbers
    """
    array = _array(values, "biuf")
    if array is None:
        raise LzeroError(f"{name}={reprlib.repr(values)}; allowed: numbers")
    _check_size(array, name, size)
    if array.dtype in (np.float32, np.uint8):
        return array
    with np.errstate(over="ignore"):  # the program refuses what is not finite
        return array.astype(np.float32)


def integers(values: Any, name: str, low: int, high: int, size: Optional[int] = None) -> np.ndarray:
    """Integers of low .. high, as a flat array of them; `size` of them.

    >>> from lzero_cpp.arguments import integers
    >>> integers([0, 2], "ids", 0, 3).tolist()
    [0, 2]
    >>> integers(1.7, "action", 0, 2)
    Traceback (most recent call last):
        ...
    lzero_cpp.child.LzeroError: action=1.7; allowed: integers from 0 to 2
    """
    array = _array(values, "biu")
    if array is None or (array < low).any() or (array > high).any():
        raise LzeroError(f"{name}={reprlib.repr(values)}; allowed: integers from {low} to {high}")
    _check_size(array, name, size)
    return array.reshape(-1)


def path_text(value: Any, name: str) -> str:
    """A path as text.

    >>> from lzero_cpp.arguments import path_text
    >>> path_text({"seed": 1}, "config")
    Traceback (most recent call last):
        ...
    lzero_cpp.child.LzeroError: config={'seed': 1}; allowed: a path
    """
    try:
        return str(os.fspath(value))
    except TypeError:
        raise LzeroError(f"{name}={reprlib.repr(value)}; allowed: a path") from None


def seeds_text(seeds: Any) -> str:
    """Seeds as the command line takes them: a range, integers, or such a text itself.

    >>> from lzero_cpp.arguments import seeds_text
    >>> seeds_text(range(5)), seeds_text([0, 3]), seeds_text("7..9")
    ('0..4', '0,3', '7..9')
    >>> seeds_text(2)
    Traceback (most recent call last):
        ...
    lzero_cpp.child.LzeroError: seeds=2; allowed: a range or integers, as range(5) or [0, 3, 7]
    """
    if isinstance(seeds, str):
        return seeds
    if isinstance(seeds, range) and len(seeds) > 0 and seeds.step == 1:
        return f"{seeds[0]}..{seeds[-1]}"
    numbers = _array(seeds, "iu")
    if numbers is None or numbers.ndim != 1 or numbers.size == 0:
        raise LzeroError(f"seeds={reprlib.repr(seeds)}; allowed: a range or integers, as range(5) or [0, 3, 7]")
    return ",".join(map(str, numbers))


def _check_size(array: np.ndarray, name: str, size: Optional[int]) -> None:
    if size is not None and array.size != size:
        raise LzeroError(f"{name} has {array.size} numbers; allowed: {size}")
