#!/usr/bin/env bash
# report_page_test.sh REPORT_PAGE_TEST.JS ARGUMENT...: runs the test, or says what it lacks and fails.
set -euo pipefail

export PLAYWRIGHT=$PWD/third_party/playwright/node_modules/playwright-core
for need in node /usr/bin/chromium "$PLAYWRIGHT/index.js"; do
  command -v "$need" >/dev/null || [[ -e $need ]] || {
    echo "report_page_test: $need is missing; ./stax test installs it (tools/install/test-packages.txt, third_party/playwright)"
    exit 1
  }
done

# Chromium puts a socket there, whose path may have about 100 characters; Bazel's folders are deeper.
TMPDIR=$(mktemp -d /tmp/stax-browser.XXXXXX)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR HOME=$TMPDIR
node "$@"
