"""What the programs behind the Python package refuse, in words, and what a malformed frame does."""
import os
import pathlib
import pty
import random
import struct
import subprocess

import package_testing
import lzero_cpp
import numpy as np
from package_testing import refused

START = np.eye(11, dtype=np.float32)[0]
ENV_RESET = struct.pack("<IBBH", 12, 16, 0, 0) + bytes(8)


def check_refusals(run):
    """Wrong requests are errors in words, and change nothing."""
    refused(lambda: lzero_cpp.load("runs/nothing"), "no such folder: runs/nothing")
    refused(lambda: lzero_cpp.load(run, program="no-such-program"), "'no-such-program' is no program")
    refused(lambda: lzero_cpp.load(run, simulations=0), "simulations: got")
    refused(lambda: lzero_cpp.load(run, threads=5000), "threads: got '5000', allowed: an integer from 1 to")
    refused(lambda: lzero_cpp.evaluate(run, 3, seeds=range(10)), "episodes=3 and seeds=range(0, 10); allowed: one of both")
    refused(lambda: lzero_cpp.evaluate(run, seeds=2), "seeds=2; allowed: a range or integers")
    refused(lambda: lzero_cpp.evaluate({"seed": 1}), "run={'seed': 1}; allowed: a path")
    with lzero_cpp.load(run, max_batch=4) as agent, lzero_cpp.load(run, max_batch=4) as untouched:
        first = agent.act_batch([START, START])
        refused(lambda: agent.act(START[:3]), "shape (3,)", "(11,)")
        refused(lambda: agent.act(START * np.nan), "observations must be finite numbers; got nan")
        refused(lambda: agent.act(START, legal=[0, 0, 0]), "episode 0 has no legal action")
        refused(lambda: agent.act(START, legal=[1]), "legal has 1 numbers; allowed: 3")
        refused(lambda: agent.act(START, to_play=1), "to_play=1; allowed: integers from 0 to 0")
        refused(lambda: agent.act(START, played=3), "played=3; allowed: integers from 0 to 2")
        for wrong in (4, -1, 2**40, 2**64, 1.7, "two", [[0], [0, 1]]):
            refused(lambda: agent.act(START, id=wrong), f"id={wrong!r}; allowed: integers from 0 to 3")
        refused(lambda: agent.act("start"), "observations='start'; allowed: numbers")
        refused(lambda: agent.act({"place": START}), "observations are a dict", "policy_for(env)")
        refused(lambda: agent.policy_for("CartPole-v1"), "env='CartPole-v1'; allowed: an environment of Gymnasium")
        refused(lambda: agent.act_batch([START] * 3, ids=[0, 1]), "ids has 2 numbers; allowed: 3")
        refused(lambda: agent.act(START, legal=["yes"] * 3), "legal=['yes', 'yes', 'yes']; allowed: numbers")
        refused(lambda: agent.act(START, played="left"), "played='left'; allowed: integers from 0 to 2")
        refused(lambda: agent.act(START, state="saved"), "state='saved'; allowed: bytes, the save() of an environment")
        refused(lambda: agent.act_batch([START] * 2, ids=[1, 1]), "episode 1 is given twice")
        refused(lambda: agent.act_batch([START] * 5), "5 observations at once; allowed: 4, or load with max_batch=5")
        refused(lambda: agent.predict([START] * 5), "max_batch=5")
        refused(lambda: agent.predict(START, action_masks=[1]), "action_masks has 1 numbers; allowed: 3")
        refused(lambda: agent.reset([9]), "ids=[9]; allowed: integers from 0 to 3")
        refused(lambda: agent.predict(START, deterministic=False), "deterministic=False")
        _, state = untouched.predict([START] * 3)
        for wrong in (state, (), "state", (np.zeros(1),)):
            refused(lambda: agent.predict([START] * 3, wrong), "state=", "the last predict of this agent")
        refused(lambda: untouched.predict([START] * 2, state), "the last predict")
        refused(lambda: untouched.predict([START] * 3, state, episode_start=[True]), "episode_start has 1 numbers; allowed: 3")
        untouched.predict([START] * 3, state)
        untouched.reset()
        untouched.act_batch([START, START])
        for one, other in ((agent, untouched), (agent, agent)):
            one.reset([2]), other.reset([3])
            a, b = one.act_batch([START], ids=[2]), other.act_batch([START], ids=[3])
            assert (a.policies == b.policies).all() and (a.values == b.values).all()
        assert first.policies.shape == (2, 3)
        first.actions[0] = first.policies[0, 0] = first.visits[0, 0] = 7  # they are the caller's
        agent.predict([START] * 2)[0][0] = 7


