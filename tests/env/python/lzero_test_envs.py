"""Environments for the tests of worker processes, found by "gymnasium:lzero_test_envs:NAME-v0" where this folder
is in PYTHONPATH. They show what they were given, and go wrong where their settings say so.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

import gymnasium
import numpy
from gymnasium import spaces


class Count(gymnasium.Env):
    """Shows [steps, last action, seed in four parts of 16 bits], float64; `length` steps; pays 0.1. Its mask
    may be True, "late", which is not there at reset, or "short", which has too few actions."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, length=10, mask=False, truncates=False, render_mode=None):
        self.render_mode = render_mode
        self.length, self.mask, self.truncates = length, mask, truncates
        self.observation_space = spaces.Box(-numpy.inf, numpy.inf, (6,), numpy.float64)
        self.action_space = spaces.Discrete(3)
        self.steps, self.parts = 0, []

    def view(self, action):
        return numpy.array([self.steps, action, *self.parts], dtype=numpy.float64)

    def facts(self):
        if not self.mask or (self.mask == "late" and self.steps == 0):
            return {}
        mask = numpy.array([1, 1 - self.steps % 2, 1], dtype=numpy.int8)
        return {"action_mask": mask[:2] if self.mask == "short" else mask}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)  # Gymnasium takes any seed from 0 on
        self.steps = 0
        self.parts = [(seed >> shift) & 0xffff for shift in (0, 16, 32, 48)]
        return self.view(-1), self.facts()

    def step(self, action):
        self.steps += 1
        ends = self.steps >= self.length
        return self.view(action), 0.1, ends and not self.truncates, ends and self.truncates, self.facts()

    def render(self):
        return numpy.full((2, 3, 3), self.steps, dtype=numpy.uint8)


class BadText(Exception):
    def __str__(self):
        raise ValueError("an exception that cannot be told")


class Faulty(Count):
    """Goes wrong in `where` (init, reset, step, render or close), at step `at`, the way that `how` says."""

    def __init__(self, where="step", how="error", at=1, flag_file="", **settings):
        super().__init__(**settings)
        self.where, self.how, self.at = where, how, at
        self.flag_file = flag_file  # where it is given, only while the file is not there; made then
        self.fail("init")

    def fail(self, where):
        if where != self.where or (where == "step" and self.steps != self.at):
            return
        if self.flag_file:
            if os.path.exists(self.flag_file):
                return
            open(self.flag_file, "w").close()
        getattr(self, "fail_by_" + self.how)()

    def fail_by_error(self):
        raise ValueError("this went wrong on purpose")

    def fail_by_bad_text(self):
        raise BadText

    def fail_by_surrogate(self):
        raise ValueError("half a character: \ud800, an accent: \u00e9")

    def fail_by_long_text(self):
        raise ValueError("x" * (20 << 20))

    def fail_by_sys_exit(self):
        sys.exit(1)

    def fail_by_exit(self):
        print("printed before", flush=True)
        os._exit(3)

    def fail_by_segfault(self):
        ctypes.string_at(8)

    def fail_by_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def fail_by_hang(self):
        time.sleep(60)

    def fail_by_hang_in_c(self):
        ctypes.PyDLL(None).sleep(60)  # holds the interpreter: no other thread of it runs

    def fail_by_interrupt(self):
        raise KeyboardInterrupt

    def reset(self, **how):
        result = super().reset(**how)
        self.fail("reset")
        return result

    def step(self, action):
        result = super().step(action)
        self.fail("step")
        return result

    def render(self):
        self.fail("render")
        return super().render()

    def close(self):
        self.fail("close")


class Loud(Count):
    """Prints `size` bytes in every step."""

    def __init__(self, size=100000, **settings):
        super().__init__(**settings)
        self.size = size

    def step(self, action):
        sys.stderr.write("p" * self.size + "\n")
        print("q" * self.size)
        return super().step(action)


class Naps(Count):
    """Sleeps for as many milliseconds as its action says."""

    def step(self, action):
        time.sleep(action / 1000)
        return super().step(action)


class Values(Count):
    """Gives a reward and an observation of a kind; the action says which."""

    REWARDS = [3, numpy.float64(0.25), numpy.float32(0.5), True, numpy.int64(-2), numpy.array(0.75),
               float("nan"), float("inf"), 1e300, None, "text", numpy.zeros(2)]
    OBSERVATIONS = [numpy.arange(6, dtype=numpy.float32), [1, 2, 3, 4, 5, 6], numpy.arange(6, dtype=numpy.int64),
                    numpy.full(6, 1e-40), numpy.full(6, 0.1), numpy.full(6, numpy.nan),
                    numpy.full(6, -numpy.inf), numpy.full(6, 1e300), 7.0, numpy.zeros(5), numpy.zeros((1, 6)),
                    numpy.zeros(1), None]

    def __init__(self, what="rewards", **settings):
        super().__init__(**settings)
        self.what = what
        self.values = self.REWARDS if what == "rewards" else self.OBSERVATIONS
        self.action_space = spaces.Discrete(len(self.values))

    def step(self, action):
        observation, reward, _, _, facts = super().step(action)
        if self.what == "rewards":
            reward = self.values[action]
        else:
            observation = self.values[action]
        return observation, reward, numpy.bool_(False), numpy.bool_(False), facts


