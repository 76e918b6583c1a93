#!/usr/bin/env bash
# Does what README's "From another Bazel workspace" says, with the files that it shows, on the CPU:
#
#     tests/bzl/other_workspace.sh [BAZEL_FLAG...]    by hand; Stax is compiled once more, as a part of that workspace
#     tests/bzl/other_workspace.sh --nobuild          the test: Bazel analyses everything, runs protoc, and compiles nothing
#
# --disk_cache=~/.cache/stax-bazel makes the second time fast.
set -euo pipefail

readme=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../README.md")
folder=$(mktemp -d "${TEST_TMPDIR:-/tmp}/other.XXXXXX")

bazel() {
  command bazel --output_base="$folder/base" "$@" </dev/null
}

finish() {
  bazel shutdown || true
  chmod -R u+w "$folder"
  rm -rf "$folder"
}
trap finish EXIT

# Each code block of that section which begins with "# NAME" is the file NAME.
mkdir "$folder/other"
awk -v folder="$folder/other" '
  /^## / { here = ($0 == "## From another Bazel workspace") }
  !here { next }
  /^```/ { file = ""; inside = !inside; first = inside; next }
  first { first = 0; if (/^# [^ ]+$/) file = folder "/" $2; next }
  file { print > file }' "$readme"
ln -s "$(dirname "$readme")" "$folder/stax"
cd "$folder/other"
sed -i 's/cuda:sm_90a/cpu:x86-64-v3/' BUILD
# All three were found.
wc -l WORKSPACE BUILD .bazelrc

if [[ $* == --nobuild ]]; then
  bazel build --nobuild --noshow_progress //... @stax//tools:stax-profile
  # protoc alone runs: its paths are others where Stax is no workspace of its own.
  bazel build --noshow_progress @stax//compiler/service:compile_service_grpc_generate \
    @stax//third_party/onnx:onnx_cc_proto_generate
  exit
fi

cp ../stax/tests/perf/graphs/softmax_f32_256x1000.textproto softmax.textproto
bazel build "$@" :softmax
bazel run "$@" :softmax_tuned -- --device=cpu
bazel run "$@" -c opt @stax//tools:stax-profile -- "$PWD/softmax_tuned.stax" -o "$PWD/softmax.report"
# Ten times slower would be more than noise.
bazel test "$@" --test_output=all :softmax_perf_test --test_arg=--threshold=1000
