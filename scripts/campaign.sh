#!/usr/bin/env bash
# Long checks, run by hand before a release: they cost much and find little that continuous integration does not.
# Usage: scripts/campaign.sh [PART...]; by default all parts in their order, about three hours on two cores.
#   files     every source file by itself with every warning
#   tidy      clang-tidy on everything
#   rooms     all rooms' tests, slow ones too, under asserts and sanitizers
#   random    an hour of random clusters, from the seed where the last campaign of this tree ended
#   fuzz      six minutes of each fuzzer
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"
cd "$repo_root"

files() { scripts/check-files.sh all; }
tidy() { scripts/check-tidy.sh "$(git rev-list --max-parents=0 HEAD | tail -n 1)"; }
rooms() {
  cmake --preset sanitize
  cmake --build --preset sanitize --parallel "$(nproc)" --target room_tests
  ctest --preset sanitize -j "$(nproc)" -LE 'wan|gpu' \
    -E '^(wan|plots|python|docs\.site|browser|install|random|fuzz|fault|emulated_gpu|structure|calibrate\.(torch|run))|_NOT_BUILT$'
}
random() {
  cmake --preset release
  scripts/random.sh campaign 60
}
fuzz() { scripts/fuzz.sh all 0.1; }

parts=(files tidy rooms random fuzz)
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n 's/^# \?//; 2,8p' "$0"
  exit 0
fi
for part in "$@"; do
  [[ " ${parts[*]} " == *" $part "* ]] || die "there is no part \"$part\"; parts are: ${parts[*]}"
done
(($#)) || set -- "${parts[@]}"
failed=()
for part in "$@"; do
  say "campaign: $part"
  ("$part") || failed+=("$part")
done
((${#failed[@]} == 0)) || die "campaign: failed: ${failed[*]}"
