#!/usr/bin/env bash
# Runs ONNX backend-test folders: run_cases.sh STAX_RUN LEAST_PASSES DEVICE TARGET EVERY FOLDER...
# TARGET: what to compile for; "-": the device's own. EVERY: 1 for all cases, N for each N-th of them.
# Fails when a case fails, or when fewer than LEAST_PASSES pass. The last line counts the cases.
set -uo pipefail

stax_run=$1
least=$2
device=$3
target=$4
every=$5
shift 5
options=("--device=$device")
[[ $target == - ]] || options+=("--target=$target")
mapfile -t cases < <(find -L "$@" -name model.onnx -printf '%h\n' | LC_ALL=C sort | awk "NR % $every == 0")
log=$TEST_TMPDIR/log
"$stax_run" "${options[@]}" --onnx-test "${cases[@]}" | tee "$log" | grep -v '^passed'
status=${PIPESTATUS[0]}
passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$log")
if [[ ${passed:-0} -lt $least ]]; then
  echo "only ${passed:-0} cases passed; at least $least should" >&2
  exit 1
fi
exit "$status"
