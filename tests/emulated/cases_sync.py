"""Cases of kernels whose threads work together: scans, reductions, barriers, votes, atomics, locks, clusters."""

import numpy as np

from kernel_cases import case
from stax_emu import In, Launch, Out, ceil_div, scalar


def zeros(n, dtype):
    return np.zeros(n, dtype)


def permutation_of(values):
    """A check: these values in any order."""
    wanted = np.sort(values)
    return lambda actual: "" if (np.sort(actual.ravel()) == wanted).all() else "is no permutation of what it should be"


@case("scan", [(1, 32), (100, 64), (1000, 256), (513, 512)])
def scan(rng, size):
    n, block = size
    x = rng.integers(0, 2**32, n, np.uint32)
    blocks = ceil_div(n, block)
    segments = [np.cumsum(x[i:i + block], dtype=np.uint32) for i in range(0, n, block)]
    yield Launch("block_scan", blocks, block, [scalar(n), In(x), Out(np.concatenate(segments))])
    tiles = Out(np.empty(blocks, np.uint64), initial=zeros(blocks, np.uint64), check=lambda actual: "" if (
        actual >> np.uint64(32) == 2).all() else "a tile has no prefix")
    yield Launch("scan_lookback", blocks, block, [
        scalar(n), In(x), Out(np.cumsum(x, dtype=np.uint32)), tiles,
        Out(np.full(1, blocks, np.int32), initial=zeros(1, np.int32))])


@case("warp_reduce", [32, 128, 320])
def warp_reduce(rng, n):
    warps = n // 32
    x = rng.uniform(-1, 1, n).astype(np.float32)
    grid = ceil_div(n, 128)
    by_warp = x.astype(np.float64).reshape(warps, 32)
    yield Launch("warp_sum_down", grid, 128, [
        scalar(n), In(x), Out(by_warp.sum(axis=1), np.float32, atol=5 * 2.0**-24 * np.abs(by_warp).sum(axis=1))])
    values = rng.integers(-2**20, 2**20, n, np.int32)
    values[::7] = -values[::7]
    warp = values.reshape(warps, 32)
    bits = warp.view(np.uint32)
    columns = [warp.sum(axis=1), warp.min(axis=1), warp.max(axis=1), bits.min(axis=1), bits.max(axis=1),
               np.bitwise_and.reduce(bits, axis=1), np.bitwise_xor.reduce(bits, axis=1)]
    expected = np.stack([c.astype(np.int64).astype(np.int32) for c in columns], axis=1)
    yield Launch("warp_redux", grid, 128, [scalar(n), In(values), Out(expected)])


