"""Launches of stax-emu: arguments and expected results as NumPy arrays, faults and counters as Python values."""

import dataclasses
import json
import os
import subprocess

import numpy as np


@dataclasses.dataclass
class Scalar:
    """A parameter by value; `dtype` as stax-emu names it: i32, i64, f32 ..."""
    dtype: str
    value: object


@dataclasses.dataclass
class In:
    array: np.ndarray


@dataclasses.dataclass
class Out:
    """A buffer the kernel writes, all of it unless `unwritten`.

    expected: in the buffer's own type, or in another (f64) with the buffer's type as `dtype`.
    atol, rtol: numbers or arrays; |actual - expected| <= atol + rtol |expected|. Without both, bits are compared.
    decode: from the buffer's elements to numbers (bf16 is in u16).
    check: instead of all that, a function of the buffer that returns what is wrong with it, or ''.
    initial: what is in the buffer before (an inout argument); without it, nothing is.
    """
    expected: np.ndarray
    dtype: object = None
    atol: object = 0
    rtol: object = 0
    decode: object = None
    check: object = None
    initial: np.ndarray = None

    def storage(self):
        return np.dtype(self.dtype if self.dtype is not None else self.expected.dtype)

    def problem(self, actual):
        if actual.shape != self.expected.shape or actual.dtype != self.storage():
            return "is %s%s, not %s%s" % (actual.dtype, actual.shape, self.storage(), self.expected.shape)
        if self.check is not None:
            return self.check(actual)
        if np.isscalar(self.atol) and self.atol == 0 and np.isscalar(self.rtol) and self.rtol == 0:
            same = actual.view("u%d" % actual.itemsize) == self.expected.view("u%d" % actual.itemsize)
            error = None
        else:
            values = (self.decode or (lambda a: a.astype(np.float64)))(actual)
            with np.errstate(invalid="ignore"):
                error = np.abs(values - self.expected)
                same = error <= self.atol + self.rtol * np.abs(self.expected)
        if same.all():
            return ""
        where = np.unravel_index(np.argmin(same), same.shape)
        text = "%d of %d differ; first at %s: %r, not %r" % (
            (~same).sum(), same.size, list(map(int, where)), actual[where], self.expected[where])
        return text if error is None else text + " (largest error %g)" % np.nanmax(error)


@dataclasses.dataclass
class Launch:
    kernel: str
    grid: tuple
    block: tuple
    args: list
    smem: int = 0
    cooperative: bool = False


def scalar(value, dtype="i32"):
    return Scalar(dtype, value)


def three(size):
    """(x, y, z) of a grid or block given as a number or a tuple."""
    size = (size,) if isinstance(size, int) else tuple(size)
    return size + (1,) * (3 - len(size))


def ceil_div(a, b):
    return -(-a // b)


def dtype_name(dtype):
    """stax-emu's name of a NumPy type: f32, u16 ..."""
    dtype = np.dtype(dtype)
    return "%s%d" % (dtype.kind, 8 * dtype.itemsize)


def command(emu, ptx, launch, folder, *options):
    """The command line, its input files written into `folder`; and the paths of its outputs by argument number."""
    words = [emu, ptx, "--kernel=" + launch.kernel]
    words += ["--%s=%d,%d,%d" % ((name,) + three(size)) for name, size in
              (("grid", launch.grid), ("block", launch.block))]
    if launch.smem:
        words.append("--smem=%d" % launch.smem)
    if launch.cooperative:
        words.append("--cooperative")
    outputs = {}
    for number, arg in enumerate(launch.args):
        path = os.path.join(folder, "%d.npy" % number)
        if isinstance(arg, Scalar):
            words.append("--arg=%s:%s" % (arg.dtype, repr(float(arg.value)) if arg.dtype[0] == "f" else arg.value))
        elif isinstance(arg, In):
            np.save(path, np.ascontiguousarray(arg.array))
            words.append("--arg=in:" + path)
        elif arg.initial is not None:
            np.save(path, np.ascontiguousarray(arg.initial))
            outputs[number] = path
            words.append("--arg=inout:" + path)
        else:
            if os.path.exists(path):
                os.remove(path)
            outputs[number] = path
            shape = ",".join(map(str, arg.expected.shape))
            words.append("--arg=out:%s[%s]:%s" % (dtype_name(arg.storage()), shape, path))
    return words + list(options), outputs


def describe(fault):
    return "%s at line %s (%s), block %s, thread %s, address %s: %s" % tuple(
        fault.get(key) for key in ("kind", "line", "loc", "block", "thread", "address", "message"))


def run(words, timeout=300):
    """(exit code, JSON or None, standard error)."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    text = done.stderr.decode(errors="replace").strip()
    try:
        return done.returncode, json.loads(done.stdout.decode()), text
    except ValueError:
        return done.returncode, None, text


def run_launch(emu, ptx, launch, folder):
    """Runs with all checks on: (what is wrong or '', outputs by argument number)."""
    words, paths = command(emu, ptx, launch, folder, "--check=all", "--json")
    try:
        code, report, text = run(words)
    except subprocess.TimeoutExpired as late:
        return "not done after %g s" % late.timeout, {}
    if report is not None and report.get("faults"):
        return "; ".join(map(describe, report["faults"][:3])), {}
    if code != 0:
        return "exit code %d: %s" % (code, text[-500:]), {}
    if report is None:
        return "no JSON on standard output", {}
    outputs = {}
    for number, path in paths.items():
        outputs[number] = np.load(path)
        problem = launch.args[number].problem(outputs[number])
        if problem:
            return "argument %d %s" % (number, problem), outputs
    return "", outputs


class Cases:
    """Counts and prints; the closing line is what the test summary reads."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def record(self, name, problem):
        if problem:
            self.failed += 1
            print("FAILED   %s: %s" % (name, problem), flush=True)
        else:
            self.passed += 1
            print("passed   %s" % name, flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print("skipped  %s: %s" % (name, why), flush=True)

    def close(self):
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        return 1 if self.failed else 0
