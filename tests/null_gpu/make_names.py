"""Makes the libraries that stand where NVIDIA's are looked for.

Reads which libraries and which names libtorch_cuda and ours ask for. Names that nobody gives become
functions that tell of each call and return 0, in libnull_gpu_names.so; each library that is asked for
becomes an empty one of that name, which brings the others. Writes the list for LD_PRELOAD to
preload.txt, last.

    make_names.py COMPILER TORCH_LIB_FOLDER NULL_GPU_LIBRARY OUT_FOLDER [LIBRARY OF OURS ...]
"""

import pathlib
import re
import subprocess
import sys

# What libtorch_cuda brings, and what libtorch opens by itself.
OF_TORCH = ("libtorch_cuda.so", "libc10_cuda.so", "libcaffe2_nvrtc.so", "libtorch_nvshmem.so")
ALSO_GIVE = ("libtorch_cpu.so", "libc10.so")
SYSTEM = ("libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1",
          "ld-linux-x86-64.so.2")
# Called by libtorch, and right where nothing is done: versions and settings of what does not run here, and the names of
# variables of kernels. A call of any other name is a violation.
HARMLESS = ("__cudaRegisterVar", "cublasSetMathMode", "cudaFuncSetAttribute", "cudnnGetVersion")


def names(library, which):
    """Names of the dynamic symbols of `library`, without their versions; weak ones only where they are given."""
    lines = subprocess.run(["nm", "-D", which, str(library)], check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in lines.splitlines()]
    return {field[-1].split("@")[0] for field in fields if len(field) >= 2 and field[-2] not in ("w", "v")
            or which == "--defined-only"}


def needed(library):
    text = subprocess.run(["readelf", "-d", str(library)], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


def versions(library):
    """The versions that `library` asks for, as (library, version)."""
    text = subprocess.run(["readelf", "-V", str(library)], check=True, capture_output=True, text=True).stdout
    found, file = set(), None
    for line in text.splitlines():
        if match := re.search(r"Version: \d+ +File: (\S+)", line):
            file = match.group(1)
        elif match := re.search(r"Name: (\S+) +Flags", line):
            found.add((file, match.group(1)))
    return found


def system_path(compiler, name):
    found = subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    return pathlib.Path(found.stdout.strip())


def build(compiler, out, name, source, *arguments):
    subprocess.run([compiler, "-shared", "-fPIC", "-xc++", "-", "-o", str(out / name), f"-Wl,-soname,{name}",
                    "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", f"-L{out}", *arguments],
                   check=True, input=source, text=True)


def stub(name):
    """The source of a function that nobody gives."""
    told = "" if name in HARMLESS else f'lz_null_gpu_missing("{name}"); '
    return f"long {name}() {{ {told}return 0; }}\n"


def main(compiler, torch, null_gpu, out, *ours):
    torch, null_gpu, out = pathlib.Path(torch), pathlib.Path(null_gpu), pathlib.Path(out)
    asking = [torch / name for name in OF_TORCH if (torch / name).exists()] + [pathlib.Path(path) for path in ours]
    giving = asking + [torch / name for name in ALSO_GIVE] + [null_gpu]
    giving += [path for path in (system_path(compiler, name) for name in SYSTEM) if path.exists()]

    missing = set().union(*(names(path, "--undefined-only") for path in asking))
    missing -= set().union(*(names(path, "--defined-only") for path in giving))
    # What the program gives to a library of ours that it loads.
    missing = sorted(name for name in missing if not name.startswith("_Z"))
    stubs = "".join(stub(name) for name in missing)
    source = f'extern "C" {{\nvoid lz_null_gpu_missing(const char*);\n{stubs}}}\n'
    build(compiler, out, "libnull_gpu_names.so", source, f"-l:{null_gpu.name}")

    libraries = set().union(*(needed(path) for path in asking))
    libraries -= {path.name for path in torch.iterdir()} | {path.name for path in giving} | set(SYSTEM)
    asked = set().union(*(versions(path) for path in asking))
    script = out / "versions.txt"
    for name in sorted(libraries):
        script.write_text("".join(f"{version} {{ }};\n" for file, version in sorted(asked) if file == name),
                          encoding="utf-8")
        build(compiler, out, name, "", *([f"-Wl,--version-script={script}"] if script.stat().st_size else []),
              f"-l:{null_gpu.name}", "-l:libnull_gpu_names.so")
    order = [null_gpu.name, "libnull_gpu_names.so", *sorted(libraries)]
    (out / "preload.txt").write_text(":".join(str(out / name) for name in order) + "\n", encoding="utf-8")
    print(f"{len(missing)} names, {len(libraries)} libraries")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
