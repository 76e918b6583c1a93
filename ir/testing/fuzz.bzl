"""Fuzz targets of parsers.

    stax_fuzz_target(
        name = "npy_fuzz",          # a library with LLVMFuzzerTestOneInput
        srcs = ["npy_fuzz.cc"],
        deps = [":npy"],
    )

makes the library for a test that feeds it, and npy_fuzzer, a program that searches with libFuzzer:

    bazel run --config=fuzz //tools/npy:npy_fuzzer -- -max_total_time=600 -rss_limit_mb=2048 -timeout=10
"""

def stax_fuzz_target(name, srcs, deps, **kwargs):
    """The library `name`, and the program of `name` + "er"."""
    native.cc_library(
        name = name,
        testonly = True,
        srcs = srcs,
        # The test and the program refer to it by the symbol only.
        alwayslink = True,
        deps = deps,
        **kwargs
    )
    native.cc_binary(
        name = name + "er",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        # Its search never ends, so it is no part of //...
        tags = ["manual"],
        deps = [":" + name],
    )
