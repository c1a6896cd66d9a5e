#!/usr/bin/env python3
"""Times training steps of Hugging Face's own models: a reference for families of models that torch_step.py does not train.

transformers with random weights and tokens, AdamW's fused kernel, one GPU. A plan (JSON) lists the steps; a result has the
keys of torch_step.py and `config`, the model's config.json.

  transformers_step.py --plan calibrate/reference/families.json --output steps.json --kernels kernels.csv --kept kept.csv

precision: autocast (bf16 over fp32 weights), accelerate (the same by accelerate, as Trainer does), bf16 (weights too), fp32,
tf32. Needs PyTorch and transformers 5; accelerate and peft where a step asks for them.
Exit status: 0 done (out of memory is a result), 1 run it again (it resumes), 2 bad usage, no GPU, no library, 3 some steps failed.
"""
import argparse
import collections
import contextlib
import csv
import faulthandler
import gc
import json
import os
import sys
import time

from torch_here import Memory, fail, load_torch, spread, write_file

KEYS = {"name": None, "config": None, "batch": 8, "sequence": 1024, "precision": "autocast", "attention": "sdpa",
        "checkpoints": False, "compile": "no", "lora": 0, "micro_batches": 1}
SHORT = (1, 64)  # a batch whose step waits for the host


def steps_of(plan):
    try:
        with open(plan, encoding="utf-8") as file:
            steps = [{**KEYS, **step} for step in json.load(file)]
    except (OSError, ValueError, TypeError) as error:
        fail(f"{plan}: {error}")
    for step in steps:
        if set(step) != set(KEYS) or not step["name"] or not isinstance(step["config"], dict):
            fail(f"{plan}: a step has a name, a config and any of {', '.join(KEYS)}")
        words = [step["name"], f"batch {step['batch']}x{step['sequence']}", step["precision"], step["attention"]]
        words += [f"{key} {step[key]}" for key in ("checkpoints", "compile", "lora", "micro_batches")
                  if step[key] != KEYS[key]]
        step["configuration"] = ", ".join(words)
    return steps


class Trainer:
    """A model with its optimizer."""

    def __init__(self, torch, step):
        import transformers
        self.torch, self.what = torch, step
        words = dict(step["config"])
        config = transformers.AutoConfig.for_model(words.pop("model_type"), **words)
        encoder = "bert" in config.model_type
        kind = transformers.AutoModelForMaskedLM if encoder else transformers.AutoModelForCausalLM
        weights = torch.bfloat16 if step["precision"] == "bf16" else torch.float32
        with torch.device("cuda"):
            model = kind.from_config(config, attn_implementation=step["attention"], dtype=weights)
        if step["lora"]:
            import peft
            model = peft.get_peft_model(model, peft.LoraConfig(r=step["lora"], lora_alpha=2 * step["lora"]))
        model = model.to("cuda").train()
        self.vocabulary = config.vocab_size
        self.parameters = sum(p.numel() for p in model.parameters())
        if step["checkpoints"]:
            model.gradient_checkpointing_enable()
            if step["lora"]:
                model.enable_input_require_grads()
        self.words = {} if encoder else {"use_cache": False}
        self.plain = model
        if step["compile"] != "no":
            model = torch.compile(model, dynamic=False)
        trained = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-5, weight_decay=0.1, fused=True)
        self.accelerator = None
        if step["precision"] == "accelerate":
            import accelerate
            self.accelerator = accelerate.Accelerator(mixed_precision="bf16")
            model, self.optimizer = self.accelerator.prepare(model, self.optimizer)
        self.model = model

    def autocast(self):
        if self.what["precision"] == "autocast":
            return self.torch.autocast("cuda", dtype=self.torch.bfloat16)
        return contextlib.nullcontext()

    def tokens(self, batch, sequence):
        return self.torch.randint(0, self.vocabulary, (batch, sequence), device="cuda")

    def forward(self, tokens, model=None):
        with self.autocast():
            return (model or self.model)(input_ids=tokens, labels=tokens, **self.words)

    def step(self, tokens, note=lambda phase: None):
        parts = self.what["micro_batches"]
        for part in tokens.chunk(parts):
            output = self.forward(part)
            loss = output.loss / parts
            note("forward")
            if self.accelerator:
                self.accelerator.backward(loss)
            else:
                loss.backward()
            note("backward")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        note("optimizer")

    def seconds(self, tokens, count):
        cuda = self.torch.cuda
        events = [cuda.Event(enable_timing=True) for _ in range(count + 1)]
        events[0].record()
        for event in events[1:]:
            self.step(tokens)
            event.record()
        cuda.synchronize()
        return [1e-3 * a.elapsed_time(b) for a, b in zip(events, events[1:])]

    def kept(self, tokens):
        """Tensors that a forward pass keeps for the backward pass: rows of shape, type, bytes of storage, count."""
        weights = {p.untyped_storage().data_ptr() for p in list(self.model.parameters()) + list(self.model.buffers())}
        seen = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if tensor.is_cuda and storage.data_ptr() not in weights and storage.data_ptr() not in seen:
                shape = "x".join(str(size) for size in tensor.shape)
                maker = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else "leaf"
                seen[storage.data_ptr()] = (shape, str(tensor.dtype).rpartition(".")[2], storage.nbytes(), maker)
            return tensor

        with self.torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            # The backward pass frees what the hooks hold.
            self.forward(tokens, self.plain).loss.backward()
        self.optimizer.zero_grad(set_to_none=True)
        return [[*row, count] for row, count in collections.Counter(seen.values()).items()]


