#!/usr/bin/env bash
# Runs ONNX backend-test folders on the cpu device: run_cases.sh STAX_RUN LEAST_PASSES FOLDER...
# Fails when a case fails, or when fewer than LEAST_PASSES pass. The last line counts the cases.
set -uo pipefail

stax_run=$1
least=$2
shift 2
log=$TEST_TMPDIR/log
"$stax_run" --device=cpu --onnx-test "$@" | tee "$log" | grep -v '^passed'
status=${PIPESTATUS[0]}
passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$log")
if [[ ${passed:-0} -lt $least ]]; then
  echo "only ${passed:-0} cases passed; at least $least should" >&2
  exit 1
fi
exit "$status"
