#!/usr/bin/env python3
"""Exported communication hooks in PyTorch on the CPU: they run in DDP and do what they say; and PowerSGD, PyTorch's own,
sends as many bytes as slmsim says."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.environ["SLMSIM_SOURCE_DIR"]
SLMSIM = os.environ["SLMSIM_BINARY"]
HIDDEN, LAYERS, SEQUENCE, VOCABULARY = 64, 2, 32, 500

SCENARIO = """
platform:
  name: two
  sites: {{one: {{}}, other: {{}}}}
  vms: {{a: {{site: one, type: workstation, gpus: [a30]}}, b: {{site: other, type: workstation, gpus: [a30]}}}}
  links: {{wan: {{between: [one, other], rtt: 1 ms, bandwidth: 10 Gbps, loss: 0}}}}
models:
  - {{name: tiny, family: gpt2, hidden: {hidden}, heads: 4, layers: {layers}, sequence: {sequence}, vocabulary: {vocabulary}}}
techniques: {{DDP: {{{options}}}}}
groups: [all]
training: {{batch: {batch}, epochs: 1, blocks_per_epoch: {blocks}, precision: fp32}}
"""


def scenario(folder, options, batch=2):
    file = os.path.join(folder, "scenario.yaml")
    with open(file, "w", encoding="utf-8") as text:
        text.write(SCENARIO.format(options=options, hidden=HIDDEN, layers=LAYERS, sequence=SEQUENCE,
                                   vocabulary=VOCABULARY, batch=batch, blocks=100 * batch))
    return file


def run(*words):
    done = subprocess.run([SLMSIM, *words], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def exported(options):
    """The text of compress.py for a plan with these options; large batches make both GPUs worth their distance."""
    with tempfile.TemporaryDirectory() as folder:
        run("plan", scenario(folder, options, batch=4096), "--export", folder)
        with open(os.path.join(folder, "compress.py"), encoding="utf-8") as text:
            return text.read()


def worker(rank, ranks, folder, what):
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=ranks)
    torch.manual_seed(0)
    result = {"hook": hooked, "powersgd": low_rank}[what](rank, ranks, folder, torch, dist)
    if rank == 0:
        with open(os.path.join(folder, "result.json"), "w", encoding="utf-8") as text:
            json.dump(result, text)
    # None leaves while another may still wait for it; and without the interpreter's last tidying: DDP's hooks may still hold
    # the group then, whose threads end the process.
    open(os.path.join(folder, f"done{rank}"), "w", encoding="utf-8").close()
    while not all(os.path.exists(os.path.join(folder, f"done{other}")) for other in range(ranks)):
        time.sleep(0.01)
    os._exit(0)


def hooked(rank, ranks, folder, torch, dist):
    """Gradients of two steps, as DDP with the hook has them, and their means."""
    sys.path.insert(0, folder)
    import compress
    model = torch.nn.Linear(90, 70)
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    parallel.register_comm_hook(None, compress.hook)
    got, true = [], []
    for step in range(2):
        torch.manual_seed(10 * step + rank)
        data = torch.randn(5, 90)
        parallel.zero_grad()
        parallel(data).square().sum().backward()
        got.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        alone = torch.nn.Linear(90, 70)
        alone.load_state_dict(model.state_dict())
        alone(data).square().sum().backward()
        mean = torch.cat([p.grad.flatten() for p in alone.parameters()])
        dist.all_reduce(mean)
        true.append(mean / ranks)
    return {"got": [g.tolist() for g in got], "true": [t.tolist() for t in true]}


def low_rank(_rank, _ranks, _folder, torch, dist):
    """Numbers that PyTorch's hook all-reduces in a step, of the tensors of slmsim's model."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.LayerNorm(HIDDEN), torch.nn.Linear(HIDDEN, 3 * HIDDEN), torch.nn.Linear(HIDDEN, HIDDEN),
                   torch.nn.LayerNorm(HIDDEN), torch.nn.Linear(HIDDEN, 4 * HIDDEN), torch.nn.Linear(4 * HIDDEN, HIDDEN)]
    layers += [torch.nn.LayerNorm(HIDDEN)]
    tables = [torch.nn.Parameter(torch.randn(VOCABULARY, HIDDEN)), torch.nn.Parameter(torch.randn(SEQUENCE, HIDDEN))]

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(layers)
            self.tables = torch.nn.ParameterList(tables)

        def forward(self, _):
            return sum(p.square().sum() for p in self.parameters())

    model = torch.nn.parallel.DistributedDataParallel(Model())
    state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank=4, start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    counted, plain = [], dist.all_reduce

    def counting(tensor, *args, **kwargs):
        counted[-1] += tensor.numel()
        return plain(tensor, *args, **kwargs)

    dist.all_reduce = counting
    for _ in range(4):
        counted.append(0)
        model(torch.zeros(1)).backward()
    dist.all_reduce = plain
    return counted[-1]


def forked(what, ranks, files=()):
    import torch.multiprocessing  # here, once: forked processes have it
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as text:
                text.write(content)
        torch.multiprocessing.start_processes(worker, args=(ranks, folder, what), nprocs=ranks, start_method="fork")
        with open(os.path.join(folder, "result.json"), encoding="utf-8") as text:
            return json.load(text)


class TorchHook(unittest.TestCase):
    def error(self, options, ranks):
        result = forked("hook", ranks, [("compress.py", exported(options))])
        worst = 0
        for got, true in zip(result["got"], result["true"]):
            largest = max(abs(t) for t in true)
            worst = max(worst, max(abs(g - t) for g, t in zip(got, true)) / largest)
        return worst

    def test_sums_int8_by_shares(self):
        # Each number is rounded twice to half of 1/127 of its block's largest; ranks' blocks may be larger than their mean's.
        for ranks in (2, 3):
            self.assertLess(self.error("compress: int8", ranks), 4 / 127)

    def test_sums_int4_by_shares(self):
        worst = self.error("compress: int4", 2)
        self.assertLess(worst, 4 / 7)
        self.assertGreater(worst, 1 / 127)

    def test_gathers_the_largest_and_keeps_the_rest(self):
        result = forked("hook", 2, [("compress.py", exported("compress: topk, density: 0.1"))])
        numbers = 90 * 70 + 70
        for got in result["got"]:
            kept = sum(g != 0 for g in got)
            self.assertGreaterEqual(kept, numbers * 0.1)
            self.assertLessEqual(kept, 2 * numbers * 0.1 + 1)
        everything = forked("hook", 2, [("compress.py", exported("compress: topk, density: 1"))])
        for got, true in zip(everything["got"], everything["true"]):
            for g, t in zip(got, true):
                self.assertAlmostEqual(g, t, delta=1e-4)

    def test_powersgd_sends_as_many_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = scenario(folder, "compress: powersgd, rank: 4, warm_up: 2")
            told = json.loads(run("run", file, "--format", "json", "--set", "training.epochs=1"))
        links = {link["link"]: link["bytes"] for link in told["predictions"][0]["links"] if "wan" in link["link"]}
        self.assertTrue(links)
        # A ring of two sends the buffer once each way.
        numbers = forked("powersgd", 2)
        for name, sent in links.items():
            self.assertAlmostEqual(sent, 4 * numbers, delta=0.001 * 4 * numbers, msg=name)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("skipped: PyTorch is not installed")
        sys.exit(77)
    unittest.main()
