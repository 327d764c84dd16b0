"""The Python package as pip builds and installs it, without a network: a wheel and a plain install."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import package_testing

SHOWN = """
import json, lzero_cpp, lzero_cpp.agent, os
agent = lzero_cpp.load(os.environ["RUN"])
print(json.dumps([lzero_cpp.__file__, lzero_cpp.__version__, agent.act([1] + [0] * 10) in (0, 1, 2)]))
"""


def pip(*words):
    done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def check_installed(site, run):
    """The installed package alone plays, finds the program of the tree it is used in, and is of its version."""
    environment = dict(os.environ, PYTHONPATH=str(site), RUN=run)
    del environment["LZERO_PROGRAM"]
    built = site.parent / "build/release/tools/lzero"
    if not built.exists():
        built.parent.mkdir(parents=True)
        built.symlink_to(package_testing.LZERO)
    done = subprocess.run([sys.executable, "-B", "-c", SHOWN], cwd=site, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    path, version, plays = json.loads(done.stdout)
    assert pathlib.Path(path).parent == site / "lzero_cpp" and plays, done.stdout
    program = subprocess.run([package_testing.LZERO, "--version"], capture_output=True, text=True).stdout.split()
    assert program[1] == version, (program, version)
    assert list(site.glob(f"lzero_cpp-{version}.dist-info")), list(site.iterdir())
    assert (site / "lzero_cpp/py.typed").is_file()


def main():
    try:
        import setuptools, wheel  # noqa: F401
    except ImportError as error:
        print(f"skipped: tools/setup.sh --python-envs installs what is missing: {error}")
        sys.exit(package_testing.SKIPPED)
    run = os.path.abspath(package_testing.train_counting())
    source = pathlib.Path("source").resolve()  # pip builds inside of it
    shutil.copytree(package_testing.SOURCE / "tools/python", source, ignore=shutil.ignore_patterns("__pycache__"))
    plain, unpacked = pathlib.Path("plain").resolve(), pathlib.Path("unpacked").resolve()
    pip("install", "--no-build-isolation", "--no-deps", "--target", str(plain), str(source))
    check_installed(plain, run)
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", "wheels", str(source))
    (built,) = pathlib.Path("wheels").glob("lzero_cpp-*-py3-none-any.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(unpacked)
    check_installed(unpacked, run)
    print(f"{built.name}: {built.stat().st_size} bytes")


if __name__ == "__main__":
    main()
