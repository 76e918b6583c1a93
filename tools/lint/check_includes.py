#!/usr/bin/env python3
"""Checks that targets depend on what they include, and folders only on those before them.

    bazel query --output=xml 'kind("cc_.* rule", //...)' | check_includes.py

Two rules, for every C++ target of the query:
  - each header that its files include comes from the target itself or from a target in its own deps, third_party included;
  - its deps lie in its own folder or in those before it in FOLDERS. The profiler and the autotuner ask the compile service:
    of the compiler they may depend on the protos of compiler/service only.

Run in the workspace root; prints 'FILE: what is wrong' lines. Exit code 1 if there are any.
"""

import os
import re
import sys
import xml.etree.ElementTree

FOLDERS = ("ir", "compiler", "runtime", "profiler", "autotuner", "tools", "tests")

# Which target brings a header that is not in this repository, by the start of its path.
THIRD_PARTY = {
    "absl/": "//third_party/abseil:abseil",
    "benchmark/": "//third_party/benchmark:benchmark",
    "cublasLt.h": "//third_party/cuda:headers",
    "cuda": "//third_party/cuda:headers",
    "cudnn": "//third_party/cuda:headers",
    "cupti": "//third_party/cuda:headers",
    "gmock/": "//third_party/googletest:googletest",
    "google/protobuf/": "//third_party/protobuf:protobuf",
    "grpcpp/": "//third_party/grpc:grpc",
    "gtest/": "//third_party/googletest:googletest",
    "llvm/": "//third_party/llvm:llvm",
    "llvm-c/": "//third_party/llvm:llvm",
    "mpfr.h": "//third_party/mpfr:mpfr",
    "nvperf": "//third_party/cuda:headers",
    "sqlite3.h": "//third_party/sqlite:sqlite",
    "xxhash.h": "//third_party/xxhash:xxhash",
    "z3++.h": "//third_party/z3:z3",
    "zlib.h": "//third_party/zlib:zlib",
    "zstd.h": "//third_party/zstd:zstd",
}

# A target that stands for another one, so that a test names one dependency and not two.
STANDS_FOR = {"//third_party/googletest:gtest_main": "//third_party/googletest:googletest"}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


class Target:
    """A C++ target: its label, its files (workspace paths), the headers among them, and the labels in its deps."""

    def __init__(self, rule):
        def labels(attribute):
            return [label.get("value") for label in rule.findall(f"list[@name='{attribute}']/label")]

        self.label = rule.get("name")
        self.headers = [path(label) for label in labels("hdrs") + labels("textual_hdrs")]
        self.files = self.headers + [path(label) for label in labels("srcs")]
        self.deps = labels("deps")


def path(label):
    """The workspace path of a file's label."""
    return label.lstrip("/").replace(":", "/").lstrip("/")


def folder(label):
    """The top-level folder of a target."""
    return label.lstrip("/").split("/")[0].split(":")[0]


def parse_targets(query_xml):
    return [Target(rule) for rule in xml.etree.ElementTree.fromstring(query_xml).iter("rule")]


def third_party_owner(include):
    """The target that a header outside the repository needs, or None for the compiler's own."""
    return next((label for start, label in THIRD_PARTY.items() if include.startswith(start)), None)


def check_includes(target, owners, read):
    """Includes of a target's files that no direct dependency brings. owners: labels by header; read: text by path."""
    provided = {target.label, *target.deps, *(STANDS_FOR.get(dep) for dep in target.deps)}
    for file in target.files:
        for include in INCLUDE.findall(read(file)):
            needed = owners.get(include) or {third_party_owner(include)} - {None}
            if needed and not needed & provided and include not in target.files:
                yield f"{file}: {target.label} includes {include} but does not depend on {' or '.join(sorted(needed))}"


def check_folders(target):
    """Dependencies of a target on folders that it may not see."""
    own = folder(target.label)
    if own not in FOLDERS:
        return
    for dep in target.deps:
        other = folder(dep)
        if other not in FOLDERS:
            continue
        if FOLDERS.index(other) > FOLDERS.index(own):
            yield f"{target.label} depends on {dep}: {own} comes before {other}"
        is_service_proto = re.fullmatch(r"//compiler/service:\w+_(proto|grpc)", dep)
        if own in ("profiler", "autotuner") and other == "compiler" and not is_service_proto:
            yield f"{target.label} depends on {dep}: {own} may use the compile service's protos only"


def check(targets, read):
    """All that is wrong with the targets."""
    owners = {}
    for target in targets:
        for header in target.headers:
            owners.setdefault(header, set()).add(target.label)
    for target in targets:
        if folder(target.label) == "third_party":
            continue  # Its targets are what brings those headers.
        yield from check_folders(target)
        yield from check_includes(target, owners, read)


def read_source(file):
    """The text of a file; generated files are not in the source tree, and have no includes to check."""
    if not os.path.exists(file):
        return ""
    with open(file, encoding="utf-8") as stream:
        return stream.read()


def main():
    findings = sorted(set(check(parse_targets(sys.stdin.read()), read_source)))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
