#!/usr/bin/env bash
# Compiles each header of sim/ by itself: whoever includes one needs to know nothing of what it needs.
# Usage: scripts/check-headers.sh [HEADER...]; without a word, all headers.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

(($#)) || mapfile -t headers < <(find sim -name '*.h' | sort)
(($#)) && headers=("$@")
compile_alone() {
  # Through a file of its own, since a header as the main file makes the compiler warn of #pragma once.
  printf '#include "%s"\n' "$1" |
    "${CXX:-g++}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-missing-field-initializers -I . -x c++ - ||
    { echo "$1 does not compile alone" >&2; return 1; }
}
export -f compile_alone
printf '%s\0' "${headers[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'compile_alone "$1"' compile_alone
echo "${#headers[@]} headers compile alone"
