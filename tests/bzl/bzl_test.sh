#!/usr/bin/env bash
# The rules of tools/stax.bzl:
# bzl_test.sh STAX_CAT CPU_PROGRAM CUDA_PROGRAM TUNE_SCRIPT PERF_TEST STAX_PROFILE CHANGE_REPORT MAKE_DEVICE
set -uo pipefail

cat=$PWD/$1
passed=0
failed=0

# verdict NAME COMMAND...
verdict() {
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $1"
  fi
}

# says FILE PATTERN: stax-cat FILE has a line that matches.
says() {
  "$cat" "$1" --text >"$TEST_TMPDIR/text" && grep -qE "$2" "$TEST_TMPDIR/text"
}

verdict "the program has the model's name" says "$2" '^name: "ex1_1_f32_64x128"$'
verdict "the default target" says "$2" '^ *arch: "x86-64-v3"$'
verdict "the target that was given" says "$3" '^ *arch: "sm_90a"$'

# As bazel run does: started among the runfiles, told the user's folder.
mkdir "$TEST_TMPDIR/user"
export BUILD_WORKING_DIRECTORY=$TEST_TMPDIR/user
verdict "tuning" "$4" --device=cpu --trials=2 --quiet
verdict "the tuned program lies in the user's folder" says "$TEST_TMPDIR/user/ex1_1_tuned.stax" '^ *winner \{$'
verdict "options go to stax-tune" "$4" --device=cpu --trials=1 --quiet -o other.stax
verdict "a path is relative to the user's folder" test -s "$TEST_TMPDIR/user/other.stax"
"$4" --device=bogus 2>"$TEST_TMPDIR/error"
verdict "the tuner's exit code" test $? = 2

# The perf test among its runfiles, as Bazel starts it, with a baseline of this machine: its own times, times a factor that
# no machine's noise comes near.
cp -rs "$PWD" "$TEST_TMPDIR/runfiles"
baseline=$TEST_TMPDIR/runfiles/tests/bzl/ex1_1.report
spec=$TEST_TMPDIR/cpu.device
"$8" "$spec"
verdict "a report of this machine" "$6" "$2" --device=cpu --spec="$spec" --quiet -o "$TEST_TMPDIR/now.report"

# perf_test FACTOR WORD...: its exit code is in $status, its output in $TEST_TMPDIR/output.
perf_test() {
  rm -f "$baseline"
  "$change" "$TEST_TMPDIR/now.report" --factor="$1" -o "$baseline"
  run_perf_test "${@:2}"
}
run_perf_test() {
  (cd "$TEST_TMPDIR/runfiles" && XML_OUTPUT_FILE=$TEST_TMPDIR/test.xml "$perf" "$@") \
    >"$TEST_TMPDIR/output" 2>&1
  status=$?
}
# junit ELEMENT: how many there are; an XML parser reads the file.
junit() {
  python3 -c 'import sys, xml.etree.ElementTree as e; print(len(list(e.parse(sys.argv[1]).iter(sys.argv[2]))))' \
    "$TEST_TMPDIR/test.xml" "$1"
}
perf=$PWD/$5
change=$PWD/$7
kernel=per_fused_add_relu_mul_sum_0

perf_test 1000
verdict "a far slower baseline: passes" test $status = 0
verdict "the table says faster" grep -qE "^$kernel .* faster" "$TEST_TMPDIR/output"
verdict "a case a kernel" test "$(junit testcase) $(junit failure)" = "1 0"
perf_test 0.001
verdict "a far faster baseline: fails" test $status = 1
verdict "the table says slower" grep -qE "^$kernel .* slower" "$TEST_TMPDIR/output"
verdict "the reason is named" grep -q "slower than tests/bzl/ex1_1.report: 1 of 1 kernels" "$TEST_TMPDIR/output"
verdict "the case fails" test "$(junit testcase) $(junit failure)" = "1 1"
perf_test 0.001 --threshold=1000000
verdict "options go to stax-profile" test $status = 0
rm "$baseline"
touch "$baseline"
run_perf_test
verdict "a baseline that is no report" test $status = 2
verdict "which is named" grep -q "tests/bzl/ex1_1.report is no Stax artifact" "$TEST_TMPDIR/output"

echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