class SameArray(gymnasium.Env):
    """Gives the same array each time, changed in place: [steps], or a picture of that brightness."""

    def __init__(self, picture=False, length=1000, render_mode=None):
        shape, dtype = ((9, 8), numpy.uint8) if picture else ((2,), numpy.float32)
        self.observation_space = spaces.Box(0, 255, shape, dtype)
        self.action_space = spaces.Discrete(2)
        self.array, self.length = numpy.zeros(shape, dtype), length

    def reset(self, *, seed=None, options=None):
        self.array[...] = 0
        return self.array, {}

    def step(self, action):
        self.array += 1
        return self.array, 1.0, bool(self.array.flat[0] >= self.length), False, {}


def action_space(kind):
    return {
        "discrete": lambda: spaces.Discrete(3, start=-5),
        "multi_discrete": lambda: spaces.MultiDiscrete([2, 3]),
        "multi_discrete_start": lambda: spaces.MultiDiscrete([2, 2], start=[10, 20]),
        "multi_discrete_grid": lambda: spaces.MultiDiscrete([[2, 1], [1, 3]]),
        "multi_binary": lambda: spaces.MultiBinary(2),
        "multi_binary_grid": lambda: spaces.MultiBinary([2, 2]),
        "box": lambda: spaces.Box(numpy.array([-1.0, -2.0]), numpy.array([1.0, numpy.inf]), dtype=numpy.float64),
        "box_fine": lambda: spaces.Box(-0.1, 0.3, (2,), numpy.float64),  # neither is a float32
        "box_grid": lambda: spaces.Box(-1.0, 1.0, (2, 2), numpy.float32),
        "box_integers": lambda: spaces.Box(0, 10, (2,), numpy.int64),
        "box_scalar": lambda: spaces.Box(-1.0, 1.0, (), numpy.float32),
        "box_large_bounds": lambda: spaces.Box(-1e300, 1e300, (1,), numpy.float64),
        "huge": lambda: spaces.Discrete(2 ** 40),
        "many": lambda: spaces.MultiDiscrete([100, 100]),
        "text": lambda: spaces.Text(4),
        "tuple": lambda: spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]),
    }[kind]()


class Shows(Count):
    """Shows the first number of a list that it is made with."""

    def __init__(self, numbers=(0,), **settings):
        super().__init__(**settings)
        self.first = numbers[0]

    def view(self, action):
        return super().view(self.first)


class Acts(gymnasium.Env):
    """Shows the action it was given as numbers, whether it is of the action space, and then overwrites it."""

    def __init__(self, actions="discrete", render_mode=None):
        self.action_space = action_space(actions)
        self.observation_space = spaces.Box(-numpy.inf, numpy.inf, (5,), numpy.float32)

    def reset(self, *, seed=None, options=None):
        return numpy.zeros(5, numpy.float32), {}

    def step(self, action):
        given = numpy.asarray(action, dtype=numpy.float64).reshape(-1)
        shown = numpy.full(5, -99.0)
        shown[:len(given)] = given
        space = self.action_space
        shown[4] = space.contains(action) and (isinstance(action, int) or action.dtype == space.dtype)
        if isinstance(action, numpy.ndarray):
            action += 1  # what was given is the environment's
        return shown.astype(numpy.float32), 0.0, False, False, {}


