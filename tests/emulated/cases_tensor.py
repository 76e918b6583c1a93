"""Cases of matrix products on tensor cores and of normalisations of 16-bit rows."""

import numpy as np

import formats as fmt
from kernel_cases import case, summed
from stax_emu import In, Launch, Out, ceil_div, scalar

# Tensor cores may cut off instead of rounding: a whole unit in the last place a step, not half of one.
CUT_OFF = 2.0**-23


@case("mma_gemm", [(1, 1, 1), (16, 16, 16), (33, 40, 50), (17, 8, 100)])
def mma_gemm(rng, size):
    m, n, k = size
    grid = (ceil_div(n, 16), ceil_div(m, 16))
    a, b = rng.uniform(-1, 1, (m, k)).astype(np.float16), rng.uniform(-1, 1, (k, n)).astype(np.float16)
    expected, atol = summed(a, b, CUT_OFF)
    yield Launch("mma_gemm_f16", grid, 32, [
        scalar(m), scalar(n), scalar(k), In(a), In(b), Out(expected, np.float32, atol=atol)])
    a, b = fmt.to_bf16(rng.uniform(-1, 1, (m, k))), fmt.to_bf16(rng.uniform(-1, 1, (n, k)))
    expected, atol = summed(fmt.from_bf16(a), fmt.from_bf16(b).T, CUT_OFF)
    yield Launch("mma_gemm_bf16", grid, 32, [
        scalar(m), scalar(n), scalar(k), In(a), In(b), Out(expected, np.float32, atol=atol)])


@case("mma_types", [32, 64, 160])
def mma_types(rng, k):
    a, b = rng.uniform(-1, 1, (16, k)).astype(np.float32), rng.uniform(-1, 1, (8, k)).astype(np.float32)
    expected, atol = summed(fmt.to_tf32(a), fmt.to_tf32(b).T, CUT_OFF)
    yield Launch("mma_tf32", 1, 32, [scalar(k), In(a), In(b), Out(expected, np.float32, atol=atol)])
    a, b = rng.integers(-128, 128, (16, k), np.int8), rng.integers(-128, 128, (8, k), np.int8)
    yield Launch("mma_s8", 1, 32, [scalar(k), In(a), In(b), Out(a.astype(np.int32) @ b.T.astype(np.int32))])
    a, b = rng.uniform(-1, 1, (8, k)), rng.uniform(-1, 1, (8, k))
    expected, atol = summed(a, b.T, 2.0**-52)
    yield Launch("mma_f64", 1, 32, [scalar(k), In(a), In(b), Out(expected, np.float64, atol=atol)])


@case("wmma_gemm", [(16, 16, 16), (48, 32, 80), (16, 80, 32)])
def wmma_gemm(rng, size):
    m, n, k = size
    a, b = rng.uniform(-1, 1, (m, k)).astype(np.float16), rng.uniform(-1, 1, (k, n)).astype(np.float16)
    bias = rng.uniform(-1, 1, (m, n)).astype(np.float32)
    product, atol = summed(a, b, CUT_OFF)
    expected = np.maximum(product + bias, 0)
    atol = atol + (k + 1) * CUT_OFF * np.abs(bias)
    yield Launch("wmma_gemm", ceil_div(m * n // 256, 4), 128, [
        scalar(m), scalar(n), scalar(k), In(a), In(b), In(bias), Out(expected, np.float32, atol=atol)])


@case("softmax_bf16", [(1, 1, 32), (3, 100, 64), (2, 513, 128)])
def softmax_bf16(rng, size):
    rows, columns, block = size
    x = fmt.to_bf16(rng.normal(0, 3, (rows, columns)))
    values = fmt.from_bf16(x)
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    # Half a unit of bf16, and what the exponentials and their rescaled sum may be off.
    yield Launch("softmax_bf16", rows, block, [
        scalar(columns), In(x), Out(expected, np.uint16, decode=fmt.from_bf16, rtol=columns * 2.0**-22,
                                    atol=0.5 * fmt.ulp_bf16(expected) * 1.02 + 1e-30)])


@case("layernorm_f16", [(1, 8), (3, 264), (5, 512)])
def layernorm_f16(rng, size):
    rows, columns = size
    x = rng.normal(1, 2, (rows, columns)).astype(np.float16)
    scale = rng.uniform(0.5, 2, columns).astype(np.float16)
    values = x.astype(np.float64)
    deviation = np.sqrt(values.var(axis=1, keepdims=True) + np.float32(1e-3))
    expected = (values - values.mean(axis=1, keepdims=True)) / deviation * scale
    yield Launch("layernorm_f16", ceil_div(rows, 2), (32, 2), [
        scalar(rows), scalar(columns), scalar(1e-3, "f32"), In(x), In(scale),
        Out(expected, np.float16, atol=fmt.ulp16(expected) + 2.0**-19)])
