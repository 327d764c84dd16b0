"""Runs README.md and every docstring of the package as doctests, and finds what has none."""
import doctest
import importlib
import importlib.util
import inspect
import subprocess
import sys

import package_testing

MODULES = ("", ".agent", ".arguments", ".child", ".decision", ".environment", ".policy", ".runs", ".spec", ".training",
           ".worker_spaces")
INNER = ("lzero_cpp.child", "lzero_cpp.worker_spaces")  # whose classes are for this package
OPTIONS = doctest.ELLIPSIS


def without_example(module):
    """Public functions, classes and methods of a module whose docstring shows no use."""
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        members = [(name, thing)] if inspect.isfunction(thing) or inspect.isclass(thing) else []
        if inspect.isclass(thing) and module.__name__ not in INNER:
            members += [(f"{name}.{member}", value) for member, value in vars(thing).items()
                        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))]
        for path, value in members:
            if ">>>" not in (value.__doc__ or "") and path not in ("words_of", "Child", "Refused", "Writer"):
                yield f"{module.__name__}.{path}"


def main():
    lacking = [name for name in ("matplotlib", "pandas") if not importlib.util.find_spec(name)]
    if lacking:
        print(f"skipped: tools/setup.sh --python-envs installs what is missing: {', '.join(lacking)}")
        sys.exit(package_testing.SKIPPED)
    package_testing.train_counting()
    attempted = failed = 0
    missing = []
    for name in MODULES:
        module = importlib.import_module("lzero_cpp" + name)
        result = doctest.testmod(module, optionflags=OPTIONS)
        attempted, failed = attempted + result.attempted, failed + result.failed
        missing += without_example(module)
    script = package_testing.SOURCE / "tools/python/time_calls.py"
    timed = subprocess.run([sys.executable, "-B", script, "runs/counting", "20"], capture_output=True, text=True)
    assert timed.stdout.count("us a decision beside the search") == 2, timed.stderr
    result = doctest.testfile(str(package_testing.SOURCE / "tools/python/README.md"), module_relative=False,
                              optionflags=OPTIONS)
    attempted, failed = attempted + result.attempted, failed + result.failed
    print(f"{attempted - failed} of {attempted} examples as shown")
    if missing:
        print("without an example: " + ", ".join(missing), file=sys.stderr)
    sys.exit(1 if failed or missing or attempted < 100 else 0)


if __name__ == "__main__":
    main()
