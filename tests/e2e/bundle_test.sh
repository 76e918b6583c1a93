#!/usr/bin/env bash
# The bundle: made of this build, moved, run. bundle_test.sh C_API_TEST...
set -uo pipefail

work=$TEST_TMPDIR/work
passed=0
failed=0
mkdir -p "$work"

# verdict NAME COMMAND...
verdict() {
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $1"
  fi
}

# refused BUILT BUNDLE MESSAGE: exit code 2 and this message.
refused() {
  local status=0
  tools/bundle.sh "$1" "$2" 2>"$work/error" || status=$?
  [[ $status == 2 && $(<"$work/error") == "$3" ]] || { cat "$work/error"; return 1; }
}

# only NAME...: the folder of the bundles holds these and nothing else.
only() {
  [[ $(ls -A "$work/made" | sort | xargs) == "$*" ]] || { ls -A "$work/made"; return 1; }
}

# Everything that libstax.so loads lies beside it, but for glibc.
libraries_inside() {
  ldd "$1/lib/libstax.so" >"$work/libraries" || return
  ! sed -n 's/^\t\([^ ]*\) => \(.*\) (0x[0-9a-f]*)$/\1 \2/p; s/^\t\(.*not found\)$/\1/p' "$work/libraries" |
    grep -vF " $1/lib/" | grep -vE '^(ld-linux-x86-64|libc|libdl|libm|libpthread|librt)\.so\.[0-9] /'
}

# demo.sh with nothing in its environment, from a folder of its own.
demo() {
  mkdir -p "$work/user"
  (cd "$work/user" && env -i PATH=/usr/bin:/bin "$1/demo.sh" "${@:2}") >"$work/demo" 2>&1 || { cat "$work/demo"; return 1; }
  [[ $(tail -1 "$work/demo") == "The report: $work/user/stax-demo/report.html" && -s $work/user/stax-demo/report.html ]]
}

api_test() {
  STAX_TEST_LIBRARY=$1/lib/libstax.so "$2" >"$work/api" 2>&1 || { cat "$work/api"; return 1; }
}

mkdir "$work/made"
verdict "a build that is not there" refused nowhere "$work/made/b" \
  "bundle: there is no nowhere/tools/stax-cat: build it first (./stax bundle does)"
verdict "nothing is left of a failure" only

verdict "the bundle is made" tools/bundle.sh . "$work/made/b"
verdict "nothing beside it" only b
touch "$work/made/b/stale"
verdict "an earlier bundle is replaced" tools/bundle.sh . "$work/made/b/"
verdict "whole" test ! -e "$work/made/b/stale"
verdict "nothing beside the new one" only b

mkdir "$work/made/mine"
echo precious >"$work/made/mine/file"
verdict "a folder of something else" refused . "$work/made/mine" \
  "bundle: $work/made/mine is there and is no earlier bundle (it has no stax-bundle.txt): name a folder that is not there yet"
verdict "is left alone" test "$(<"$work/made/mine/file")" = precious
verdict "a file" refused . "$work/made/mine/file" \
  "bundle: $work/made/mine/file is there and is no earlier bundle (it has no stax-bundle.txt): name a folder that is not there yet"
verdict "nothing beside them" only b mine

moved="$work/another place"
mv "$work/made/b" "$moved"
verdict "libraries" libraries_inside "$moved"
verdict "the demo" demo "$moved"
verdict "its outputs were checked" test "$(grep -c ' is as expected ' "$work/demo")" = 3
demo "$moved" "$work/made/mine" >"$work/error"
verdict "a folder without a model" grep -qx "demo: $work/made/mine has no model.onnx or no test_data_set_0: name a folder of an ONNX backend test" "$work/error"
for test in "$@"; do
  verdict "libstax.so: $test" api_test "$moved" "$test"
done

echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
