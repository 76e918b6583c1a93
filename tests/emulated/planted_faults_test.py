"""Faults planted in small kernels: each is reported with its kind and line and nothing else is, and its twin is clean.

planted_faults_test.py STAX_EMU [FILE_NAME_PART]
planted_faults_test.py --reference-only [FILE_NAME_PART]      without the emulator: the files, by ptxas if it is there

Each faults/*.ptx has two entries with the same parameters: `faulty`, and `right`, the same made right. Comments say

    // launch: grid=1 block=64 smem=0           of both, or with 'launch of right:' of `faulty` alone
    // arguments: in:f32[64] out:f32[64] inout:u32[1] i64:0       inputs are random, inout buffers start as zeros
    ...  // fault: KIND                         at the end of the line that is to be reported

A race has two ends and a spinning loop several instructions: then several lines are marked, and each report must be at
one of them.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from stax_emu import Cases, In, Launch, Out, Scalar, command, describe, run

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faults")

KINDS = ("out_of_bounds", "misaligned", "uninitialized", "shared_race", "global_race", "barrier_divergence", "deadlock",
         "invalid_shuffle", "resource_limit", "undefined_behavior")
# What ptxas refuses, because the fault is one that it sees.
REFUSED = ("limit_static_shared",)

ARGUMENT = re.compile(r"(in|out|inout):([fiu])(\d+)\[([\d,]+)\]")

Plant = collections.namedtuple("Plant", "faulty right kind lines")


def parse_argument(word, rng):
    match = ARGUMENT.fullmatch(word)
    if not match:
        dtype, value = word.split(":")
        return Scalar(dtype, float(value) if dtype[0] == "f" else int(value))
    way, kind, bits, dims = match.groups()
    dtype = np.dtype("%s%d" % (kind, int(bits) // 8))
    shape = tuple(map(int, dims.split(",")))
    if way == "in":
        return In(rng.integers(0, 100, shape).astype(dtype))
    # The values are no matter of this test.
    return Out(np.zeros(shape, dtype), check=lambda actual: "", initial=np.zeros(shape, dtype) if way == "inout" else None)


def parse_launch(text, kernel, args):
    sizes = {"smem": 0}
    for word in text.split():
        name, value = word.split("=")
        sizes[name] = tuple(map(int, value.split(",")))
    smem = sizes["smem"][0] if sizes["smem"] else 0
    return Launch(kernel, sizes["grid"], sizes["block"], args, smem)


def read_plant(path):
    """The two launches of a file, and the kind and lines of its fault."""
    with open(path) as f:
        lines = f.read().splitlines()
    said = dict(re.fullmatch(r"// (launch|launch of right|arguments): (.*)", line).groups()
                for line in lines if re.match(r"// (launch|arguments)", line))
    args = [parse_argument(word, np.random.default_rng(1)) for word in said["arguments"].split()]
    marks = {number: match.group(1) for number, line in enumerate(lines, 1)
             for match in [re.search(r"// fault: (\w+)$", line)] if match}
    kinds = set(marks.values())
    if len(kinds) != 1 or not kinds <= set(KINDS):
        raise ValueError("%s: marked with the kinds %s" % (path, sorted(kinds)))
    return Plant(parse_launch(said["launch"], "faulty", args),
                 parse_launch(said.get("launch of right", said["launch"]), "right", args), kinds.pop(), sorted(marks))


def faulty_problem(emu, path, plant, folder):
    words, _ = command(emu, path, plant.faulty, folder, "--check=all", "--json")
    code, report, text = run(words)
    if code != 1:
        return "exit code %d, not 1: %s" % (code, text[-500:])
    if report is None:
        return "no JSON on standard output"
    faults = report.get("faults", [])
    if not faults:
        return "nothing is reported, but the exit code is 1"
    for fault in faults:
        if fault.get("kind") != plant.kind or fault.get("line") not in plant.lines:
            return "%s; expected %s at line %s" % (describe(fault), plant.kind, " or ".join(map(str, plant.lines)))
        if fault.get("kernel") != "faulty":
            return "is said of the kernel %r" % fault.get("kernel")
    return ""


def right_problem(emu, path, plant, folder):
    words, _ = command(emu, path, plant.right, folder, "--check=all", "--json")
    code, report, text = run(words)
    if report is not None and report.get("faults"):
        return "; ".join(map(describe, report["faults"][:3]))
    return "exit code %d: %s" % (code, text[-500:]) if code != 0 else ""


def guarded(problem, *args):
    """A run that never ends is a failure of its case alone."""
    try:
        return problem(*args)
    except subprocess.TimeoutExpired as late:
        return "not done after %g s" % late.timeout


def ptxas_problem(path, name):
    ptxas = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/ptxas")
    if not shutil.which(ptxas):
        return None
    with open(path) as f:
        newer = re.search(r"^\.target sm_90", f.read(), re.MULTILINE)
    for arch in ("sm_90a",) if newer else ("sm_80", "sm_90a"):
        done = subprocess.run([ptxas, "-arch=" + arch, path, "-o", os.devnull], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if (done.returncode != 0) != (name in REFUSED) or (done.stdout and name not in REFUSED):
            return "ptxas for %s: exit code %d, %s" % (arch, done.returncode, done.stdout.decode(errors="replace"))
    return ""


def check_files(cases, plants):
    for name, path, _ in plants:
        problem = ptxas_problem(path, name)
        if problem is None:
            cases.skip(name + ": ptxas", "it is not there")
        else:
            cases.record(name + ": ptxas", problem)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    names = sorted(name[:-4] for name in os.listdir(FOLDER) if name.endswith(".ptx"))
    plants = [(name, os.path.join(FOLDER, name + ".ptx")) for name in names if only in name]
    plants = [(name, path, read_plant(path)) for name, path in plants]
    cases = Cases()
    if not only:
        count = collections.Counter(plant.kind for _, _, plant in plants)
        cases.record("two faults or more of each kind", "" if min(count[kind] for kind in KINDS) >= 2 else str(count))
    if sys.argv[1] == "--reference-only":
        check_files(cases, plants)
        return cases.close()
    emu = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        for name, path, plant in plants:
            cases.record("%s: %s is found" % (name, plant.kind), guarded(faulty_problem, emu, path, plant, folder))
            cases.record("%s: its twin is clean" % name, guarded(right_problem, emu, path, plant, folder))
    return cases.close()


if __name__ == "__main__":
    sys.exit(main())
