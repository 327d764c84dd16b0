"""The tasks of worker.py: how an environment of Gymnasium or dm_control is made. One text with
worker_spaces.py, which comes before it, and worker.py, which follows.
"""

import ast
import ctypes.util
import difflib
import functools
import importlib
import math
import os
import pkgutil
import sys
import traceback

MAX_ACTION_REPEAT = 1000


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


def keep_mujoco_from_files():
    """MuJoCo's warnings are in the output of this process; they need no MUJOCO_LOG.TXT in the working folder.
    Does nothing before MuJoCo is imported; it warns when an environment is made."""
    log = getattr(sys.modules.get("mujoco"), "MjLogConfig", None)
    if log is not None:  # older ones have no such choice
        choice = log.get()
        choice.logto_file = False
        choice.set()


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


def nearest(name, names):
    found = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{found[0]}'?" if found else ""


class Wrapper:
    """One of env.wrappers: "module:function", with arguments as Python writes them or without."""

    def __init__(self, text):
        self.text, self.arguments, self.keywords = text, [], {}
        module, _, call = text.partition(":")
        try:
            tree = ast.parse(call, mode="eval").body
            if isinstance(tree, ast.Call):
                self.arguments = [ast.literal_eval(value) for value in tree.args]
                self.keywords = {word.arg: ast.literal_eval(word.value) for word in tree.keywords}
                tree = tree.func
            name = tree.id
        except (SyntaxError, ValueError, AttributeError, RecursionError):
            raise self.refused("is no function; allowed: module:function, or module:function(1, name=[2, 3]) "
                               "with arguments as Python writes them") from None
        self.function = self.find(module, name)

    def refused(self, what):
        return Refused(f"wrapper '{self.text}' {what}")

    def failed(self, failure):
        told = "" if is_plain(failure) else "\n" + root_traceback(failure)
        return self.refused(f"fails: {words_of(failure)}{told}")

    def find(self, module, name):
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as missing:
            if not (module + ".").startswith(f"{missing.name}."):
                raise  # a package that the module needs
            modules = [known.name for known in pkgutil.iter_modules()]
            raise self.refused(f"is not there: No module named '{missing.name}'"
                               f"{nearest(missing.name, modules)}") from None
        except Exception as failure:
            raise self.failed(failure) from None
        if not callable(getattr(found, name, None)):
            names = [known for known in dir(found) if callable(getattr(found, known, None))]
            raise self.refused(f"is not there: {module} has no function '{name}'{nearest(name, names)}")
        return getattr(found, name)

    def wrap(self, env):
        try:
            wrapped = self.function(env, *self.arguments, **self.keywords)
        except ModuleNotFoundError:
            raise
        except Exception as failure:
            raise self.failed(failure) from None
        if not all(callable(getattr(wrapped, name, None)) for name in ("reset", "step")):
            raise self.refused(f"returns a {type(wrapped).__name__}; an environment is needed")
        return wrapped


def gymnasium_factory(request, gymnasium):
    """(function that makes one, function that tells the step cap of one)"""
    name = request["id"]
    if name.startswith("ALE/"):
        import ale_py
        gymnasium.register_envs(ale_py)
    if name.startswith(("MiniGrid-", "BabyAI-")):
        import minigrid
        gymnasium.register_envs(minigrid)

    modes = ()  # of rendering
    try:  # its module, before it is made: keep_mujoco_from_files
        module, _, registered = name.rpartition(":")
        if module:
            importlib.import_module(module)
        creator = gymnasium.spec(registered).entry_point
        if not callable(creator):
            creator = gymnasium.envs.registration.load_env_creator(creator)
        modes = creator.metadata["render_modes"]
    except Exception:
        pass  # what is wrong shows again
    mode = "ansi" if "ansi" in modes and "rgb_array" not in modes else "rgb_array"
    wrappers = [Wrapper(text) for text in request["wrappers"]]

    def make():
        return functools.reduce(lambda env, wrapper: wrapper.wrap(env), wrappers, make_bare())

    def make_bare():
        # The step cap is lzero's, and -1 leaves Gymnasium's away.
        options = {"disable_env_checker": True, "max_episode_steps": -1, **request["settings"]}
        try:
            return gymnasium.make(name, render_mode=mode, **options)
        except (TypeError, AssertionError, ValueError):
            pass  # perhaps it takes no render_mode, or not this one; what else is wrong shows again
        return gymnasium.make(name, **options)

    def cap_of(env):
        """That of the registered name, which may have been given without its version."""
        bare = getattr(getattr(env, "unwrapped", env), "spec", None)
        spec = gymnasium.spec(bare.id if bare is not None else name.split(":")[-1])
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
        keep_mujoco_from_files()
        env = self.make()
        for space in ("observation_space", "action_space"):
            if not isinstance(getattr(env, space, None), spaces.Space):
                raise Refused(f"it has no {space}, a space of gymnasium.spaces")
        self.cap = cap_of(env)
        self.observation = observation_writer(env.observation_space, spaces, numpy, request)
        self.actions = Actions(env.action_space, spaces, numpy)
        self.draws_text = getattr(env, "render_mode", None) == "ansi"
        observation, facts = begin(env, 0)
        self.observation.write(observation, numpy.empty(self.observation.shape, self.observation.description["type"]))
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
                "has_lives": self.has_lives, "draws_text": self.draws_text}
