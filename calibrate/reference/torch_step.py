#!/usr/bin/env python3
"""Times training steps of a GPT-2 in PyTorch: a reference for slmsim's predictions that none of its code made.

Mixed precision by autocast, eager execution, Adam with fp32 master weights, random weights and tokens, dropout 0.1.
One JSON object per batch size goes to --output (a list) or standard output; `slmsim validate --measured FILE`
compares. With several GPUs, start it by torchrun: DistributedDataParallel, one process per GPU; --batch is then the
number of sequences per GPU.

  torch_step.py --models calibrate/shapes/models.json --model gpt2m --batch 1,2,4,8 --output steps.json
  torch_step.py --hidden 1024 --heads 16 --layers 24 --sequence 1024 --vocabulary 50257 --batch 4
  torchrun --nproc-per-node 2 torch_step.py --models calibrate/shapes/models.json --model gpt2m --batch 4

models.json comes from `slmsim shapes MODEL... --format json`. Needs PyTorch 1.13 or later with CUDA. --device cpu, with
a small model, tries the program out where there is no GPU; such times say nothing about one.
Exit status: 0 done (out of memory is a result), 2 bad usage, no PyTorch or no GPU.
"""
import argparse
import contextlib
import gc
import json
import math
import os
import platform
import statistics
import sys
import time

SIZES = ("hidden", "heads", "layers", "sequence", "vocabulary", "intermediate")


def fail(text):
    print(f"torch_step.py: error: {text}", file=sys.stderr)
    sys.exit(2)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="JSON from slmsim shapes --format json")
    parser.add_argument("--model", default="model", help="name in --models, or any name with the sizes below")
    for size in SIZES:
        parser.add_argument(f"--{size}", type=int)
    parser.add_argument("--batch", default="1", help="sequences per GPU and step, e.g. 1,2,4,8")
    parser.add_argument("--micro-batches", type=int, default=1, help="steps of gradient accumulation in a batch")
    parser.add_argument("--precision", choices=("fp16", "bf16", "tf32", "fp32"), default="fp16")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--attention", choices=("eager", "sdpa"), default="eager",
                        help="eager: separate products and softmax, as the simulator takes it; sdpa: PyTorch's fused one")
    parser.add_argument("--optimizer", choices=("fused", "foreach"), default="fused", help="PyTorch's Adam kernels")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--warm-up", type=int, default=5, help="steps before the first that counts")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=60, help="seconds per batch size; then fewer steps count")
    parser.add_argument("--kernels", help="also write a table of the kernels of one step to this file")
    parser.add_argument("--output", help="JSON file; default standard output")
    return parser.parse_args()


