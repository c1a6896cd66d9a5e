#!/usr/bin/env python3
"""Times training steps of a GPT-2 or Llama in PyTorch: a reference for slmsim's predictions that none of its code made.

AdamW with fp32 weights, mixed precision by autocast, random weights and tokens. One JSON object per configuration goes
to --output (a list) or standard output; `slmsim validate --measured FILE` compares. With several GPUs, start it by
torchrun: DistributedDataParallel, one process per GPU; --batch is then the number of sequences per GPU.

  torch_step.py --models calibrate/shapes/models.json --model gpt2m --batch 1,2,4,8 --output steps.json
  torch_step.py --hidden 1024 --heads 16 --layers 24 --sequence 1024 --vocabulary 50257 --batch 4
  torchrun --nproc-per-node 2 torch_step.py --models calibrate/shapes/models.json --model gpt2m --batch 4
  torch_step.py --models calibrate/shapes/models.json --plan calibrate/reference/steps.plan --output steps.json

A plan has a line of these options per measurement. Its output is whole after each configuration; the same command
resumes after an interruption and skips what the output holds, failures included.

models.json comes from `slmsim shapes MODEL... --format json`. Needs PyTorch 1.13 or later with CUDA. --device cpu, with
a small model, tries the program out where there is no GPU; such times say nothing about one.
Exit status: 0 done (out of memory is a result), 1 a configuration broke the program off (run it again), 2 bad usage, no
PyTorch or no GPU, 3 some configurations failed.
"""
import argparse
import collections
import contextlib
import copy
import csv
import faulthandler
import gc
import json
import os
import platform
import shlex
import sys
import tempfile
import time

from torch_here import Memory, fail, load_torch, spread, write_file

SIZES = ("hidden", "heads", "layers", "sequence", "vocabulary", "intermediate")
PHASES = ("forward", "backward", "optimizer")
DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")  # categories of PyTorch's traces
KERNEL_COLUMNS = ("configuration", "kind", "count", "us", "name")
NAME_LENGTH = 120
COMPILING_S = 40  # for a configuration with torch.compile, until one is timed
BROKEN_OFF = "the program ended while it measured this"


def make_parser():
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
                        help="eager: separate products and softmax; sdpa: PyTorch's fused one, flash where it can")
    parser.add_argument("--optimizer", choices=("fused", "foreach", "single"), default="fused",
                        help="PyTorch's AdamW: one kernel, lists of tensors, or tensor by tensor")
    parser.add_argument("--compile", choices=("no", "blocks", "model"), default="no",
                        help="torch.compile of each block, or of the whole model")
    parser.add_argument("--checkpoints", action="store_true", help="recompute each block in the backward pass")
    parser.add_argument("--lora", type=int, default=0, metavar="RANK", help="train adapters of the attention only")
    parser.add_argument("--dropout", type=float, default=0.1, help="of GPT-2; Llama has none")
    parser.add_argument("--warm-up", type=int, default=5, help="warm-up steps, not counted")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=60, help="seconds per configuration; then fewer steps count")
    parser.add_argument("--label", default="", help="label that distinguishes equal configurations")
    parser.add_argument("--plan", help="file with a line of options per measurement; the others hold for all lines")
    parser.add_argument("--budget", type=float, help="seconds of the whole run; a configuration that may exceed the rest is not started")
    parser.add_argument("--give-up", type=float, default=120, help="seconds after which a configuration has failed")
    parser.add_argument("--kernels", help="also write the kernels of one step of each configuration to this CSV file")
    parser.add_argument("--output", help="JSON file; default standard output")
    return parser


