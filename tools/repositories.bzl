"""The repositories that Stax needs, for its own WORKSPACE and for others.

    local_repository(
        name = "stax",
        path = "../stax",
    )

    load("@stax//tools:repositories.bzl", "stax_dependencies")

    stax_dependencies()
"""

load("//third_party/bazel:repository.bzl", "bundled_repository")
load("//third_party/cuda:repository.bzl", "cuda_headers")
load("//third_party/debian:repository.bzl", "debian_package")

# Installed Debian packages, by the repository that they become.
_DEBIAN_PACKAGES = {
    "debian_abseil": ["libabsl-dev"],
    "debian_benchmark": ["libbenchmark-dev"],
    "debian_googletest": [
        "libgmock-dev",
        "libgtest-dev",
    ],
    "debian_grpc": [
        "libc-ares-dev",
        "libgrpc++-dev",
        "libgrpc-dev",
        "libre2-dev",
        "libssl-dev",
        "protobuf-compiler-grpc",
    ],
    "debian_mpfr": [
        "libgmp-dev",
        "libmpfr-dev",
    ],
    "debian_onnx": ["libonnx-dev"],
    "debian_protobuf": [
        "libprotobuf-dev",
        "protobuf-compiler",
    ],
    "debian_sqlite": ["libsqlite3-dev"],
    "debian_xxhash": ["libxxhash-dev"],
    "debian_z3": ["libz3-dev"],
    "debian_zlib": ["zlib1g-dev"],
    "debian_zstd": ["libzstd-dev"],
}

# What Bazel 4.2.3 would download at its first build, from Debian.
_BAZEL_RULES = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

def _declare(rule, name, **kwargs):
    """Declares a repository, unless the workspace has one of that name already."""
    if name not in native.existing_rules():
        rule(name = name, **kwargs)

def stax_dependencies():
    """Declares every repository that Stax's targets refer to; nothing is downloaded."""
    for name in ["rules_cc", "remote_coverage_tools"]:
        _declare(bundled_repository, name)
    for name, path in _BAZEL_RULES.items():
        _declare(native.local_repository, name, path = path)
    for name, packages in _DEBIAN_PACKAGES.items():
        _declare(debian_package, name, packages = packages)
    _declare(
        debian_package,
        "debian_llvm",
        include = "usr/lib/llvm-22/include",
        packages = ["llvm-22-dev"],
    )
    _declare(cuda_headers, "cuda")
