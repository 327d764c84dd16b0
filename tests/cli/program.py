"""Runs the lzero program for the command-line tests and keeps score."""
import contextlib
import pathlib
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Program:
    """The lzero program in a folder of its own; `check` counts what went as expected."""

    def __init__(self, lzero, folder):
        self.lzero = str(pathlib.Path(lzero).resolve())
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.num_checks = 0
        self.failures = []
        self.rows = []

    def run(self, *arguments, timeout=120, memory=None):
        """Exit code and everything printed. `memory`: bytes of addresses that it may use."""
        def limit():
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        done = subprocess.run([self.lzero, *map(str, arguments)], cwd=self.folder, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)
        # Paths need not be UTF-8.
        return done.returncode, done.stdout.decode(errors="surrogateescape")

    def output(self, *arguments, timeout=120):
        """Exit code and standard output alone, which must be UTF-8."""
        done = subprocess.run([self.lzero, *map(str, arguments)], cwd=self.folder, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.returncode, done.stdout.decode()

    @contextlib.contextmanager
    def started(self, *arguments, after, seconds=60):
        """The program at work in the background, once `after` has appeared; killed at the end."""
        log = self.folder / "started.log"
        with open(log, "w") as output:
            process = subprocess.Popen([self.lzero, *map(str, arguments)], cwd=self.folder,
                                       stdout=output, stderr=subprocess.STDOUT)
        try:
            limit = time.monotonic() + seconds
            while after not in log.read_text(errors="replace") and process.poll() is None and time.monotonic() < limit:
                time.sleep(0.02)
            yield process
        finally:
            process.kill()
            process.wait()

    def interrupt(self, *arguments, after, seconds=60, by=signal.SIGINT):
        """Starts the program, sends the signal `by` once `after` appears in what it prints."""
        log = self.folder / "interrupted.log"
        with open(log, "w") as output:
            process = subprocess.Popen([self.lzero, *map(str, arguments)], cwd=self.folder,
                                       stdout=output, stderr=subprocess.STDOUT)
        limit, sent = time.monotonic() + seconds, False
        while process.poll() is None and time.monotonic() < limit:
            if not sent and after in log.read_text(errors="replace"):
                process.send_signal(by)
                sent = True
            time.sleep(0.02)
        process.kill()
        return process.wait(), log.read_text()

    def check(self, what, code, printed, expected_code, *parts):
        """Compares exit code and message parts; a crash is never expected."""
        self.num_checks += 1
        wrong = [part for part in parts if part not in printed]
        if code != expected_code:
            wrong.append(f"exit code {expected_code} (got {code})")
        if wrong:
            self.failures.append(f"{what}: missing {wrong} in:\n{printed[-1500:]}")
        message = next((line for line in printed.splitlines() if any(p in line for p in parts)),
                       printed.strip().splitlines()[-1] if printed.strip() else "")
        self.rows.append((what, code, message[:160]))

    def expect(self, what, expected_code, parts, *arguments):
        code, printed = self.run(*arguments)
        self.check(what, code, printed, expected_code, *parts)

    def finish(self):
        for failure in self.failures:
            print("FAILED", failure, file=sys.stderr)
        print(f"{self.num_checks - len(self.failures)} of {self.num_checks} as expected")
        sys.exit(1 if self.failures else 0)
