#!/usr/bin/env python3
"""Prints the folders with libtorch and the CUDA libraries that belong to it, as LD_LIBRARY_PATH has them,
when the torch of this Python, or LZERO_TORCH_DIR, is of the version that a build was made with. torch is
not imported. Exit code 1 with the reason otherwise.

    find_torch.py BUILD.json
"""
import glob
import importlib.util
import json
import os
import pathlib
import runpy
import sys


def torch_folder():
    """The folder `torch`, and what names it in messages."""
    if os.environ.get("LZERO_TORCH_DIR"):
        return pathlib.Path(os.environ["LZERO_TORCH_DIR"]), "LZERO_TORCH_DIR"
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None, sys.executable
    return pathlib.Path(spec.origin).parent, sys.executable


def problem(build, folder, who):
    """Why this torch is not the one to run with; None when it is."""
    wanted = f"torch {build['torch']} for CUDA {build['cuda']}"
    if folder is None:
        return f"{who} has no torch; this build needs {wanted}: set LZERO_PYTHON to a python3 that has it"
    if not (folder / "version.py").exists() or not (folder / "lib").is_dir():
        return f"{who}: {folder} is not the folder 'torch' of a wheel"
    facts = runpy.run_path(str(folder / "version.py"))
    version, cuda = facts["__version__"].split("+")[0], facts.get("cuda") or "none"
    if version != build["torch"] or cuda.split(".")[0] != build["cuda"].split(".")[0]:
        return f"{who} has torch {version} for CUDA {cuda}; this build needs {wanted}"
    return None


def library_folders(folder):
    """libtorch's own, those of the wheels beside it, then those of CUDA toolkits."""
    wheels = sorted(glob.glob(str(folder.parent / "nvidia" / "*" / "lib")))
    toolkits = []
    for toolkit in sorted(glob.glob("/usr/local/cuda*")):
        for part in ("lib64", "lib", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"):
            toolkits.append(os.path.join(toolkit, part))
    folders = []
    for each in [str(folder / "lib"), *wheels, *toolkits]:
        real = os.path.realpath(each)
        if os.path.isdir(real) and real not in folders:
            folders.append(real)
    return folders


def main():
    build = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder, who = torch_folder()
    wrong = problem(build, folder, who)
    if wrong is not None:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(1)
    print(":".join(library_folders(folder)))


if __name__ == "__main__":
    main()
