#!/usr/bin/env bash
# Runs every measurement that needs a GPU machine: training steps and attention in PyTorch, then kernels, copies and
# collectives by slmsim-calibrate, which is built for this machine's GPU. Needs the CUDA toolkit (11.8 or later), CMake and
# a C++20 compiler; NCCL and PyTorch are optional; no network, no root, and nothing else of slmsim.
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

usage() {
  cat <<HELP
Usage: calibrate/run_on_gpu.sh [--minutes M] FOLDER [STEP...]

Steps, all unless named, in M minutes at most (25). Each has its share of the time that is left, and ends by then; where
one fails or hangs, the others are done all the same. Files are whole after each step, and the same command resumes.
  build      into build-calibrate beside calibrate/, or \$BUILD; the only step that needs no GPU
  info       the machine: info.txt
  torch      training steps in PyTorch: steps.json, and the kernels of each: kernels.csv
  flash      PyTorch's attention: flash.csv
  kernels    slmsim-calibrate all: gpu.yaml; its left_out says what was not timed
  gemm       large matrix products beside cuBLAS's best in a plain loop, into log.txt
  nccl       where there are several GPUs: collectives, nccl.yaml, and training steps on all, steps-ddp.json
FOLDER/log.txt has all output, FOLDER/clocks.csv clocks, power and temperature all along. PLAN (a plan of torch_step.py),
MODELS and SHAPES change what is timed: PLAN=calibrate/reference/smoke.plan tries each of its options in a minute.

Exit status: 0 done, 1 a step failed, 2 no GPU, no CUDA toolkit or wrong words.
HELP
}

