#!/usr/bin/env bash
# From a fresh Debian or Ubuntu machine to a first prediction.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

scenario=scenarios/gat-amst.yaml

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  cat <<HELP
Usage: scripts/quickstart.sh [CMAKE_OPTION...]

Installs the packages that are missing (apt, as root or through sudo), builds slmsim into build/ and
runs the scenario $scenario. Works from any directory; a second run does only what is left to do.
Options go to cmake, for example -DSLMSIM_WERROR=OFF where a newer compiler warns of something new.
HELP
  exit 0
fi

say "slmsim in $repo_root: install what is missing, build, predict $scenario"
install_missing "${build_packages[@]}"

# One build tree serves this script and test.sh; the Python module is built where its packages are installed.
configure_and_build slmsim_package "$@"

say "running: build/slmsim run $scenario"
run_as_builder build/slmsim run "$scenario"
say "done. Next: build/slmsim --help, build/slmsim list scenarios, scripts/test.sh"
