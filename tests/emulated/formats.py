"""Number formats that NumPy lacks, and roundings other than to nearest even, by exact arithmetic in f64."""

import numpy as np


def round_to(x, bits, lowest_exponent, mode="rn"):
    """x (f64) with `bits` bits of significand; below 2**lowest_exponent, multiples of 2**(lowest_exponent - bits + 1).

    mode: rn nearest even, rna nearest away from zero, rz, ru, rd. No overflow.
    """
    x = np.asarray(x, np.float64)
    _, exponent = np.frexp(x)
    unit = np.maximum(exponent - 1, lowest_exponent) - bits + 1
    scaled = np.ldexp(x, -unit)
    rounded = {
        "rn": np.rint,
        "rna": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
        "rz": np.trunc,
        "ru": np.ceil,
        "rd": np.floor,
    }[mode](scaled)
    return np.ldexp(rounded, unit)


def to_f32(x, mode="rn"):
    return round_to(x, 24, -126, mode).astype(np.float32)


def to_f16(x, mode="rn"):
    return round_to(x, 11, -14, mode).astype(np.float16)


def to_tf32(x):
    """As cvt.rna.tf32.f32, still in f64."""
    return round_to(x, 11, -126, "rna")


def to_bf16(x, mode="rn"):
    """Bits, in u16."""
    return (round_to(x, 8, -126, mode).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def fp8_values(exponent_bits):
    """The 256 values of e4m3 (4: no infinities, NaN only where all bits are set) or e5m2 (5), in f64."""
    mantissa_bits = 7 - exponent_bits
    bias = (1 << (exponent_bits - 1)) - 1
    values = np.empty(256)
    for code in range(256):
        exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
        mantissa = code & (1 << mantissa_bits) - 1
        scale = 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
        value = (mantissa + ((1 << mantissa_bits) if exponent else 0)) * scale
        if exponent_bits == 4 and code & 127 == 127:
            value = np.nan
        if exponent_bits == 5 and exponent == 31:
            value = np.nan if mantissa else np.inf
        values[code] = -value if code & 128 else value
    return values


def to_fp8(x, exponent_bits):
    """Nearest even, saturating at the largest finite value; codes in u8. x: finite, in f64."""
    values = fp8_values(exponent_bits)[:128]
    values = values[np.isfinite(values)]
    magnitude = np.minimum(np.abs(x), values[-1])
    above = np.minimum(np.searchsorted(values, magnitude), len(values) - 1)
    below = np.maximum(above - 1, 0)
    down = magnitude - values[below]
    up = values[above] - magnitude
    # Codes of positive values are in order, so the even mantissa is the even code.
    code = np.where((down < up) | ((down == up) & (below % 2 == 0)), below, above)
    return (code | np.where(np.signbit(x), 128, 0)).astype(np.uint8)


def ulp(x, bits, lowest_exponent):
    """The unit in the last place of a format with `bits` bits of significand, at |x|."""
    _, exponent = np.frexp(np.asarray(x, np.float64))
    return np.ldexp(1.0, np.maximum(exponent - 1, lowest_exponent) - bits + 1)


def ulp32(x):
    return ulp(x, 24, -126)


def ulp64(x):
    return ulp(x, 53, -1022)


def ulp16(x):
    return ulp(x, 11, -14)


def ulp_bf16(x):
    return ulp(x, 8, -126)
