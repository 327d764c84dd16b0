"""The tasks of worker.py: how an environment of Gymnasium or dm_control is made, and how its observations
and actions become arrays of numbers. One text with worker.py, which follows it.
"""

import ctypes.util
import functools
import math
import os
import sys
import traceback

MAX_ACTIONS = 65536  # of a discrete space
MAX_PRODUCT = 4096   # a product of discrete actions is listed up to this many
MAX_ACTION_REPEAT = 1000
MIN_SIDE, MAX_CHANNELS = 8, 4  # of an array of bytes that is taken for a picture


class Refused(Exception):
    """Something that this worker cannot do, told without a traceback."""


def has_display():
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@functools.cache  # to look for a library takes long
def choose_mujoco_gl():
    """Tells MuJoCo, which looks for a display, what draws without one: before dm_control is imported."""
    if has_display() or "MUJOCO_GL" in os.environ:
        return
    for library, backend in (("EGL", "egl"), ("OSMesa", "osmesa")):
        if ctypes.util.find_library(library):
            os.environ["MUJOCO_GL"] = backend
            return


def draw(env):
    """A picture of `env`, None when it draws none."""
    choose_mujoco_gl()
    try:
        return env.render()
    except NotImplementedError:
        return None
    except Exception as failure:
        if "mujoco" not in sys.modules or has_display():
            raise
        raise Refused(f"MuJoCo cannot draw here with MUJOCO_GL={os.environ.get('MUJOCO_GL', '')} "
                      f"({type(failure).__name__}: {failure}); without a display it needs libegl1 with MUJOCO_GL=egl, "
                      "or libosmesa6 with MUJOCO_GL=osmesa") from failure


def begin(env, seed):
    """The observation and facts of a new episode."""
    result = env.reset(seed=seed)
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], dict):
        raise TypeError("reset() must return two things: observation, a dictionary of facts")
    return result


def close_quietly(env):
    """An environment that nobody needs: that it does not close is in the output only."""
    try:
        env.close()
    except BaseException:
        traceback.print_exc()


def bounds(values):
    """A list for JSON: None where there is no bound, one number when all are equal."""
    flat = [float(value) for value in values.reshape(-1)]
    flat = [None if math.isinf(value) or abs(value) > 3.4e38 else value for value in flat]
    return flat[:1] if all(value == flat[0] for value in flat) else flat


def has_channels_first(shape):
    return len(shape) == 3 and shape[0] <= MAX_CHANNELS and min(shape[1:]) >= MIN_SIDE


def has_channels_last(shape):
    return len(shape) in (2, 3) and min(shape[:2]) >= MIN_SIDE and (len(shape) == 2 or shape[2] <= MAX_CHANNELS)


class Pixels:
    """A picture [height, width, channels] of bytes, given channels first, or as it is if `kept`. One that has
    its channels first already stays as it is."""

    def __init__(self, space, kept):
        self.kept = kept or has_channels_first(space.shape)
        self.source_shape = space.shape if len(space.shape) == 3 else (*space.shape, 1)
        height, width, channels = self.source_shape
        self.shape = self.source_shape if self.kept else (channels, height, width)
        self.description = {"type": "uint8", "shape": list(self.shape), "low": [0.0], "high": [1.0]}

    def write(self, observation, row):
        if observation.dtype != row.dtype:  # numbers beyond a byte would be cut, fractions rounded
            raise ValueError(f"a picture of {observation.dtype}; its space has uint8")
        picture = observation.reshape(self.source_shape)
        row[...] = picture if self.kept else picture.transpose(2, 0, 1)


