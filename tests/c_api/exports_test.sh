#!/usr/bin/env bash
# Only the four functions leave libstax.so, so that it lives beside any other LLVM or protobuf: exports_test.sh LIBSTAX
set -euo pipefail

names=$(nm -D --defined-only "$1" | awk '{print $2, $3}' | sort)
want="T stax_last_error
T stax_program_free
T stax_program_load
T stax_program_run"
if [[ $names != "$want" ]]; then
  echo "exported are"
  head -20 <<<"$names"
  echo "expected"
  echo "$want"
  exit 1
fi
