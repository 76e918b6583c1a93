"""Cases of conversions, and of control flow: divergent loops, switches, calls."""

import math

import numpy as np

import formats as fmt
from cases_numbers import signed
from kernel_cases import case
from stax_emu import In, Launch, Out, ceil_div, scalar

MODES = ("rn", "rz", "ru", "rd")
ROUND = dict(zip(MODES, (np.rint, np.trunc, np.ceil, np.floor)))


def to_integer(x, mode, bits, is_signed=True):
    """As cvt: rounded, then clamped to what the type holds. Python integers."""
    low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    return [min(max(int(v), low), high) if math.isfinite(v) else (high if v > 0 else low) for v in ROUND[mode](x)]


def spread(rng, n, dtype):
    """Halves (ties), small and large numbers."""
    x = rng.integers(-40, 40, n) / 2
    x[1::3] = rng.uniform(-1, 1, len(x[1::3])) * 10.0**rng.uniform(0, 12, len(x[1::3]))
    x[2::3] = rng.uniform(-1000, 1000, len(x[2::3]))
    return x.astype(dtype)


@case("conversions", [1, 40, 200])
def to_integers(rng, n):
    grid = ceil_div(n, 64)
    x = spread(rng, n, np.float32)
    rows = [to_integer(x, mode, 32) for mode in MODES] + [to_integer(x, mode, 32, False) for mode in ("rn", "rz")]
    rows.append([2 * v for v in to_integer(x * np.float32(1 / 512), "rn", 32)])
    expected = np.array([[signed(v) for v in row] for row in rows], np.int32)
    # rintf(..) * 2 saturates after the multiplication.
    expected[6] = to_integer(np.rint(x * np.float32(1 / 512)) * 2, "rz", 32)
    expected = np.vstack([expected, np.trunc(x).view(np.int32)])
    yield Launch("float_to_int", grid, 64, [scalar(n), In(x), Out(expected)])

    x = spread(rng, n, np.float64) * 10.0**rng.integers(0, 9, n)
    rows = [to_integer(x, mode, 64) for mode in MODES] + [to_integer(x, "rz", 64, False), to_integer(x, "rz", 32)]
    expected = np.array([[signed(v, 64) for v in row] for row in rows], np.int64)
    expected = np.vstack([expected, x.view(np.int64) >> 32])
    yield Launch("double_to_long", grid, 64, [scalar(n), In(x), Out(expected)])

    h = spread(rng, n, np.float32).clip(-10000, 10000).astype(np.float16)
    nearest = np.array(to_integer(h.astype(np.float64), "rn", 32))
    rows = [to_integer(h.astype(np.float64), mode, 32) for mode in MODES]
    rows.append(h.astype(np.float32).view(np.int32))
    rows.append(fmt.to_f16(nearest * 3.0).view(np.uint16))
    yield Launch("half_to_int", grid, 64, [scalar(n), In(h), Out(np.array(rows, np.int64).astype(np.int32))])


def rational_to_f32(value, mode):
    """An integer of any size to f32, rounded once."""
    if value == 0:
        return np.float32(0)
    magnitude = abs(value)
    shift = max(magnitude.bit_length() - 24, 0)
    kept, rest = magnitude >> shift, magnitude & (1 << shift) - 1
    half = 1 << shift >> 1
    up = {"rn": rest > half or (rest == half and shift > 0 and kept & 1), "rz": False,
          "ru": rest > 0 and value > 0, "rd": rest > 0 and value < 0}[mode]
    return np.float32(math.copysign(float((kept + bool(up)) << shift), value))


@case("conversions", [1, 40, 200])
def to_floats(rng, n):
    grid = ceil_div(n, 64)
    x = rng.integers(-2**63, 2**63, n, np.int64) >> rng.integers(0, 63, n)
    values = list(map(int, x))
    rows = [[rational_to_f32(v, mode) for v in values] for mode in MODES]
    rows.append([rational_to_f32(v % 2**64, "rn") for v in values])
    rows.append([rational_to_f32(signed(v), "rn") for v in values])
    rows.append([rational_to_f32(v % 2**32, "rz") for v in values])
    rows.append([np.float32(signed(v, 8)) for v in values])
    rows.append([np.float32(v % 2**16) for v in values])
    yield Launch("long_to_float", grid, 64, [scalar(n), In(x), Out(np.array(rows, np.float32))])

    d = rng.uniform(-1, 1, n) * 10.0**rng.uniform(-30, 30, n)
    d[::5] = d[::5].astype(np.float32)
    yield Launch("double_to_float", grid, 64, [
        scalar(n), In(d), Out(np.stack([fmt.to_f32(d, mode) for mode in MODES]))])

    f = (rng.uniform(-1, 1, n) * 2.0**rng.uniform(-20, 15, n)).astype(np.float32)
    f[::5] = f[::5].astype(np.float16)
    wide = f.astype(np.float64)
    yield Launch("float_to_half", grid, 64, [
        scalar(n), In(f), Out(np.stack([fmt.to_f16(wide, mode) for mode in MODES]))])
    yield Launch("float_to_bfloat", grid, 64, [
        scalar(n), In(f), Out(np.stack([fmt.to_bf16(wide, mode) for mode in MODES]))])