def sizes_of(options):
    sizes = {}
    if options.models:
        try:
            with open(options.models, encoding="utf-8") as file:
                models = {model["name"]: model for model in json.load(file)["models"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            fail(f"{options.models}: {error}")
        if options.model not in models:
            fail(f"{options.models} has no model {options.model!r}; known are: {', '.join(sorted(models))}")
        if models[options.model].get("family", "gpt2") != "gpt2":
            fail(f"{options.model} is no GPT-2; this program trains GPT-2 only")
        sizes = {size: models[options.model][size] for size in SIZES}
    for size in SIZES:
        if getattr(options, size) is not None:
            sizes[size] = getattr(options, size)
    if "hidden" in sizes:
        sizes.setdefault("intermediate", 4 * sizes["hidden"])
    missing = [f"--{size}" for size in SIZES if size not in sizes]
    if missing:
        fail(f"the model's sizes are not known: give --models and --model, or {' '.join(missing)}")
    if min(sizes.values()) < 1 or sizes["hidden"] % sizes["heads"]:
        fail("sizes are positive, and the heads divide the hidden size")
    return sizes


def batches_of(options):
    try:
        batches = [int(word) for word in options.batch.split(",")]
    except ValueError:
        fail(f"--batch {options.batch}: numbers such as 1,2,4 are expected")
    if min(batches) < 1 or options.micro_batches < 1 or any(b % options.micro_batches for b in batches):
        fail("--batch is positive and a multiple of --micro-batches")
    return batches


def build(torch, sizes, options):
    """The model: pre-norm GPT-2 with learned positions and a head tied to the embedding."""
    nn, functional = torch.nn, torch.nn.functional
    hidden, heads, sequence = sizes["hidden"], sizes["heads"], sizes["sequence"]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
            self.qkv, self.projection = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
            self.up, self.down = nn.Linear(hidden, sizes["intermediate"]), nn.Linear(sizes["intermediate"], hidden)
            self.dropout = nn.Dropout(options.dropout)

        def attend(self, q, k, v, mask):
            if options.attention == "sdpa":
                rate = options.dropout if self.training else 0.0
                return functional.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
            scores = torch.matmul(q, k.transpose(-2, -1)) * (1.0 / math.sqrt(q.size(-1)))
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1).to(v.dtype)
            return torch.matmul(self.dropout(weights), v)

        def forward(self, x, mask):
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).split(hidden, dim=2)
            q, k, v = (t.view(batch, length, heads, hidden // heads).transpose(1, 2) for t in (q, k, v))
            y = self.attend(q, k, v, mask).transpose(1, 2).reshape(batch, length, hidden)
            x = x + self.dropout(self.projection(y))
            y = functional.gelu(self.up(self.norm2(x)), approximate="tanh")
            return x + self.dropout(self.down(y))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.positions = nn.Embedding(sizes["vocabulary"], hidden), nn.Embedding(sequence, hidden)
            self.dropout = nn.Dropout(options.dropout)
            self.blocks = nn.ModuleList(Block() for _ in range(sizes["layers"]))
            self.norm = nn.LayerNorm(hidden)
            mask = torch.triu(torch.ones(sequence, sequence, dtype=torch.bool), diagonal=1)
            self.register_buffer("mask", mask, persistent=False)
            self.register_buffer("places", torch.arange(sequence), persistent=False)
            self.apply(self.initialise)

        @staticmethod
        def initialise(module):
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

        def forward(self, inputs, targets):
            x = self.dropout(self.tokens(inputs) + self.positions(self.places))
            for block in self.blocks:
                x = block(x, self.mask)
            logits = functional.linear(self.norm(x), self.tokens.weight)
            return functional.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))

    return Gpt2()


class Marks:
    """Points in time of the device's work: CUDA events, or a clock."""

    def __init__(self, torch, device, most):
        self.torch, self.used = torch, 0
        self.events = None
        if device.type == "cuda":
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(most)]
        self.times = [0.0] * most

    def begin(self):
        self.used = 0
        self.set()

    def set(self):
        if self.events:
            self.events[self.used].record()
        else:
            self.times[self.used] = time.perf_counter()
        self.used += 1

    def seconds_between(self):
        if not self.events:
            return [b - a for a, b in zip(self.times, self.times[1:self.used])]
        self.torch.cuda.synchronize()
        return [1e-3 * a.elapsed_time(b) for a, b in zip(self.events, self.events[1:self.used])]


class Trainer:
    """A model with its optimizer and one batch of tokens; step() trains once and times its parts."""

    def __init__(self, torch, sizes, options, batch, device, ranks):
        self.torch, self.options, self.device = torch, options, device
        self.model = build(torch, sizes, options).to(device).train()
        self.parameters = sum(p.numel() for p in self.model.parameters())
        if ranks > 1:
            self.model = torch.nn.parallel.DistributedDataParallel(self.model, device_ids=[device.index])
        fused = options.optimizer == "fused" and device.type == "cuda"
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4, fused=fused or None,
                                          foreach=None if fused else True)
        scaled = options.precision == "fp16"
        if hasattr(torch.amp, "GradScaler"):
            self.scaler = torch.amp.GradScaler(device.type, enabled=scaled)
        else:
            self.scaler = torch.cuda.amp.GradScaler(enabled=scaled)
        shape = (batch, sizes["sequence"] + 1)
        text = torch.randint(0, sizes["vocabulary"], shape, device=device)
        self.inputs = text[:, :-1].contiguous().chunk(options.micro_batches)
        self.targets = text[:, 1:].contiguous().chunk(options.micro_batches)
        self.marks = Marks(torch, device, 2 * options.micro_batches + 2)

    def autocast(self):
        dtypes = {"fp16": self.torch.float16, "bf16": self.torch.bfloat16}
        dtype = dtypes.get(self.options.precision)
        return self.torch.autocast(self.device.type, dtype=dtype) if dtype else contextlib.nullcontext()

    def gradients_stay(self, last):
        """Gradients are summed over the GPUs after the last micro-batch only."""
        return contextlib.nullcontext() if last or not hasattr(self.model, "no_sync") else self.model.no_sync()

    def step(self):
        """Seconds of the step, its forward passes, its backward passes and the optimizer; and the loss."""
        self.marks.begin()
        loss = None
        for index, (inputs, targets) in enumerate(zip(self.inputs, self.targets)):
            with self.gradients_stay(index + 1 == len(self.inputs)):
                with self.autocast():
                    loss = self.model(inputs, targets) / len(self.inputs)
                self.marks.set()
                self.scaler.scale(loss).backward()
                self.marks.set()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.marks.set()
        parts = self.marks.seconds_between()
        return {"step": sum(parts), "forward": sum(parts[0:-1:2]), "backward": sum(parts[1:-1:2]),
                "optimizer": parts[-1], "loss": float(loss.detach()) * len(self.inputs)}