def sizes_of(options):
    sizes = {"family": "gpt2", "tied_embedding": True}
    if options.models:
        try:
            with open(options.models, encoding="utf-8") as file:
                models = {model["name"]: model for model in json.load(file)["models"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            fail(f"{options.models}: {error}")
        if options.model not in models:
            fail(f"{options.models} has no model {options.model!r}; known are: {', '.join(sorted(models))}")
        sizes.update({key: value for key, value in models[options.model].items() if key not in ("name", "parameters")})
        if sizes["family"] not in ("gpt2", "llama"):
            fail(f"{options.model} is neither a GPT-2 nor a Llama; this program trains no others")
    for size in SIZES:
        if getattr(options, size) is not None:
            sizes[size] = getattr(options, size)
    if "hidden" in sizes:
        sizes.setdefault("intermediate", 4 * sizes["hidden"])
    missing = [f"--{size}" for size in SIZES if size not in sizes]
    if missing:
        fail(f"the model's sizes are not known: give --models and --model, or {' '.join(missing)}")
    sizes.setdefault("kv_heads", sizes["heads"])
    if min(sizes[size] for size in SIZES) < 1 or sizes["hidden"] % sizes["heads"] or sizes["heads"] % sizes["kv_heads"]:
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


class Configuration:
    """What one measurement trains."""

    def __init__(self, options, sizes, batch):
        self.options, self.sizes, self.batch = options, sizes, batch
        words = [options.model, f"batch {batch}x{sizes['sequence']}", options.precision, options.attention,
                 options.optimizer]
        for name, value in (("layers", options.layers), ("micro-batches", options.micro_batches),
                            ("compile", options.compile), ("checkpoints", options.checkpoints), ("lora", options.lora),
                            ("dropout", options.dropout), ("label", options.label)):
            if value != make_parser().get_default(name.replace("-", "_")):
                words.append(f"{name} {value}")
        self.title = ", ".join(words)

    def record(self):
        options = self.options
        gpt2 = self.sizes["family"] == "gpt2"
        extra = {} if gpt2 else {key: self.sizes[key] for key in ("family", "kv_heads", "tied_embedding")}
        return {"schema": "slmsim/step/1", "configuration": self.title, "model": options.model, **extra,
                **{size: self.sizes[size] for size in SIZES}, "batch": self.batch,
                "micro_batches": options.micro_batches, "precision": options.precision,
                "attention": options.attention, "optimizer": options.optimizer, "compile": options.compile,
                "checkpoints": options.checkpoints, "lora": options.lora,
                "dropout": options.dropout if gpt2 else 0.0}


def configurations_of(parser, options):
    lines = [options]
    if options.plan:
        try:
            with open(options.plan, encoding="utf-8") as file:
                lines = [parser.parse_args(words, copy.copy(options))
                         for words in (shlex.split(line, comments=True) for line in file) if words]
        except (OSError, ValueError) as error:
            fail(f"{options.plan}: {error}")
    return [Configuration(line, sizes_of(line), batch) for line in lines for batch in batches_of(line)]


class Marks:
    """Points in time of the device's work: CUDA events, or a clock."""

    def __init__(self, torch, device, most):
        self.torch, self.used = torch, 0
        self.events = None
        if device.type == "cuda":
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(most)]
        self.times = [0.0] * most

    def set(self, _phase=None):
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
    """A model with its optimizer and one batch of tokens."""

    def __init__(self, torch, configuration, device, ranks):
        from torch_model import Model
        options, sizes = configuration.options, configuration.sizes
        self.torch, self.options, self.device = torch, options, device
        # Created on the device where PyTorch supports it (2.0): a CPU takes seconds for the random numbers.
        with device if hasattr(device, "__enter__") else contextlib.nullcontext():
            model = Model(sizes, options.attention == "sdpa", options.dropout, options.checkpoints, options.lora)
        self.model = model.to(device).train()
        self.parameters = sum(p.numel() for p in self.model.parameters())
        if options.compile != "no" and not hasattr(torch, "compile"):
            raise RuntimeError("this PyTorch has no torch.compile")
        if options.compile == "blocks":
            for block in self.model.blocks:
                block.compile(dynamic=False)
        elif options.compile == "model":
            self.model = torch.compile(self.model, dynamic=False)
        if ranks > 1:
            self.model = torch.nn.parallel.DistributedDataParallel(self.model, device_ids=[device.index])
        fused = {"fused": True} if options.optimizer == "fused" and device.type == "cuda" else {}
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-4, weight_decay=0.1, **fused,
                                           foreach=None if fused else options.optimizer != "single")
        scaled = options.precision == "fp16"
        if hasattr(torch.amp, "GradScaler"):
            self.scaler = torch.amp.GradScaler(device.type, enabled=scaled)
        else:
            self.scaler = torch.cuda.amp.GradScaler(enabled=scaled)
        text = torch.randint(0, sizes["vocabulary"], (configuration.batch, sizes["sequence"] + 1), device=device)
        self.inputs = text[:, :-1].contiguous().chunk(options.micro_batches)
        self.targets = text[:, 1:].contiguous().chunk(options.micro_batches)
        self.loss = None

    def autocast(self):
        dtypes = {"fp16": self.torch.float16, "bf16": self.torch.bfloat16}
        dtype = dtypes.get(self.options.precision)
        return self.torch.autocast(self.device.type, dtype=dtype) if dtype else contextlib.nullcontext()

    def gradients_stay(self, last):
        """Gradients are summed over the GPUs after the last micro-batch only."""
        return contextlib.nullcontext() if last or not hasattr(self.model, "no_sync") else self.model.no_sync()

    def step(self, mark=lambda phase: None):
        """Trains once, without waiting for the device; mark(phase) is called after each phase of PHASES."""
        for index, (inputs, targets) in enumerate(zip(self.inputs, self.targets)):
            with self.gradients_stay(index + 1 == len(self.inputs)):
                with self.autocast():
                    self.loss = self.model(inputs, targets) / len(self.inputs)
                mark("forward")
                self.scaler.scale(self.loss).backward()
                mark("backward")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        mark("optimizer")

    def run(self, count):
        """Trains steps back to back; returns the seconds of each step and of its phases, by the device's clock."""
        marks_of_step = 2 * len(self.inputs) + 1
        marks = Marks(self.torch, self.device, count * marks_of_step + 1)
        marks.set()
        for _ in range(count):
            self.step(marks.set)
        seconds = marks.seconds_between()
        steps = []
        for begin in range(0, len(seconds), marks_of_step):
            parts = seconds[begin:begin + marks_of_step]
            steps.append({"step": sum(parts), "forward": sum(parts[0:-1:2]), "backward": sum(parts[1:-1:2]),
                          "optimizer": parts[-1]})
        return steps

    def host_seconds(self):
        """Time until the host has handed over a whole step to a device that waits for work."""
        self.wait()
        begun = time.perf_counter()
        self.step()
        return time.perf_counter() - begun

    def wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()


