"""The list that cases_*.py fill: which kernels of cuda/ are launched how, and what NumPy says comes out."""

import zlib

import numpy as np

CASES = []  # (source name, case name, sizes, function)


def case(source, sizes):
    """Registers a generator of Launches: function(rng, size)."""
    def register(function):
        CASES.append((source, function.__name__, sizes, function))
        return function
    return register


def launches(source, name, size, function):
    """The launches of a case; the same numbers in every run."""
    return list(function(np.random.default_rng(zlib.crc32(("%s %s %s" % (source, name, size)).encode())), size))


def summed(a, b, unit=2.0**-24, extra=0):
    """a @ b in f64, and how far a sum of rounded products in any order may be from it.

    unit: half a unit in the last place of 1.0 in the type of the sum; extra: roundings of each product besides.
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return a @ b, (a.shape[1] + 1 + extra) * unit * (np.abs(a) @ np.abs(b))
