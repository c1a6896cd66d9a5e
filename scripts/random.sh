#!/usr/bin/env bash
# Checks random clusters against the laws of tests/random: four hundred in continuous integration, any number here.
# Usage: scripts/random.sh [COUNT [FIRST_SEED [OPTION...]]]; options go to random_clusters, whose --help lists them.
#        scripts/random.sh campaign MINUTES [OPTION...]; resumes at the seed where the last one with these options ended.
#        scripts/random.sh tally; prints the totals of all campaigns of this tree.
# One process at low priority. A cluster that breaks a law leaves its scenario in build/random/, and the exit status is then 1.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n 's/^# \?//; 2,6p' "$0"
  exit 0
fi
slice=100  # seeds that a killed campaign loses
place=build/random

# Sums the last lines of random_clusters over any number of runs.
tally() {
  cat "$place"/campaign*.log 2>/dev/null | awk '
    $1 == "law" { n[$2] += $3; broke[$2] += $5; time[$2] += $8; if ($15 > most[$2]) { most[$2] = $15; at[$2] = $18 } }
    $2 == "scenarios" && $3 == "from" { all += $1; holds += $6; breaks += $8; refused += $12 }
    END {
      for (law in n) printf "%-13s %7d scenarios, %d break it, %.3f s of a processor each, at most %.2f s (seed %s\n", law, n[law],
        broke[law], time[law] / n[law], most[law], at[law] | "sort"
      close("sort")
      printf "%d scenarios: %d hold, %d break a law, %d are refused\n", all, holds, breaks, refused
    }'
}

if [[ ${1:-} == tally ]]; then
  tally
  exit 0
fi
[[ -x build/random_clusters ]] || cmake --build build --target random_clusters
mkdir -p "$place"
if [[ ${1:-} == campaign ]]; then
  minutes=${2:-}
  [[ $minutes =~ ^[0-9]+$ ]] || { echo "error: scripts/random.sh campaign MINUTES" >&2; exit 2; }
  shift 2
  log=$place/campaign$(printf '%s' "$*" | tr -c 'a-z0-9-' '_').log
  touch "$log"
  status=0 end=$((SECONDS + 60 * minutes))
  while ((SECONDS < end)); do
    next=$(awk '$2 == "scenarios" && $3 == "from" { next_seed = $5 + $1 } END { print next_seed ? next_seed : 1 }' "$log")
    nice -n 19 build/random_clusters --count "$slice" --seed "$next" --out "$place" "$@" >> "$log" || status=1
  done
  tally
  exit "$status"
fi
count=${1:-1000} first=${2:-1}
(($# > 1)) && shift 2 || shift $#
[[ $count =~ ^[0-9]+$ && $first =~ ^[0-9]+$ ]] || { echo "error: COUNT and FIRST_SEED are whole numbers" >&2; exit 2; }
exec nice -n 15 build/random_clusters --count "$count" --seed "$first" --out "$place" "$@"
