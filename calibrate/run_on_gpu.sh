#!/usr/bin/env bash
# Everything that a GPU machine is needed for, in one go: builds slmsim-calibrate for this machine's GPU, times kernels,
# copies and collectives, and runs the PyTorch reference. Needs the CUDA toolkit, CMake and a C++20 compiler; NCCL and
# PyTorch where they are; no network, no root, and nothing else of slmsim.
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

if [[ $# -lt 1 || $1 == -h || $1 == --help ]]; then
  cat <<HELP
Usage: calibrate/run_on_gpu.sh FOLDER [STEP...]

Steps, all unless named, within 20 minutes; where one fails, the others are done all the same:
  build      into FOLDER/../build-calibrate, or \$BUILD
  kernels    slmsim-calibrate all: FOLDER/gpu.yaml (8 minutes; goes on where it was interrupted)
  nccl       collectives over this machine's GPUs: FOLDER/nccl.yaml
  torch      training steps of gpt2m and gpt2L in PyTorch: FOLDER/steps-*.json, FOLDER/kernels.txt
FOLDER/log.txt has all output, FOLDER/info.txt the machine. SHAPES, MODELS and BATCHES change what is timed.
HELP
  [[ $# -ge 1 ]] && exit 0 || exit 2
fi

out=$1
shift
steps=("${@:-all}")
mkdir -p "$out" || exit 2
out=$(readlink -f "$out")
build=${BUILD:-$(dirname "$out")/build-calibrate}
shapes=${SHAPES:-$here/shapes/gpt2m.csv,$here/shapes/gpt2L.csv}
batches=${BATCHES:-1,2,4,8,16,32}
failed=()
exec > >(tee -a "$out/log.txt") 2>&1

wants() { [[ " ${steps[*]} " == *" all "* || " ${steps[*]} " == *" $1 "* ]]; }

# step SECONDS NAME COMMAND...: runs it for at most so long and notes its failure.
step() {
  local limit=$1 name=$2 status=0 began=$SECONDS
  shift 2
  printf '== %s: %s\n' "$name" "$*"
  # INT first, so that a calibration keeps its journal.
  timeout --signal=INT --kill-after=20 "$limit" "$@" || status=$?
  printf '== %s: status %d after %d s\n' "$name" "$status" "$((SECONDS - began))"
  ((status == 0)) || failed+=("$name")
  return "$status"
}

command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
{
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -a
  nvidia-smi
  nvidia-smi -q -d CLOCK,POWER,PERFORMANCE,MEMORY,ECC
  nvidia-smi topo -m
  nvcc --version
  cmake --version
  lscpu
  python3 -c 'import torch; print("torch", torch.__version__, torch.version.cuda, torch.cuda.nccl.version())'
} > "$out/info.txt" 2>&1

if wants build; then
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ')
  architecture=()
  [[ $capability =~ ^[0-9]+$ ]] && architecture=(-DCMAKE_CUDA_ARCHITECTURES="$capability")
  step 60 configure cmake -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release "${architecture[@]}" &&
    step 300 build cmake --build "$build" --parallel "$(nproc)"
fi

program=$build/slmsim-calibrate
if wants kernels; then
  step 60 info "$program" info
  # A point that takes the program down with it is skipped when the run is taken up for the second time.
  until=$((SECONDS + 480))
  for attempt in 1 2 3 4 5 6; do
    left=$((until - SECONDS))
    ((left > 5)) || break
    step $((left + 60)) "kernels-$attempt" "$program" all --shapes "$shapes" --time-limit "${left}s" \
      --output "$out/gpu.yaml" && break
    [[ -e $out/gpu.yaml.journal ]] || break
  done
  # What is in the journal after an abort is worth having.
  [[ -e $out/gpu.yaml.journal ]] && printf 'left unfinished: %s\n' "$out/gpu.yaml.journal"
fi

wants nccl && step 150 nccl "$program" nccl --time-limit 2min --output "$out/nccl.yaml"

if wants torch; then
  reference=(python3 "$here/reference/torch_step.py" --models "${MODELS:-$here/shapes/models.json}" --time-limit 15)
  gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l)
  step 150 torch-gpt2m "${reference[@]}" --model gpt2m --batch "$batches" --output "$out/steps-gpt2m-fp16.json" \
    --kernels "$out/kernels.txt"
  step 150 torch-gpt2L "${reference[@]}" --model gpt2L --batch "$batches" --output "$out/steps-gpt2L-fp16.json"
  if ((gpus > 1)); then
    step 150 torch-ddp torchrun --nproc-per-node "$gpus" "${reference[@]:1}" --model gpt2m --batch 1,4 \
      --output "$out/steps-gpt2m-ddp.json"
  else
    step 150 torch-bf16 "${reference[@]}" --model gpt2m --precision bf16 --batch 1,8 --output "$out/steps-gpt2m-bf16.json"
  fi
fi

ls -l "$out"
if ((${#failed[@]})); then
  printf '== failed: %s\n' "${failed[*]}"
  exit 1
fi
printf '== done\n'
