#!/usr/bin/env bash
# Bazel 4's py_test wants a Python 2 as well; this needs Debian's python3 alone.
exec python3 -B "$@"