# die LINE...: the first line is the error, the others are advice.
die() {
  printf 'run_on_gpu.sh: error: %s\n' "$1" >&2
  shift
  (($#)) && printf '  %s\n' "$@" >&2
  exit 2
}

minutes=25
case ${1-} in
  -h | --help) usage && exit 0 ;;
  --minutes) minutes=${2-} && shift $(($# > 1 ? 2 : 1)) ;;
esac
[[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || die "--minutes \"$minutes\": a whole number from 1 is expected."
(($#)) || { usage >&2 && exit 2; }
out=$1
shift
all=(build info torch flash kernels gemm nccl)
steps=("${@:-all}")
for word in "${steps[@]}"; do
  [[ " all ${all[*]} " == *" $word "* ]] || die "unknown step \"$word\"; known are: ${all[*]}"
done
wants() { [[ " ${steps[*]} " == *" all "* || " ${steps[*]} " == *" $1 "* ]]; }

command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
gpus=$(timeout 30 nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU')
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
program=$build/slmsim-calibrate
shapes=${SHAPES:-$here/shapes/gpt2.csv,$here/shapes/gpt2m.csv,$here/shapes/llama-160m.csv}
models=${MODELS:-$here/shapes/models.json}
failed=()
# 75, 80, 90; empty where the driver does not say.
capability=$(timeout 30 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ')
[[ $capability =~ ^[0-9]+$ ]] || capability=
exec > >(tee -a "$out/log.txt") 2>&1
logging=$!
watching=
finish() {
  [[ $watching ]] && kill "$watching" 2>/dev/null
  exec >&- 2>&-
  # Waits until the log is complete; processes of a killed step may hold it open.
  for ((i = 0; i < 20; ++i)); do kill -0 "$logging" 2>/dev/null && sleep 0.1; done
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- time

ending=10 # seconds between asking a command to end and killing it
until=$((60 * minutes - ending))
declare -A weights=([torch]=11 [flash]=2 [kernels]=6 [gemm]=1 [nccl]=3)
((gpus > 1)) || weights[nccl]=0

seconds_left() { echo $((until > SECONDS ? until - SECONDS : 0)); }

# share STEP: seconds for it, from the time left for it and the later wanted steps.
share() {
  local name sum=0 begun=0
  for name in torch flash kernels gemm nccl; do
    [[ $name == "$1" ]] && begun=1
    ((begun)) && wants "$name" && sum=$((sum + weights[$name]))
  done
  echo $(($(seconds_left) * weights[$1] / sum))
}

# step SECONDS NAME COMMAND...: runs it for at most that long and records its failure.
step() {
  local limit=$1 name=$2 status=0 began=$SECONDS
  shift 2
  ((limit > $(seconds_left))) && limit=$(seconds_left)
  if ((limit < 1)); then
    printf '== %s: no time left\n' "$name"
    failed+=("$name")
    return 1
  fi
  printf '== %s, at most %d s: %s\n' "$name" "$limit" "$*"
  mark "$name begins"
  # INT first, so that a calibration keeps its journal.
  timeout --signal=INT --kill-after="$ending" "$limit" "$@" || status=$?
  mark "$name ends"
  printf '== %s: status %d after %d s\n' "$name" "$status" "$((SECONDS - began))"
  ((status == 0)) || failed+=("$name")
  return "$status"
}

# --- clocks, power and temperature, twice a second, with the steps as lines of comment

mark() { printf '# %s %s\n' "$(date +'%Y/%m/%d %H:%M:%S.%3N')" "$1" >>"$out/clocks.csv"; }

watch() {
  local fields=timestamp,index,clocks.sm,clocks.mem,power.draw,temperature.gpu,utilization.gpu,memory.used field
  for field in clocks_event_reasons.active clocks_throttle_reasons.active; do
    timeout 30 nvidia-smi --query-gpu="$field" --format=csv,noheader >/dev/null 2>&1 && fields+=,$field && break
  done
  [[ -s $out/clocks.csv ]] || printf '%s\n' "$fields" >"$out/clocks.csv"
  stdbuf -oL nvidia-smi --query-gpu="$fields" --format=csv,noheader,nounits --loop-ms=500 >>"$out/clocks.csv" 2>/dev/null &
  watching=$!
}

# --- steps

tell_machine() {
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -a
  nvidia-smi
  nvidia-smi -q -d CLOCK,POWER,PERFORMANCE,MEMORY,ECC
  nvidia-smi topo -m
  nvcc --version
  cmake --version
  lscpu
  "$program" info
}

build_program() {
  local limit=$((12 * minutes > 60 ? 12 * minutes : 60)) architecture=()
  # An architecture that this nvcc does not know is left to the driver, which compiles PTX.
  nvcc --list-gpu-code | grep -qx "sm_$capability" && architecture=(-DCMAKE_CUDA_ARCHITECTURES="$capability")
  step "$limit" configure cmake -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release "${architecture[@]}" &&
    step "$limit" build cmake --build "$build" --parallel "$(nproc)"
}

# A configuration that ends the program has failed; the next attempt resumes with those after it.
train() {
  local until_here=$((SECONDS + $1)) left attempt
  for attempt in 1 2 3 4 5 6; do
    (((left = until_here - SECONDS) > 10)) || break
    step "$left" "torch-$attempt" python3 "$here/reference/torch_step.py" --models "$models" --time-limit 3 \
      --plan "${PLAN:-$here/reference/steps.plan}" --budget $((left - 5)) --give-up 90 \
      --output "$out/steps.json" --kernels "$out/kernels.csv"
    (($? == 1)) || break
  done
}

# A point that ends the program is skipped when the run resumes for the second time.
calibrate() {
  local until_here=$((SECONDS + $1)) left attempt
  if [[ -e $out/gpu.yaml && ! -e $out/gpu.yaml.journal ]]; then
    printf '== kernels: done before; remove %s to measure again\n' "$out/gpu.yaml"
    return
  fi
  for attempt in 1 2 3 4 5 6; do
    (((left = until_here - SECONDS) > 10)) || break
    step "$left" "kernels-$attempt" "$program" all --shapes "$shapes" --precisions bf16,tf32,fp32,fp16 \
      --time-limit $((left - 5))s --output "$out/gpu.yaml" && break
    [[ -e $out/gpu.yaml.journal ]] || break
  done
}

watch
if wants build; then build_program; fi
if wants info; then
  timeout --kill-after=5 30 bash -c "$(declare -f tell_machine); program='$program' tell_machine" >"$out/info.txt" 2>&1
fi
if wants torch; then train "$(share torch)"; fi
if wants flash; then
  limit=$(share flash)
  step "$limit" flash python3 "$here/reference/torch_attention.py" --budget $((limit - 3)) --output "$out/flash.csv"
fi
if wants kernels; then calibrate "$(share kernels)"; fi
if wants gemm; then step "$(share gemm)" gemm "$program" compare; fi
if wants nccl && ((gpus > 1)); then
  limit=$(($(share nccl) / 2))
  [[ -e $out/nccl.yaml ]] || step "$limit" nccl "$program" nccl --time-limit "${limit}s" --output "$out/nccl.yaml"
  [[ -e $out/steps-ddp.json ]] || step "$limit" torch-ddp torchrun --nproc-per-node "$gpus" \
    "$here/reference/torch_step.py" --models "$models" --model gpt2m --batch 1,4 --output "$out/steps-ddp.json"
fi

ls -l "$out"
if ((${#failed[@]})); then
  printf '== failed: %s\n' "${failed[*]}"
  exit 1
fi
printf '== done\n'
