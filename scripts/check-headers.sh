#!/usr/bin/env bash
# Compiles each header of sim/ by itself: a header must include everything that it uses.
# Usage: scripts/check-headers.sh [HEADER...]; default: all headers except those that their own source includes first, which
# compiling that source already checks.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

headers=("$@")
if ((!$#)); then
  while read -r header; do
    first=$(grep -m 1 '^#include' "${header%.h}.cpp" 2>/dev/null || true)
    [[ $first == "#include \"$header\"" ]] || headers+=("$header")
  done < <(find sim -name '*.h' | sort)
fi
compile_alone() {
  # Through a separate file, because a header as the main file makes the compiler warn of #pragma once.
  printf '#include "%s"\n' "$1" |
    "${CXX:-g++}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-missing-field-initializers -I . -x c++ - ||
    { echo "$1 does not compile alone" >&2; return 1; }
}
export -f compile_alone
printf '%s\0' "${headers[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'compile_alone "$1"' compile_alone
echo "${#headers[@]} headers compile alone"
