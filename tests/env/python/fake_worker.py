#!/usr/bin/env -S python3 -I -S
"""Stands in for the interpreter of worker.py: speaks its protocol with the standard library alone, and breaks
it where the settings of the task say so. Its environment counts: the observation is [steps, seed % 1000],
a step pays half of its number, and `length` steps are an episode.

Settings: bad (what goes wrong, see the functions), at (the step at which it does), slot (whose; -1: any),
length, box (two numbers for an action, which are the observation, too), mask (gives masks, where action 1 is
illegal after odd steps), cap (the package's own).
"""

import json
import mmap
import os
import signal
import socket
import struct
import sys
import threading
import time

STEP, RESET, REMAKE = 1, 2, 3
TERMINATED, TRUNCATED, FAILED, MASKED = 1, 2, 4, 8
CONTROL = 1 << 32


class FakeWorker:
    def __init__(self, control):
        self.control = control
        self.settings = {}
        self.events = None
        self.slots = []
        self.num_made = 0

    def bad(self, name):
        return self.settings.get("bad", "") == name

    def receive(self):
        size, = struct.unpack("<I", self.read_exactly(4))
        return json.loads(self.read_exactly(size))

    def read_exactly(self, size):
        parts = b""
        while len(parts) < size:
            part = self.control.recv(size - len(parts))
            if not part:
                os._exit(0)
            parts += part
        return parts

    def answer(self, message, raw=b""):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.control.sendall(struct.pack("<I", len(text)) + text + raw)

    def spec(self):
        actions = {"kind": "discrete", "size": 3}
        if self.settings.get("box"):
            actions = {"kind": "box", "size": 2, "low": [-1.0, None], "high": [1.0, 5.0]}
        return {"observation": {"type": "float32", "shape": [2], "low": [None], "high": [None]},
                "action": actions, "max_episode_steps": self.settings.get("cap", 0),
                "mask_size": 3 if self.settings.get("mask") else 0, "has_lives": False}

    def make(self, request):
        self.settings = request["settings"]
        self.num_made += 1
        self.slots = [{"steps": 0, "seed": 0} for _ in range(request["num_envs"])]
        message = {"ok": True, "version": 1, "pid": os.getpid(), "spec": self.spec()}
        is_open = request["num_envs"] > 0
        if self.bad("make_garbage"):
            message = b"this is no JSON"
        elif self.bad("make_version"):
            message["version"] = 99
        elif self.bad("make_long"):
            self.control.sendall(struct.pack("<I", 0xffffffff) + b"x")
            time.sleep(60)
        elif self.bad("make_exit"):
            print("a word before the end", flush=True)
            os._exit(3)
        elif self.bad("make_close"):
            self.control.close()
            time.sleep(60)
        elif self.bad("make_refuse"):
            message = {"ok": False, "error": "ValueError: no", "traceback": "Traceback of make"}
        elif self.bad("make_missing"):
            message = {"ok": False, "error": "No module named 'ale_py'", "missing": "ale_py"}
        elif self.bad("open_refuse") and is_open:
            message = {"ok": False, "error": "ValueError: no", "traceback": "Traceback of open"}
        elif self.bad("open_exit") and is_open:
            os._exit(4)
        self.answer(message)

    def attach(self, request):
        for event in self.events or ():
            os.close(event)
        _, descriptors, _, _ = socket.recv_fds(self.control, 1, 3)
        self.memory = mmap.mmap(descriptors[0], request["bytes"])
        os.close(descriptors[0])
        self.events = descriptors[1:]
        self.layout, self.starts = request["layout"], request["buffers"]
        if self.bad("attach_exit"):
            os._exit(5)
        self.answer({"ok": not self.bad("attach_refuse"), "error": "not this memory"})

    def render(self, request):
        if self.bad("render_exit"):
            os._exit(6)
        if self.bad("render_fork_exit"):  # somebody else holds our end of the socket
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            os._exit(6)
        if self.bad("render_refuse"):
            self.answer({"ok": False, "error": "the environment draws no picture", "traceback": ""})
        elif self.bad("render_size"):
            self.answer({"ok": True, "width": 2, "height": 1, "bytes": 2})
        elif self.bad("render_short"):
            self.answer({"ok": True, "width": 2, "height": 1, "bytes": 6}, b"abc")
        else:
            steps = self.slots[request["slot"]]["steps"]
            self.answer({"ok": True, "width": 2, "height": 1, "bytes": 6}, bytes([steps, 1, 2, 3, 4, 5]))

    def error(self, request):
        if self.bad("error_exit"):
            os._exit(7)
        if self.bad("error_garbage"):
            self.answer(b"{")
        else:
            self.answer({"ok": True, "traceback": f"Traceback of slot {request['slot']}"})

    def close(self, _):
        if self.bad("close_hang"):
            time.sleep(60)
        self.answer({"ok": True})
        os._exit(0)

    def field(self, name, number):
        return self.starts[number & 1] + self.layout[name]["offset"]

    def put(self, kind, name, number, slot, value):
        struct.pack_into(kind, self.memory, self.field(name, number) + slot * struct.calcsize(kind), value)

    def get(self, kind, name, number, slot=0):
        return struct.unpack_from(kind, self.memory, self.field(name, number) + slot * struct.calcsize(kind))[0]

    def end_badly(self, slot):
        if self.bad("step_exit"):
            os._exit(8)
        if self.bad("step_kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.bad("step_hang"):
            time.sleep(60)
        if self.bad("step_print"):
            sys.stderr.write("the last words\n")
            os._exit(1)

    def play(self, number, slot):
        state = self.slots[slot]
        flags, reward, frames = 0, 0.0, 1
        if self.get("I", "ops", number, slot) == STEP:
            state["steps"] += 1
            reward = state["steps"] * 0.5
            frames = self.get("I", "repeats", number, slot)
            if state["steps"] == self.settings.get("length", -1):
                flags |= TERMINATED
        else:
            if self.bad("reset_fail"):
                return self.put("I", "flags", number, slot, FAILED)
            if self.bad("reset_exit"):
                os._exit(9)
            state.update(steps=0, seed=self.get("Q", "seeds", number, slot))
        observation = [state["steps"], state["seed"] % 1000]
        if self.settings.get("box"):
            observation = list(struct.unpack_from("2f", self.memory, self.field("actions", number) + slot * 8))
        is_bad = (state["steps"] == self.settings.get("at", 1) and
                  self.settings.get("slot", 0) in (slot, -1))
        if is_bad:
            self.end_badly(slot)
            flags = 99 if self.bad("step_flags") else FAILED if self.bad("step_fail") or self.settings.get(
                "bad", "").startswith("error_") else flags
            reward = float("nan") if self.bad("step_reward") else reward
            frames = 77 if self.bad("step_frames") else frames
            observation[0] = float("nan") if self.bad("step_nan") else observation[0]
        if self.settings.get("mask"):
            legal = [1, 9 if is_bad and self.bad("step_mask") else 1 - state["steps"] % 2, 1]
            start = self.field("masks", number) + slot * 3
            self.memory[start:start + 3] = bytes(legal)
            flags |= 0 if flags & FAILED else MASKED
        struct.pack_into("2f", self.memory,
                         self.field("observations", number) + slot * 8 * self.layout["frames"], *observation)
        self.put("d", "rewards", number, slot, reward)
        self.put("I", "num_frames", number, slot, frames)
        self.put("I", "flags", number, slot, flags)

    def run(self):
        while True:
            if self.events is None or os.eventfd_read(self.events[0]) >= CONTROL:
                request = self.receive()
                getattr(self, request["op"])(request)
                continue
            number, = struct.unpack_from("Q", self.memory, 16)
            for i in range(self.get("I", "count", number)):
                self.play(number, self.get("I", "slots", number, i))
            struct.pack_into("Q", self.memory, 24, number + (1 if self.bad("step_number") else 0))
            os.eventfd_write(self.events[1], 1)


def end_with_test(lifeline):
    os.read(lifeline, 1)
    os._exit(0)


# Arguments as WorkerProcess gives them to Python: -X faulthandler SCRIPT SOCKET LIFELINE.
threading.Thread(target=end_with_test, args=(int(sys.argv[5]),), daemon=True).start()
FakeWorker(socket.socket(fileno=int(sys.argv[4]))).run()
