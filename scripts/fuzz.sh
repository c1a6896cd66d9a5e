#!/usr/bin/env bash
# Fuzzes one parser, or all, one per core at a time: minutes in continuous integration, hours by hand.
# Usage: scripts/fuzz.sh TARGET|all|list|tally [HOURS | -runs=N]; default one hour each. New inputs are kept for the next run;
# tally prints the executions of all runs of this tree.
# Needs Debian's clang. Builds into build-sanitize; findings are left there as crash-*, and the exit status is then 1. After a
# fix, the finding belongs into tests/fuzz/corpus/TARGET, where every build runs it (ctest -R '^fuzz\.').
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
tree=build-sanitize
mapfile -t targets < <(cd tests/fuzz/corpus && printf '%s\n' *)

if (($# == 0)) || [[ $1 == -h || $1 == --help ]]; then
  sed -n 's/^# \?//; 2,6p' "$0"
  exit 0
fi
if [[ $1 == list ]]; then
  printf '%s\n' "${targets[@]}"
  exit 0
fi
if [[ $1 == tally ]]; then
  awk '{ runs[$1] += $2; findings[$1] += $3; all += $2; found += $3 }
    END { for (t in runs) printf "%-9s %11d executions, %d runs with a finding\n", t, runs[t], findings[t] | "sort"; close("sort")
      printf "%d executions, %d runs with a finding\n", all, found }' "$tree/executions"
  exit 0
fi
[[ $1 == all ]] || targets=("$1")
length=${2:-1}
if [[ $length == -runs=* ]]; then bound=$length; else bound=-max_total_time=$(awk "BEGIN { printf \"%d\", $length * 3600 }"); fi

for target in "${targets[@]}"; do
  [[ -d tests/fuzz/corpus/$target ]] || { echo "error: there is no target \"$target\"; scripts/fuzz.sh list names them" >&2; exit 2; }
done
command -v clang++ >/dev/null || { echo "error: clang++ is not installed (apt-get install clang)" >&2; exit 2; }
! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
[[ -e $tree/build.ninja ]] || cmake --preset sanitize
cmake --build "$tree" --parallel "$(nproc)" --target fuzz

# New findings go into the first folder; an input that takes a minute is a hang.
fuzz_one() {
  local target=$1 found=0 units
  mkdir -p "$tree/corpus/$target"
  SLMSIM_FUZZ_TARGET=$target nice -n 15 "$tree/fuzz" "$bound" -max_len=8192 -timeout=60 -rss_limit_mb=2560 -print_final_stats=1 \
    -dict=tests/fuzz/dictionary/yaml.dict -artifact_prefix="$tree/$target-" \
    "$tree/corpus/$target" "tests/fuzz/corpus/$target" > "$tree/$target.log" 2>&1 || found=1
  units=$(awk '$1 == "stat::number_of_executed_units:" { n = $2 } END { print n + 0 }' "$tree/$target.log")
  echo "$target $units $found" >> "$tree/executions"
  echo "== fuzz: $target $bound: $units executions"
  grep -E 'SUMMARY|Test unit written' "$tree/$target.log" || true
  return "$found"
}
export -f fuzz_one
export tree bound
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$1"' fuzz_one || exit 1