class Numbers:
    """An array of numbers, as float32."""

    def __init__(self, space, numpy):
        self.numpy, self.space_shape = numpy, space.shape
        self.shape = space.shape or (1,)
        self.description = {"type": "float32", "shape": list(self.shape),
                            "low": bounds(space.low), "high": bounds(space.high)}

    def write(self, observation, row):
        try:
            fits = observation.shape == self.shape
        except AttributeError:
            fits = False
        row[...] = observation if fits else self.fit(observation)

    def fit(self, observation):
        """A list or a single number as an array; numpy itself would repeat a number for all."""
        array = self.numpy.asarray(observation, dtype=self.numpy.float32)
        if array.shape != self.space_shape:
            raise ValueError(f"an observation of shape {array.shape}; its space has {self.space_shape}")
        return array


def can_flatten(space):
    try:
        return bool(space.is_np_flattenable)
    except NotImplementedError:
        return False


def refused_observations(space):
    return Refused(f"cannot make numbers of the observation space {space}")


class Flattened:
    """Any other space that Gymnasium can flatten: one vector. Parts that are no numbers are left out."""

    def __init__(self, space, spaces):
        self.keys = None
        if isinstance(space, spaces.Dict):
            self.keys = [key for key, part in space.items()
                         if can_flatten(part) and not isinstance(part, spaces.Text)]
            if not self.keys:
                raise refused_observations(space)
            space = spaces.Dict({key: space[key] for key in self.keys})
        flat = spaces.flatten_space(space) if can_flatten(space) else None
        if flat is None or flat.shape[0] == 0:
            raise refused_observations(space)
        self.space, self.flatten = space, spaces.flatten
        self.shape = flat.shape
        self.description = {"type": "float32", "shape": list(self.shape),
                            "low": bounds(flat.low), "high": bounds(flat.high)}

    def write(self, observation, row):
        if self.keys is not None:
            observation = {key: observation[key] for key in self.keys}
        vector = self.flatten(self.space, observation)
        if vector.shape != self.shape:
            raise ValueError(f"an observation of {vector.size} numbers; its space has {self.shape[0]}")
        row[...] = vector


def observation_writer(space, spaces, numpy, keeps_pixels):
    if isinstance(space, spaces.Box):
        if 0 in space.shape:
            raise refused_observations(space)
        is_picture = space.dtype == numpy.uint8 and (
            has_channels_first(space.shape) or has_channels_last(space.shape))
        return Pixels(space, keeps_pixels) if is_picture else Numbers(space, numpy)
    return Flattened(space, spaces)


class Actions:
    """How an index or a list of numbers becomes what the environment takes."""

    def __init__(self, space, spaces, numpy):
        self.table = None
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
        self.description = {"kind": "discrete", "size": len(self.table)}

    def take(self, numbers):
        """The action of these numbers of a box, as an array of its own."""
        return (numbers.round() if self.rounds else numbers).astype(self.dtype)


class DmControl:
    """A task of the DeepMind Control Suite with Gymnasium's methods; observations are one vector, an
    action is held for `repeat` steps of the suite and earns the sum of their rewards."""

    def __init__(self, load, repeat, spaces, numpy):
        self.env, self.repeat, self.numpy = load(), repeat, numpy
        size = sum(int(numpy.prod(part.shape)) for part in self.env.observation_spec().values())
        self.observation_space = spaces.Box(-math.inf, math.inf, (size,), numpy.float64)
        box = self.env.action_spec()
        self.action_space = spaces.Box(numpy.broadcast_to(box.minimum, box.shape),
                                       numpy.broadcast_to(box.maximum, box.shape), dtype=box.dtype)

    def vector(self, step):
        return self.numpy.concatenate([self.numpy.ravel(part) for part in step.observation.values()])

    def reset(self, seed):
        self.env.task.random.seed([seed & 0xffffffff, seed >> 32])
        return self.vector(self.env.reset()), {}

    def step(self, action):
        reward = 0.0
        for _ in range(self.repeat):
            step = self.env.step(action)
            reward += step.reward or 0.0
            if step.last():
                break
        terminated = step.last() and step.discount == 0.0
        return self.vector(step), reward, terminated, step.last() and not terminated, {}

    def render(self):
        return self.env.physics.render(height=240, width=320, camera_id=0)

    def close(self):
        self.env.close()


