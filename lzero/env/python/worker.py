"""Runs Python environments for lzero: started by it, one process for some environments. What they are
is told by worker_tasks.py and worker_spaces.py, which come before this in one text.

Messages about making, drawing and errors are JSON over a socket; actions and observations go through
shared memory, two buffers in turn, each message a wake-up of one eventfd and its answer of another.
Needs numpy and the package of the environment. Episodes begin only when lzero says so: nothing is
reset here by itself. Arguments: file descriptors of the socket and of a pipe that ends with lzero.
"""

import json
import mmap
import os
import re
import select
import signal
import socket
import struct
import sys
import traceback

VERSION = 1
STEP, RESET, REMAKE = 1, 2, 3
TERMINATED, TRUNCATED, FAILED, MASKED = 1, 2, 4, 8
CONTROL = 1 << 32  # added to the counter that wakes the process
MAX_SIDE, MAX_PIXELS = 1 << 14, 1 << 24  # of a picture
MAX_TEXT = 20000   # characters of an exception that are told


def words_of(failure):
    """What an exception says, should it say anything."""
    try:
        return f"{type(failure).__name__}: {failure}"
    except BaseException:
        return type(failure).__name__


def shortened(text):
    """A text of an exception, which may be as long as it likes, and may hold halves of characters."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= MAX_TEXT:
        return text
    return text[:MAX_TEXT // 4] + "\n...\n" + text[-MAX_TEXT * 3 // 4:]


class Buffer:
    """One of the two message buffers in shared memory, field by field."""

    def __init__(self, memory, start, layout, task, numpy):
        view = memoryview(memory)

        def field(name, kind):
            begin = start + layout[name]["offset"]
            return view[begin:begin + layout[name]["bytes"]].cast(kind)

        slots = layout["num_slots"]
        self.count = field("count", "I")
        self.slots = field("slots", "I")
        self.ops = field("ops", "I")
        self.seeds = field("seeds", "Q")
        self.repeats = field("repeats", "I")
        self.rewards = field("rewards", "d")
        self.flags = field("flags", "I")
        self.lives = field("lives", "i")
        self.num_frames = field("num_frames", "I")
        is_box = task.actions.table is None
        actions = field("actions", "B")
        if is_box:
            self.actions = numpy.frombuffer(actions, numpy.float32).reshape(
                slots, layout["max_repeat"], *task.actions.shape)
        else:
            self.actions = actions.cast("i")
        if task.mask_size > 0:
            masks = numpy.frombuffer(field("masks", "B"), numpy.bool_)
            self.masks = list(masks.reshape(slots, task.mask_size))  # views, made once
        frames = numpy.frombuffer(field("observations", "B"), task.observation.description["type"]).reshape(
            slots, layout["frames"], *task.observation.shape)
        self.frames = [list(slot) for slot in frames]  # likewise


def number_of(reward):
    try:
        return float(reward)
    except (TypeError, ValueError):
        what = f"an array of shape {reward.shape}" if hasattr(reward, "shape") else repr(reward)
        raise TypeError(f"step() must return one number as its reward; got {what}") from None


def own_frames(failure):
    """The frames of `failure` after those of this text, which is no file that a user could open; None: no others."""
    frames = failure.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    return frames


def traceback_text(failure, chain=True):
    text = "".join(traceback.format_exception(type(failure), failure, own_frames(failure), chain=chain))
    return text.replace(f'File "{__file__}"', "lzero's worker")


def root_traceback(failure):
    """That of the exception that the others were raised from, which is where the fault is; "" if that is here."""
    while failure.__cause__ is not None:
        failure = failure.__cause__
    return traceback_text(failure, chain=False) if own_frames(failure) else ""


def is_plain(failure):
    """Whether its words already say what is wrong: with a name, a setting, or what is not installed."""
    return (type(failure).__module__ == "gymnasium.error" or
            isinstance(failure, TypeError) and "unexpected keyword argument" in str(failure))


class Worker:
    def __init__(self, control, guard=None):
        self.control, self.guard = control, guard
        self.task = self.request = None
        self.envs = []
        self.errors = {}
        self.request_event = self.reply_event = None

    # Control messages: four bytes of length, JSON; a picture follows its message.

    def read_exactly(self, size):
        parts = b""
        while len(parts) < size:
            part = self.control.recv(size - len(parts))
            if not part:
                self.end()
            parts += part
        return parts

    def receive(self):
        size, = struct.unpack("<I", self.read_exactly(4))
        return json.loads(self.read_exactly(size))

    def answer(self, message, raw=b""):
        text = json.dumps(message, allow_nan=False).encode()
        self.control.sendall(struct.pack("<I", len(text)) + text + raw)

    def make(self, request):
        if not hasattr(os, "eventfd"):
            raise Refused(f"environments need Python 3.10 or newer; this is {sys.version.split()[0]}")
        sys.path[:] = [*request["python_path"],
                       *(place for place in sys.path if place not in request["python_path"])]
        num_envs = request.pop("num_envs")
        if request != self.request:  # a process may be used again
            self.task, self.request = Task(request), request
        self.close_all()
        for _ in range(num_envs):
            self.envs.append(self.task.make())
        self.answer({"ok": True, "version": VERSION, "pid": os.getpid(),
                     "spec": self.task.description()})

    def attach(self, request):
        import numpy
        for event in (self.request_event, self.reply_event):
            if event is not None:
                os.close(event)
        _, descriptors, _, _ = socket.recv_fds(self.control, 1, 3)
        memory_fd, self.request_event, self.reply_event = descriptors
        self.memory = mmap.mmap(memory_fd, request["bytes"])
        os.close(memory_fd)
        self.header = memoryview(self.memory)[:64].cast("Q")
        if self.header[0] != request["magic"] or self.header[1] != VERSION:
            raise Refused("the shared memory is not what was announced")
        self.layout = request["layout"]
        self.max_repeat = self.layout["max_repeat"]
        starts = request["buffers"]
        self.buffers = [Buffer(self.memory, start, self.layout, self.task, numpy)
                        for start in starts]
        self.answer({"ok": True})

    def render(self, request):
        picture = draw(self.envs[request["slot"]])
        shape = getattr(picture, "shape", ())
        if len(shape) != 3 or shape[2] not in (3, 4):
            raise Refused("the environment draws no picture")
        if str(picture.dtype) != "uint8":
            raise Refused(f"the environment draws a picture of {picture.dtype}; uint8 is needed")
        height, width = shape[:2]
        if not (0 < height <= MAX_SIDE and 0 < width <= MAX_SIDE and height * width <= MAX_PIXELS):
            raise Refused(f"the environment draws a picture of {width} x {height} pixels")
        raw = picture[:, :, :3].tobytes()
        self.answer({"ok": True, "width": width, "height": height, "bytes": len(raw)}, raw)

    def text(self, request):
        drawn = draw(self.envs[request["slot"]])
        if not isinstance(drawn, str):
            raise Refused(f"render() of mode ansi must return a text; got a {type(drawn).__name__}")
        self.answer({"ok": True, "text": shortened(re.sub("\x1b\\[[0-9;]*m", "", drawn))})  # colours

    def error(self, request):
        self.answer({"ok": True, "traceback": self.errors.pop(request["slot"], "")})

    def close_all(self):
        for env in self.envs:
            close_quietly(env)
        self.envs = []

    def close(self, request):
        self.close_all()
        self.answer({"ok": True})
        self.end()

    def end(self):
        if self.guard is not None:
            os.kill(self.guard, signal.SIGKILL)
            os.waitpid(self.guard, 0)
        os._exit(0)

    def handle_control(self):
        request = self.receive()
        try:
            verbs = {"make": self.make, "attach": self.attach, "render": self.render, "text": self.text,
                     "error": self.error, "close": self.close}
            verbs[request["op"]](request)
        except Refused as refusal:
            self.answer({"ok": False, "error": shortened(str(refusal)), "traceback": ""})
        except ModuleNotFoundError as missing:
            self.answer({"ok": False, "error": shortened(str(missing)), "missing": missing.name or "",
                         "traceback": ""})
        except BaseException as failure:
            told = "" if is_plain(failure) else root_traceback(failure)
            self.answer({"ok": False, "error": shortened(words_of(failure)), "traceback": shortened(told)})

    # Messages through shared memory.

    def begin_episode(self, buffer, slot):
        if buffer.ops[slot] == REMAKE:
            close_quietly(self.envs[slot])
            self.envs[slot] = self.task.make()
        observation, facts = begin(self.envs[slot], buffer.seeds[slot])
        self.task.observation.write(observation, buffer.frames[slot][-1])
        buffer.rewards[slot] = 0.0
        buffer.num_frames[slot] = 1
        buffer.flags[slot] = self.tell_facts(buffer, slot, facts) if self.task.has_facts else 0

    def step(self, buffer, slot):
        env, task, frames = self.envs[slot], self.task, buffer.frames[slot]
        write, table = task.observation.write, task.actions.table
        first, total = slot * self.max_repeat, 0.0
        for k in range(buffer.repeats[slot]):
            if table is None:
                action = task.actions.take(buffer.actions[slot, k])
            else:
                action = table[buffer.actions[first + k]]
                if task.actions.copies:
                    action = action.copy()
            if k > 0 and len(frames) > 1:  # now, since the next step may change it in place
                write(observation, frames[-2])
            result = env.step(action)
            if len(result) != 5:
                raise TypeError(f"step() must return five things, not {len(result)}: observation, reward, "
                                "terminated, truncated, a dictionary of facts")
            observation, reward, terminated, truncated, facts = result
            total += number_of(reward)
            if terminated or truncated:
                if isinstance(terminated, str) or isinstance(truncated, str):  # "False" is no end
                    raise TypeError("terminated and truncated must be truth values; got "
                                    f"{terminated!r}, {truncated!r}")
                break
        write(observation, frames[-1])
        buffer.rewards[slot] = total
        buffer.num_frames[slot] = k + 1
        flags = self.tell_facts(buffer, slot, facts) if task.has_facts else 0
        if terminated:
            flags |= TERMINATED
        if truncated:
            flags |= TRUNCATED
        buffer.flags[slot] = flags

    def tell_facts(self, buffer, slot, facts):
        """Lives, and the mask of legal actions where there is one: the flag that says so."""
        if not isinstance(facts, dict):
            raise TypeError(f"step() must return a dictionary of facts last; got {facts!r}")
        if self.task.has_lives:
            buffer.lives[slot] = facts.get("lives", 0)
        mask = facts.get("action_mask") if self.task.may_mask else None
        if mask is None:
            return 0
        if self.task.mask_size == 0:
            raise ValueError("an action mask, which the first reset did not have")
        if len(mask) != self.task.mask_size:
            raise ValueError(f"an action mask of {len(mask)} for {self.task.mask_size} actions")
        buffer.masks[slot][...] = mask
        return MASKED

    def play(self, buffer):
        ops = buffer.ops
        for slot in buffer.slots[:buffer.count[0]]:
            try:
                if ops[slot] == STEP:
                    self.step(buffer, slot)
                else:
                    self.begin_episode(buffer, slot)
            except BaseException as failure:
                self.errors[slot] = shortened(traceback_text(failure))
                buffer.flags[slot] = FAILED

    def wait(self):
        """Sleeps until there is a request; whether it is a control message."""
        while True:
            try:
                return os.eventfd_read(self.request_event) >= CONTROL
            except InterruptedError:  # a signal that the environment handles
                continue

    def run(self):
        while True:
            if self.request_event is None or self.wait():
                self.handle_control()
                continue
            sequence = self.header[2]
            self.play(self.buffers[sequence & 1])
            self.header[3] = sequence
            os.eventfd_write(self.reply_event, 1)


def start_guard(lifeline):
    """A process that waits for the end of lzero and then ends this one and all that it has started, whatever
    they do: a thread would not run while C code holds the interpreter. Ends with this process. Its number."""
    worker = os.getpid()
    end = os.pidfd_open(worker)
    guard = os.fork()
    if guard != 0:
        os.close(end)
        os.close(lifeline)
        return guard
    low, high = sorted((lifeline, end))
    for first, last in ((0, low), (low + 1, high), (high + 1, 1024)):
        os.closerange(first, last)
    waiting = select.poll()
    waiting.register(lifeline, 0)  # nothing is ever written: it is hung up
    waiting.register(end, select.POLLIN)
    if lifeline in (descriptor for descriptor, _ in waiting.poll()):
        os.killpg(worker, signal.SIGKILL)
    os._exit(0)


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[0] = os.getcwd()  # modules of the user's
    guard = start_guard(int(sys.argv[2])) if hasattr(os, "pidfd_open") else None
    Worker(socket.socket(fileno=int(sys.argv[1])), guard).run()


main()
