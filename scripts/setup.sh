# shellcheck shell=bash disable=SC2034,SC2164
# (SC2034: the callers use the package lists. SC2164: they set -e.)
# Functions shared by quickstart.sh, test.sh and others; to be sourced, not run.
#
# In:  a Debian or Ubuntu machine, as root, with sudo, or with every package already installed.
# Out: repo_root, and the functions say, die, is_installed, install_missing, run_as_builder,
#      configure_and_build. The caller has set -euo pipefail.

repo_root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
build_dir=$repo_root/build

# Minimum of CMakeLists.txt, checked here for a clearer message than the presets give.
min_cmake=3.22

build_packages=(build-essential cmake ninja-build pkg-config libsimgrid-dev libyaml-cpp-dev
  libboost-graph-dev libeigen3-dev libcli11-dev libfmt-dev nlohmann-json3-dev coinor-libcbc-dev
  libcpp-httplib-dev)
# Needed by cpack, beside build_packages, to find the libraries that the Debian package depends on.
package_packages=(file)
# All of these are optional: without one, its part is left out or skipped with a message that names it.
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libgloo-dev libopenmpi-dev openmpi-bin
  python3-jsonschema python3-yaml "${package_packages[@]}")
# Figures, and the page in a browser.
picture_packages=(python3-matplotlib python3-selenium chromium chromium-driver)
# The Python module is built where these are installed.
module_packages=(python3-dev pybind11-dev)
# For its tests, the documentation's site and PyTorch's hooks.
python_packages=("${module_packages[@]}" python3-pandas mypy python3-nbclient python3-ipykernel mkdocs-material python3-torch)
# Needed by .ci/run, scripts/bare-debian.sh and scripts/check-tidy.sh in addition.
check_packages=(clang clang-tidy ccache git mmdebstrap)

say() { printf '== %s\n' "$*"; }

# die LINE...: the first line is the error, the others are advice.
die() {
  printf 'error: %s\n' "$1" >&2
  shift
  if (($#)); then printf '  %s\n' "$@" >&2; fi
  exit 1
}

# is_installed PACKAGE...: true where dpkg knows every one of them as installed. A removed package whose settings remain does
# not count, and a package of several architectures prints several lines.
is_installed() {
  local package status
  for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null) || return 1
    [[ $'\n'$status$'\n' == *$'\ninstalled\n'* ]] || return 1
  done
}

# install_missing PACKAGE...: with everything installed it uses neither apt nor sudo nor the network.
install_missing() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this script installs packages through apt, on Debian or Ubuntu." \
      "Elsewhere, install what these packages hold, then run cmake --preset release:" "$*"
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "packages: all $# are installed"
    return
  fi

  local by_hand="apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "packages are missing, and this user is neither root nor has sudo." \
        "Ask an administrator to run: $by_hand"
    say "packages: sudo is needed to install ${missing[*]}"
    sudo true || die "sudo was refused." "Ask an administrator to run: $by_hand"
    as_root=(sudo)
  fi
  # A fresh machine may still be updating itself in the background: wait for its lock.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)

  say "packages: installing ${missing[*]}"
  # One broken third-party source fails the whole update, and may not matter for these packages.
  "${apt[@]}" update || say "apt-get update failed; trying with the package lists at hand"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install: ${missing[*]}" \
      "Its message is above. Is there a network? On Ubuntu, is 'universe' enabled?"
}

# builder: the user to build as. Under sudo it is the caller, so that build files belong to the caller and not to root, unless
# the caller may not write to the repository.
builder() {
  local caller=${SUDO_USER:-}
  if ((EUID == 0)) && [[ -n $caller && $caller != root ]] &&
    runuser -u "$caller" -- test -w "$repo_root" 2>/dev/null; then
    printf '%s\n' "$caller"
  else
    id -un
  fi
}

# run_as_builder COMMAND...
run_as_builder() {
  local user
  user=$(builder)
  if [[ $user == "$(id -un)" ]]; then
    "$@"
  else
    runuser -u "$user" -- env HOME="$(getent passwd "$user" | cut -d: -f6)" "$@"
  fi
}

# make_build_dir_usable: an older build/ may belong to another user, or be configured for a copy of the repository at another
# path or for another generator. CMake would stop at each.
make_build_dir_usable() {
  [[ -e $build_dir ]] || return 0
  local user cache=$build_dir/CMakeCache.txt
  user=$(builder)
  if ((EUID == 0)) && [[ $user != "$(id -un)" ]]; then
    chown -R "$user:" "$build_dir"
  fi
  [[ -w $build_dir ]] ||
    die "$build_dir belongs to $(stat -c %U "$build_dir")." "Remove it, or run as that user."
  if [[ -e $cache ]] && ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$repo_root" "$cache" &&
    grep -qx 'CMAKE_GENERATOR:INTERNAL=Ninja' "$cache"; }; then
    say "build/ was configured for another path or generator: configuring it afresh"
    run_as_builder rm -rf "$cache" "$build_dir/CMakeFiles"
  fi
}

# configure_and_build TARGET [CMAKE_OPTION...]: the release preset into build/.
configure_and_build() {
  local target=$1 version
  shift
  version=$(run_as_builder cmake --version) || die "cmake does not run"
  version=${version#cmake version }
  version=${version%%[!0-9.]*}
  dpkg --compare-versions "$version" ge "$min_cmake" ||
    die "cmake $min_cmake or newer is needed; this is $version ($(command -v cmake))"

  make_build_dir_usable
  cd "$repo_root"
  # A new build tree uses it; an older one stays as configured.
  ! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  say "configuring: cmake --preset release $*"
  run_as_builder cmake --preset release "$@"
  say "building: $target"
  run_as_builder cmake --build --preset release --parallel "$(nproc)" --target "$target"
}