def dm_control_factory(request, spaces, numpy):
    """(function that makes one, function that tells the step cap of one)"""
    choose_mujoco_gl()  # some tasks draw when they begin
    from dm_control import suite
    domain, _, task = request["id"].partition("/")
    if (domain, task) not in suite.ALL_TASKS:
        known = ", ".join(f"{d}/{t}" for d, t in suite.ALL_TASKS)
        raise Refused(f"no task '{request['id']}' in dm_control's suite; known: {known}")
    settings = dict(request["settings"])
    repeat = settings.pop("action_repeat", 1)
    if type(repeat) is not int or not 1 <= repeat <= MAX_ACTION_REPEAT:
        raise Refused(f"action_repeat: got {repeat!r}; "
                      f"allowed: an integer from 1 to {MAX_ACTION_REPEAT}")
    # What a task draws when it is made is part of it: the same in every copy.
    load = lambda: suite.load(domain, task, task_kwargs={"random": 0, **settings})

    def cap_of(env):
        limit = env.env._step_limit  # there is no public name for it
        return math.ceil(limit / repeat) if math.isfinite(limit) else 0

    return lambda: DmControl(load, repeat, spaces, numpy), cap_of


def gymnasium_factory(request, gymnasium):
    """(function that makes one, function that tells the step cap of one)"""
    name = request["id"]
    if name.startswith("ALE/"):
        import ale_py
        gymnasium.register_envs(ale_py)
    if name.startswith(("MiniGrid-", "BabyAI-")):
        import minigrid
        gymnasium.register_envs(minigrid)

    def make():
        # The step cap is lzero's, and -1 leaves Gymnasium's away.
        options = {"disable_env_checker": True, "max_episode_steps": -1, **request["settings"]}
        try:
            return gymnasium.make(name, render_mode="rgb_array", **options)
        except TypeError:
            pass  # perhaps it takes no render_mode; what else is wrong shows again
        return gymnasium.make(name, **options)

    def cap_of(env):
        """That of the registered name, which may have been given without its version."""
        spec = gymnasium.spec(env.spec.id if env.spec is not None else name.split(":")[-1])
        return spec.max_episode_steps or 0

    return make, cap_of


class Task:
    """What all environments of this process have in common: how to make one, and its spaces."""

    def __init__(self, request):
        import gymnasium
        import numpy
        spaces = gymnasium.spaces
        if request["kind"] == "dm_control":
            self.make, cap_of = dm_control_factory(request, spaces, numpy)
        else:
            self.make, cap_of = gymnasium_factory(request, gymnasium)
        env = self.make()
        for space in ("observation_space", "action_space"):
            if not isinstance(getattr(env, space, None), spaces.Space):
                raise Refused(f"it has no {space}, a space of gymnasium.spaces")
        self.cap = cap_of(env)
        self.observation = observation_writer(env.observation_space, spaces, numpy,
                                              request["keeps_pixels"])
        self.actions = Actions(env.action_space, spaces, numpy)
        _, facts = begin(env, 0)
        mask = facts.get("action_mask")
        size = self.actions.description["size"]
        # In other spaces a mask is for each choice by itself: it does not say which products are legal.
        self.may_mask = isinstance(env.action_space, spaces.Discrete)
        if self.may_mask and mask is not None and len(mask) != size:
            raise Refused(f"an action mask of {len(mask)} for {size} actions")
        self.mask_size = size if self.may_mask and mask is not None else 0
        self.has_lives = "lives" in facts
        self.has_facts = self.has_lives or self.may_mask
        close_quietly(env)

    def description(self):
        return {"observation": self.observation.description, "action": self.actions.description,
                "max_episode_steps": self.cap, "mask_size": self.mask_size,
                "has_lives": self.has_lives}
