#!/usr/bin/env bash
# Puts the built tools and libstax.so into one folder that runs from anywhere on x86-64 Linux: bundle.sh BUILT BUNDLE
# BUILT is bazel-bin after a build with --config=portable. BUNDLE appears complete or not at all; an earlier bundle is
# replaced, anything else is left alone.
set -euo pipefail

tools=$(dirname "${BASH_SOURCE[0]}")
built=$1
bundle=${2%/}
about=stax-bundle.txt
model=/usr/share/libonnx-testdata/data/node/test_layer_normalization_4d_axis3_expanded

fail() {
  printf 'bundle: %s\n' "$*" >&2
  exit 2
}

if [[ (-e $bundle || -L $bundle) && ! -f $bundle/$about ]]; then
  fail "$bundle is there and is no earlier bundle (it has no $about): name a folder that is not there yet"
fi
programs=("$built"/tools/stax-{cat,compile,emu,profile,run,tune})
for file in "${programs[@]}" "$built/runtime/libstax.so"; do
  [[ -f $file ]] || fail "there is no $file: build it first (./stax bundle does)"
done

# On the same file system, so that a rename moves it.
scratch=$(mktemp -d "$(dirname "$bundle")/.stax-bundle.XXXXXX") || fail "cannot write beside $bundle"
finish() {
  # Interrupted between the two renames.
  [[ ! -e $scratch/old || -e $bundle ]] || mv -T "$scratch/old" "$bundle"
  rm -rf "$scratch"
}
trap finish EXIT
new=$scratch/new

mkdir "$new" "$new"/{bin,lib,include,model}
install -m 755 "${programs[@]}" "$new/bin"
install -m 755 "$tools/demo.sh" "$new"
cp -RL "$model"/. "$new/model"
install -m 644 "$tools/../runtime/c_api.h" "$new/include"
install -m 644 "$built/runtime/libstax.so" "$new/lib"
# All that the loader takes for it, but for glibc itself: that has to be the machine's own.
ldd "$new/lib/libstax.so" >"$scratch/libraries"
while read -r name arrow path _; do
  [[ $arrow == '=>' ]] || continue
  [[ $path == /* ]] || fail "libstax.so needs $name, which is not found here"
  case $name in
    ld-linux-x86-64.so.2 | libc.so.6 | libdl.so.2 | libm.so.6 | libpthread.so.0 | librt.so.1) ;;
    *) install -m 644 "$path" "$new/lib/$name" ;;
  esac
done <"$scratch/libraries"

glibc=$(readelf -V "$new"/{bin,lib}/* | grep -o 'GLIBC_2[.0-9]*' | sort -Vu | tail -1)
cat >"$new/$about" <<EOF
Stax for x86-64 Linux with glibc ${glibc#GLIBC_} or newer. The folder may lie anywhere.

bin/      the tools
lib/      libstax.so and the libraries that it needs beside it
include/  its interface
demo.sh   compiles, tunes, profiles and checks model/, or another folder given to it
EOF

[[ ! -e $bundle ]] || mv -T "$bundle" "$scratch/old"
mv -T "$new" "$bundle"
mib() {
  echo "$((($1 + 1048575) / 1048576)) MiB"
}
printf '%s: %s, %s as .tar.gz; needs glibc %s\n' "$bundle" "$(mib "$(du -sb "$bundle" | cut -f1)")" \
  "$(mib "$(tar -C "$bundle" -cz . | wc -c)")" "${glibc#GLIBC_}"
