#!/usr/bin/env bash
# Builds everything and runs the tests.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  cat <<HELP
Usage: scripts/test.sh [--slow] [CTEST_OPTION...]

Installs the packages that are missing (apt, as root or through sudo), builds slmsim and its tests into
build/ and runs them, which takes some three minutes after the build on two cores. --slow runs those with the
ctest label "slow" too, such as exhaustive searches: ten minutes more. Works from any directory. Other options
go to ctest, for example
  scripts/test.sh -R golden       only the tests whose name matches
  scripts/test.sh -LE 'gpu|wan'   without the tests that need a GPU or a wide-area network
HELP
  exit 0
fi

# With several -LE, ctest leaves out only tests that have all these labels.
without=slow options=()
while (($#)); do
  case $1 in
    --slow) without=${without#slow} ;;
    -LE | --label-exclude)
      (($# > 1)) || die "$1 needs a regular expression of labels."
      without+="|$2"
      shift
      ;;
    *) options+=("$1") ;;
  esac
  shift
done
without=${without#|}

say "slmsim in $repo_root: install what is missing, build, test"
install_missing "${build_packages[@]}" "${test_packages[@]}" "${picture_packages[@]}" "${python_packages[@]}"
configure_and_build all

say "testing"
# Two tests per core: those of browsers, sockets and helper processes mostly wait.
run_as_builder ctest --test-dir build --output-on-failure --no-tests=error -j "$((2 * $(nproc)))" ${without:+-LE "$without"} \
  "${options[@]}"
