"""Reads an event file of lzero with the tensorboard package. Usage: tensorboard_oracle.py PROGRAM

PROGRAM is write_run_files, which says what it writes. Exit code 77: the package is not installed.
"""

import subprocess
import sys
import tempfile

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("skipped: python3 has no tensorboard package")
    sys.exit(77)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "events", folder], check=True)
        events = EventAccumulator(folder)
        events.Reload()
    tags = events.Tags()
    # TensorBoard turns simple values into tensors while it loads them, or keeps them as scalars.
    assert sorted(tags["scalars"]) == ["eval/return_mean", "loss/total"], tags
    points = [(event.step, event.value) for event in events.Scalars("loss/total")]
    assert points == [(100, 2.5), (1000000, -0.125), (1500000, 0.5)], points
    (point,) = events.Scalars("eval/return_mean")
    assert (point.step, point.value, point.wall_time) == (100, 195.0, 1700000000.5), point


main()