@case("warp_reduce", [1, 45, 300])
def warp_partial(rng, n):
    """Sizes that leave lanes without an element."""
    grid = ceil_div(n, 96)
    padded = ceil_div(n, 32) * 32
    x = rng.uniform(-1, 1, n)
    high = np.pad(x, (0, padded - n), constant_values=-1e300).reshape(-1, 32).max(axis=1)
    yield Launch("warp_max_xor", grid, 96, [scalar(n), In(x), Out(np.repeat(high, 32)[:n])])
    values = rng.integers(-1000, 1000, n, np.int32)
    yield Launch("segment_broadcast", grid, 96, [scalar(n), In(values), Out(values - values[np.arange(n) // 8 * 8])])
    warps = np.pad(values, (0, padded - n)).reshape(-1, 32)
    sums = np.where(warps % 2 != 0, (warps * (warps % 2 != 0)).sum(axis=1, keepdims=True), 0).astype(np.int32)
    yield Launch("odd_lanes_sum", grid, 96, [scalar(n), In(values), Out(sums.ravel()[:n].copy())])


@case("reduce_last_block", [(1, 1, 32), (1000, 5, 64), (777, 8, 128), (300, 70, 32)])
def reduce_last_block(rng, size):
    n, grid, block = size
    x = rng.uniform(-1, 1, n).astype(np.float32)
    total = np.array([x.astype(np.float64).sum()])
    partial = np.zeros(grid)
    for i in range(grid):
        for start in range(i * block, n, grid * block):
            partial[i] += x[start:start + block].astype(np.float64).sum()
    atol = n * 2.0**-24 * np.abs(x).sum()
    yield Launch("reduce_last_block", grid, block, [
        scalar(n), In(x), Out(partial, np.float32, atol=atol), Out(zeros(1, np.uint32), initial=zeros(1, np.uint32)),
        Out(total, np.float32, atol=atol)])


@case("grid_barrier", [(1, 1, 1, 32), (100, 4, 3, 32), (500, 7, 4, 64)])
def grid_barrier(rng, size):
    n, steps, grid, block = size
    start = rng.uniform(-1, 1, n).astype(np.float32)
    buffers = [start, np.zeros_like(start)]
    for step in range(steps):
        x = buffers[step % 2]
        padded = np.concatenate([x[:1], x, x[-1:]])
        buffers[1 - step % 2] = ((padded[:-2] + x) + padded[2:]) * np.float32(0.25)
    count = Out(np.full(1, grid * steps, np.uint32), initial=zeros(1, np.uint32))
    for kernel in ("smooth_volatile", "smooth_acquire"):
        yield Launch(kernel, grid, block, [
            scalar(n), scalar(steps), Out(buffers[0], initial=start), Out(buffers[1]), count])


@case("grid_sync", [(1, 1, 32), (4, 3, 48), (3, 132, 64)])
def grid_sync(rng, size):
    rounds, grid, block = size
    buffers = [rng.integers(-1000, 1000, grid * block, np.int32), zeros(grid * block, np.int32)]
    start = list(buffers)
    for step in range(rounds):
        buffers[1 - step % 2] = np.roll(buffers[step % 2], -block - 1) + np.int32(step)
    yield Launch("grid_rotate", grid, block, [
        scalar(rounds), Out(buffers[0], initial=start[0]), Out(buffers[1], initial=start[1])], cooperative=True)


@case("warp_arms", [64, 100, 1000])
def warp_arms(rng, n):
    grid, block = ceil_div(n, 128), 128
    x = rng.integers(-1000, 1000, n, np.int32)
    full = np.zeros(grid * block, np.int32)
    full[:n] = x
    lane = np.arange(grid * block)
    arm = lane % block % 3
    given = np.choose(arm, [full * 3, full + 100, full ^ 5])[lane ^ 1]
    yield Launch("arms_shuffle", grid, block, [
        scalar(n), In(x), Out(np.choose(arm, [full + given, full - given, full * given])[:n].astype(np.int32))])
    upper = lane % 32 >= 16
    signed = np.where(upper, -full, full)
    yield Launch("arms_barrier", grid, block, [
        scalar(n), In(x), Out((signed[lane ^ 31] + 7 * upper)[:n].astype(np.int32))])


@case("cooperative_groups", [(1, 1), (5, 16), (9, 100)])
def cooperative_groups(rng, size):
    rows, columns = size
    x = rng.uniform(-1, 1, (rows, columns)).astype(np.float32)
    sums = x.astype(np.float64).sum(axis=1)
    atol = (columns / 16 + 5) * 2.0**-24 * np.abs(x).sum(axis=1)
    yield Launch("tile_row_sums", ceil_div(rows, 4), 64, [
        scalar(rows), scalar(columns), In(x), Out(sums, np.float32, atol=atol)])
    values = rng.integers(-2**31, 2**31, (rows, columns), np.int64).astype(np.int32)
    yield Launch("tile_row_maxima", ceil_div(rows, 2), 64, [
        scalar(rows), scalar(columns), In(values), Out(values.max(axis=1))])
    n = rows * columns
    flat = rng.integers(-10, 10, n, np.int32)
    kept = flat[flat > 0]
    room = np.concatenate([kept, np.zeros(n - len(kept), np.int32)])
    yield Launch("keep_positive", ceil_div(n, 64), 64, [
        scalar(n), In(flat), Out(room, initial=zeros(n, np.int32), check=permutation_of(room)),
        Out(np.full(1, len(kept), np.int32), initial=zeros(1, np.int32))])


@case("histogram", [1, 255, 3000])
def histogram(rng, n):
    data = (rng.normal(128, 20, n).clip(0, 255)).astype(np.uint8)
    before = rng.integers(0, 100, 256, np.uint32)
    counts = before + np.bincount(data, minlength=256).astype(np.uint32)
    yield Launch("histogram", 2, 96, [scalar(n), In(data), Out(counts, initial=before)])


@case("radix_pass", [1, 128, 1000])
def radix_pass(rng, n):
    keys = rng.integers(0, 2**32, n, np.uint32)
    shift = 8
    blocks = ceil_div(n, 128)
    digits = keys >> shift & 15
    counts = np.stack([np.bincount(digits[i * 128:(i + 1) * 128], minlength=16) for i in range(blocks)], axis=1)
    offsets = np.concatenate([[0], np.cumsum(counts.ravel())[:-1]]).reshape(counts.shape).astype(np.uint32)
    yield Launch("radix_count", blocks, 128, [scalar(n), scalar(shift), In(keys), Out(counts.astype(np.uint32))])
    yield Launch("radix_scatter", blocks, 128, [
        scalar(n), scalar(shift), In(keys), In(offsets), Out(keys[np.argsort(digits, kind="stable")])])


@case("bitonic_sort", [(1, 32), (3, 64), (2, 256)])
def bitonic_sort(rng, size):
    grid, block = size
    x = rng.permutation(grid * block).astype(np.float32).reshape(grid, block)
    yield Launch("bitonic_sort", grid, block, [In(x), Out(np.sort(x, axis=1))], smem=4 * block)


def by_slot(values, slots, reduce, start):
    return np.array([reduce(np.append(values[s::slots], start)) for s in range(slots)])


@case("atomics", [(1, 1), (100, 3), (500, 33)])
def atomics(rng, size):
    n, slots = size
    x = rng.integers(1, 20, n, np.int32)
    sums = by_slot(x.astype(np.int64), slots, np.sum, 0)
    counts = by_slot(np.ones(n, np.int64), slots, np.sum, 0)
    grid = ceil_div(n, 96)
    pairs = np.stack([sums, counts], axis=1).astype(np.float16)  # below 2048, so exact
    yield Launch("atomic_sums", grid, 96, [scalar(n), scalar(slots), In(x)] + [
        Out(expected, initial=np.zeros_like(expected)) for expected in (
            sums.astype(np.int32), (sums << 20).astype(np.uint64), sums.astype(np.float32), sums * 0.25, pairs)])
    bits = rng.integers(-2**31, 2**31, n, np.int64).astype(np.int32)
    unsigned = bits.view(np.uint32)
    starts = [2**31 - 1, -2**31, 2**32 - 1, 2**32 - 1, 0, 0]
    rows = [by_slot(bits, slots, np.min, np.int32(starts[0])), by_slot(bits, slots, np.max, np.int32(starts[1]))] + [
        by_slot(unsigned, slots, reduce, np.uint32(start)).view(np.int32) for reduce, start in zip(
            (np.min, np.bitwise_and.reduce, np.bitwise_or.reduce, np.bitwise_xor.reduce), starts[2:])]
    initial = np.repeat(np.array(starts, np.int64).astype(np.int32)[:, None], slots, axis=1)
    highest = by_slot(bits.astype(np.int64) << 33, slots, np.max, np.int64(-2**63))
    yield Launch("atomic_bits", grid, 96, [
        scalar(n), scalar(slots), In(bits), Out(np.stack(rows), initial=initial),
        Out(highest, initial=np.full(slots, -2**63))])
    yield from tickets(rng, n, grid, x)


def tickets(rng, n, grid, x):
    modulus = 7
    turns = np.arange(n)
    exchanged = np.arange(n + 1, dtype=np.int32)

    def exchanges(actual):
        # Each value but one has been returned: the last one is what is left in the counter.
        return "" if len(np.unique(actual)) == n and np.isin(actual, exchanged).all() else "returns a value twice"

    def counters(actual):
        good = actual[0] == n % modulus and actual[1] == -n % modulus and 1 <= actual[2] <= n
        return "" if good else "is %s" % actual

    yield Launch("atomic_tickets", grid, 96, [
        scalar(n), scalar(modulus), Out(np.empty(3, np.uint32), initial=zeros(3, np.uint32), check=counters),
        Out(np.empty(n, np.uint32), check=permutation_of(turns % modulus)),
        Out(np.empty(n, np.uint32), check=permutation_of(-turns % modulus)),
        Out(np.empty(n, np.int32), check=exchanges)])
    product = 1
    for value in x:
        product = product * int(value) % 1000003
    yield Launch("atomic_product", grid, 96, [
        scalar(n), In(x.view(np.uint32)), Out(np.array([product], np.uint64), initial=np.ones(1, np.uint64))])
    blocks = [x[i:i + 96] for i in range(0, n, 96)]
    results = np.array([[b.sum() for b in blocks], [b.max() for b in blocks], [2 * b.sum() for b in blocks],
                        [np.bitwise_or.reduce(np.uint32(1) << (b & 31).astype(np.uint32)) for b in blocks]])
    yield Launch("atomic_shared", grid, 96, [scalar(n), In(x), Out(results.astype(np.int32))])


@case("spin_lock", [32, 96, 192])
def spin_lock(rng, n):
    def visited(values):
        hashes = (values.astype(np.uint64) * 2654435761).astype(np.uint32)
        return [values.sum(dtype=np.uint32), np.uint32(len(values)), np.bitwise_xor.reduce(hashes, initial=0)]

    x = rng.integers(0, 1000, n, np.uint32)
    sums = x.reshape(-1, 32).sum(axis=1, dtype=np.uint32)
    yield Launch("lock_by_warps", 1 if n < 96 else 3, min(n, n // 3 // 32 * 32 or n), [
        Out(zeros(1, np.int32), initial=zeros(1, np.int32)), In(x),
        Out(np.array(visited(sums), np.uint32), initial=zeros(3, np.uint32))])
    locks = 3
    expected = np.concatenate([visited(x[x % locks == which]) for which in range(locks)]).astype(np.uint32)
    yield Launch("lock_by_lanes", ceil_div(n, 64), 64, [
        scalar(n), scalar(locks), Out(zeros(locks, np.int32), initial=zeros(locks, np.int32)), In(x),
        Out(expected, initial=zeros(3 * locks, np.uint32))])


@case("votes", [32, 128, 224])
def votes(rng, n):
    x = rng.integers(-5, 9, n, np.int32)
    x[:32] = np.arange(32) % 8  # a warp that agrees
    warps = x.reshape(-1, 32)

    def ballot(bits):
        return np.repeat((bits.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1), 32).astype(np.uint32)

    def match(values):
        same = values[:, :, None] == values[:, None, :]
        return (same.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=2).ravel().astype(np.uint32)

    eighths = np.trunc(warps / 8).astype(int)  # C++ rounds quotients to zero
    agree = (eighths == eighths[:, :1]).all(axis=1)
    lanes = np.arange(32) % 2
    apart = np.where(np.tile(lanes == 0, len(warps)), ballot((warps & 1 != 0) & (lanes == 0)),
                     ballot((warps & 2 != 0) & (lanes == 1)))
    rows = [ballot(warps > 0), np.repeat((warps == 3).any(axis=1), 32), np.repeat((warps > -4).all(axis=1), 32),
            match(warps), np.repeat(np.where(agree, 0xffffffff, 0), 32), np.repeat(agree, 32), apart, match(warps)]
    yield Launch("votes", ceil_div(n, 96), 96, [
        scalar(n), In(x), Out(np.stack([row.astype(np.uint32) for row in rows]))])


@case("mbarrier", [(1, 32, 1), (3, 96, 5), (2, 256, 4)])
def mbarrier(rng, size):
    grid, block, steps = size
    x = rng.integers(-1000, 1000, (grid, block), np.int32)
    expected = x
    for step in range(steps):
        expected = np.roll(expected, -step, axis=1) + np.int32(step)
    yield Launch("rotate_rounds", grid, block, [scalar(steps), In(x), Out(expected)])


@case("cluster", [(1, 32), (2, 96), (3, 128)])
def cluster(rng, size):
    clusters, block = size
    x = rng.uniform(-1, 1, (clusters, 4, block)).astype(np.float32)
    yield Launch("cluster_rotate", 4 * clusters, block, [In(x), Out(np.ascontiguousarray(np.roll(x, -1, axis=1)))])
    n = 1000 * clusters + 13
    data = rng.integers(0, 256, n, np.uint8)
    owner = np.arange(n) % (4 * clusters * block) // (4 * block)
    counts = np.stack([np.bincount(data[owner == c], minlength=256) for c in range(clusters)])
    yield Launch("cluster_histogram", 4 * clusters, block, [scalar(n), In(data), Out(counts.astype(np.uint32))])


@case("bulk_copy", [(1, 1, 32), (2, 3, 64), (3, 6, 128)])
def bulk_copy(rng, size):
    grid, tiles, block = size
    x = rng.uniform(-1, 1, (grid, tiles, 512)).astype(np.float32)
    yield Launch("bulk_scale", grid, block, [
        scalar(tiles), scalar(1.5, "f32"), In(x), Out(x * np.float32(1.5))])
