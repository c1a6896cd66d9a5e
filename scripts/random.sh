#!/usr/bin/env bash
# Holds random clusters to the laws of tests/random: a thousand in continuous integration, as many as you like here.
# Usage: scripts/random.sh [COUNT [FIRST_SEED [OPTION...]]]; options go to random_clusters, whose --help lists them.
# One process at low priority. What breaks a law leaves its scenario in build/random/, and the exit status is then 1.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n 's/^# \?//; 2,4p' "$0"
  exit 0
fi
count=${1:-1000} first=${2:-1}
(($# > 1)) && shift 2 || shift $#
[[ $count =~ ^[0-9]+$ && $first =~ ^[0-9]+$ ]] || { echo "error: COUNT and FIRST_SEED are whole numbers" >&2; exit 2; }
[[ -x build/random_clusters ]] || cmake --build build --target random_clusters
mkdir -p build/random
exec nice -n 15 build/random_clusters --count "$count" --seed "$first" --out build/random "$@"
