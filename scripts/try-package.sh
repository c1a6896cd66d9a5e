#!/usr/bin/env bash
# Tries the packages of scripts/package.sh on a Debian 12 without slmsim's build packages. Runs as root and installs and removes
# packages: use a chroot or a container.
# Usage: scripts/try-package.sh FOLDER    which holds slmsim_*.deb and, optionally, slmsim-*.whl
set -euo pipefail
folder=$(readlink -f "$1")
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
apt() { DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 -qqy "$@"; }
run=(run gat-amst --set models=gpt2m)
# The same run in Python; its rows must equal the program's.
module="import slmsim; print(slmsim.load('gat-amst', {'models': 'gpt2m'}).run().to_csv(), end='')"
set -x

apt update
python_before=$(command -v python3 || true)
apt install --no-install-recommends "$folder"/slmsim_*.deb
[[ $(command -v python3 || true) == "$python_before" ]]
[[ -e /usr/share/man/man1/slmsim.1 && -e /usr/share/bash-completion/completions/slmsim ]]
slmsim --version
slmsim "${run[@]}"
slmsim "${run[@]}" --format csv | tee rows
slmsim "${run[@]}" -t Data --engine simgrid
slmsim init --gpu desk=rtx3090 --gpu rented=a100-40:2 --link desk,rented=28ms,1Gbps --model gpt2m mine
slmsim run mine/scenario.yaml
slmsim report mine/scenario.yaml -o report.html
grep -q '</html>' report.html

wheel=$(find "$folder" -name 'slmsim-*.whl')
if [[ $wheel ]]; then
  apt install --no-install-recommends python3-venv
  PYTHONDONTWRITEBYTECODE='' python3 -c "$module" | cmp - rows
  # Its libraries stay, for the wheel.
  apt remove slmsim
  [[ ! -e /usr/lib/python3/dist-packages/slmsim && ! -e /usr/share/slmsim ]]
  python3 -m venv venv
  venv/bin/pip install --no-index "$wheel"
  venv/bin/slmsim "${run[@]}" --format csv | cmp - rows
  venv/bin/python -c "$module" | cmp - rows
  venv/bin/pip uninstall -qy slmsim
  [[ ! $(find venv -name '*slmsim*' -not -type d) ]]
fi
set +x
echo "== the packages work"
