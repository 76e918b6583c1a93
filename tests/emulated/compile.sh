#!/usr/bin/env bash
# Compiles cuda/*.cu to PTX, each without optimisation (NAME.O0.ptx) and with it (NAME.O3.ptx).
#
#     tests/emulated/compile.sh [FOLDER [NAME...]]      FOLDER: where the PTX goes, by default ptx beside this script
#
# Needs nvcc in $CUDA_HOME/bin or /usr/local/cuda/bin. The same nvcc writes the same bytes on every machine. A source is
# compiled for sm_80 unless its first line says '// target: ARCH'.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$here/ptx}
nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# -O0 alone is for host code. -Xcicc -O0 stops the optimiser of device code, without the DWARF that -G brings.
declare -A flags=([O0]="-Xcicc -O0" [O3]="-O3")

compile() {
  local name=$1 level=$2 arch
  arch=$(sed -n '1s|^// target: ||p' "$here/cuda/$name.cu")
  # shellcheck disable=SC2086 # flags are words
  (cd "$here/cuda" && "$nvcc" -ptx -std=c++17 -arch="${arch:-sm_80}" ${flags[$level]} -lineinfo --Werror=all-warnings \
    "$name.cu" -o "$scratch/$name.$level.ptx")
  # Files are known by their names, not by where a machine keeps them. Names of internal functions have eight hexadecimal
  # digits that depend on the folder too, also where .debug_str spells such names byte by byte.
  sed -E -e 's|^([[:space:]]*\.file[[:space:]]+[0-9]+[[:space:]]+")[^"]*/|\1|' \
    -e 's/(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}_/\100000000_/g' \
    -e 's/(95,73,78,84,69,82,78,65,76,95,)([0-9]+,){8}/\148,48,48,48,48,48,48,48,/g' \
    "$scratch/$name.$level.ptx" >"$out/$name.$level.ptx"
}

names=("${@:2}")
if ((${#names[@]} == 0)); then
  for source in "$here"/cuda/*.cu; do
    name=${source##*/}
    names+=("${name%.cu}")
  done
fi
# As many at a time as there are processors; `wait -n` ends the script where one has failed.
running=0
for name in "${names[@]}"; do
  for level in O0 O3; do
    if ((running == $(nproc))); then
      wait -n
      running=$((running - 1))
    fi
    compile "$name" "$level" &
    running=$((running + 1))
  done
done
while ((running > 0)); do
  wait -n
  running=$((running - 1))
done
