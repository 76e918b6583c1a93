"""Cases of kernels that move data: copies, tiles in shared memory, asynchronous copies, tables, local arrays."""

import numpy as np

from kernel_cases import case, summed
from stax_emu import In, Launch, Out, ceil_div, scalar


def floats(rng, *shape):
    return rng.uniform(-2, 2, shape).astype(np.float32)


@case("saxpy", [1, 31, 128, 1000])
def saxpy(rng, n):
    x, y = floats(rng, n), floats(rng, n)
    # The product of two f32 is exact in f64; the sum is rounded to f64 and then to f32: half a unit more at most.
    expected = 0.75 * x.astype(np.float64) + y
    args = [scalar(n), scalar(0.75, "f32"), In(x), Out(expected, np.float32, rtol=2.0**-24, initial=y)]
    yield Launch("saxpy", ceil_div(n, 128), 128, args)
    yield Launch("saxpy_strided", 3, 96, args)


@case("copy", [3, 4, 130, 1027])
def copy_vector(rng, n):
    x = floats(rng, n)
    yield Launch("copy_vector", max(1, ceil_div(n // 4, 64)), 64, [scalar(n), In(x), Out(x)])


@case("copy", [(1, 1), (7, 33), (32, 64), (45, 70)])
def copy_and_transpose(rng, size):
    rows, columns = size
    wide = rng.integers(-30000, 30000, (rows, columns + 5), np.int16)
    before = rng.integers(-30000, 30000, (rows, columns + 3), np.int16)
    after = before.copy()
    after[:, :columns] = wide[:, :columns]
    grid = (ceil_div(columns, 16), ceil_div(rows, 4))
    yield Launch("copy_pitched", grid, (16, 4), [
        scalar(rows), scalar(columns), In(wide), scalar(columns + 5), Out(after, initial=before), scalar(columns + 3)])
    x = floats(rng, rows, columns)
    args = [scalar(rows), scalar(columns), In(x), Out(np.ascontiguousarray(x.T))]
    yield Launch("transpose_naive", grid, (16, 4), args)
    yield Launch("transpose_tiled", (ceil_div(columns, 32), ceil_div(rows, 32)), (32, 8), args)


@case("matmul_tiled", [(1, 1, 1), (16, 16, 16), (33, 20, 45), (5, 70, 16)])
def matmul(rng, size):
    m, n, k = size
    a, b = floats(rng, m, k), floats(rng, k, n)
    expected, atol = summed(a, b)
    yield Launch("matmul_tiled", (ceil_div(n, 16), ceil_div(m, 16)), (16, 16), [
        scalar(m), scalar(n), scalar(k), In(a), In(b), Out(expected, np.float32, atol=atol)])


@case("async_copy", [(1, 1), (3, 255), (2, 256), (4, 1001)])
def row_statistics(rng, size):
    rows, columns = size
    pitch = ceil_div(columns, 4) * 4
    x = rng.uniform(0, 1, (rows, pitch)).astype(np.float32)
    used = x[:, :columns].astype(np.float64)
    yield Launch("row_statistics", rows, 64, [
        scalar(columns), scalar(pitch), In(x), Out(used.max(axis=1), np.float32, rtol=0, atol=1e-300),
        Out(used.sum(axis=1), np.float32, rtol=columns * 2.0**-24)])


@case("async_copy", [1, 64, 127, 300])
def reverse_segments(rng, n):
    x = rng.integers(-1000, 1000, n, np.int32)
    expected = np.concatenate([x[i:i + 128][::-1] for i in range(0, n, 128)])
    yield Launch("reverse_segments", ceil_div(n, 128), 64, [scalar(n), In(x), Out(expected)])


@case("dynamic_shared", [(1, 32), (100, 64), (256, 128), (333, 96)])
def partition_even(rng, size):
    n, block = size
    x = rng.integers(-10**12, 10**12, n, np.int64)
    out, origin = np.empty_like(x), np.empty(n, np.int16)
    for start in range(0, n, block):
        segment = x[start:start + block]
        order = np.argsort(segment % 2 != 0, kind="stable")
        out[start:start + block] = segment[order]
        origin[start:start + block] = order
    yield Launch("partition_even", ceil_div(n, block), block, [scalar(n), In(x), Out(out), Out(origin)], smem=14 * block)


@case("read_only", [1, 33, 500])
def read_only(rng, n):
    x = floats(rng, n)
    grid = ceil_div(n, 64)
    yield Launch("stencil", grid, 64, [scalar(n), In(x), Out((np.roll(x, 1) - np.float32(2) * x) + np.roll(x, -1))])
    a, b = rng.uniform(-2, 2, (n, 2)), rng.uniform(-2, 2, (n, 2))
    product = np.stack([a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1], a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0]], axis=1)
    yield Launch("complex_products", grid, 64, [scalar(n), In(a), In(b), Out(product)])
    x4 = rng.integers(-10**9, 10**9, (n, 4), np.int32)
    y2 = rng.integers(-30000, 30000, (n, 2), np.int16)
    sums = x4.copy()
    sums[:, 0] += x4[::-1, 3]
    sums[:, 1] += x4[::-1, 2]
    sums[:, 2] += y2[:, 0].astype(np.int32) + y2[::-1, 0]
    sums[:, 3] += y2[:, 1].astype(np.int32) + y2[::-1, 1]
    yield Launch("cache_operators", grid, 64, [scalar(n), In(x4), In(y2), Out(sums)])


@case("read_only", [(1, 1, 1), (8, 4, 2), (11, 5, 7)])
def box_stencil(rng, size):
    nx, ny, nz = size
    x = rng.integers(-1000, 1000, (nz, ny, nx), np.int32)
    padded = np.pad(x, 1)
    expected = x.copy()
    for axis in range(3):
        for step in (1, -1):
            expected += np.roll(padded, step, axis)[1:-1, 1:-1, 1:-1]
    yield Launch("box_stencil", (ceil_div(nx, 8), ceil_div(ny, 4), ceil_div(nz, 2)), (8, 4, 2), [
        scalar(nx), scalar(ny), scalar(nz), In(x), Out(expected)])


@case("tables", [1, 50, 200])
def tables(rng, n):
    x = rng.uniform(-3, 8, n).astype(np.float32)
    starts = np.array([-1, 1, 5], np.float32)
    segment = (x[:, None] >= starts).sum(axis=1)
    slopes, offsets = np.array([0, 1, 0.25, 0], np.float32), np.array([-1, 0, 0.75, 2], np.float32)
    grid = ceil_div(n, 64)
    yield Launch("piecewise", grid, 64, [scalar(n), In(x), Out(x * slopes[segment] + offsets[segment])])
    keys = rng.integers(0, 1000, n, np.int32)
    permutation = np.array([7, 2, 13, 4, 11, 0, 9, 14, 1, 12, 3, 10, 5, 8, 15, 6], np.int32)
    weights = np.array([[0.5, 0.25, 0.125], [1.5, -2, 1e10]])
    entries = np.array([[10, 20, 30], [-1, -2, -3]], np.int32)
    yield Launch("look_up", grid, 64, [
        scalar(n), In(keys), Out(permutation[keys & 15]), Out(weights[keys & 1, keys % 3]),
        Out(entries[keys & 1, keys % 3])])
    numbers = np.arange(grid * 64, dtype=np.uint32)
    yield Launch("draw_numbers", grid, 64, [
        Out(numbers, check=lambda actual: "" if (np.sort(actual) == numbers).all() else "is no permutation")])


def polish_text(rng, depth):
    """Reverse Polish text of a random expression."""
    if depth == 0 or rng.random() < 0.2:
        return str(rng.integers(10))
    return polish_text(rng, depth - 1) + polish_text(rng, depth - 1) + "+-*"[rng.integers(3)]


def polish_value(text):
    stack = []
    for symbol in text:
        if symbol.isdigit():
            stack.append(int(symbol))
        else:
            right = stack.pop()
            left = stack.pop()
            stack.append({"+": left + right, "-": left - right, "*": left * right}[symbol])
    return stack[0]


@case("local_array", [1, 33, 100])
def local_array(rng, n):
    x = rng.integers(-50, 50, (n, 16), np.int16)
    order = np.argsort(x, axis=1, kind="stable")
    grid = ceil_div(n, 32)
    yield Launch("sort_local", grid, 32, [
        scalar(n), In(x), Out(np.take_along_axis(x, order, axis=1)), Out(order.astype(np.uint8))])
    # Values stay below 2**31: a product of at most sixteen digits is not, so depth 3 has at most eight.
    texts = [polish_text(rng, 3) for _ in range(n)]
    length = max(map(len, texts))
    text = np.frombuffer("".join(t.ljust(length) for t in texts).encode(), np.int8).reshape(n, length)
    values = np.array(list(map(polish_value, texts)), np.int32)
    yield Launch("polish", grid, 32, [scalar(n), scalar(length), In(text), Out(values)])