def trace_of_step(torch, trainer):
    """Events of one step as PyTorch's profiler writes them."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if trainer.device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    trainer.wait()
    with torch.profiler.profile(activities=activities) as profile:
        trainer.step()
        trainer.wait()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(file)
        with open(file, encoding="utf-8", errors="replace") as text:
            trace = json.load(text)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace  # a list: PyTorch built without Kineto
    return [event for event in events if event.get("ph") == "X" and "dur" in event]


def kind_of(event):
    return str(event.get("cat", "cpu_op")).lower()


def kernels_of(events, kinds):
    """Totals of the step's device work, and a row (kind, count, us, name) for each kernel, the longest first."""
    table = collections.defaultdict(lambda: [0, 0.0])
    for event in events:
        kind = kind_of(event)
        if kind in kinds:
            entry = table[kind, " ".join(event["name"].split())[:NAME_LENGTH]]
            entry[0] += 1
            entry[1] += float(event["dur"])
    rows = sorted(([kind, count, round(us, 3), name] for (kind, name), (count, us) in table.items()),
                  key=lambda row: -row[2])
    launches = [event for event in events if kind_of(event).startswith("cuda_") and "Launch" in event["name"]]
    totals = {"count": sum(row[1] for row in rows), "seconds": sum(row[2] for row in rows) * 1e-6,
              "launches": len(launches), "launches_s": sum(float(event["dur"]) for event in launches) * 1e-6}
    return totals, rows


