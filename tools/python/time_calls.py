#!/usr/bin/env python3
"""Measures what a call of the Python package costs beside the search: python3 time_calls.py RUN [CALLS]"""
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lzero_cpp  # noqa: E402


def measure(agent, batch, num_calls):
    """Microseconds of each call [num_calls] without the search, for each decision."""
    obs = np.zeros((batch, *agent.spec.shape), np.float32)
    agent.reset()
    costs = []
    for _ in range(num_calls):
        start = time.perf_counter()
        decision = agent.act_batch(obs)
        costs.append((time.perf_counter() - start - decision.seconds) * 1e6 / batch)
    return np.asarray(costs)


def main():
    num_calls = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with lzero_cpp.load(sys.argv[1]) as agent:
        for batch in (1, agent.max_batch):
            costs = measure(agent, batch, num_calls)
            print(f"{agent.spec.id}, batch of {batch}: median {np.median(costs):.1f} us a decision beside the search, "
                  f"95 % below {np.quantile(costs, 0.95):.1f}")


if __name__ == "__main__":
    main()
