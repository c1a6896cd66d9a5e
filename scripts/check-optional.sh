#!/usr/bin/env bash
# Checks that the build configures without each optional package, and without all of them. These packages decide which sources
# are compiled, not their contents.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
optional=(MPI pybind11 Python3 Gloo GTest benchmark CUDAToolkit)
tree=build/optional

# configured WITHOUT...
configured() {
  rm -rf "$tree"
  cmake --preset release -B "$tree" "${@/%/=ON}" >"$tree.log" 2>&1 ||
    { echo "error: without ${*#-DCMAKE_DISABLE_FIND_PACKAGE_} the build does not configure" >&2; cat "$tree.log" >&2; return 1; }
  ninja -C "$tree" -n slmsim >/dev/null
}
for package in "${optional[@]}"; do configured "-DCMAKE_DISABLE_FIND_PACKAGE_$package"; done
configured "${optional[@]/#/-DCMAKE_DISABLE_FIND_PACKAGE_}"
! grep -rnE '#\s*if.*(MPI|PYBIND|GLOO|CUDA|NCCL)' --include='*.cpp' --include='*.h' sim python ||
  { echo "error: what an optional package brings belongs behind an interface that compiles without it" >&2; exit 1; }
echo "the build configures without ${optional[*]}, one by one and all together"
