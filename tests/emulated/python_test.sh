#!/usr/bin/env bash
# Debian's own Python: python3-numpy belongs to it, whatever other python3 comes first in PATH.
exec /usr/bin/python3 -B "$@"