def measure(torch, configuration, device, ranks, wants_kernels):
    """The result's keys, and the rows of its table of kernels."""
    options = configuration.options
    on_gpu, alone = device.type == "cuda", ranks == 1
    memory = Memory(torch, device)
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    if options.compile != "no" and hasattr(torch, "_dynamo"):
        torch._dynamo.reset()
    began = time.monotonic()
    trainer = Trainer(torch, configuration, device, ranks)
    memory.note("model")
    first = trainer.run(1)[0]["step"]
    result = {"status": "ok", "parameters": trainer.parameters, "built_s": time.monotonic() - began, "first_step_s": first}
    # Ranks must agree on the number of steps: each has its own clock, so only a single one may stop early.
    warm = time.monotonic()
    for _ in range(1, options.warm_up):
        trainer.run(1)
        if alone and time.monotonic() - warm > options.time_limit / 4:
            break
    one = trainer.run(1)[0]["step"]
    count = max(min(options.steps, int(options.time_limit / one)), min(options.steps, 3)) if alone else options.steps
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    steps = trainer.run(count)
    for part in ("step", *PHASES):
        result[f"{part}_s"] = spread([step[part] for step in steps])
    result["loss"] = float(trainer.loss.detach()) * options.micro_batches
    if on_gpu:
        stats = torch.cuda.memory_stats()
        result["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
        result["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
        result["peak_requested_bytes"] = stats.get("requested_bytes.all.peak", 0)
        result["outside_bytes"] = memory.outside()
        result["segments"] = stats.get("segment.all.current", 0)
        result["allocations_retried"] = stats.get("num_alloc_retries", 0)
    if alone:
        result["host_s"] = spread([trainer.host_seconds() for _ in range(min(count, 5))])
        memory.note("rest")
        trainer.step(memory.note)
        result["memory"] = memory.at
    rows = []
    if wants_kernels:
        kinds = DEVICE_WORK if on_gpu else ("cpu_op", "operator")
        result["kernels"], rows = kernels_of(trace_of_step(torch, trainer), kinds)
    return result, rows


def set_precision(torch, configuration):
    torch.set_float32_matmul_precision("high" if configuration.options.precision == "tf32" else "highest")


def refusal(torch, configuration):
    """Why this machine cannot run a configuration; empty where it can."""
    precision, on_gpu = configuration.options.precision, configuration.options.device == "cuda"
    if not on_gpu and precision not in ("fp32", "bf16"):
        return f"--device cpu has no {precision}; choose --precision fp32 or bf16"
    if precision in ("bf16", "tf32") and on_gpu and torch.cuda.get_device_capability()[0] < 8:
        return f"this GPU has no {precision}; choose --precision fp16"
    return ""


class Results:
    """The output files, whole after each configuration."""

    def __init__(self, options):
        self.options = options
        self.results, self.rows = [], []
        if options.plan:
            self.take_up()

    def take_up(self):
        try:
            if self.options.output and os.path.exists(self.options.output):
                with open(self.options.output, encoding="utf-8") as file:
                    self.results = json.load(file)
            if self.options.kernels and os.path.exists(self.options.kernels):
                with open(self.options.kernels, encoding="utf-8", newline="") as file:
                    self.rows = list(csv.reader(file))[1:]
        except (OSError, ValueError) as error:
            fail(f"cannot resume from {self.options.output}: {error}; remove it to start over")

    def has(self, title):
        return any(result.get("configuration") == title for result in self.results)

    def put(self, result, rows=()):
        """In place of the one that says that this configuration was begun."""
        last = self.results[-1] if self.results else {}
        if last.get("configuration") == result["configuration"] and last.get("reason") == BROKEN_OFF:
            self.results.pop()
        self.results.append(result)
        self.rows += [[result["configuration"], *row] for row in rows]
        self.write()

    def drop_last(self):
        self.results.pop()
        self.write()

    def write(self):
        if self.options.output:
            write_file(self.options.output, lambda file: json.dump(self.results, file, indent=1))
        if self.options.kernels:
            write_file(self.options.kernels, lambda file: csv.writer(file).writerows([KERNEL_COLUMNS, *self.rows]))


def sentence(result):
    if result["status"] != "ok":
        return result["status"] + ": " + result["reason"]
    text = f"{1e3 * result['step_s']['median']:.2f} ms"
    if "host_s" in result:
        text += f", host {1e3 * result['host_s']['median']:.2f} ms"
    if "kernels" in result:
        text += f", {result['kernels']['count']} kernels of {1e3 * result['kernels']['seconds']:.2f} ms"
    if "peak_allocated_bytes" in result:
        text += f", peak {result['peak_allocated_bytes'] / 2**30:.2f} GiB"
    return text


def main():
    parser = make_parser()
    options = parser.parse_args()
    begun = time.monotonic()
    configurations = configurations_of(parser, options)
    torch = load_torch(options.device)
    on_gpu = options.device == "cuda"
    if not options.plan and refusal(torch, configurations[0]):
        fail(refusal(torch, configurations[0]))
    ranks, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    if ranks > 1 and (options.plan or not on_gpu):
        fail("--plan and --device cpu are for one process")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
        # cuDNN's attention is disabled, because the simulator models flash attention.
        if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
            torch.backends.cuda.enable_cudnn_sdp(False)
    torch.manual_seed(1 + rank)
    if ranks > 1:
        torch.distributed.init_process_group("nccl")
    out_of_memory = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
    machine = {"gpu": torch.cuda.get_device_name(device) if on_gpu else "none", "gpus": ranks,
               "torch": torch.__version__, "cuda": torch.version.cuda, "host": platform.node()}
    if on_gpu:
        machine["memory_bytes"] = torch.cuda.get_device_properties(device).total_memory

    results = Results(options)
    longest = {}  # seconds of a configuration, without and with torch.compile
    not_begun = 0
    for configuration in configurations:
        if options.plan and results.has(configuration.title):
            continue
        left = options.budget - (time.monotonic() - begun) if options.budget else float("inf")
        compiles = configuration.options.compile != "no"
        if left <= longest.get(compiles, COMPILING_S if compiles else 0):
            not_begun += 1
            continue
        record = {**configuration.record(), **machine, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        reason, broken = refusal(torch, configuration), False
        rows = []
        if rank == 0 and options.plan:
            results.put({**record, "status": "failed", "reason": BROKEN_OFF})
            # Ends the program even where it hangs in a library.
            faulthandler.dump_traceback_later(min(options.give_up, left), exit=True)
        started = time.monotonic()
        try:
            set_precision(torch, configuration)
            result = {"status": "failed", "reason": reason}
            if not reason:
                result, rows = measure(torch, configuration, device, ranks, rank == 0 and bool(options.kernels))
        except out_of_memory as error:
            result = {"status": "oom", "reason": str(error).splitlines()[0]}
        except KeyboardInterrupt:
            if options.plan:
                results.drop_last()
            raise
        except Exception as error:  # from any library; the others are still measured
            if not options.plan:
                raise
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
            result, broken = {"status": "failed", "reason": reason}, "CUDA error" in str(error)
        faulthandler.cancel_dump_traceback_later()
        result["took_s"] = time.monotonic() - started
        longest[compiles] = max(longest.get(compiles, 0), result["took_s"])
        if rank == 0:
            results.put({**record, **result}, rows)
            print(f"{configuration.title} x {ranks}: {sentence(result)} ({result['took_s']:.1f} s)", file=sys.stderr)
        if broken:
            sys.exit(1)  # nothing runs in a broken context
        gc.collect()
        if result["status"] == "oom" and ranks > 1:
            break
    if not_begun:
        print(f"torch_step.py: {not_begun} configurations were not begun: the time is up", file=sys.stderr)
    if rank == 0 and not options.output:
        json.dump(results.results, sys.stdout, indent=1)
        print()
    if ranks > 1:
        torch.distributed.destroy_process_group()
    sys.exit(3 if any(result["status"] == "failed" for result in results.results) else 0)


if __name__ == "__main__":
    main()
