"""What the tests of the Python package share: its interpreter, its folder, and runs that take seconds.

A test is called as: NAME_test.py LZERO SOURCE FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
LZERO, SOURCE, FOLDER = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])


def _start():
    """Goes on in the Python of the environments, which has numpy and gymnasium, in an empty FOLDER."""
    if os.environ.get("LZERO_PROGRAM") != str(LZERO):
        python = os.environ.get("LZERO_PYTHON") or str(SOURCE / ".deps/python_envs/bin/python3")
        try:
            found = subprocess.run([python, "-c", "import gymnasium, numpy"], capture_output=True).returncode == 0
        except OSError:
            found = False
        if not found:
            print(f"skipped: {python} lacks numpy or gymnasium, which tools/setup.sh --python-envs installs")
            sys.exit(SKIPPED)
        path = os.pathsep.join(filter(None, [str(SOURCE / "tools/python"), os.environ.get("PYTHONPATH")]))
        environment = dict(os.environ, LZERO_PROGRAM=str(LZERO), PYTHONPATH=path)
        os.execve(python, [python, "-B", *sys.argv], environment)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    os.chdir(FOLDER)
    os.symlink(SOURCE / "configs", "configs")


_start()


def train(name, config, *settings):
    """runs/NAME, trained for as long as `settings` say."""
    done = subprocess.run([LZERO, "train", f"configs/{config}.yaml", "--run-dir", f"runs/{name}", *settings],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return f"runs/{name}"


def train_counting():
    return train("counting", "teaching/counting_unizero", "stop.max_env_steps=500")


def refused(call, *words):
    """`call` raises LzeroError with all of `words`."""
    import lzero_cpp  # which _start has made known

    try:
        call()
    except lzero_cpp.LzeroError as error:
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError(f"nothing was refused: {words}")
