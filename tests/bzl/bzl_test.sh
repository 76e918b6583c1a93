#!/usr/bin/env bash
# The rules of tools/stax.bzl: bzl_test.sh STAX_CAT CPU_PROGRAM CUDA_PROGRAM TUNE_SCRIPT
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

echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
