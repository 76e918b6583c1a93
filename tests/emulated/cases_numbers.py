"""Cases of kernels that compute: integers, divisions, floats of all sizes, conversions, control flow, calls."""

import math

import numpy as np

import formats as fmt
from kernel_cases import case
from stax_emu import In, Launch, Out, ceil_div, scalar

WORD = 2**32


def words(rng, n):
    """Random bits, and among them the values where things break."""
    x = rng.integers(0, WORD, n, np.uint32)
    corners = np.array([0, 1, 2**31, 2**31 - 1, WORD - 1, 0x80], np.uint32)
    x[:min(n, 6)] = rng.permutation(corners)[:min(n, 6)]
    return x


def signed(x, bits=32):
    """The number that the low bits mean in two's complement."""
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def bytes_of(x, is_signed):
    return [signed(x >> 8 * i, 8) if is_signed else x >> 8 * i & 255 for i in range(4)]


def bit_field(a, position, length, is_signed):
    """bfe: bits beyond the top are copies of the sign, or zeros."""
    position, length = position & 255, length & 255
    value = (signed(a) if is_signed else a) >> min(position, 63)
    field = value & (1 << length) - 1
    return signed(field, length) if is_signed and length else field


def permute_bytes(x, y, selector):
    source = [(x | y << 32) >> 8 * i & 255 for i in range(8)]
    return sum(source[selector >> 4 * i & 7] << 8 * i for i in range(4))


def integer_rows(x, y, z):
    """One column of integer_ops' results, from the definitions."""
    sx, sy, sz = signed(x), signed(y), signed(z)
    both = x << 32 | y  # high word first
    position, length = z & 63, z >> 6 & 63
    mask = ((1 << length) - 1 << position) & WORD - 1
    return [
        bin(x).count("1"), 32 - x.bit_length(), int("{:032b}".format(x)[::-1], 2), (x & -x).bit_length(),
        permute_bytes(x, y, z),
        ((y << 32 | x) << (z & 31)) >> 32, (y << 32 | x) >> (z & 31),
        ((y << 32 | x) << min(z & 63, 32)) >> 32, (y << 32 | x) >> min(z & 63, 32),
        sum(a * b for a, b in zip(bytes_of(x, True), bytes_of(y, True))) + sz,
        sum(a * b for a, b in zip(bytes_of(x, False), bytes_of(y, False))) + z,
        signed(x, 16) * signed(y, 8) + signed(x >> 16, 16) * signed(y >> 8, 8) + sz,
        sx * sy >> 32, x * y >> 32, signed(x, 24) * signed(y, 24), (x & 0xffffff) * (y & 0xffffff),
        bit_field(x, y & 63, z & 63, False), bit_field(sx & WORD - 1, y & 63, z & 63, True),
        (x << position) & mask | y & ~mask, abs(sx - sy) + z, sx + sy >> 1, sx + sy + 1 >> 1,
        x & y | y & z | x & z, (sx if sx >= 0 else ~sx).bit_length() - 1, abs(sx >> 1),
        min(sy, sz) if sx < sy else max(sx, sz),
    ]


@case("integer_ops", [1, 40, 333])
def integer_ops(rng, n):
    a, b, c = words(rng, n), words(rng, n), words(rng, n)
    rows = [integer_rows(*map(int, column)) for column in zip(a, b, c)]
    expected = np.array([[value % WORD for value in row] for row in rows], np.uint32).T.copy()
    yield Launch("integer_ops", ceil_div(n, 64), 64, [scalar(n), In(a), In(b), In(c), Out(expected)])


@case("integer_ops", [1, 40, 200])
def integer_ops64(rng, n):
    a, b = (rng.integers(0, 2**64, n, np.uint64) for _ in range(2))
    a[:min(n, 3)] = np.array([0, 2**63, 2**64 - 1], np.uint64)[:min(n, 3)]
    rows = []
    for x, y in zip(map(int, a), map(int, b)):
        sx, sy, shift = signed(x, 64), signed(y, 64), y & 63
        rows.append([bin(x).count("1"), 64 - x.bit_length(), int("{:064b}".format(x)[::-1], 2), (x & -x).bit_length(),
                     x * y >> 64, sx * sy >> 64, x * y + 12345, sx >> shift, x << shift | x >> 63 - shift, min(sx, sy)])
    expected = np.array([[value % 2**64 for value in row] for row in rows], np.uint64).T.copy()
    yield Launch("integer_ops64", ceil_div(n, 64), 64, [scalar(n), In(a), In(b), Out(expected)])


