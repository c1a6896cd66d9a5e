#!/usr/bin/env bash
# Everything that a GPU machine is needed for, in one go: builds slmsim-calibrate for this machine's GPU, times kernels,
# copies and collectives, and runs the PyTorch reference. Needs the CUDA toolkit (11.8 or later), CMake and a C++20
# compiler; NCCL and PyTorch where they are; no network, no root, and nothing else of slmsim.
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

if [[ $# -lt 1 || $1 == -h || $1 == --help ]]; then
  cat <<HELP
Usage: calibrate/run_on_gpu.sh FOLDER [STEP...]

Steps, all unless named, within about 25 minutes; where one fails, the others are done all the same:
  build      into build-calibrate beside calibrate/, or \$BUILD; the only step that needs no GPU
  kernels    slmsim-calibrate all: FOLDER/gpu.yaml (13 minutes; goes on where it was interrupted). What
             could not be timed stands in its left_out: flash attention, of which CUDA has no library
  gemm       large matrix products beside cuBLAS's best in a plain loop: FOLDER/gemm.txt
  nccl       collectives over this machine's GPUs: FOLDER/nccl.yaml
  torch      training steps of gpt2m and gpt2L in PyTorch: FOLDER/steps-*.json, FOLDER/kernels.txt
FOLDER/log.txt has all output, FOLDER/info.txt the machine. SHAPES, MODELS and BATCHES change what is timed.

Exit status: 0 done, 1 a step failed, 2 no GPU, no CUDA toolkit or wrong words.
HELP
  [[ $# -ge 1 ]] && exit 0 || exit 2
fi

# die LINE...: what is wrong, and what to do.
die() {
  printf 'run_on_gpu.sh: error: %s\n' "$1" >&2
  shift
  (($#)) && printf '  %s\n' "$@" >&2
  exit 2
}

wants() { [[ " ${steps[*]} " == *" all "* || " ${steps[*]} " == *" $1 "* ]]; }

out=$1
shift
steps=("${@:-all}")
for word in "${steps[@]}"; do
  [[ " all build kernels gemm nccl torch " == *" $word "* ]] ||
    die "unknown step \"$word\"; known are: build, kernels, gemm, nccl, torch"
done
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU')
if ((gpus == 0)) && [[ ${steps[*]} != build ]]; then
  die "there is no NVIDIA GPU on this machine, or no driver (nvidia-smi lists none)." \
    "Only the step build works here: $0 $out build"
fi
if wants build; then
  command -v nvcc >/dev/null || die "nvcc is missing; install the CUDA toolkit, 11.8 or later, or put it on PATH."
  command -v cmake >/dev/null || die "cmake is missing; without root: pip install cmake."
fi
mkdir -p "$out" || die "$out cannot be made."
out=$(readlink -f "$out")
build=${BUILD:-$(dirname "$here")/build-calibrate}
shapes=${SHAPES:-$here/shapes/gpt2m.csv,$here/shapes/gpt2-656m.csv}
batches=${BATCHES:-1,2,4,8,16,32}
failed=()
# 75, 80, 90; empty where the driver does not tell.
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ')
[[ $capability =~ ^[0-9]+$ ]] || capability=
exec > >(tee -a "$out/log.txt") 2>&1

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
  architecture=()
  # What this nvcc does not know is left to the driver, which compiles PTX.
  nvcc --list-gpu-code | grep -qx "sm_$capability" && architecture=(-DCMAKE_CUDA_ARCHITECTURES="$capability")
  step 60 configure cmake -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release "${architecture[@]}" &&
    step 300 build cmake --build "$build" --parallel "$(nproc)"
fi

program=$build/slmsim-calibrate
if wants kernels; then
  step 60 info "$program" info
  # A point that takes the program down with it is skipped when the run is taken up for the second time.
  until=$((SECONDS + 780))
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

# shellcheck disable=SC2016 # the inner shell's words
wants gemm && step 120 gemm bash -o pipefail -c '"$0" compare | tee "$1"' "$program" "$out/gemm.txt"

wants nccl && step 150 nccl "$program" nccl --time-limit 2min --output "$out/nccl.yaml"

if wants torch; then
  reference=(python3 "$here/reference/torch_step.py" --models "${MODELS:-$here/shapes/models.json}" --time-limit 15)
  step 150 torch-gpt2m "${reference[@]}" --model gpt2m --batch "$batches" --output "$out/steps-gpt2m-fp16.json" \
    --kernels "$out/kernels.txt"
  step 150 torch-gpt2L "${reference[@]}" --model gpt2L --batch "$batches" --output "$out/steps-gpt2L-fp16.json"
  if ((gpus > 1)); then
    step 150 torch-ddp torchrun --nproc-per-node "$gpus" "${reference[@]:1}" --model gpt2m --batch 1,4 \
      --output "$out/steps-gpt2m-ddp.json"
  elif ((${capability:-0} >= 80)); then
    step 150 torch-bf16 "${reference[@]}" --model gpt2m --precision bf16 --batch 1,8 --output "$out/steps-gpt2m-bf16.json"
  fi
fi

ls -l "$out"
if ((${#failed[@]})); then
  printf '== failed: %s\n' "${failed[*]}"
  exit 1
fi
printf '== done\n'
