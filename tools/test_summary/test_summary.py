#!/usr/bin/env python3
"""Counts the test cases of one `bazel test` from its build events.

    bazel test --build_event_json_file=EVENTS ...
    test_summary.py EVENTS --bazel_status=$? [--skipped=FILE] [--check=NAME:STATUS ...]

FILE lists targets that were left out, as 'LABEL: REASON'; each check that ran beside Bazel is one case more. A target counts as its cases: those in the test.xml that
GoogleTest writes, else those that the program's closing line 'N passed, N failed, N skipped' counts, else one. Counted are
the results of this run alone, never files that an earlier run left in bazel-testlogs.

Prints what failed and what was skipped, then 'N passed, N failed, N skipped'. Exit code 1 if something failed or nothing
ran.
"""

import argparse
import collections
import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree

CLOSING_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


class Count(collections.namedtuple("Count", "passed failed skipped", defaults=(0, 0, 0))):
    """Numbers of test cases."""

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(self, other)))

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_xml(text):
    """The cases of GoogleTest's test.xml, or None where Bazel wrote the file for a program without cases."""
    count = Count()
    cases = list(xml.etree.ElementTree.fromstring(text).iter("testcase"))
    for case in cases:
        # Bazel's own file has one case, named after the target, without a class.
        if "classname" not in case.attrib:
            return None
        if case.find("failure") is not None or case.find("error") is not None:
            count += Count(failed=1)
        elif case.get("result") in ("skipped", "suppressed"):
            count += Count(skipped=1)
        else:
            count += Count(passed=1)
    return count if cases else None


def count_log(text):
    """What the last closing line of a log says, or None without one."""
    lines = CLOSING_LINE.findall(text)
    return Count(*(int(number or 0) for number in lines[-1])) if lines else None


def _read(files, name):
    for file in files:
        if file["name"] == name:
            path = urllib.parse.unquote(urllib.parse.urlparse(file["uri"]).path)
            with open(path, encoding="utf-8", errors="replace") as stream:
                return stream.read()
    return ""


def count_result(result):
    """The cases of one testResult event."""
    files = result.get("testActionOutput", [])
    count = None
    try:
        count = count_xml(_read(files, "test.xml"))
    except xml.etree.ElementTree.ParseError:
        pass  # A program that dies leaves no file, or half of one.
    if count is None:
        count = count_log(_read(files, "test.log"))
    passed = result["status"] in ("PASSED", "FLAKY")
    if count is None:
        return Count(passed=1) if passed else Count(failed=1)
    if not passed and not count.failed:
        count += Count(failed=1)  # It crashed or ran out of time between two cases.
    return count


def count_events(lines):
    """The counts by target, of the lines of a build event file."""
    results = {}  # by target, run and shard: of several attempts the last one counts
    failed = {}
    for line in lines:
        event = json.loads(line)
        event_id = event["id"]
        if "testResult" in event_id:
            key = event_id["testResult"]
            results[key["label"], key.get("run", 0), key.get("shard", 0)] = count_result(event["testResult"])
        elif "targetCompleted" in event_id and not event.get("completed", {}).get("success"):
            failed[event_id["targetCompleted"]["label"]] = Count(failed=1)
    counts = collections.defaultdict(Count)
    for (label, _, _), count in results.items():
        counts[label] += count
    return {**failed, **counts}


def summarize(counts, skipped):
    """The closing lines of a run: counts by target, and lines 'LABEL: REASON' of targets left out."""
    lines = [f"FAILED {label}: {count}" for label, count in sorted(counts.items()) if count.failed]
    lines += [f"SKIPPED in {label}: {count.skipped}" for label, count in sorted(counts.items()) if count.skipped]
    lines += [f"SKIPPED {line}" for line in skipped]
    total = sum(counts.values(), Count(skipped=len(skipped)))
    return lines, total


def count_checks(checks, bazel_status, counts):
    """Cases that are no targets: checks 'NAME:STATUS', and Bazel itself where it failed and no target says so."""
    by_name = {}
    for check in checks:
        name, _, status = check.rpartition(":")
        by_name[name] = Count(passed=1) if status == "0" else Count(failed=1)
    if bazel_status and not any(count.failed for count in counts.values()):
        by_name[f"bazel test (exit code {bazel_status})"] = Count(failed=1)
    return by_name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events")
    parser.add_argument("--bazel_status", type=int, default=0)
    parser.add_argument("--check", action="append", default=[], metavar="NAME:STATUS")
    parser.add_argument("--skipped", metavar="FILE")
    arguments = parser.parse_args()
    counts = {}
    if os.path.exists(arguments.events):  # Bazel may fail before it writes any.
        with open(arguments.events, encoding="utf-8") as events:
            counts = count_events(events)
    counts.update(count_checks(arguments.check, arguments.bazel_status, counts))
    skipped = []
    if arguments.skipped:
        with open(arguments.skipped, encoding="utf-8") as stream:
            skipped = stream.read().splitlines()
    lines, total = summarize(counts, skipped)
    for line in lines:
        print(line)
    print(total)
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main())
