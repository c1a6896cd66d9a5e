#!/usr/bin/env bash
# Makes the Debian package, and on request the Python wheel, from build/.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  cat <<HELP
Usage: scripts/package.sh [--wheel] [CMAKE_OPTION...]

Installs the packages that are missing (apt, as root or through sudo), builds slmsim into build/ without its
tests and writes build/package/slmsim_VERSION_ARCHITECTURE.deb. Works from any directory. The package contains
the Python module if python3-dev and pybind11-dev are installed.
  --wheel   installs these two and writes build/package/slmsim-VERSION-PYTHON.whl too
HELP
  exit 0
fi

wheel=
if [[ ${1:-} == --wheel ]]; then
  wheel=yes
  shift
fi

say "slmsim in $repo_root: install what is missing, build, package"
install_missing "${build_packages[@]}" "${package_packages[@]}" ${wheel:+"${module_packages[@]}"}
# The same build tree as quickstart.sh and test.sh use.
configure_and_build slmsim_package "$@"

out=build/package
say "packaging: cpack -G DEB"
run_as_builder rm -rf "$out"
run_as_builder cpack --config build/CPackConfig.cmake -G DEB -B "$repo_root/$out" >"$build_dir/cpack.log" ||
  die "cpack failed." "Its output is in $build_dir/cpack.log"
run_as_builder rm -rf "$out/_CPack_Packages"
if [[ $wheel ]]; then
  say "packaging: wheel"
  run_as_builder /usr/bin/python3 -B python/wheel_backend.py "$out" build
fi
deb=$(echo "$out"/*.deb)
say "done: $(echo "$out"/*) ($(du -ch "$out"/* | tail -n 1 | cut -f 1))"
say "install: sudo apt install ./$deb"
