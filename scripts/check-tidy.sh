#!/usr/bin/env bash
# Runs clang-tidy on changes in sim/ (by rooms), calibrate/ and python/ since COMMIT, as far as this machine compiles them.
# Usage: scripts/check-tidy.sh [COMMIT]; default: where this branch left origin/main or, on origin/main, the commit before.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# shellcheck source=scripts/changed.sh
source scripts/changed.sh
base=$(change_base "$@")

# Configured only for the compile commands; nothing is built here. The files of a room are checked as one, because most of the
# time goes into headers; warnings about included .cpp files and about names that shadow another file's are disabled.
tree=build/tidy
cmake --preset debug -B "$tree" >/dev/null
compiled=$(grep -o '"file": "[^"]*"' "$tree/compile_commands.json" | sed "s|.*\"$PWD/||; s|\"\$||")

# A header is checked with the source of its name, else with the first that includes it.
declare -A files=()
while read -r file; do
  case $file in
    *.cpp) source=$file ;;
    *.h)
      source=${file%.h}.cpp
      [[ -e $source ]] || source=$({ grep -rlF --include='*.cpp' "\"$file\"" sim calibrate python || true; } | sort | head -n 1)
      ;;
    *) continue ;;
  esac
  [[ -n $source ]] || continue
  grep -qxF "$source" <<< "$compiled" || source=$(grep -lF "/$source\"" "$tree"/sim/CMakeFiles/*/Unity/*.cxx | sed -n 1p || true)
  if [[ -n $source ]]; then files[$source]=1; fi
done < <(changed_since "$base" sim calibrate python)

echo "clang-tidy: ${#files[@]} files and rooms changed since $base"
((${#files[@]})) || exit 0
printf '%s\0' "${!files[@]}" | sort -z | xargs -0 -n 1 -P "$(nproc)" \
  clang-tidy -quiet -p "$tree" -warnings-as-errors='*' -checks=-bugprone-suspicious-include --extra-arg=-Wno-shadow --extra-arg=-Wno-unknown-warning-option \
  --extra-arg=-Qunused-arguments