@case("fp8", [1, 40, 200])
def fp8(rng, n):
    grid = ceil_div(n, 64)
    x = (rng.uniform(-1, 1, (n, 2)) * 2.0**rng.uniform(-12, 18, (n, 2))).astype(np.float32)
    wide = x.astype(np.float64)
    yield Launch("float_to_fp8", grid, 64, [
        scalar(n), In(x), Out(fmt.to_fp8(wide, 4).view(np.uint16).ravel()),
        Out(fmt.to_fp8(wide, 5).view(np.uint16).ravel())])
    codes = rng.integers(0, 256, (n, 2), np.uint8)
    # A NaN has many codes; they are left out, as infinities are not.
    codes[np.isnan(fmt.fp8_values(4)[codes]) | np.isnan(fmt.fp8_values(5)[codes])] = 0x7c
    halves = np.stack([fmt.fp8_values(4)[codes], fmt.fp8_values(5)[codes]]).astype(np.float16)
    yield Launch("fp8_to_half", grid, 64, [scalar(n), In(codes.view(np.uint16).ravel()), Out(halves)])


def collatz_steps(value):
    steps = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


def divisor_sum(first):
    total = 0
    for value in range(first, first + 4):
        total += next((d for d in range(2, math.isqrt(value) + 1) if value % d == 0), 0)
    return total


@case("divergence", [1, 33, 150])
def divergence(rng, n):
    start = rng.integers(1, 2000, n, np.uint32)
    steps = np.array([collatz_steps(int(v)) for v in start], np.int32)
    yield Launch("collatz", ceil_div(n, 64), 64, [scalar(n), In(start), Out(steps)])
    sums = np.array([divisor_sum(int(v)) for v in start], np.uint32)
    yield Launch("smallest_divisors", ceil_div(n, 64), 64, [scalar(n), In(start), Out(sums)])


@case("divergence", [(1, 1, 5), (30, 17, 40), (64, 64, 20)])
def mandelbrot(_, size):
    width, height, limit = size
    one = np.float32
    cx = (one(3 / 64) * np.arange(width, dtype=one) - one(2))[None, :] + np.zeros((height, 1), one)
    cy = (one(2 / 64) * np.arange(height, dtype=one) - one(1))[:, None] + np.zeros((1, width), one)
    x, y = np.zeros_like(cx), np.zeros_like(cx)
    counts = np.zeros((height, width), np.int32)
    inside = np.ones((height, width), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            xx, yy, xy = x * x, y * y, x * y
            inside &= ~(xx + yy > 4)
            counts += inside
            x, y = np.where(inside, (xx - yy) + cx, x), np.where(inside, (xy + xy) + cy, y)
    yield Launch("mandelbrot", (ceil_div(width, 16), ceil_div(height, 4)), (16, 4), [
        scalar(width), scalar(height), scalar(limit), Out(counts)])


def run_machine(program, thread, x, y):
    """What switch_cases does with (x, y)."""
    mask = 2**32 - 1
    for j in range(len(program)):
        op = int(program[(thread + j) % len(program)])
        if op == 0:
            x += y
        elif op == 1:
            x -= y
        elif op == 2:
            x *= y | 1
        elif op == 3:
            x ^= y >> 3
        elif op == 4:
            x = x << 5 | x >> 27
        elif op == 5:
            y += 0x9e3779b9
        elif op == 6:
            y = ~(y ^ x)
        elif op == 7:
            y = ~y
        elif op == 8:
            x = bin(x).count("1") + y
        elif op == 9:
            x, y = y, x
        elif op == 10:
            x = max(x, y)
        elif op == 11:
            x = x // (y % 1000 + 1)
        else:
            x = 0x2a
        x, y = x & mask, y & mask
    return x ^ y


@case("switch_cases", [(1, 1), (50, 13), (150, 30)])
def switch_cases(rng, size):
    n, length = size
    program = rng.integers(0, 14, length, np.uint8)
    a, b = (rng.integers(0, 2**32, n, np.uint32) for _ in range(2))
    results = [run_machine(program, i, int(x), int(y)) for i, (x, y) in enumerate(zip(a, b))]
    yield Launch("switch_cases", ceil_div(n, 64), 64, [
        scalar(n), scalar(length), In(program), In(a.view(np.int32)), In(b.view(np.int32)),
        Out(np.array(results, np.uint32).view(np.int32))])
    which = rng.integers(0, 4, n, np.int32)
    x = rng.integers(-10000, 10000, n, np.int32)
    y = np.choose(which, [x + 1000, -x, x * x, x + 1000]).astype(np.int32)
    yield Launch("indexed_branch", ceil_div(n, 64), 64, [scalar(n), In(which), In(x), Out(y)])


@case("calls", [1, 33, 150])
def calls(rng, n):
    a, b = (np.stack([rng.integers(-5000, 5000, n), rng.integers(1, 5000, n)], axis=1) for _ in range(2))
    sums = []
    for (p, q), (r, s) in zip(a.tolist(), b.tolist()):
        top, bottom = p * s + r * q, q * s
        divisor = math.gcd(top, bottom)
        sums.append([top // divisor, bottom // divisor])
    yield Launch("add_fractions", ceil_div(n, 64), 64, [
        scalar(n), In(a), In(b), Out(np.array(sums, np.int64))])
    x = rng.integers(0, 10, n) * 10**rng.integers(0, 9, n) + rng.integers(0, 10**4, n)
    classes = {0: -1, 1: 8, 2: 9, 3: 10, 4: 6, 6: 9, 8: 12}
    totals = [sum(classes.get(int(digit), 0) for digit in str(v)) if v else 0 for v in x]
    yield Launch("digit_classes", ceil_div(n, 64), 64, [
        scalar(n), In(x.astype(np.int32)), Out(np.array(totals, np.int32))])
