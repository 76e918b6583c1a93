"""Counters of stax-emu against values worked out from the addresses.

counters_test.py STAX_EMU [CASE_NAME_PART]
counters_test.py --reference-only [CASE_NAME_PART]      without the emulator: the PTX by ptxas if it is there, known values

Global memory is 32-byte sectors: a request of a warp costs as many different ones as it touches. Shared memory is 32
banks of 4 bytes. A request takes a wavefront for each of the different words that its fullest bank must give; accesses of 8
bytes go in two half-warps, of 16 bytes in four quarters. Bank conflicts are the wavefronts beyond one for each half or
quarter. Loads whose pairs of lanes share an address go in half as many groups.
"""

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from stax_emu import Cases, Launch, Out, command, run

FIELDS = ("global_load_sectors", "global_store_sectors", "global_load_requests", "global_store_requests",
          "shared_load_bank_conflicts", "shared_store_bank_conflicts", "shared_load_wavefronts",
          "shared_store_wavefronts", "shared_load_requests", "shared_store_requests", "global_atomic_sectors",
          "global_atomics", "shared_atomics", "flops_f16", "flops_f32", "flops_f64", "flops_tensor")

BUFFER_BYTES = 1 << 17
# One case in so many is run twice.
REPEATED = 8
SHARED_BYTES = 48 * 1024

HEADER = """.version 8.0
.target sm_80
.address_size 64

.visible .entry counted(.param .u64 x)
{
    .shared .align 128 .b8 shared_buffer[%d];
    .reg .pred %%p;
    .reg .b16 %%h<4>;
    .reg .b32 %%r<16>;
    .reg .b64 %%rd<8>;
    .reg .f32 %%f<8>;
    .reg .f64 %%d<4>;
""" % SHARED_BYTES


@dataclasses.dataclass(frozen=True)
class Pattern:
    """The byte that thread t of a block accesses, with lane = t & mask:

    (lane * first if lane < limit else lane * rest) + (t >> shift) * upper + offset
    """
    first: int
    rest: int = 0
    limit: int = 1 << 20
    mask: int = 1023
    shift: int = 5
    upper: int = 0
    offset: int = 0

    def byte(self, t):
        lane = t & self.mask
        return lane * (self.first if lane < self.limit else self.rest) + (t >> self.shift) * self.upper + self.offset

    def ptx(self):
        """Leaves the byte in %r9."""
        return """
    mov.u32 %%r1, %%tid.x;
    and.b32 %%r2, %%r1, %d;
    setp.lt.u32 %%p, %%r2, %d;
    mul.lo.u32 %%r3, %%r2, %d;
    mul.lo.u32 %%r4, %%r2, %d;
    selp.u32 %%r5, %%r3, %%r4, %%p;
    shr.u32 %%r6, %%r1, %d;
    mul.lo.u32 %%r7, %%r6, %d;
    add.u32 %%r8, %%r5, %%r7;
    add.u32 %%r9, %%r8, %d;
""" % (self.mask, self.limit, self.first, self.rest, self.shift, self.upper, self.offset)


# The access of so many bytes: type, and registers.
ACCESS = {"2": (2, "u16", "%h1"), "4": (4, "u32", "%r10"), "8": (8, "u64", "%rd5"),
          "8 v2": (8, "v2.u32", "{%r10, %r11}"), "16": (16, "v4.u32", "{%r10, %r11, %r12, %r13}")}

VALUES = """    mov.u16 %h1, 1;
    mov.u64 %rd5, 1;
    mov.u32 %r10, 1;
    mov.u32 %r11, 1;
    mov.u32 %r12, 1;
    mov.u32 %r13, 1;
"""

GLOBAL_ADDRESS = """    ld.param.u64 %rd1, [x];
    cvta.to.global.u64 %rd1, %rd1;
    cvt.u64.u32 %rd2, %r9;
    add.u64 %rd3, %rd1, %rd2;
"""

SHARED_ADDRESS = """    mov.u32 %r14, shared_buffer;
    add.u32 %r14, %r14, %r9;
"""


def kernel(body):
    return HEADER + body + "    ret;\n}\n"


def warps(threads):
    return [range(start, min(start + 32, threads)) for start in range(0, threads, 32)]


