#!/usr/bin/env bash
# stax-profile --baseline, with reports of this machine that were changed by more than any noise:
# regression_test.sh STAX_COMPILE STAX_PROFILE STAX_CAT CHANGE_REPORT MAKE_DEVICE GRAPH_OF_TWO_KERNELS
set -uo pipefail

profile=$PWD/$2
cat=$PWD/$3
change=$PWD/$4
passed=0
failed=0

# verdict NAME COMMAND...
verdict() {
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED  $1"
    sed 's/^/    /' "$TEST_TMPDIR/output"
  fi
}

# compare [OPTION...]: against base.report; its exit code is in $status, what it says in $TEST_TMPDIR/output.
compare() {
  rm -f o.*
  "$profile" p.stax --device=cpu --quiet --baseline=base.report --html=o.html --junit=o.xml \
    -o o.report "$@" >"$TEST_TMPDIR/output" 2>&1
  status=$?
}

# refused NAME PATTERN: exit code 2, the message, no file.
refused() {
  compare
  verdict "$1: exit code" test $status = 2
  verdict "$1: message" grep -qE "^stax-profile: base.report $2\$" "$TEST_TMPDIR/output"
  verdict "$1: no file" test -z "$(ls | grep '^o\.')"
}

# junit ELEMENT: how many there are; an XML parser reads the file.
junit() {
  python3 -c 'import sys, xml.etree.ElementTree as e; print(len(list(e.parse("o.xml").iter(sys.argv[1]))))' "$1"
}

"$5" "$TEST_TMPDIR/cpu.device" || exit 1
"$1" "$6" --target=cpu -o "$TEST_TMPDIR/p.stax" || exit 1
cd "$TEST_TMPDIR" || exit 1
"$profile" p.stax --device=cpu --spec=cpu.device --quiet -o now.report --junit=o.xml >output
verdict "without a baseline" test $? = 0
verdict "JUnit without a baseline" test "$(junit testcase) $(junit failure) $(junit skipped)" = "2 0 0"

"$change" now.report --factor=1000 -o base.report
compare
verdict "faster: exit code" test $status = 0
verdict "faster: table" test "$(grep -cE '^(red|per)_.* faster$' output)" = 2
verdict "faster: JUnit" test "$(junit testcase) $(junit failure)" = "2 0"
verdict "faster: page" test "$(grep -c '<td class="baseline faster">' o.html)" = 2

"$change" now.report --factor=0.001 -o base.report
compare
verdict "slower: exit code" test $status = 1
verdict "slower: table" test "$(grep -cE '^(red|per)_.* slower$' output)" = 2
verdict "slower: message" grep -qx "stax-profile: slower than base.report: 2 of 2 kernels" output
verdict "slower: JUnit" test "$(junit testcase) $(junit failure)" = "2 2"
verdict "slower: page" test "$(grep -c '<td class="baseline slower">' o.html)" = 2
verdict "slower: report" test "$("$cat" o.report --json | grep -c '"verdict": "SLOWER"')" = 2

"$change" now.report --device="NVIDIA H200" -o base.report
refused "another device" "was measured on NVIDIA H200 \(cpu, [0-9]+ cores\), and this device is .* \(cpu, [0-9]+ cores\): \
times of different devices cannot be compared"
"$change" now.report --twice -o base.report
refused "every kernel twice" "has two kernels named red_.*"
"$change" now.report --rename -o base.report
refused "other kernels" "is of program 'ex6_2_sumsq_f32_64x16384' and has no kernel of 'ex6_2_sumsq_f32_64x16384'"

echo "$passed passed, $failed failed, 0 skipped"
[[ $failed == 0 ]]
