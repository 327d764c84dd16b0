"""The programs behind the Python package end when they must, and training is interrupted in good order."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import time

import package_testing
import lzero_cpp
import numpy as np
from package_testing import refused

START = np.eye(11, dtype=np.float32)[0]


def wait_for(what, condition, seconds=20):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, what
        time.sleep(0.02)


def is_gone(pid):
    """No process, and no zombie either."""
    return not pathlib.Path(f"/proc/{pid}").exists()


def check_ends(run):
    agent = lzero_cpp.load(run)
    pid = agent.pid
    os.kill(pid, signal.SIGKILL)
    refused(lambda: agent.act(START), "was killed by signal 9")
    assert is_gone(pid), "a zombie"
    refused(lambda: agent.act(START), "has been closed, or its program has ended")
    # Closed, left, collected.
    with lzero_cpp.load(run) as agent:
        pid = agent.pid
    assert is_gone(pid)
    agent = lzero_cpp.load(run)
    pid = agent.pid
    del agent
    gc.collect()
    assert is_gone(pid)
    # A fork that ends, and collects its copy, ends nothing here.
    with lzero_cpp.load(run) as agent:
        fork = os.fork()
        if fork == 0:
            agent.close()
            sys.exit(0)
        assert os.waitpid(fork, 0)[1] == 0
        assert agent.act(START) in (0, 1, 2)
    # Python ends in good order, by an exception, and by SIGKILL.
    for end in ("pass", "1 / 0", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
        code = f"import lzero_cpp; agent = lzero_cpp.load({run!r}); print(agent.pid, flush=True)\n{end}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        pid = int(done.stdout)
        wait_for(f"a program is left after: {end}", lambda: is_gone(pid))


def check_interrupt(run):
    """Ctrl-C in a call ends the program, whose answer nobody would read."""
    agent = lzero_cpp.load(run, simulations=20000)
    pid = agent.pid

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        for _ in range(1000):
            agent.act(START)
        raise AssertionError("no interrupt")
    except KeyboardInterrupt:
        pass
    assert is_gone(pid)
    refused(lambda: agent.act(START), "has been closed")


def check_training():
    """Ctrl-C is passed on once, also when it comes twice; the checkpoint is there when KeyboardInterrupt comes."""
    code = ("import lzero_cpp\n"
            "lzero_cpp.train('configs/teaching/counting_unizero.yaml', 'runs/long', lambda _: print('.', flush=True),\n"
            "                overrides={'stop.max_env_steps': 100000000})")
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == ".\n"
    child.send_signal(signal.SIGINT)
    time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    errors = child.communicate(timeout=60)[1]
    assert errors.rstrip().endswith("KeyboardInterrupt: stopped in good order; its folder is runs/long"), errors
    run = lzero_cpp.Run("runs/long")
    assert run.status["state"] == "interrupted", run.status
    assert (run.checkpoints()[-1] / "model.safetensors").is_file()
    # It goes on, and tells what is new.
    env_steps, told, had = run.status["env_steps"], [], len(run.rows())
    run = lzero_cpp.resume(run, told.append, overrides={"stop.max_env_steps": env_steps + 300})
    assert (run.status["state"], run.status["env_steps"] >= env_steps + 300) == ("finished", True), run.status
    assert len(told) > 0 and told == run.rows()[had:], (had, told)
    refused(lambda: lzero_cpp.resume(run, search__num_simulations=2), "search.num_simulations")
    refused(lambda: lzero_cpp.sweep("configs/teaching/counting_unizero.yaml", seeds="x"), "--seeds")
    refused(lambda: lzero_cpp.Run("runs"), "'runs' is no run folder")
    refused(lambda: lzero_cpp.train("configs/none.yaml"), "configs/none.yaml")


def main():
    run = package_testing.train_counting()
    check_ends(run)
    check_interrupt(run)
    check_training()
    print("as expected")


if __name__ == "__main__":
    main()
