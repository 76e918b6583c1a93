"""Kernels that nvcc compiled, run by stax-emu: results are NumPy's, and no checker reports anything.

nvcc_kernels_test.py STAX_EMU [CASE_NAME_PART]
nvcc_kernels_test.py --reference-only [CASE_NAME_PART]      without the emulator: launches against the PTX's signatures

Each case runs on the PTX in ptx/, unoptimised (O0) and optimised (O3). Where nvcc is ($CUDA_HOME or /usr/local/cuda), the
sources are compiled anew, and each case runs on that PTX too, unless it is the same to the byte.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import cases_conversions  # noqa: F401 (each fills CASES)
import cases_memory  # noqa: F401
import cases_numbers  # noqa: F401
import cases_sync  # noqa: F401
import cases_tensor  # noqa: F401
from kernel_cases import CASES, launches
from stax_emu import Cases, In, Scalar, run_launch, three

FOLDER = os.path.dirname(os.path.abspath(__file__))
LEVELS = ("O0", "O3")

PARAMETER_BYTES = {"i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}


def ptx_path(folder, source, level):
    return os.path.join(folder, "%s.%s.ptx" % (source, level))


def entries(path):
    """{kernel: sizes of its parameters} of a PTX file."""
    with open(path) as f:
        text = f.read()
    found = {}
    for name, parameters in re.findall(r"\.entry (\w+)\(([^)]*)\)", text):
        found[name] = [int(bits) // 8 for bits in re.findall(r"\.param (?:\.align \d+ )?\.[a-z](\d+)", parameters)]
    return found


def signature_problem(launch, kernels):
    """What does not fit between a launch and the entry of that name."""
    if launch.kernel not in kernels:
        return "no such entry"
    wanted = [PARAMETER_BYTES[arg.dtype] if isinstance(arg, Scalar) else 8 for arg in launch.args]
    if wanted != kernels[launch.kernel]:
        return "arguments of %s bytes for parameters of %s" % (wanted, kernels[launch.kernel])
    if np.prod(three(launch.block)) > 1024:
        return "a block of %s" % (launch.block,)
    for number, arg in enumerate(launch.args):
        if isinstance(arg, (In, Scalar)) or arg.check is not None:
            continue
        # e5m2 alone has infinities among its codes.
        if not np.isfinite(np.asarray(arg.expected, np.float64)).all() and launch.kernel != "fp8_to_half":
            return "argument %d expects what is not finite" % number
        if arg.initial is not None and arg.initial.shape != arg.expected.shape:
            return "argument %d: %s before, %s after" % (number, arg.initial.shape, arg.expected.shape)
        # The expected values themselves, as the kernel would store them, pass the comparison.
        if arg.decode is None:
            problem = arg.problem(np.asarray(arg.expected).astype(arg.storage()))
            if problem:
                return "argument %d: the expected values, rounded to their type, %s" % (number, problem)
    return ""


def selected(only):
    for source, name, sizes, function in CASES:
        for size in sizes:
            for launch in launches(source, name, size, function):
                title = "%s.%s %s" % (source, launch.kernel, size)
                if only in title:
                    yield source, title, launch


def check_references(cases, only):
    """Every launch fits its PTX, every entry is launched, every source has its PTX."""
    launched = set()
    for source, title, launch in selected(only):
        launched.add((source, launch.kernel))
        for level in LEVELS:
            cases.record("%s, %s: signature" % (title, level),
                         signature_problem(launch, entries(ptx_path(FOLDER + "/ptx", source, level))))
    if only:
        return
    for name in sorted(os.listdir(FOLDER + "/cuda")):
        source = name[:-3]
        for level in LEVELS:
            kernels = entries(ptx_path(FOLDER + "/ptx", source, level))
            missing = [kernel for kernel in kernels if (source, kernel) not in launched]
            cases.record("%s, %s: every entry is launched" % (name, level),
                         "no case for %s" % missing if missing or not kernels else "")


def run_all(cases, emu, ptx_folder, label, only, files=None):
    """files: (source, level) of the PTX to run, or None for all."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        for source, title, launch in selected(only):
            for level in LEVELS:
                if files is None or (source, level) in files:
                    problem, _ = run_launch(emu, ptx_path(ptx_folder, source, level), launch, folder)
                    cases.record("%s, %s%s" % (title, level, label), problem)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def run_anew(cases, emu, only):
    nvcc = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/nvcc")
    if not shutil.which(nvcc):
        cases.skip("PTX made anew", "no nvcc at %s" % nvcc)
        return
    sources = sorted({source for source, _, _ in selected(only)})
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        done = subprocess.run([FOLDER + "/compile.sh", folder, *sources], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        cases.record("compile.sh", done.stdout.decode(errors="replace") if done.returncode else "")
        changed = set()
        for source in sources if done.returncode == 0 else ():
            for level in LEVELS:
                if read(ptx_path(folder, source, level)) == read(ptx_path(FOLDER + "/ptx", source, level)):
                    cases.record("%s, %s, compiled anew: the same PTX" % (source, level), "")
                else:
                    changed.add((source, level))
        run_all(cases, emu, folder, ", compiled anew", only, changed)


def main():
    arguments = sys.argv[1:]
    cases = Cases()
    if not arguments:
        sys.exit(__doc__)
    only = arguments[1] if len(arguments) > 1 else ""
    check_references(cases, only)
    if arguments[0] != "--reference-only":
        emu = os.path.abspath(arguments[0])
        run_all(cases, emu, FOLDER + "/ptx", "", only)
        run_anew(cases, emu, only)
    return cases.close()


if __name__ == "__main__":
    sys.exit(main())
