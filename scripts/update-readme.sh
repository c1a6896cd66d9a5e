#!/usr/bin/env bash
# Puts what the program prints between the markers of README.md: the examples and the tables of facts.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

build/slmsim validate fabric --output "$work/facts"
build/slmsim validate deepspeed --output "$work/deepspeed"
command=(build/slmsim run scenarios/gat-amst.yaml --set models=gpt2m)
{ echo "\$ ${command[*]}"; "${command[@]}"; } | sed 's/^/    /; s/ *$//' > "$work/example"
command=(build/slmsim explain scenarios/gat-amst.yaml --set models=gpt2m --set groups=all --technique Data)
{ echo "\$ ${command[*]}"; "${command[@]}"; } | sed 's/^/    /; s/ *$//' > "$work/explain"
build/slmsim plan scenarios/{tacc-tacc,utah-gpn,utah-mass,bris-star,gat-amst}.yaml --format markdown --output "$work/plans"

for part in example explain facts plans deepspeed; do
  awk -v part="$part" -v text="$work/$part" '
    $0 == "<!-- " part " -->" { print; while ((getline line < text) > 0) print line; skip = 1 }
    $0 == "<!-- /" part " -->" { skip = 0 }
    !skip { print }
    ' README.md > "$work/README.md"
  cp "$work/README.md" README.md
done