def kernels_of(torch, trainer, tokens):
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        trainer.step(tokens)
        torch.cuda.synchronize()
    table = collections.defaultdict(lambda: [0, 0.0])
    launches = 0
    for event in profile.profiler.kineto_results.events():
        if event.device_type() == torch.autograd.DeviceType.CUDA:
            entry = table[" ".join(event.name().split())[:120]]
            entry[0] += 1
            entry[1] += 1e-3 * event.duration_ns()
        elif "aunch" in event.name():
            launches += 1
    rows = sorted(([count, round(us, 3), name] for name, (count, us) in table.items()), key=lambda row: -row[1])
    return {"count": sum(row[0] for row in rows), "seconds": 1e-6 * sum(row[1] for row in rows), "launches": launches}, rows


def measure(torch, step, seconds):
    cuda = torch.cuda
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    if step["compile"] != "no":
        torch._dynamo.reset()
    torch.set_float32_matmul_precision("high" if step["precision"] == "tf32" else "highest")
    memory = Memory(torch, torch.device("cuda"))
    begun = time.monotonic()
    trainer = Trainer(torch, step)
    memory.note("model")
    tokens = trainer.tokens(step["batch"], step["sequence"])
    first = trainer.seconds(tokens, 1)[0]
    result = {"status": "ok", "parameters": trainer.parameters, "built_s": time.monotonic() - begun,
              "first_step_s": first}
    cuda.reset_peak_memory_stats()
    one = trainer.seconds(tokens, 2)[1]
    result["step_s"] = spread(trainer.seconds(tokens, max(3, min(20, int(seconds / one)))))
    result["peak_allocated_bytes"], result["peak_reserved_bytes"] = cuda.max_memory_allocated(), cuda.max_memory_reserved()
    host = []
    for _ in range(3):
        cuda.synchronize()
        begin = time.perf_counter()
        trainer.step(tokens)
        host.append(time.perf_counter() - begin)
    result["host_s"] = spread(host)
    memory.note("rest")
    trainer.step(tokens, memory.note)
    result["memory"] = memory.at
    kernels, kept = [], []
    try:
        result["kernels"], kernels = kernels_of(torch, trainer, tokens)
        if step["compile"] == "no":
            kept = [] if step["checkpoints"] else trainer.kept(tokens)
            short = trainer.tokens(*SHORT)
            trainer.seconds(short, 2)
            result["short_s"] = spread(trainer.seconds(short, 8))
            result["short_kernels"] = kernels_of(torch, trainer, short)[0]
    except Exception as error:  # the times and the memory stand without these
        result["reason"] = f"{type(error).__name__}: {error}".splitlines()[0][:500]
    return result, kernels, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", required=True, help="JSON list of steps")
    parser.add_argument("--output", required=True, help="JSON list of results")
    parser.add_argument("--kernels", required=True, help="CSV of kernels")
    parser.add_argument("--kept", required=True, help="CSV of kept tensors")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of the whole run")
    parser.add_argument("--give-up", type=float, default=90, help="seconds after which a step ends the program")
    parser.add_argument("--seconds", type=float, default=1, help="seconds of timed steps for each")
    options = parser.parse_args()
    begun = time.monotonic()
    steps = steps_of(options.plan)
    torch = load_torch("cuda")
    try:
        import transformers
    except ImportError as error:
        fail(f"transformers is not installed ({error})")
    transformers.logging.set_verbosity_error()
    machine = {"gpu": torch.cuda.get_device_name(), "gpus": 1, "torch": torch.__version__, "cuda": torch.version.cuda,
               "transformers": transformers.__version__,
               "memory_bytes": torch.cuda.get_device_properties(0).total_memory}
    results = []
    kernels = [["configuration", "count", "us", "name"]]
    kept = [["configuration", "shape", "dtype", "bytes", "grad_fn", "count"]]
    if os.path.exists(options.output):
        with open(options.output, encoding="utf-8") as file:
            results = json.load(file)
        for name, rows in ((options.kernels, kernels), (options.kept, kept)):
            with open(name, encoding="utf-8", newline="") as file:
                rows[1:] = list(csv.reader(file))[1:]
    done = {result["configuration"] for result in results}
    for step in steps:
        left = options.budget - (time.monotonic() - begun)
        if step["configuration"] in done or left < (40 if step["compile"] != "no" else 6):
            continue
        record = {"schema": "slmsim/step/1", **{key: step[key] for key in ("configuration", *KEYS)}, **machine,
                  "optimizer": "fused", "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        faulthandler.dump_traceback_later(min(options.give_up, left + 5), exit=True)
        started = time.monotonic()
        try:
            result, of_kernels, of_kept = measure(torch, step, options.seconds)
            kernels += [[step["configuration"], *row] for row in of_kernels]
            kept += [[step["configuration"], *row] for row in of_kept]
        except torch.OutOfMemoryError as error:
            result = {"status": "oom", "reason": str(error).splitlines()[0]}
        except Exception as error:  # from any library; the others are still measured
            import traceback
            traceback.print_exc(limit=-3)
            result = {"status": "failed", "reason": f"{type(error).__name__}: {error}".splitlines()[0][:500]}
        faulthandler.cancel_dump_traceback_later()
        result["took_s"] = time.monotonic() - started
        results.append({**record, **result})
        write_file(options.output, lambda file: json.dump(results, file, indent=1))
        write_file(options.kernels, lambda file: csv.writer(file).writerows(kernels))
        write_file(options.kept, lambda file: csv.writer(file).writerows(kept))
        text = result.get("reason", "")
        if result["status"] == "ok":
            text += f"{1e3 * result['step_s']['median']:.2f} ms, peak {result['peak_allocated_bytes'] / 2**30:.2f} GiB"
            if "kernels" in result:
                text += f", {result['kernels']['count']} kernels of {1e3 * result['kernels']['seconds']:.2f} ms"
        print(f"{step['configuration']}: {result['status']} {text} ({result['took_s']:.1f} s)", file=sys.stderr)
        gc.collect()
        torch.cuda.empty_cache()
        if torch.cuda.memory_allocated() > 2**28:
            print(f"{torch.cuda.memory_allocated() / 2**30:.2f} GiB are not freed", file=sys.stderr)
            sys.exit(1)  # a new process resumes
    sys.exit(3 if any(result["status"] == "failed" for result in results) else 0)


if __name__ == "__main__":
    main()
