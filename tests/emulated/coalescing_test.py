"""The graphs of tests/perf in small, on the emulator: how many sectors their kernels ask for, worked out here.

coalescing_test.py STAX_COMPILE STAX_PROFILE STAX_CAT GRAPH...

A kernel that loses its wide or aligned accesses asks for more sectors, and fails without a GPU.
"""

import json
import os
import subprocess
import sys
import tempfile

TOOLS = dict(zip(("compile", "profile", "cat"), map(os.path.abspath, sys.argv[1:4])))
GRAPHS = {os.path.basename(path).partition(".")[0]: path for path in sys.argv[4:]}
VECTOR, SECTOR = 16, 32  # bytes

counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, got, expected):
    counts["passed" if got == expected else "failed"] += 1
    if got != expected:
        print("FAILED  %s: %s, not %s" % (name, got, expected))


def run(tool, *args):
    done = subprocess.run([TOOLS[tool], *args], capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        raise SystemExit("%s %s: exit code %d; %s" % (tool, args, done.returncode, done.stderr))
    return done.stdout


def kernels_of(graph, sizes):
    """Profiles the graph with other sizes: the kernels of its report."""
    with open(GRAPHS[graph]) as f:
        text = f.read()
    for size, small in sizes.items():
        text = text.replace('"%d"' % size, '"%d"' % small)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("g.textproto", "g.stax", "g.report")]
        with open(paths[0], "w") as f:
            f.write(text)
        run("compile", paths[0], "--target=cuda:sm_90a", "--quiet", "-o", paths[1])
        run("profile", paths[1], "--device=emu", "--quiet", "-o", paths[2])
        return json.loads(run("cat", paths[2], "--json"))["kernels"]


def moved(kernel):
    """Bytes of the sectors that warps load and store."""
    return [int(kernel["emulated"].get(name, 0)) for name in ("loadSectorBytes", "storeSectorBytes")]


def values_of(kernel):
    return {name: int(value) for name, value in kernel["config"]["values"].items()}


def sectors_of(begin, end):
    return -(-end // SECTOR) - begin // SECTOR


def element_bytes(rows, length, size):
    """Bytes of the sectors of rows that follow each other, 32 neighbouring elements a warp access."""
    starts = [(row * length + lane, row * length + min(lane + 32, length))
              for row in range(rows) for lane in range(0, length, 32)]
    return SECTOR * sum(sectors_of(begin * size, end * size) for begin, end in starts)


def row_bytes(rows, length, size):
    """Bytes of the sectors of rows that follow each other, by vectors of 16 bytes at aligned addresses.

    Neighbouring threads have neighbouring vectors from the aligned address at or before the row's start. A warp asks
    for its whole vectors at once, and for the elements of those that the row cuts one by one.
    """
    sectors = 0
    for row in range(rows):
        begin, end = row * length * size, (row + 1) * length * size
        first = begin // VECTOR
        last = -(-end // VECTOR)
        for warp in range(first, last, 32):
            whole = [v for v in range(warp, min(warp + 32, last)) if v * VECTOR >= begin and (v + 1) * VECTOR <= end]
            sectors += len({v * VECTOR // SECTOR for v in whole})
        for v in {first, last - 1}:
            inside = min(end, (v + 1) * VECTOR) - max(begin, v * VECTOR)
            sectors += inside // size if inside < VECTOR else 0
    return sectors * SECTOR


def pointwise():
    # Each input and output once; rows of 512 elements are whole sectors.
    for graph, sizes, inputs, size in [
            ("relu_add_mul_f32_8192", {8192: 512}, 2, 4),
            ("gelu_bwd_bf16_16384x4096", {16384: 512, 4096: 512}, 2, 2),
            ("swiglu_bf16_16384x4096", {16384: 512, 4096: 512}, 2, 2),
            # Also through a transpose: both sides by whole sectors.
            ("transpose_add_f32_8192", {8192: 512}, 2, 4)]:
        kernels = kernels_of(graph, sizes)
        check(graph + ": kernels", len(kernels), 1)
        check(graph, moved(kernels[0]), [inputs * 512 * 512 * size, 512 * 512 * size])


def rows():
    # One read and one write, also where rows begin at odd addresses.
    for length in (512, 1000, 1023, 1025, 4095, 4096, 32767, 32768, 50257, 65537):
        kernel, = kernels_of("softmax_bf16_4096x50257", {4096: 264, 50257: length})
        # A row of at most 1024 elements that leaves no room in RBLOCK for what is before its start goes element by
        # element: room would cost more (tile_proposals.cc).
        by_elements = length % 8 != 0 and length + 7 > values_of(kernel)["RBLOCK"]
        check("softmax of %d bf16: by elements" % length, by_elements, length == 1023)
        expected = (element_bytes if by_elements else row_bytes)(264, length, 2)
        check("softmax of %d bf16" % length, moved(kernel), [expected, expected])
    kernel, = kernels_of("softmax_f32_65536x1000", {65536: 528})
    check("softmax of 1000 f32", moved(kernel), [528 * 1000 * 4] * 2)
    for graph, vectors in (("layernorm_bf16_16384x4096", 2), ("rmsnorm_bf16_16384x4096", 1)):
        kernel, = kernels_of(graph, {16384: 264})
        # Vectors of a row's length are read by each block, from its L1 or L2 on a GPU.
        blocks = 264 // values_of(kernel)["XBLOCK"]
        check(graph, moved(kernel), [264 * 4096 * 2 + blocks * vectors * 4096 * 2, 264 * 4096 * 2])
    # The two inputs and the scale; the result, and a sector for each of two numbers of a row.
    kernel = kernels_of("layernorm_bwd_bf16_16384x4096", {16384: 528})[0]
    check("layernorm_bwd, rows", moved(kernel), [3 * 528 * 4096 * 2, 528 * 4096 * 2 + 528 * 2 * SECTOR])
    kernel = kernels_of("cross_entropy_bf16_8192x128256", {8192: 264})[0]
    check("cross_entropy, rows", moved(kernel), [264 * 128256 * 2, 264 * 2 * SECTOR])
    kernel, = kernels_of("relu_add_mul_sum_f32_65536x1024", {65536: 4096})
    stores = -(-4096 // values_of(kernel)["XBLOCK"])  # a sector for each block's rows
    check("relu_add_mul_sum", moved(kernel), [2 * 4096 * 1024 * 4, stores * SECTOR])


def splits():
    # The input once by the first kernel; what it stores is what the second one loads.
    for graph, sizes, elements in [
            ("sum_all_f32_256M", {268435456: 1 << 22}, 1 << 22),
            ("sumsq_f32_8x16M", {16777216: 1 << 19}, 1 << 22),
            ("sum_outer_f32_65536x1024", {65536: 4096}, 1 << 22)]:
        first, second = kernels_of(graph, sizes)
        check(graph, moved(first)[0], elements * 4)
        check(graph + ": distinct bytes between its kernels", first["emulated"]["distinctWriteBytes"],
              second["emulated"]["distinctReadBytes"])


pointwise()
rows()
splits()
print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
sys.exit(counts["failed"] > 0)
