#!/usr/bin/env bash
# A bare Debian 12: only apt, certificates and ccache, with a commit of this checkout in /slmsim. Needs root and mmdebstrap;
# uses the machine's own package sources and, as a bind mount, ccache's folder.
# Usage: scripts/bare-debian.sh FOLDER [COMMAND...]    makes FOLDER if it is missing, copies HEAD into it, runs COMMAND in /slmsim
#        scripts/bare-debian.sh --remove FOLDER
set -euo pipefail
if (($# == 0)) || [[ $1 == -h || $1 == --help ]]; then
  sed -n 's/^# \?//; 2,5p' "$0"
  exit 0
fi
((EUID == 0)) || { echo "error: only root may mount what a Debian in a folder needs" >&2; exit 2; }
repo=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

if [[ $1 == --remove ]]; then
  root=$(readlink -m "$2")
  # A folder that is still mounted must not be removed with the rest.
  ! grep -qF " $root/" /proc/mounts || { echo "error: something is still mounted below $root" >&2; exit 1; }
  rm -rf --one-file-system "$root"
  exit
fi

root=$(readlink -m "$1")
shift
if [[ ! -e $root/etc/debian_version ]]; then
  command -v mmdebstrap >/dev/null || { echo "error: mmdebstrap is not installed (apt-get install mmdebstrap)" >&2; exit 2; }
  mkdir -p "$root"
  sources=$(ls /etc/apt/sources.list.d/debian.sources 2>/dev/null || ls /etc/apt/sources.list)
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,ccache bookworm "$root" "$sources"
  # The machine's own settings of apt, names and certificates.
  cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/unsafe-io"  # a lost folder is made again: no fsync
fi
cache=${CCACHE_DIR:-$HOME/.cache/ccache}
mkdir -p "$cache" "$root/root/.cache/ccache" "$root/slmsim"

# Removes files that this commit no longer has; builds stay.
find "$root/slmsim" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
git -C "$repo" archive HEAD | tar -x -C "$root/slmsim"
(($#)) || exit 0

# Mounts last as long as the command and are seen by it alone, so that whoever removes FOLDER never reaches the machine's /dev.
enter() {
  mount -t proc proc "$root/proc"
  mount -t sysfs sys "$root/sys"
  mount --bind /dev "$root/dev"
  mount -t devpts -o ptmxmode=0666 devpts "$root/dev/pts"
  mount -t tmpfs shm "$root/dev/shm"
  mount --bind "$cache" "$root/root/.cache/ccache"
  exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    chroot "$root" bash -c 'cd /slmsim && exec "$@"' bash "$@"
}
export root cache
export -f enter
exec unshare --mount --propagation private bash -euc 'enter "$@"' bash "$@"
