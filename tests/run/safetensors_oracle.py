"""Exchanges files with the safetensors package, both ways. Usage: safetensors_oracle.py PROGRAM

PROGRAM is write_run_files, which says what it writes. Exit code 77: a package is not installed.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file
except ImportError:
    print("skipped: python3 has no safetensors and numpy packages")
    sys.exit(77)

EXPECTED = {
    "bytes": np.array([1, 2, 3], dtype=np.uint8),
    "floats": np.array([[0.5, -1.5, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32),
    "scalar": np.array(1e300, dtype=np.float64),
    "integers": np.array([-(2**63), 7], dtype=np.int64),
    "small": np.array([-5], dtype=np.int32),
    "keys": np.array([2**64 - 1], dtype=np.uint64),
    "words": np.array([2**32 - 1], dtype=np.uint32),
    "empty": np.zeros((0, 4), dtype=np.float32),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ours.safetensors")
        subprocess.run([sys.argv[1], "arrays", path], check=True)
        arrays = load_file(path)
        assert sorted(arrays) == sorted(EXPECTED), sorted(arrays)
        for name, expected in EXPECTED.items():
            assert arrays[name].dtype == expected.dtype, name
            assert arrays[name].shape == expected.shape, name
            assert np.array_equal(arrays[name], expected), name
        with safe_open(path, framework="numpy") as file:
            assert file.metadata() == {"producer": 'lzero "test"'}, file.metadata()
        path = os.path.join(folder, "theirs.safetensors")
        values = np.array([[1, 2], [3, 4]], dtype=np.float32)
        save_file({"x": values}, path, metadata={"origin": "python"})
        subprocess.run([sys.argv[1], "check-arrays", path], check=True)


main()
