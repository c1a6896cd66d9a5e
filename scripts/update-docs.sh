#!/usr/bin/env bash
# Updates the program's output in README.md and docs/: the text between markers, and the examples' expected output.
# Usage: scripts/update-docs.sh; SLMSIM names the program, by default build/slmsim.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
slmsim=$(readlink -f "${SLMSIM:-build/slmsim}")

# shown NAME ARGUMENT...: replaces part NAME with this command, as typed in a build tree, and its output.
shown() {
  local name=$1
  shift
  { echo "\$ build/slmsim $*"; "$slmsim" "$@"; } | sed 's/^/    /; s/ *$//' > "$work/$name"
}

# accuracy STUDY FACTS: the lines of a study's facts that summarise its errors.
accuracy() { sed -n "/mean absolute error/{s/^- //; s/[^.]$/&./; s/^/- **$1**, /p}" "$2"; }

shown example run scenarios/gat-amst.yaml --set models=gpt2m
"$slmsim" validate fabric --output "$work/facts"
"$slmsim" validate deepspeed --output "$work/deepspeed"
{ accuracy "FABRIC study" "$work/facts"; accuracy "DeepSpeed study" "$work/deepspeed"; } > "$work/accuracy"
"$slmsim" validate job --output "$work/jobs"
"$slmsim" validate runs --output "$work/runs"
"$slmsim" validate far-apart --output "$work/far-apart"
"$slmsim" validate --measured tests/reference/h200/families --gpu h200 --set platform.vms.vm.type.host=2.5 --worst 16 --output "$work/families"
for machine in "h100 3.0" "h200 2.2"; do
  read -r gpu host <<< "$machine"
  "$slmsim" validate --measured "tests/reference/$gpu" --gpu "$gpu" --set "platform.vms.vm.type.host=$host" --worst 10 --output "$work/steps-$gpu"
  "$slmsim" validate --measured "tests/reference/$gpu" --gpu "$gpu" --profile "$gpu" --worst 10 --output "$work/steps-$gpu-profile"
done
"$slmsim" plan scenarios/{tacc-tacc,utah-gpn,utah-mass,bris-star,gat-amst}.yaml --time-limit 900 --format markdown --output "$work/plans"

SLMSIM=$slmsim scripts/compare.py "$work"

"$slmsim" schema --format markdown --output docs/reference.md

for text in "$work"/*; do
  part=$(basename "$text")
  file=$(grep -rlxF --include='*.md' -e "<!-- $part -->" README.md docs) || {
    echo "error: no page has the marker <!-- $part -->" >&2
    exit 1
  }
  awk -v part="$part" -v text="$text" '
    $0 == "<!-- " part " -->" { print; while ((getline line < text) > 0) print line; skip = 1 }
    $0 == "<!-- /" part " -->" { skip = 0 }
    !skip { print }
    ' "$file" > "$work.page"
  cat "$work.page" > "$file"
  rm "$work.page"
done

SLMSIM_BINARY=$slmsim python3 -B tests/docs/command_page.py
SLMSIM_BINARY=$slmsim python3 -B tests/docs/example.py docs/examples/[0-9]*
