#!/usr/bin/env bash
# Draws the documentation's figures from the scenarios.
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

cat > "$work/latency.yaml" <<EOF
scenario: $PWD/scenarios/gat-amst.yaml
set: {models: gpt2m}
axes: [{key: platform.links.wan.rtt, values: [0.1 ms, 0.3 ms, 1 ms, 2 ms, 3 ms, 5 ms, 7 ms, 10 ms, 15 ms, 20.2 ms, 30 ms, 40 ms,
                                              57.4 ms, 75 ms, 103 ms, 150 ms, 200 ms]}]
EOF
"$slmsim" sweep "$work/latency.yaml" --output "$work/sweep" 2> "$work/ignored"
# The study's measurements, with the round-trip times of its Table I as stated in the platforms.
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

"$slmsim" run scenarios/spot-job.yaml --format json --output "$work/job.json" --set job.lease='11 h' --set \
  'job.links={wan: {hours: [{from: 0 h, bandwidth: 1 Gbps}, {from: 2 h, bandwidth: 100 Mbps}, {from: 6 h, bandwidth: 500 Mbps}]}}'
draw job job "$work/job.json" --technique Pipeshard --technique LocalSGD

"$slmsim" sweep scenarios/sweeps/xe8545-size.yaml --output "$work/size" 2> "$work/ignored"
draw sweep sweep "$work/size.csv" --value tflops_total

cat > "$work/compare-rtt.yaml" <<EOF
scenario: $PWD/scenarios/compare.yaml
set: {groups: all}
axes: [{key: platform.links.wan.rtt, values: [0.5 ms, 1 ms, 2 ms, 5 ms, 10 ms, 20 ms, 50 ms, 103 ms, 200 ms]}]
EOF
"$slmsim" sweep "$work/compare-rtt.yaml" --output "$work/compare-rtt" 2> "$work/ignored"
draw compare-rtt latency-sweep "$work/compare-rtt.csv"

cat > "$work/compare-steps.yaml" <<EOF
scenario: $PWD/scenarios/compare.yaml
set: {groups: all}
axes:
  - zip: [{key: techniques.LocalSGD.inner_steps, values: &h [25, 50, 100, 200, 500, 1000]},
          {key: techniques.DiLoCo.inner_steps, values: *h},
          {key: techniques.StreamingDiLoCo.inner_steps, values: *h}]
EOF
"$slmsim" sweep "$work/compare-steps.yaml" --output "$work/compare-steps" 2> "$work/ignored"
draw compare-steps sweep "$work/compare-steps.csv" --axis techniques.LocalSGD.inner_steps --value iteration_s
