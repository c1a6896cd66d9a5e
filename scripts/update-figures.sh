#!/usr/bin/env bash
# Draws the README's figures from the scenarios.
# Usage: scripts/update-figures.sh [FOLDER]; default plots/figures. PNG=1 draws PNGs too, SLMSIM names the program.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
slmsim=${SLMSIM:-build/slmsim}
figures=${1:-plots/figures}
mkdir -p "$figures"

draw() {
  local name=$1 figure=$2
  shift 2
  "$slmsim" plot "$figure" "$@" -o "$figures/$name.svg"
  if [[ -n ${PNG:-} ]]; then "$slmsim" plot "$figure" "$@" -o "$figures/$name.png"; fi
}

"$slmsim" run scenarios/{tacc-tacc,utah-mass,gat-amst}.yaml --format csv --output "$work/all.csv" --set models=gpt2L
draw technique-comparison technique-comparison "$work/all.csv"

"$slmsim" run scenarios/gat-amst.yaml --format csv --output "$work/gat-amst.csv" --set models=gpt2m
draw breakdown breakdown "$work/gat-amst.csv"

"$slmsim" run scenarios/tacc-tacc.yaml --format json --output "$work/tacc.json" --set models=gpt2L
draw memory memory "$work/tacc.json"

# One CSV of several runs, each with its round-trip time in front, as a sweep has it.
point=0
for rtt in 0.1 0.3 1 2 3 5 7 10 15 20.2 30 40 57.4 75 103 150 200; do
  "$slmsim" run scenarios/gat-amst.yaml --set models=gpt2m --set "platform.links.wan.rtt=${rtt}ms" --format csv |
    awk -v point="$point" -v rtt="$rtt ms" '
      NR == 1 { if (point == 0) print "point,platform.links.wan.rtt," $0; next }
      { print point "," rtt "," $0 }' >> "$work/sweep.csv"
  point=$((point + 1))
done
# What the study measured, with the round-trip times of its Table I as the platforms state them.
awk -F, 'BEGIN { OFS = ","
    print "slice,technique,rtt_ms,minutes,tflops_per_gpu"
    while (("grep -Ho \"rtt: {value: [0-9.]* ms\" platforms/*.yaml" | getline line) > 0) {
      split(line, part, ":")
      name = toupper(part[1]); sub(/.*\//, "", name); sub(/\.YAML$/, "", name)
      split(part[4], number, " "); rtt[name] = number[1]
    } }
  NR > 1 && $3 == 4 && $4 == "gpt2m" && $1 in rtt { print $1, $5, rtt[$1], $6, $7 }' \
  tests/reference/fabric.csv > "$work/measured.csv"
draw latency-sweep latency-sweep "$work/sweep.csv" --measured "$work/measured.csv" --slice GAT-AMST

"$slmsim" validate fabric --format csv --output "$work/facts.csv"
draw predicted-measured predicted-measured "$work/facts.csv"

"$slmsim" run scenarios/utah-mass.yaml --set models=gpt2m --set groups=all --technique Pipeshard \
  --trace "$work/pipeshard.json" > "$work/ignored"
draw gantt gantt "$work/pipeshard.json"

"$slmsim" run scenarios/utah-mass.yaml --set models=gpt2m --set groups=all --technique Data \
  --trace "$work/data.json" > "$work/ignored"
draw link-use link-use "$work/data.json" --links 4
