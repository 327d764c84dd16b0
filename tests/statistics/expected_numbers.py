#!/usr/bin/env python3
"""Computes the numbers that tests/statistics expects, with NumPy and SciPy and none of our code:

    python3 -m venv V && V/bin/pip install numpy scipy && V/bin/python tests/statistics/expected_numbers.py

Random numbers are Philox4x32-10 written out here, so that both sides draw the same runs.
"""
import math

import numpy
import scipy.stats

X = [[12.5, 3.25, 8.0, 8.0, 15.75, -2.5, 9.1], [0.3, 0.1, 0.2, 0.4, 0.9]]
Y = [[7.5, 8.0, 2.0, 11.0, 5.5, 6.25], [0.2, 0.5, 0.1, 0.05]]
THRESHOLDS = [-5.0, 0.1, 0.35, 8.0, 15.75]


def philox(key, counter):
    words, keys = [counter & 0xFFFFFFFF, counter >> 32, 0, 0], [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        low, high = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [high >> 32 ^ words[1] ^ keys[0], high & 0xFFFFFFFF, low >> 32 ^ words[3] ^ keys[1], low & 0xFFFFFFFF]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words


class Stream:
    """RandomStream(key)."""

    def __init__(self, key):
        self.key, self.position = key, 0

    def next32(self):
        word = philox(self.key, self.position // 4)[self.position % 4]
        self.position += 1
        return word

    def below(self, limit):
        while True:
            high = self.next32()
            value = high << 32 | self.next32()
            if value >= 2 ** 64 % limit:
                return value % limit


def interval(strata, statistic, key, num_resamples, confidence=0.95):
    stream, values = Stream(key), []
    for _ in range(num_resamples):
        values.append(statistic([numpy.array([runs[stream.below(len(runs))] for _ in runs]) for runs in strata]))
    tail = (1 - confidence) / 2
    return [float(numpy.quantile(values, fraction)) for fraction in (tail, 1 - tail)]


def improvement(x, y):
    shares = [scipy.stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)) if not numpy.array_equal(a, b) else 0.5
              for a, b in zip(x, y)]
    return float(numpy.mean(shares))


def iqm(strata):
    return float(scipy.stats.trim_mean(numpy.concatenate(strata), 0.25))


def main():
    flat = numpy.concatenate(X)
    assert math.isclose(iqm(X), numpy.mean(numpy.sort(flat)[3:9]))
    for name, value in [
            ("mean", numpy.mean(flat)), ("median", numpy.median(flat)), ("deviation", numpy.std(flat, ddof=1)),
            ("iqm", iqm(X)), ("gap to 9", 9 - numpy.mean(numpy.minimum(flat, 9))),
            ("quantile 0.1", numpy.quantile(flat, 0.1)), ("improvement", improvement(X, Y)),
            ("profile", [float(numpy.mean(flat > threshold)) for threshold in THRESHOLDS]),
            ("iqm interval", interval(X, iqm, 5, 500)),
            ("improvement interval", interval(X + Y, lambda drawn: improvement(drawn[:2], drawn[2:]), 6, 300)),
            ("paired interval", interval([list(numpy.subtract(X[0][:6], Y[0]))], lambda drawn: drawn[0].mean(), 7, 400))]:
        print(name, value if isinstance(value, list) else repr(float(value)))


if __name__ == "__main__":
    main()
