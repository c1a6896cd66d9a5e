#!/usr/bin/env bash
# Compiles each source file of sim/ and tests/ by itself with every warning: a build compiles the files of a room as one, which
# hides missing includes.
# Usage: scripts/check-files.sh [all | FILE...]; default: files changed since this branch left origin/main or, on origin/main,
# since the commit before.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

files=("$@")
if ((!$#)); then
  # shellcheck source=scripts/changed.sh
  source scripts/changed.sh
  mapfile -t files < <(changed_since "$(change_base)" sim tests | grep '\.cpp$' || true)
elif [[ $1 == all ]]; then
  mapfile -t files < <(git ls-files 'sim/*.cpp' 'tests/*.cpp')
fi

# Compiled with CMake's definitions and include paths, but without generating code.
tree=build/files
cmake --preset release -B "$tree" -DSLMSIM_UNITY=OFF -DCMAKE_CXX_COMPILER_LAUNCHER= >/dev/null
compile_alone() {
  local command
  command=$(python3 - "$1" "$tree/compile_commands.json" <<'PY'
import json, os, sys
for entry in json.load(open(sys.argv[2])):
    if os.path.relpath(entry["file"]) == sys.argv[1]:
        words = entry["command"].split(" -o ")[0]
        print(f"cd {entry['directory']} && {words} -O0 -fsyntax-only {entry['file']}")
        break
PY
  )
  [[ -n $command ]] || { echo "$1: no target compiles it here"; return 0; }
  bash -c "$command" || { echo "$1 does not compile alone" >&2; return 1; }
}
export -f compile_alone
export tree
((${#files[@]})) || { echo "no source file changed"; exit 0; }
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'compile_alone "$1"' compile_alone
echo "${#files[@]} files compile alone"