class Observes(gymnasium.Env):
    """Has an observation space of a kind and gives samples of it, or 0, 1, 2, ... in a "box" of `shape`."""

    def __init__(self, observations="box", shape=(2, 3), high=255, dtype="uint8", render_mode=None):
        box = spaces.Box(-1.0, 2.0, (2,), numpy.float32)
        text = spaces.Text(5)
        self.counts = observations == "box"
        self.observation_space = {
            "dict": lambda: spaces.Dict({"b": box, "a": spaces.Discrete(3, start=7)}),
            "dict_with_text": lambda: spaces.Dict({"words": text, "n": box}),
            "dict_of_text": lambda: spaces.Dict({"words": spaces.Sequence(spaces.Discrete(2))}),
            "tuple": lambda: spaces.Tuple([spaces.Discrete(2), box]),
            "discrete": lambda: spaces.Discrete(4),
            "multi_binary": lambda: spaces.MultiBinary(3),
            "multi_discrete": lambda: spaces.MultiDiscrete([2, 3]),
            "scalar": lambda: spaces.Box(-3.0, 3.0, (), numpy.float64),
            "deep": lambda: spaces.Dict({"z": spaces.Tuple([spaces.Discrete(2), text, box]), "a": box}),
            "box": lambda: spaces.Box(0, high, tuple(shape), numpy.dtype(dtype).type),
            "mixed_bounds": lambda: spaces.Box(numpy.array([-1.0, -numpy.inf]), numpy.array([1.0, numpy.inf]),
                                               dtype=numpy.float32),
            "sequence": lambda: spaces.Sequence(box),
        }[observations]()
        self.action_space = spaces.Discrete(2)

    def sample(self):
        space = self.observation_space
        if self.counts:
            return numpy.arange(numpy.prod(space.shape)).reshape(space.shape).astype(space.dtype)
        return space.sample()

    def reset(self, *, seed=None, options=None):
        self.observation_space.seed(seed)
        return self.sample(), {}

    def step(self, action):
        return self.sample(), 0.0, False, False, {}


class Misses(Count):
    """Does not keep to what Gymnasium asks for, the way that `how` says."""

    def __init__(self, how, **settings):
        super().__init__(**settings)
        self.how = how
        self.action_space = None if how == "space" else self.action_space
        if how in ("picture", "axes"):
            self.observation_space = spaces.Box(0, 255, (9, 8, 3), numpy.uint8)

    def view(self, action):
        views = {"picture": numpy.ones((9, 8, 3)), "axes": numpy.ones((3, 9, 8), "uint8"), "words": numpy.array(["a"])}
        return views.get(self.how, super().view(action))

    def reset(self, **how):
        result = super().reset(**how)
        return result[0] if self.how == "reset" else result

    def step(self, action):
        observation, reward, _, truncated, facts = super().step(action)
        if self.how == "step":
            return observation, reward, False, facts
        ends = "False" if self.how == "end" else False
        return observation, reward, ends, truncated, None if self.how == "facts" else facts

    def render(self):
        return numpy.zeros((2, 3, 3))


class Draws(Count):
    """Draws pictures of a kind."""

    def __init__(self, picture="rgb", **settings):
        super().__init__(**settings)
        self.picture = picture

    def render(self):
        return {
            "rgb": lambda: numpy.arange(18, dtype=numpy.uint8).reshape(2, 3, 3),
            "rgba": lambda: numpy.arange(24, dtype=numpy.uint8).reshape(2, 3, 4),
            "mirrored": lambda: numpy.arange(18, dtype=numpy.uint8).reshape(2, 3, 3)[:, ::-1],
            "grey": lambda: numpy.zeros((2, 3, 1), numpy.uint8),
            "flat": lambda: numpy.zeros((2, 3), numpy.uint8),
            "list": lambda: [numpy.zeros((2, 3, 3), numpy.uint8)],
            "none": lambda: None,
            "empty": lambda: numpy.zeros((0, 3, 3), numpy.uint8),
            "large": lambda: numpy.zeros((20000, 1, 3), numpy.uint8),
            "text": lambda: "a picture in words",
        }[self.picture]()


class Remembers(Count):
    """Writes what happens to it into a file, a line each."""

    def __init__(self, log_file, how="", **settings):
        super().__init__(**settings)
        self.log_file, self.how = log_file, how
        self.log("make")

    def log(self, event):
        with open(self.log_file, "a", encoding="utf-8") as file:
            file.write(f"{event}\n")

    def reset(self, **how):
        self.log("reset")
        return super().reset(**how)

    def step(self, action):
        result = super().step(action)
        if self.how == "error" and self.steps == 2:
            raise ValueError("after two steps")
        return result

    def close(self):
        self.log("close")
        if self.how == "bad_close":
            raise ValueError("this does not close")


class Starts(Count):
    """Starts a program of its own, whose number it shows as its last action."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.program = subprocess.Popen(["sleep", "120"])

    def view(self, action):
        return super().view(self.program.pid)


class Alarms(Count):
    """Has a signal handler of its own, and an alarm that rings while nothing is asked."""

    def reset(self, **how):
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        return super().reset(**how)


class NoRenderMode(gymnasium.Env):
    """Takes no render_mode, as old environments do."""

    def __init__(self):
        self.observation_space = spaces.Box(0.0, 1.0, (1,), numpy.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return numpy.zeros(1, numpy.float32), {}

    def step(self, action):
        return numpy.ones(1, numpy.float32), 1.0, True, False, {}


for _kind in (Count, Faulty, Loud, Naps, Shows, Values, SameArray, Acts, Observes, Misses, Draws, Remembers, Starts, Alarms,
              NoRenderMode):
    gymnasium.register(f"{_kind.__name__}-v0", entry_point=_kind,
                       max_episode_steps=70 if _kind is Count else None)
