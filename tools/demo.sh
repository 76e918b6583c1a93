#!/usr/bin/env bash
# The main job on a real model: one of ONNX's own backend tests is compiled, explained, tuned, profiled, and its output
# compared with the one ONNX expects. Runs on the GPU when there is one, else on the CPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=/usr/share/libonnx-testdata/data
# LayerNormalization as ONNX defines it: a function of some twenty operators.
case=${1:-$tests/node/test_layer_normalization_4d_axis3_expanded}
bin=bazel-bin/tools
out=$(pwd)/stax-demo
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
  "$bin/stax-cat" "$out/tuned.stax" --json | python3 -c '
import json, sys
program = json.load(sys.stdin)
names = {"input": [program["buffers"][b]["name"] for b in program.get("inputs", [])],
         "output": [o["name"] for o in program["outputs"]]}[sys.argv[1]]
for i, name in enumerate(names):
    print(f"{name}={sys.argv[2]}/test_data_set_0/{sys.argv[1]}_{i}.pb")' "$1" "$case"
}
mapfile -t inputs < <(files input)
mapfile -t outputs < <(files output)
step "$bin/stax-run" "$out/tuned.stax" --device="$device" --input "${inputs[@]}" --expect "${outputs[@]}"
printf '\nThe report: %s\n' "$out/report.html"
