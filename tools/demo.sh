#!/usr/bin/env bash
# The main job on a real model: one of ONNX's own backend tests is compiled, explained, tuned, profiled, and its output
# compared with the one ONNX expects. Runs on the GPU when there is one, else on the CPU: demo.sh [FOLDER]
# FOLDER holds model.onnx and test_data_set_0. Results go to ./stax-demo.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -d $here/bin ]]; then # in a bundle
  bin=$here/bin
  case=$here/model
else
  bin=$here/../bazel-bin/tools
  # LayerNormalization as ONNX defines it: a function of some twenty operators.
  case=/usr/share/libonnx-testdata/data/node/test_layer_normalization_4d_axis3_expanded
fi
case=${1:-$case}
if [[ ! -f $case/model.onnx || ! -d $case/test_data_set_0 ]]; then
  echo "demo: $case has no model.onnx or no test_data_set_0: name a folder of an ONNX backend test" >&2
  exit 2
fi
out=$PWD/stax-demo
mkdir -p "$out"

step() {
  printf '\n== %s\n' "$*"
  "$@"
}

device=cpu
target=cpu
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then
  device=cuda
  target=cuda:sm_90a
fi

step "$bin/stax-compile" "$case/model.onnx" --target="$target" --explain -o "$out/model.stax"
step "$bin/stax-tune" "$out/model.stax" --device="$device" --strategy=candidates --store="$out/tuning.db" \
  -o "$out/tuned.stax"
step "$bin/stax-profile" "$out/tuned.stax" --device="$device" --html="$out/report.html" -o "$out/model.report"

# NAME=FILE for every input (output) of the program, in order: ONNX names its files by position.
files() {
  "$bin/stax-cat" "$out/tuned.stax" --text | awk -F'"' -v kind="$1" -v files="$case/test_data_set_0/${1}_" '
    /^[a-z]/ { part = $1 }
    $0 == "buffers {" { buffers++ }
    $1 == "  name: " && part == "buffers {" { name[buffers - 1] = $2 }
    $1 == "  name: " && part == "outputs {" && kind == "output" { print $2 "=" files n++ ".pb" }
    /^inputs: / && kind == "input" { print name[substr($0, 9)] "=" files n++ ".pb" }'
}
mapfile -t inputs < <(files input)
mapfile -t outputs < <(files output)
step "$bin/stax-run" "$out/tuned.stax" --device="$device" --input "${inputs[@]}" --expect "${outputs[@]}"
printf '\nThe report: %s\n' "$out/report.html"