def sectors(pattern, size, threads):
    return sum(len({byte // 32 for t in warp for byte in range(pattern.byte(t), pattern.byte(t) + size)})
               for warp in warps(threads))


def are_pairs(pattern, warp, bit):
    """Whether all lanes whose numbers differ in this bit alone have the same address."""
    return all((t ^ bit) not in warp or pattern.byte(t) == pattern.byte(t ^ bit) for t in warp)


def wavefronts(pattern, size, threads, load):
    """(wavefronts, those beyond one for each group of lanes that goes together)."""
    total = groups = 0
    for warp in warps(threads):
        together = {16: 8, 8: 16}.get(size, 32)
        # As an H200 does it: runtime/emulator/memory/coalescing.h.
        if load and together < 32 and (are_pairs(pattern, warp, 1) or are_pairs(pattern, warp, 2)):
            together *= 2
        for start in range(warp.start, warp.stop, together):
            words = {byte // 4 for t in range(start, min(start + together, warp.stop))
                     for byte in range(pattern.byte(t), pattern.byte(t) + size)}
            total += max(sum(word % 32 == bank for word in words) for bank in range(32))
            groups += 1
    return total, total - groups


def memory_case(space, way, access, pattern, threads, generic=False):
    """(PTX, expected counters of one block)."""
    size, suffix, registers = ACCESS[access]
    address, register, at = {"global": (GLOBAL_ADDRESS, "%rd3", ".global"),
                             "shared": (SHARED_ADDRESS, "%r14", ".shared")}[space]
    if generic:
        at = ""
        if space == "global":
            address += "    cvta.global.u64 %rd4, %rd3;\n"
        else:
            address += "    cvt.u64.u32 %rd4, %r14;\n    cvta.shared.u64 %rd4, %rd4;\n"
        register = "%rd4"
    if way == "load":
        body = "    ld%s.%s %s, [%s];\n" % (at, suffix, registers, register)
    else:
        body = "    st%s.%s [%s], %s;\n" % (at, suffix, register, registers)
    counters = {"%s_%s_requests" % (space, way): len(warps(threads))}
    if space == "global":
        counters["global_%s_sectors" % way] = sectors(pattern, size, threads)
    else:
        total, conflicts = wavefronts(pattern, size, threads, way == "load")
        counters["shared_%s_wavefronts" % way] = total
        counters["shared_%s_bank_conflicts" % way] = conflicts
    return kernel(pattern.ptx() + address + VALUES + body), counters


def global_cases():
    for access, (size, _, _) in ACCESS.items():
        for way in ("load", "store"):
            name = "global %s, %s bytes" % (way, access)
            yield name + ", unit stride", "global", way, access, Pattern(size), 64
            yield name + ", part of a warp", "global", way, access, Pattern(size), 50
            if access == "8 v2":
                continue
            for stride in range(2, 34):
                yield "%s, stride %d" % (name, stride), "global", way, access, Pattern(size * stride), 64
            for offset in (1, 2, 3, 4, 8, 15, 31):
                yield "%s, offset %d" % (name, offset), "global", way, access, Pattern(size, offset=size * offset), 64
            # Columns of a matrix of 40 elements a row: a warp takes a column; and blocks of 8 x 8 threads.
            yield (name + ", transposed", "global", way, access,
                   Pattern(40 * size, mask=31, shift=5, upper=size), 96)
            yield (name + ", transposed in tiles of 8", "global", way, access,
                   Pattern(40 * size, mask=7, shift=3, upper=size), 64)
    for way in ("load", "store"):
        yield "global %s, broadcast" % way, "global", way, "4", Pattern(0), 64
        yield "global %s, broadcast to groups of 8" % way, "global", way, "4", Pattern(0, mask=7, shift=3, upper=4), 64
        yield "global %s, every warp elsewhere" % way, "global", way, "2", Pattern(0, shift=5, upper=256), 96


def shared_cases():
    for access, (size, _, _) in ACCESS.items():
        for way in ("load", "store"):
            name = "shared %s, %s bytes" % (way, access)
            yield name + ", unit stride", "shared", way, access, Pattern(size), 64
            yield name + ", part of a warp", "shared", way, access, Pattern(size), 50
            if access == "8 v2":
                continue
            # The rows of one warp lie where those of the other do, so that the buffer is large enough.
            for stride in range(2, 34):
                yield "%s, stride %d" % (name, stride), "shared", way, access, Pattern(size * stride, mask=31), 64
    for way in ("load", "store"):
        for ways in range(1, 33):
            # Lanes below `ways` want different words of bank 0; every other lane has a bank of its own.
            pattern = Pattern(128, 4, ways, mask=31)
            yield "shared %s, %d-way conflict" % (way, ways), "shared", way, "4", pattern, 64
        yield "shared %s, broadcast" % way, "shared", way, "4", Pattern(0, mask=31), 64
        yield "shared %s, column of a padded tile" % way, "shared", way, "4", Pattern(33 * 4, mask=31, upper=4), 96
        yield "shared %s, column of a tile" % way, "shared", way, "4", Pattern(32 * 4, mask=31, upper=4), 96
        yield "shared %s, pairs in a word" % way, "shared", way, "2", Pattern(2, mask=31, upper=64), 64


def generic_cases():
    for space in ("global", "shared"):
        for way in ("load", "store"):
            yield "generic %s, %s memory" % (way, space), space, way, "4", Pattern(8, mask=31), 64


def atomic_cases():
    """(name, PTX, expected, threads). Atomics are counted by thread, not by request."""
    unit, one, strided = Pattern(4), Pattern(0), Pattern(12)
    for name, pattern in (("unit stride", unit), ("one word", one), ("stride 3", strided)):
        for operation in ("atom.global.add.u32 %r10, [%rd3], 1;", "red.global.max.u32 [%rd3], 7;",
                          "atom.global.cas.b32 %r10, [%rd3], 0, 1;"):
            body = pattern.ptx() + GLOBAL_ADDRESS + "    " + operation + "\n"
            yield ("%s, %s" % (operation.split()[0], name), kernel(body),
                   {"global_atomics": 64, "global_atomic_sectors": sectors(pattern, 4, 64)}, 64)
        body = pattern.ptx() + SHARED_ADDRESS + "    atom.shared.add.u32 %r10, [%r14], 1;\n"
        yield "atom.shared.add.u32, " + name, kernel(body), {"shared_atomics": 64}, 64
    # One lane of each warp.
    body = unit.ptx() + GLOBAL_ADDRESS + """    and.b32 %r10, %r1, 31;
    setp.eq.u32 %p, %r10, 0;
    @%p red.global.add.u32 [%rd3], 1;
"""
    yield "red by one lane a warp", kernel(body), {"global_atomics": 3, "global_atomic_sectors": 3}, 96


def flop_cases():
    """(name, PTX, expected, threads)."""
    start = """    mov.b32 %r1, 0x3C003C00;
    mov.b16 %h1, 0x3C00;
    mov.f32 %f1, 0f3F800000;
    mov.f64 %d1, 0d3FF0000000000000;
"""
    for operation, field, flops in (
            ("add.f32 %f2, %f1, %f1;", "flops_f32", 1), ("mul.rn.f32 %f2, %f1, %f1;", "flops_f32", 1),
            ("sub.f32 %f2, %f1, %f1;", "flops_f32", 1), ("fma.rn.f32 %f2, %f1, %f1, %f1;", "flops_f32", 2),
            ("add.f64 %d2, %d1, %d1;", "flops_f64", 1), ("mul.f64 %d2, %d1, %d1;", "flops_f64", 1),
            ("fma.rn.f64 %d2, %d1, %d1, %d1;", "flops_f64", 2),
            ("add.f16 %h2, %h1, %h1;", "flops_f16", 1), ("fma.rn.f16 %h2, %h1, %h1, %h1;", "flops_f16", 2),
            ("mul.f16x2 %r2, %r1, %r1;", "flops_f16", 2), ("fma.rn.f16x2 %r2, %r1, %r1, %r1;", "flops_f16", 4)):
        yield operation.split()[0], kernel(start + "    %s\n" % operation * 3), {field: 3 * flops * 50}, 50
    # A loop that every thread goes round as often as its number says: 0 + 1 + ... + 49 additions.
    body = start + """    mov.u32 %r1, %tid.x;
AGAIN:
    setp.eq.u32 %p, %r1, 0;
    @%p bra DONE;
    add.f32 %f1, %f1, %f1;
    sub.u32 %r1, %r1, 1;
    bra AGAIN;
DONE:
"""
    yield "add.f32 in a divergent loop", kernel(body), {"flops_f32": 49 * 50 // 2}, 50
    body = start + """    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p, %r1, 7;
    @%p fma.rn.f32 %f1, %f1, %f1, %f1;
"""
    yield "fma.rn.f32 under a predicate", kernel(body), {"flops_f32": 14}, 50
    mma = """    mov.f32 %f1, 0f00000000;
    mov.b32 %r1, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%f2, %f3, %f4, %f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};
"""
    yield "mma.m16n8k16", kernel(mma), {"flops_tensor": 2 * 2 * 16 * 8 * 16}, 64


def all_cases():
    """(name, PTX, expected counters, threads)."""
    for cases, generic in ((global_cases(), False), (shared_cases(), False), (generic_cases(), True)):
        for name, space, way, access, pattern, threads in cases:
            ptx, counters = memory_case(space, way, access, pattern, threads, generic)
            yield name, ptx, counters, threads
    yield from atomic_cases()
    yield from flop_cases()


def count(emu, ptx, threads, blocks, folder):
    path = os.path.join(folder, "counted.ptx")
    with open(path, "w") as f:
        f.write(ptx)
    zeros = np.zeros(BUFFER_BYTES // 4, np.uint32)
    launch = Launch("counted", blocks, threads, [Out(zeros, initial=zeros)])
    # Patterns overlap and read what nobody wrote: here only counts matter.
    words, _ = command(emu, path, launch, folder, "--check=none", "--counters", "--json")
    code, report, text = run(words)
    if code != 0 or report is None or "counters" not in report:
        return None, "exit code %d: %s" % (code, text[-500:])
    return report["counters"], ""


def counters_problem(emu, ptx, expected, threads, again, folder):
    """Two blocks have twice the counts of one; with `again`, a second run counts the same."""
    counters, problem = count(emu, ptx, threads, 2, folder)
    if problem:
        return problem
    for field in FIELDS:
        if counters.get(field) != 2 * expected.get(field, 0):
            return "%s is %s, not %d" % (field, counters.get(field), 2 * expected.get(field, 0))
    if not counters.get("instructions", 0) > 0:
        return "instructions is %s" % counters.get("instructions")
    if not again:
        return ""
    second, problem = count(emu, ptx, threads, 2, folder)
    return problem or ("" if second == counters else "another run counts %s, not %s" % (second, counters))


def known_values(cases):
    """The formulas give what is known by heart."""
    for name, found, wanted in (
            ("4 bytes, unit stride: 4 sectors", sectors(Pattern(4), 4, 32), 4),
            ("4 bytes, shifted by one: 5 sectors", sectors(Pattern(4, offset=4), 4, 32), 5),
            ("16 bytes, unit stride: 16 sectors", sectors(Pattern(16), 16, 32), 16),
            ("2 bytes, unit stride: 2 sectors", sectors(Pattern(2), 2, 32), 2),
            ("stride of 8 words: 32 sectors", sectors(Pattern(32), 4, 32), 32),
            ("broadcast: 1 sector", sectors(Pattern(0), 4, 32), 1),
            ("4 bytes, unit stride: 1 wavefront", wavefronts(Pattern(4), 4, 32, True), (1, 0)),
            ("stride of 32 words: 32 wavefronts", wavefronts(Pattern(128), 4, 32, True), (32, 31)),
            ("stride of 33 words: no conflict", wavefronts(Pattern(132), 4, 32, True), (1, 0)),
            ("8 bytes, unit stride: 2 wavefronts", wavefronts(Pattern(8), 8, 32, True), (2, 0)),
            ("16 bytes, unit stride: 4 wavefronts", wavefronts(Pattern(16), 16, 32, True), (4, 0)),
            ("8 bytes, stride 2: a 2-way conflict a half", wavefronts(Pattern(16), 8, 32, True), (4, 2)),
            ("16 bytes, one address: loads go in two", wavefronts(Pattern(0), 16, 32, True), (2, 0)),
            ("16 bytes, one address: stores go in four", wavefronts(Pattern(0), 16, 32, False), (4, 0)),
            ("5-way conflict", wavefronts(Pattern(128, 4, 5), 4, 32, True), (5, 4)),
            ("2 bytes, pairs in a word", wavefronts(Pattern(2), 2, 32, True), (1, 0))):
        cases.record(name, "" if found == wanted else "%s, not %s" % (found, wanted))


def check_ptx(cases, only):
    ptxas = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/ptxas")
    if not shutil.which(ptxas):
        cases.skip("PTX", "ptxas is not there")
        return
    # One file for all: the entries get numbers.
    bodies = [ptx for name, ptx, _, _ in all_cases() if only in name]
    head = bodies[0][:bodies[0].index(".visible")]
    text = head + "".join(ptx[len(head):].replace("counted", "counted%d" % i, 1) for i, ptx in enumerate(bodies))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "all.ptx")
        with open(path, "w") as f:
            f.write(text)
        done = subprocess.run([ptxas, "-arch=sm_80", path, "-o", os.devnull], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    cases.record("%d kernels pass ptxas" % len(bodies), done.stdout.decode(errors="replace")[:1000])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    cases = Cases()
    known_values(cases)
    for name, _, expected, _ in all_cases():
        if not set(expected) <= set(FIELDS):
            cases.record(name, "unknown fields %s" % sorted(expected))
    if sys.argv[1] == "--reference-only":
        check_ptx(cases, only)
        return cases.close()
    emu = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        for number, (name, ptx, expected, threads) in enumerate(all_cases()):
            if only in name:
                again = number % REPEATED == 0
                cases.record(name, counters_problem(emu, ptx, expected, threads, again, folder))
    return cases.close()


if __name__ == "__main__":
    sys.exit(main())