def spread(values):
    values = sorted(values)
    return {"median": statistics.median(values), "least": values[0], "most": values[-1], "count": len(values)}


def write_kernels(torch, trainer, file):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        trainer.step()
    averages = profile.key_averages()
    for key in ("self_cuda_time_total", "self_device_time_total"):
        try:
            table = averages.table(sort_by=key, row_limit=60)
            break
        except (AttributeError, KeyError):
            table = averages.table(row_limit=200)
    with open(file, "w", encoding="utf-8") as out:
        out.write(table)


def measure(torch, sizes, options, batch, device, ranks, kernels):
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    trainer = Trainer(torch, sizes, options, batch, device, ranks)
    began = time.monotonic()
    for _ in range(options.warm_up):
        trainer.step()
    steps = []
    while len(steps) < options.steps:
        steps.append(trainer.step())
        # Ranks must agree on the number of steps: each counts its own, so only a lone one may end early.
        if ranks == 1 and time.monotonic() - began > options.time_limit:
            break
    result = {"status": "ok", "parameters": trainer.parameters}
    for part in ("step", "forward", "backward", "optimizer"):
        result[f"{part}_s"] = spread([step[part] for step in steps])
    result["loss"] = steps[-1]["loss"]
    if on_gpu:
        result["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
        result["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
    if kernels:
        write_kernels(torch, trainer, kernels)
    return result


def main():
    options = arguments()
    sizes, batches = sizes_of(options), batches_of(options)
    try:
        import torch
    except ImportError as error:
        fail(f"PyTorch is not installed ({error})")
    on_gpu = options.device == "cuda"
    if on_gpu and not torch.cuda.is_available():
        fail("PyTorch sees no GPU (nvidia-smi and CUDA_VISIBLE_DEVICES tell which are seen)")
    if not on_gpu and options.precision not in ("fp32", "bf16"):
        fail(f"--device cpu has no {options.precision}; choose --precision fp32 or bf16")
    if options.precision == "bf16" and on_gpu and torch.cuda.get_device_capability()[0] < 8:
        fail("this GPU has no bf16; choose --precision fp16")
    ranks, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    elif ranks > 1:
        fail("--device cpu is for one process")
    torch.manual_seed(1 + rank)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    if ranks > 1:
        torch.distributed.init_process_group("nccl")
    out_of_memory = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError

    results = []
    for index, batch in enumerate(batches):
        common = {"schema": "slmsim/step/1", "model": options.model, **sizes,
                  "gpu": torch.cuda.get_device_name(device) if on_gpu else "none", "gpus": ranks, "batch": batch, "micro_batches": options.micro_batches,
                  "precision": options.precision, "attention": options.attention, "optimizer": options.optimizer,
                  "dropout": options.dropout, "torch": torch.__version__, "cuda": torch.version.cuda, "host": platform.node(),
                  "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        if on_gpu:
            common["memory_bytes"] = torch.cuda.get_device_properties(device).total_memory
        kernels = options.kernels if rank == 0 and index + 1 == len(batches) else None
        try:
            result = measure(torch, sizes, options, batch, device, ranks, kernels)
        except out_of_memory as error:
            result = {"status": "oom", "reason": str(error).splitlines()[0]}
        results.append({**common, **result})
        gc.collect()
        if rank == 0:
            time_text = f"{1e3 * result['step_s']['median']:.1f} ms" if result["status"] == "ok" else "out of memory"
            print(f"{options.model} batch {batch} x {ranks} {options.precision}: {time_text}", file=sys.stderr)
        if result["status"] == "oom" and ranks > 1:
            break
        if rank == 0 and options.output:  # after each, so that an interruption loses little
            with open(options.output + ".tmp", "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
            os.replace(options.output + ".tmp", options.output)
    if rank == 0 and not options.output:
        json.dump(results, sys.stdout, indent=1)
        print()
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
