#!/usr/bin/env python3
"""Tests of check_includes.py."""

import unittest

from tools.lint import check_includes


def rule(label, srcs=(), hdrs=(), deps=()):
    """A rule as `bazel query --output=xml` prints it."""
    lists = {"srcs": srcs, "hdrs": hdrs, "deps": deps}
    body = "".join(
        f'<list name="{name}">{"".join(f"""<label value="{label}"/>""" for label in labels)}</list>'
        for name, labels in lists.items()
    )
    return f'<rule class="cc_library" name="{label}">{body}</rule>'


def findings(rules, files):
    targets = check_includes.parse_targets(f"<query>{''.join(rules)}</query>")
    return list(check_includes.check(targets, lambda path: files.get(path, "")))


class CheckIncludesTest(unittest.TestCase):
    def test_direct_dependency_is_enough(self):
        rules = [
            rule("//ir:a", hdrs=["//ir:a.h"]),
            rule("//ir:b", srcs=["//ir:b.cc"], hdrs=["//ir:b.h"], deps=["//ir:a", "//third_party/abseil:abseil"]),
        ]
        files = {"ir/b.cc": '#include "ir/b.h"\n#include <vector>\n#include "absl/status/status.h"\n#include "ir/a.h"\n'}
        self.assertEqual(findings(rules, files), [])

    def test_indirect_dependency_is_not(self):
        rules = [
            rule("//ir:a", hdrs=["//ir:a.h"]),
            rule("//ir:b", hdrs=["//ir:b.h"], deps=["//ir:a"]),
            rule("//ir:c", srcs=["//ir:c.cc"], deps=["//ir:b"]),
        ]
        files = {"ir/c.cc": '#include "ir/a.h"\n#include "ir/b.h"\n', "ir/b.h": '#include "ir/a.h"\n'}
        self.assertEqual(
            findings(rules, files), ["ir/c.cc: //ir:c includes ir/a.h but does not depend on //ir:a"]
        )

    def test_third_party_headers_count(self):
        rules = [rule("//ir:a", srcs=["//ir:a.cc"], deps=["//third_party/googletest:gtest_main"])]
        files = {"ir/a.cc": '#include "gtest/gtest.h"\n#include "llvm/IR/Module.h"\n'}
        self.assertEqual(
            findings(rules, files),
            ["ir/a.cc: //ir:a includes llvm/IR/Module.h but does not depend on //third_party/llvm:llvm"],
        )

    def test_header_among_a_targets_own_sources(self):
        rules = [
            rule("//ir:a", hdrs=["//ir:a.h"]),
            rule("//ir:b", srcs=["//ir:b.cc", "//ir:a.h"]),
        ]
        self.assertEqual(findings(rules, {"ir/b.cc": '#include "ir/a.h"\n'}), [])

    def test_header_of_generated_code(self):
        rules = [
            rule("//ir/artifact:p_proto", srcs=["//ir/artifact:p.pb.cc"], hdrs=["//ir/artifact:p.pb.h"]),
            rule("//ir:a", srcs=["//ir:a.cc"]),
        ]
        self.assertEqual(
            findings(rules, {"ir/a.cc": '#include "ir/artifact/p.pb.h"\n'}),
            ["ir/a.cc: //ir:a includes ir/artifact/p.pb.h but does not depend on //ir/artifact:p_proto"],
        )

    def test_folders_see_only_those_before(self):
        rules = [
            rule("//ir:a", deps=["//compiler:b"]),
            rule("//compiler:b", deps=["//ir:a", "//third_party/llvm:llvm"]),
            rule("//tests/e2e:c", deps=["//tools/cli:d", "//ir:a"]),
        ]
        self.assertEqual(findings(rules, {}), ["//ir:a depends on //compiler:b: ir comes before compiler"])

    def test_profiler_and_autotuner_see_only_the_compile_services_protos(self):
        rules = [
            rule("//profiler:a", deps=["//compiler/service:compile_proto", "//compiler/service:server"]),
            rule("//autotuner:b", deps=["//compiler/service:compile_grpc", "//compiler/schedule:space"]),
        ]
        self.assertEqual(
            findings(rules, {}),
            [
                "//profiler:a depends on //compiler/service:server: "
                "profiler may use the compile service's protos only",
                "//autotuner:b depends on //compiler/schedule:space: "
                "autotuner may use the compile service's protos only",
            ],
        )


if __name__ == "__main__":
    unittest.main()
