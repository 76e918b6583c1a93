"""stax-emu's command line: exit codes, messages and structs by value.

command_line_test.py STAX_EMU
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from stax_emu import Cases

EMU = os.path.abspath(sys.argv[1])

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
FILES = {
    "copy.ptx": """.visible .entry k(.param .u64 p, .param .u32 n) {
REGS ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4;
add.u64 %rd1, %rd1, %rd2; mad.lo.u32 %r3, %r2, 3, %r1; st.global.u32 [%rd1], %r3; ret; }
""",
    "struct.ptx": """.visible .entry k(.param .align 8 .b8 s[16], .param .u64 p) {
REGS ld.param.v2.u32 {%r1, %r2}, [s+8]; ld.param.u64 %rd1, [p]; sub.u32 %r1, %r2, %r1; st.global.u32 [%rd1], %r1; ret; }
""",
    "lines.ptx": """.func f() { ret; }
.entry k(.param .u64 p) {
REGS
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 40;
@%p1 call f;
bar.sync 0;
ld.param.u64 %rd1, [p];
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r1;
vote.sync.ballot.b32 %r3, %p1, -1;
@%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, %r3;
ret;
}
""",
    "fault.ptx": """.entry k(.param .u64 p) { REGS
ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+20];
trap; }
""",
    "count.ptx": ".entry k() { REGS L: add.u32 %r1, %r1, 1; bra L; }\n",
    "empty.ptx": ".entry k() { }\n",
    "two.ptx": ".entry a() { ret; }\n.entry b() { ret; }\n",
    # A barrier over the grid; then everyone writes the same word, and one block one out of bounds.
    "meet.ptx": """.entry k(.param .u64 p) { REGS
ld.param.u64 %rd1, [p]; mov.u32 %r1, %nctaid.x; atom.acq_rel.gpu.global.add.u32 %r2, [%rd1], 1;
L: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L;
mov.u32 %r4, %ctaid.x; st.global.u32 [%rd1+4], %r4; setp.eq.u32 %p2, %r4, 7; @%p2 st.global.u32 [%rd1+64], %r4;
ret; }
""",
    # Blocks that meet nowhere.
    "race.ptx": """.entry k(.param .u64 p) { REGS
ld.param.u64 %rd1, [p]; mov.u32 %r4, %ctaid.x; st.global.u32 [%rd1+4], %r4; ret; }
""",
    "spin.ptx": """.entry k() { REGS mov.u32 %r4, %ctaid.x;
L: mov.u64 %rd1, %globaltimer; add.u32 %r4, %r4, 1;
bra L; }
""",
    "trap.ptx": ".entry k() {\ntrap; }\n",
    "deep.ptx": "".join([".func f0() { ret; }\n"] + [".func f%d() { call f%d; ret; }\n" % (i, i - 1) for i in
                                                      range(1, 2000)]) + ".entry k() { call f1999; ret; }\n",
}

COPY = ["copy.ptx", "--block=5"]
OUT = "--arg=out:u32[5]:y.npy"
# Words, exit code, message.
BAD = [
    (["nowhere.ptx"], 2, "cannot read nowhere.ptx: No such file or directory"),
    ([], 2, "expected one PTX file, got 0 (--help explains)"),
    (["empty.ptx", "--grid=0"], 2, "--grid=0: expected X, X,Y or X,Y,Z, each at least 1"),
    (["empty.ptx", "--grid=1,2,3,4"], 2, "--grid=1,2,3,4: expected X, X,Y or X,Y,Z, each at least 1"),
    (["empty.ptx", "--grid=4294967296"], 2, "--grid=4294967296: expected X, X,Y or X,Y,Z, each at least 1"),
    (["empty.ptx", "--block=a"], 2, "--block=a: expected X, X,Y or X,Y,Z, each at least 1"),
    (["empty.ptx", "--smem=-1"], 2, "--smem and --max-steps: expected numbers of at least 0"),
    (["empty.ptx", "--threads=1000000"], 2, "--threads=1000000: expected a number from 0 to 1024"),
    (["empty.ptx", "--check=some"], 2, "--check=some: expected none, memory, race or all"),
    (["empty.ptx", "--kernel=f"], 2, "empty.ptx: there is no kernel f; the file has k"),
    (["empty.ptx", "--arg=i32:1"], 2, "k takes 0 parameters, got 1"),
    (["two.ptx"], 2, "two.ptx: the file has several kernels, a and b among them; say which with --kernel"),
    (["trap.ptx"], 1, "k: line 5: thread (0,0,0) of block (0,0,0) ran into trap"),
    (["count.ptx", "--max-steps=1000000"], 2,
     "k is not done after 1000000 steps (instructions x threads), which is the limit; line 4: thread (0,0,0) of block "
     "(0,0,0) was still running"),
    # 8 instructions of 5 threads, and a step for the warp: 41.
    (COPY + [OUT, "--arg=u32:1", "--max-steps=40"], 2,
     "k takes more than 40 steps (instructions x threads), which is the limit"),
    (["grid_sync.ptx", "--kernel=grid_rotate", "--grid=2", "--block=32", "--arg=i32:1", "--arg=out:i32[64]:y.npy",
      "--arg=out:i32[64]:z.npy", "--check=none"], 1,
     "grid_rotate: line 113: thread (0,0,0) of block (0,0,0) ran into trap; it uses grid.sync() (%envreg1), which needs "
     "a cooperative launch (stax-emu --cooperative)"),
    (["deep.ptx"], 2, "deep.ptx: line 1503: f1499: calls are nested deeper than 500"),
    (COPY + ["--arg=out:u32[5]:/nowhere/y.npy", "--arg=u32:1"], 2,
     "cannot write /nowhere/y.npy: No such file or directory"),
    (["two.ptx", "--kernel=a", OUT, OUT], 2, "two outputs would both be y.npy"),
]


def run(words, folder):
    done = subprocess.run([EMU] + words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode().strip()


# Of lines.ptx with 72 threads: line, instruction, class, warps and threads that ran it.
LINES = [
    (4, "ret", "control", 2, 40),
    (7, "mov.u32", "move", 3, 72),
    (8, "setp.lt.u32", "integer", 3, 72),
    (9, "call", "control", 2, 40),
    (10, "bar.sync", "synchronization", 3, 72),
    (11, "ld.param.u64", "load_store", 3, 72),
    (12, "mul.wide.u32", "integer", 3, 72),
    (13, "add.u64", "integer", 3, 72),
    (14, "st.global.u32", "load_store", 3, 72),
    (15, "vote.sync.ballot.b32", "inter_thread", 3, 72),
    (16, "shfl.sync.idx.b32", "inter_thread", 2, 40),
    (17, "ret", "control", 3, 72),
]
STORES = {"global_store_requests": 3, "global_store_sectors": 9, "global_store_transactions": 3,
          "global_store_bytes": 288}


def instructions(folder):
    """What is wrong with --instructions, and with the counts of classes and barriers."""
    words = ["lines.ptx", "--block=72", "--check=none", "--arg=out:u32[72]:lines.npy", "--instructions"]
    _, text, _ = run(words + ["--json"], folder)
    report = json.loads(text)
    found = [(i["line"], i["instruction"], i["class"], i["warps"], i["threads"]) for i in report["instructions"]]
    if found != LINES:
        return "%r" % found
    if [i["memory"] for i in report["instructions"] if i["memory"]] != [STORES]:
        return "memory: %r" % report["instructions"]
    counters = report["counters"]
    for name in {line[2] for line in LINES}:
        if counters["instructions_" + name] != sum(line[3] for line in LINES if line[2] == name):
            return "instructions_%s is %d" % (name, counters["instructions_" + name])
    if counters["instructions"] != sum(line[3] for line in LINES) or counters["barriers"] != 3:
        return "%r" % counters
    _, text, _ = run(words, folder)
    row = [line.split() for line in text.splitlines() if " st.global.u32 " in line]
    expected = ["14", "3", "72", "st.global.u32"] + [str(word) for item in STORES.items() for word in item]
    return "" if row == [expected] else text


def trapped(folder):
    """Faults before a trap are told, its outputs not written."""
    code, text, error = run(["fault.ptx", "--arg=out:u32[5]:y.npy", "--json"], folder)
    report = json.loads(text)
    same = (code == 1 and [(f["kind"], f["line"]) for f in report["faults"]] == [("out_of_bounds", 5)] and
            report["error"] == "k: line 6: thread (0,0,0) of block (0,0,0) ran into trap" and
            error == "stax-emu: " + report["error"] and not os.path.exists(folder + "/y.npy"))
    return "" if same else "exit code %d: %s%s" % (code, text, error)


def found(words, message, folder):
    """What is wrong with a run that finds something and says this on standard output."""
    code, text, _ = run(words, folder)
    return "" if code == 1 and message in text else "exit code %d: %s" % (code, text)


# Words, exit code, what is in the report.
REPEATED = [
    (["meet.ptx", "--grid=40", "--block=32", "--arg=inout:zeros.npy"], 1, "out_of_bounds"),
    (["race.ptx", "--grid=500", "--block=64", "--arg=inout:zeros.npy"], 1, "global_race"),
    (["spin.ptx", "--grid=5", "--block=64", "--max-steps=1000000"], 2, "line 5: thread (0,0,0) of block (0,0,0)"),
]


def repeated(words, code, message, folder):
    """What differs between runs in different processes: addresses, how often a loop was gone round, who came first."""
    reports = set()
    for _ in range(3):
        np.save(os.path.join(folder, "zeros.npy"), np.zeros(4, np.uint32))
        actual, text, error = run(words + ["--json"], folder)
        if actual != code or message not in text:
            return "exit code %d: %s%s" % (actual, text, error)
        reports.add(text)
    return "" if len(reports) == 1 else "%d different reports: %s" % (
        len(reports), [sorted(set(text.splitlines()) - set.intersection(*(set(r.splitlines()) for r in reports)))[:3]
                       for text in reports])


def good(words, expected, folder):
    code, _, text = run(words, folder)
    if code != 0:
        return "exit code %d: %s" % (code, text)
    actual = np.load(os.path.join(folder, "y.npy"))
    return "" if np.array_equal(actual, expected) else "%r, not %r" % (actual, expected)


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(HEADER + text.replace("REGS", REGISTERS.strip()))
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptx", "grid_sync.O3.ptx"),
                    folder + "/grid_sync.ptx")
        for words, code, message in BAD:
            actual, _, text = run(words, folder)
            same = actual == code and text == "stax-emu: " + message and not os.path.exists(folder + "/y.npy")
            cases.record(" ".join(words), "" if same else "exit code %d: %s" % (actual, text))
        cases.record("counters by instruction", instructions(folder))
        cases.record("a fault before a trap", trapped(folder))
        cases.record("one fault", found(["fault.ptx", "--arg=out:u32[5]:y.npy"], "\n1 fault, 1 shown\n", folder))
        # 132 multiprocessors with 32 blocks.
        words = ["two.ptx", "--kernel=a", "--cooperative", "--grid=4225"]
        cases.record("a cooperative grid that is too large", found(
            words, "a cooperative grid of 4225 blocks; the device has room for 4224 at a time", folder))
        cases.record("a cooperative grid", "" if run(words[:-1] + ["--grid=4224"], folder)[0] == 0 else "exit code")
        for words, code, message in REPEATED:
            cases.record("the same in every run: " + words[0], repeated(words, code, message, folder))
        for block in (1, 31, 33, 1023, 1024):
            words = ["copy.ptx", "--block=%d" % block, "--arg=out:u32[%d]:y.npy" % block, "--arg=u32:4294967290"]
            expected = np.arange(block, dtype=np.uint32) * np.uint32(3) + np.uint32(4294967290)
            cases.record("block of %d" % block, good(words, expected, folder))
        cases.record("exactly max-steps", good(COPY + [OUT, "--arg=u32:1", "--max-steps=41"],
                                               np.arange(5, dtype=np.uint32) * np.uint32(3) + np.uint32(1), folder))
        np.save(os.path.join(folder, "s.npy"), np.array([1, 2, 30, 400], np.uint32))
        words = ["struct.ptx", "--arg=value:s.npy", "--arg=out:u32[1]:y.npy"]
        cases.record("a struct by value", good(words, np.array([370], np.uint32), folder))
    return cases.close()


if __name__ == "__main__":
    sys.exit(main())
