"""Each broken rule is told: exit code 66 and the violation; what is allowed, and faults that are asked for, are none.

    misuse_test.py RUN_SCRIPT LIBRARY_FOLDER MISUSE_PROGRAM
"""

import subprocess
import sys
import unittest

VIOLATION = 66
RUN = []

# Case, settings, exit code, what is printed.
CASES = [
    ("nothing", "nothing_left=1,print_counts=1", 0, "graph_launches 1"),
    ("foreign_stream", "", VIOLATION, "copy on stream 2 uses memory that fill uses on stream 1, and no event"),
    ("write_under_reader", "", VIOLATION, "fill on stream 2 uses memory that copy uses on stream 1, and no event"),
    ("freed_under_graph", "", VIOLATION, "fill uses bytes that are no memory of the device"),
    ("pageable_in_capture", "", VIOLATION, "a captured copy of pageable memory"),
    ("wait_in_capture", "", VIOLATION, "cudaDeviceSynchronize while a stream captures"),
    ("two_captures", "", VIOLATION, "two captures at once"),
    ("legacy_in_capture", "", VIOLATION, "fill on the legacy stream while a blocking stream captures"),
    ("allocation_in_capture", "", 0, "cudaMalloc: operation not permitted when stream is capturing\n"
                                     "end: operation failed due to a previous error during capture"),
    ("allocation_in_capture", "strict_capture=1", VIOLATION, "cudaMalloc in a capture"),
    ("fork", "nothing_left=1", 0, "fork: 1 2"),
    ("fork_over_same_bytes", "", VIOLATION, "uses memory that fill uses on stream 1, and no event"),
    ("fork_without_join", "", 0, "end: capturing stream has unjoined work"),
    ("event_of_before", "", 0, "wait: dependency created on uncaptured work in another stream\nend: 901"),
    ("another_thread", "", 0, "cudaMalloc: no error\nnodes: 1"),
    ("failed_capture", "fail_capture=2", 0, "capture 1: 1\ncapture 2: 0\ncapture 3: 1"),
    ("out_of_memory", "memory_mib=1", 0, "cudaMalloc: out of memory"),
    ("out_of_memory", "", 0, "cudaMalloc: no error"),
    ("left", "nothing_left=1", VIOLATION, "left at exit: 65536 device_bytes"),
    ("left", "nothing_left=1", VIOLATION, "left at exit: 65536 pinned_bytes"),
    ("left", "nothing_left=1", VIOLATION, "left at exit: 2 streams"),
    ("left_graph", "nothing_left=1", VIOLATION, "left at exit: 1 graphs"),
    ("left", "", 0, ""),
    ("copy_between_devices", "devices=2,nothing_left=1", 0, "copied: 7"),
    ("copy_too_early", "devices=2", VIOLATION, "uses memory that fill uses on stream 2, and no event"),
    ("wait_for_the_other", "devices=2", VIOLATION, "copy on stream 2 uses memory that fill uses on stream 4, and no"),
    ("peer_of_nobody", "devices=2", VIOLATION, "a copy whose ends are not on the devices it says"),
    ("peer_of_nobody", "devices=2", VIOLATION, "null GPU: 2 violations"),
    ("foreign_memory", "devices=2", VIOLATION, "memory of device 0 is given to fill on a stream of device 1"),
    ("foreign_event", "devices=2", VIOLATION, "an event of device 1 is given to a stream of device 0"),
    ("foreign_graph", "devices=2", VIOLATION, "a graph of device 0 is given to a stream of device 1"),
    ("foreign_kernel", "devices=2", VIOLATION, "is launched on a stream of device 1 while device 0 is the current one"),
    ("memory_of_each", "devices=2,memory_mib=1,nothing_left=1", 0, "device 1: no error, 458752 of 1048576 free"),
    ("destroyed_stream", "", VIOLATION, "a stream is used that is not there"),
    ("destroyed_in_capture", "", VIOLATION, "a stream goes while it captures"),
    ("freed_memory", "", VIOLATION, "fill uses bytes that are no memory of the device"),
    ("past_the_end", "", VIOLATION, "fill uses bytes that are no memory of the device"),
    ("free_of_pinned", "", VIOLATION, "cudaFree of what is not allocated"),
    ("free_host_of_nothing", "", VIOLATION, "cudaFreeHost of what is not allocated"),
    ("given_back_in_use", "", VIOLATION, "memory of stream 1 is given back while fill on stream 2 may still use it"),
    ("given_back_in_use", "", VIOLATION, "memory of stream 1 is given back while copy on stream 2 may still use it"),
    ("used_after_given_back", "", VIOLATION, "fill uses memory that was freed"),
    ("wrong_directions", "", VIOLATION, "a copy whose ends are not where it says"),
    ("wrong_directions", "", VIOLATION, "null GPU: 6 violations"),
    ("unknown_kernel", "level=control", 0, ""),
    ("unknown_kernel", "level=numbers", VIOLATION, "kernel Strange has nothing that runs in its place"),
    ("unknown_kernel_of_ours", "", VIOLATION, "kernel lzero::Strange has nothing that runs in its place"),
    ("search_without_warps", "", VIOLATION, "a kernel of a search is launched with blocks of no warp"),
    ("impossible_sizes", "", VIOLATION, "kernel Strange is launched with sizes that no device takes"),
    ("impossible_sizes", "", VIOLATION, "launches: 9 9 9 9 9 9 9"),
    ("failing_work", "level=late", VIOLATION, "a kernel fails: vector"),
    ("unknown_call", "", VIOLATION, "cudaMallocAsync is called, which nothing here does"),
    ("unknown_entry_point", "", VIOLATION, "an entry point of the driver is called, which nothing here does"),
    ("blas_product", "level=control", 0, ""),
    ("blas_product", "level=numbers", VIOLATION, "cublasSgemm has nothing that runs in its place"),
    ("blas_in_capture", "", VIOLATION, "cublasSgemm is captured without a workspace of libtorch"),
    ("workspace_of_host", "", VIOLATION, "a workspace of cuBLAS outside of the device's memory"),
    ("foreign_workspace", "devices=2", VIOLATION, "a workspace of device 1 is given to a handle of cuBLAS of device 0"),
    ("foreign_blas", "devices=2", VIOLATION, "a handle of cuBLAS of device 0 is given to a stream of device 1"),
    ("foreign_blas_lt", "devices=2", VIOLATION, "a handle of cuBLASLt of device 0 is given to a stream of device 1"),
    ("known_product", "", 0, ""),
    ("unknown_products", "level=numbers", VIOLATION, "cublasLtMatmul is asked for what nothing here computes"),
    ("unknown_products", "level=numbers", VIOLATION, "null GPU: 4 violations"),
    ("nothing", "level=early", 2, "got 'level=early'"),
]
LEVELS = ("control", "numbers", "late", "late,seed=1", "late,seed=2", "late,seed=3")


class Misuse(unittest.TestCase):
    def expect(self, case, settings, code, text):
        script, folder, program = RUN
        found = subprocess.run(["sh", script, folder, settings, program, case], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertEqual(found.returncode, code, found.stdout)
        self.assertIn(text, found.stdout)
        self.assertNotIn("wrong bytes", found.stdout)

    def test_each_at_every_level(self):
        for case, settings, code, text in CASES:
            for level in LEVELS if "level" not in settings else ["numbers"]:
                with self.subTest(case=case, settings=settings, level=level):
                    self.expect(case, ",".join(filter(None, [f"level={level}", settings])), code, text)


if __name__ == "__main__":
    RUN[:] = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
