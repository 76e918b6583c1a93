#!/usr/bin/env python3
"""Tests of test_summary.py."""

import json
import os
import tempfile
import unittest

from tools.test_summary import test_summary
from tools.test_summary.test_summary import Count

GTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" disabled="1" name="AllTests"><testsuite name="A">
<testcase name="Passes" status="run" result="completed" classname="A"/>
<testcase name="Fails" status="run" result="completed" classname="A"><failure message="no"/></testcase>
<testcase name="DISABLED_X" status="notrun" result="suppressed" classname="A"/>
<testcase name="Skips" status="run" result="skipped" classname="A"><skipped message="no GPU"/></testcase>
</testsuite></testsuites>"""

BAZEL = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="tools/x_test" tests="1" failures="0" errors="0">
<testcase name="tools/x_test" status="run" duration="0" time="0"></testcase>
<system-out>out</system-out></testsuite></testsuites>"""


class TestSummaryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name.replace("/", "_"))
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return {"name": name.split("/")[-1], "uri": "file://" + path}

    def event(self, label, status, *files, **key):
        result = {"status": status, "testActionOutput": list(files)}
        return json.dumps({"id": {"testResult": {"label": label, **key}}, "testResult": result})

    def test_counts_cases_of_googletest(self):
        self.assertEqual(test_summary.count_xml(GTEST), Count(1, 1, 2))

    def test_file_written_by_bazel_has_no_cases(self):
        self.assertIsNone(test_summary.count_xml(BAZEL))

    def test_last_closing_line_of_a_log_counts(self):
        log = "1 passed, 0 failed\nnoise\n20 passed, 0 failed, 3 skipped\n"
        self.assertEqual(test_summary.count_log(log), Count(20, 0, 3))
        self.assertIsNone(test_summary.count_log("it says 3 passed, 0 failed, 1 skipped today"))

    def test_target_without_cases_counts_its_closing_line(self):
        line = self.event("//a", "PASSED", self.file("a/test.xml", BAZEL), self.file("a/test.log", "7 passed, 0 failed"))
        self.assertEqual(test_summary.count_events([line]), {"//a": Count(7, 0, 0)})

    def test_target_without_cases_counts_once(self):
        lines = [self.event("//a", "PASSED", self.file("a/test.xml", BAZEL)), self.event("//b", "FAILED")]
        self.assertEqual(test_summary.count_events(lines), {"//a": Count(passed=1), "//b": Count(failed=1)})

    def test_crash_counts_as_failure(self):
        xml = GTEST.replace('<failure message="no"/>', "")
        lines = [
            self.event("//a", "FAILED", self.file("a/test.xml", xml)),
            self.event("//b", "TIMEOUT", self.file("b/test.xml", xml[:200])),
        ]
        self.assertEqual(test_summary.count_events(lines), {"//a": Count(2, 1, 2), "//b": Count(0, 1, 0)})

    def test_shards_add_up_and_the_last_attempt_counts(self):
        lines = [
            self.event("//a", "FAILED", shard=1, attempt=1),
            self.event("//a", "PASSED", shard=1, attempt=2),
            self.event("//a", "PASSED", shard=2),
        ]
        self.assertEqual(test_summary.count_events(lines), {"//a": Count(passed=2)})

    def test_target_that_does_not_build_fails(self):
        key = {"targetCompleted": {"label": "//a"}}
        self.assertEqual(test_summary.count_events([json.dumps({"id": key, "aborted": {}})]), {"//a": Count(failed=1)})
        self.assertEqual(test_summary.count_events([json.dumps({"id": key, "completed": {"success": True}})]), {})

    def test_checks_count_and_a_failed_bazel_never_passes(self):
        self.assertEqual(
            test_summary.count_checks(["includes:0", "a:b:1"], 0, {}),
            {"includes": Count(passed=1), "a:b": Count(failed=1)},
        )
        self.assertEqual(
            test_summary.count_checks([], 1, {"//a": Count(passed=1)}), {"bazel test (exit code 1)": Count(failed=1)}
        )
        self.assertEqual(test_summary.count_checks([], 3, {"//a": Count(failed=1)}), {})

    def test_summary_lists_failures_and_skips(self):
        counts = {"//b": Count(2, 1, 0), "//a": Count(3, 0, 2)}
        lines, total = test_summary.summarize(counts, ["//c: needs a GPU"])
        self.assertEqual(
            lines, ["FAILED //b: 2 passed, 1 failed, 0 skipped", "SKIPPED in //a: 2", "SKIPPED //c: needs a GPU"]
        )
        self.assertEqual(str(total), "5 passed, 1 failed, 3 skipped")


if __name__ == "__main__":
    unittest.main()