def check_states():
    """A wrong state is no end of the agent, and no part of an episode."""
    board = package_testing.train("board", "boards/tictactoe_alphazero", "stop.max_env_steps=200",
                                  "train.start_env_steps=100", "evaluate.every_updates=0",
                                  "search.num_simulations=4")
    with lzero_cpp.load(board) as agent:
        start = np.zeros((3, 3, 3))
        refused(lambda: agent.act(start), "searches in the environment itself", "(state)")
        states = {}
        for env_id in ("tictactoe", "connect4"):
            with lzero_cpp.make(env_id) as env:
                env.reset(seed=0)
                states[env_id] = env.save()
        for wrong in (b"", b"x", states["connect4"], states["tictactoe"][:-1]):
            refused(lambda: agent.act(start, state=wrong), "environment 0")
            refused(lambda: agent.search(start, state=wrong), "environment")
        with lzero_cpp.load(board) as untouched:
            for one in (agent, untouched):
                first = one.act_batch([start] * 2, states=[states["tictactoe"]] * 2)
                second = one.act_batch([start], [1], states=[states["tictactoe"]])
                policies = np.concatenate([first.policies, second.policies])
                assert one is agent or (policies == expected).all()
                expected = policies


def check_training_calls():
    """What makes no sense is refused before anything starts."""
    config = "configs/teaching/counting_unizero.yaml"
    refused(lambda: lzero_cpp.train({"seed": 1}), "config={'seed': 1}; allowed: a path")
    refused(lambda: lzero_cpp.train(config, "started", 5), "on_metrics=5; allowed: a function of one dict")
    for wrong in ("callback", "on_metric"):
        refused(lambda: lzero_cpp.train(config, "started", **{wrong: print}), "did you mean on_metrics?")
    refused(lambda: lzero_cpp.sweep(config, "started", seeds=2), "seeds=2; allowed: a range or integers")
    assert not pathlib.Path("started").exists()


def check_frames(run):
    """Malformed bytes are answered with an ERROR frame and exit code 2, never with a crash."""
    whole = struct.pack("<IBBH", 4, 1, 0, 0)  # RESET of all
    cases = {"an unknown type": struct.pack("<IBBH", 4, 77, 0, 0), "too long": b"\xff\xff\xff\xff",
             "too short": struct.pack("<I", 2) + b"xx", "cut off": whole + whole[:5],
             "arrays missing": struct.pack("<IBBHI", 8, 2, 0, 0, 1), "after a good one": whole + bytes(40)}
    for name, sent in cases.items():
        done = subprocess.run([package_testing.LZERO, "policy", run, "--stdio"], input=sent, capture_output=True)
        assert done.returncode == 2, (name, done)
        length, kind, _, _, code = struct.unpack_from("<IBBHI", done.stdout[4 + struct.unpack_from("<I", done.stdout)[0]:][
            8 if name in ("cut off", "after a good one") else 0:])
        assert (kind, code) == (129, 2) and done.stderr.splitlines()[-1].startswith(b"error: "), (name, done)
    draw = random.Random(1)
    for number in range(20):
        sent = ENV_RESET * draw.randrange(3) + draw.randbytes(draw.randrange(1, 80))
        done = subprocess.run([package_testing.LZERO, "envs", "serve", "counting", "--stdio"], input=sent,
                              capture_output=True)
        assert done.returncode == 2, (number, sent, done)
    done = subprocess.run([package_testing.LZERO, "policy", run, "--stdio"], input=b"", capture_output=True)
    assert done.returncode == 0, done


def check_command_line(run):
    for words in (["policy", run], ["envs", "serve", "cartpole"]):
        done = subprocess.run([package_testing.LZERO, *words], capture_output=True, text=True)
        assert done.returncode == 2 and "needs --stdio: a program talks to it" in done.stderr, done
    main, terminal = pty.openpty()
    done = subprocess.run([package_testing.LZERO, "envs", "serve", "cartpole", "--stdio"], stdin=terminal,
                          capture_output=True, text=True)
    os.close(main), os.close(terminal)
    assert done.returncode == 2 and "--stdio is not for a terminal" in done.stderr, done
    # A program of another protocol.
    other = pathlib.Path("other").resolve()
    hello = b'{"protocol":1}'
    pathlib.Path("hello").write_bytes(struct.pack("<IBBH", 4 + len(hello), 128, 0, 0) + hello)
    other.write_text(f"#!/bin/sh\ncat {pathlib.Path('hello').resolve()}; cat > {os.devnull}\n")
    other.chmod(0o755)
    refused(lambda: lzero_cpp.load(run, program=other), "speaks protocol 1, this package 2")


def main():
    run = package_testing.train_counting()
    check_refusals(run)
    check_states()
    check_training_calls()
    check_frames(run)
    check_command_line(run)
    print("as expected")


if __name__ == "__main__":
    main()
