#!/usr/bin/env bash
# Puts what `slmsim validate fabric` prints between the facts markers of README.md.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
facts=$(mktemp) && trap 'rm -f "$facts" README.md.tmp' EXIT
build/slmsim validate fabric --output "$facts"
awk -v facts="$facts" '
  /^<!-- facts -->$/ { print; while ((getline line < facts) > 0) print line; skip = 1 }
  /^<!-- \/facts -->$/ { skip = 0 }
  !skip { print }
  ' README.md > README.md.tmp
mv README.md.tmp README.md