def quotient(a, b):
    """As C++: rounded to zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


@case("division", [1, 65, 300])
def division(rng, n):
    for bits, kernel in ((64, "division64"), (32, "division32")):
        # All magnitudes; the one overflow and division by zero left out.
        magnitudes = rng.integers(1, bits - 1, (2, n))
        a, b = ([(1 if rng.random() < 0.5 else -1) * int(rng.integers(1, 2**62) >> 62 - m) or 1 for m in row]
                for row in magnitudes.tolist())
        a[0] = -2**(bits - 1)
        rows = []
        for x, y in zip(a, b):
            y = 3 if y == -1 else y
            ux, uy = x % 2**bits, y % 2**bits
            q = quotient(x, y)
            rows.append([q, x - q * y, ux // uy, ux % uy])
            if bits == 32:
                rows[-1].append(quotient(x, 7) + x - quotient(x, 1000) * 1000)
        dtype = np.int64 if bits == 64 else np.int32
        expected = np.array([[signed(v, bits) for v in row] for row in rows], dtype).T.copy()
        divisors = np.array([3 if y == -1 else y for y in b], dtype)
        yield Launch(kernel, ceil_div(n, 64), 64, [scalar(n), In(np.array(a, dtype)), In(divisors), Out(expected)])


def table(rows, dtype, units=0.5, ulp=fmt.ulp32, floor=0.0):
    """An output of results [rows, n]: row i within units[i] (or units) of the last place, or absolute `floor`."""
    expected = np.stack([np.asarray(row, np.float64) for row in rows])
    units = np.broadcast_to(np.asarray(units, np.float64), len(rows)).reshape((-1,) + (1,) * (expected.ndim - 1))
    return Out(expected, dtype, atol=np.maximum(ulp(expected) * units * 1.001, floor))


@case("floats", [1, 70, 300])
def double_math(rng, n):
    x, y = rng.uniform(0.1, 10, n), rng.uniform(0.5, 4, n)
    fma = [float(math.fsum(p)) for p in zip(*exact_product(x, y), np.full(n, -1.0))]
    # Functions in 80 bits: those of doubles are up to 4 units off, which depends on the processor.
    u, v = x.astype(np.longdouble), y.astype(np.longdouble)
    rows = [x / y, np.sqrt(x), fma, np.exp(-u), np.log(u), np.cbrt(v), np.floor(x) + np.ceil(y) + np.rint(x * y),
            np.copysign(np.minimum(x, y), 1.5 - x), np.fmod(x, y), 1 / np.sqrt(u)]
    # CUDA's documented bounds, and half a unit for the rounding of what is expected; 0 is exact.
    units = [0, 0, 0.5, 1.5, 1.5, 1.5, 0, 0, 0, 1.5]
    yield Launch("double_math", ceil_div(n, 64), 64, [
        scalar(n), In(x), In(y), table(rows, np.float64, units, fmt.ulp64)])


def exact_product(x, y):
    """x y as a sum of two doubles (Dekker)."""
    def halves(v):
        big = v * 134217729.0
        high = big - (big - v)
        return high, v - high
    xh, xl = halves(x)
    yh, yl = halves(y)
    product = x * y
    return product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl


@case("floats", [1, 70, 300])
def float_rounded(rng, n):
    x, y = rng.uniform(0.01, 100, n).astype(np.float32), rng.uniform(0.5, 4, n).astype(np.float32)
    a, b = x.astype(np.float64), y.astype(np.float64)
    # Sums and products of these are exact in f64; quotients and roots, rounded twice, are right too (53 >= 2 * 24 + 2).
    rows = [fmt.to_f32(a + b, mode) for mode in ("rn", "rz", "ru", "rd")]
    rows += [fmt.to_f32(a * b, mode) for mode in ("rn", "rz", "ru", "rd")]
    rows += [x / y, np.sqrt(x), directed(lambda v: v * v <= a, np.sqrt(x), -1),
             directed(lambda v: v * b >= 1, np.float32(1) / y, 1), fused_one(a, b), np.clip(x - y, 0, 1)]
    yield Launch("float_rounded", ceil_div(n, 64), 64, [scalar(n), In(x), In(y), Out(np.stack(rows).astype(np.float32))])


def directed(fits, nearest, direction):
    """The last f32 that fits, beside or at the nearest one. direction: -1 largest that fits, +1 smallest."""
    beside = np.nextafter(nearest, np.float32(direction * np.inf))
    return np.where(fits(nearest.astype(np.float64)), nearest, beside).astype(np.float32)


def fused_one(a, b):
    """f32 of a b + 1 rounded once: the exact sum as a rational."""
    from fractions import Fraction
    result = []
    for x, y in zip(a, b):
        exact = Fraction(float(x)) * Fraction(float(y)) + 1
        near = np.float32(float(exact))
        choices = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
        # A tie goes to the even one.
        result.append(min(choices, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1)))
    return np.array(result, np.float32)


@case("floats", [1, 200])
def float_functions(rng, n):
    x, y = rng.uniform(-3, 3, n).astype(np.float32), rng.uniform(0.5, 2, n).astype(np.float32)
    a, b = x.astype(np.float64), y.astype(np.float64)
    erf = np.array([math.erf(v) for v in a])
    rows = [np.exp(a), np.log(b), np.tanh(a), erf, b**a, np.log1p(b), np.exp2(a), np.hypot(a, b)]
    # CUDA's documented maximal errors, half a unit more.
    units = [2.5, 1.5, 2.5, 2.5, 4.5, 1.5, 2.5, 3.5]
    yield Launch("float_functions", ceil_div(n, 64), 64, [scalar(n), In(x), In(y), table(rows, np.float32, units)])
    rows = [np.exp(a), np.log(b), np.sin(a), np.cos(a), 1 / np.sqrt(b), a / b, b**a, 10**a, np.log2(b), np.tanh(a)]
    wide = 2.0**-24 * np.maximum(1, np.abs(a))
    # Documented: __expf 2 + |1.173 x| units, __logf 2^-21.4 near 1, __sinf and __cosf 2^-21.2 within pi, rsqrtf and
    # __fdividef 2 units; powers are exp2(x log2 y), tanh.approx 2^-11 relative.
    bounds = [8 * wide * np.exp(a), np.full(n, 2.0**-21), np.full(n, 2.0**-20.9), np.full(n, 2.0**-20.9),
              2.5 * fmt.ulp32(rows[4]), 2.5 * fmt.ulp32(rows[5]), 2.0**-19 * rows[6], 16 * wide * rows[7],
              np.full(n, 2.0**-21), 2.0**-10.9 * np.abs(rows[9])]
    yield Launch("fast_math", ceil_div(n, 64), 64, [
        scalar(n), In(x), In(y), Out(np.stack(rows), np.float32, atol=np.stack(bounds))])


@case("half_math", [1, 50, 200])
def half_math(rng, n):
    a, b, c = (rng.uniform(-8, 8, (n, 2)).astype(np.float16) for _ in range(3))
    x, y, z = (v.astype(np.float64) for v in (a, b, c))
    rows = [x + y, x - y, x * y, x * y + z, np.maximum(x * y + z, 0), np.maximum(x, y), np.minimum(x, y), -x, np.abs(x),
            x > y, x[:, ::-1], np.clip(x + y, 0, 1)]
    expected = np.stack([fmt.to_f16(row) for row in rows])
    # Zeros may have either sign where they come of a maximum.
    yield Launch("half2_math", ceil_div(n, 64), 64, [
        scalar(n), In(a), In(b), In(c), Out(expected.astype(np.float64), np.float16, atol=1e-300)])
    a = rng.uniform(0.1, 6, (n, 2)).astype(np.float16)
    x = a.astype(np.float64)
    rows = [np.exp(x), np.exp2(x), np.log(x), np.sqrt(x), 1 / np.sqrt(x), 1 / x, np.tanh(x)]
    # Two units of f16; the logarithm, near 1, as far as its f32 intermediate; tanh.approx.f16 to 2^-10.987.
    yield Launch("half2_functions", ceil_div(n, 64), 64, [
        scalar(n), In(a), table(rows, np.float16, 2, fmt.ulp16, floor=2.0**-20)])


@case("half_math", [1, 50, 200])
def bfloat_math(rng, n):
    a, b, c = (fmt.to_bf16(rng.uniform(-8, 8, (n, 2))) for _ in range(3))
    x, y, z = map(fmt.from_bf16, (a, b, c))
    pair = np.stack([x[:, 0] + y[:, 1], x[:, 0] - y[:, 1]], axis=1)
    rows = [x + y, x * y, x * y + z, np.maximum(x, y), -x, pair]
    expected = np.stack([fmt.from_bf16(fmt.to_bf16(row)) for row in rows])
    yield Launch("bfloat2_math", ceil_div(n, 64), 64, [
        scalar(n), In(a), In(b), In(c), Out(expected, np.uint16, atol=1e-300, decode=fmt.from_bf16)])
