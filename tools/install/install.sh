#!/usr/bin/env bash
# Installs the Debian packages of the given lists that are missing; asks no mirror where nothing is.
#
#     tools/install/install.sh LIST...      LIST: one package a line, '#' starts a comment
#
# Exit code 3 if a package cannot be had.
set -euo pipefail

fail() {
  printf 'stax: %s\n' "$@" >&2
  exit 3
}

installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing=()
while read -r package; do
  # Node.js from elsewhere brings its own npm, and conflicts with Debian's.
  [[ $package == npm ]] && command -v npm >/dev/null && continue
  installed "$package" || missing+=("$package")
done < <(cat "$@" | sed -e 's/#.*//' -e '/^[[:space:]]*$/d')
((${#missing[@]})) || exit 0

command -v apt-get >/dev/null || fail \
  "this is no Debian system; Stax builds on Debian 12 with its security suite." "Packages wanted: ${missing[*]}"

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || fail "packages are missing; as root, run: apt-get install ${missing[*]}"
  as_root=(sudo)
fi

echo "stax: installing ${#missing[@]} Debian packages: ${missing[*]}" >&2
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A list of one mirror that can't be read is no reason to stop: the packages may come from another.
"${apt[@]}" update >"$log" 2>&1 </dev/null || cat "$log" >&2
if ! "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  fail "cannot install packages (above is why)." \
    "LLVM 22 and clang 22 are in Debian 12's security suite: apt's sources must list bookworm-security main beside bookworm main."
fi
