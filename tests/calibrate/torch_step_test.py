#!/usr/bin/env python3
"""The reference training step on the CPU: what it counts, writes and refuses, and that slmsim reads it."""
import csv
import importlib.util
import json
import math
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time  # noqa: F401  # for disturbances
import traceback
import unittest

ROOT = os.environ["SLMSIM_SOURCE_DIR"]
SCRIPT = os.path.join(ROOT, "calibrate/reference/torch_step.py")
TINY = ["--hidden", "64", "--heads", "4", "--layers", "2", "--sequence", "32", "--vocabulary", "100"]
CPU = ["--device", "cpu", "--warm-up", "1", "--steps", "3"]
SIZES = {"hidden": 32, "heads": 4, "kv_heads": 4, "layers": 2, "sequence": 16, "vocabulary": 50, "intermediate": 96}
MODELS = {"models": [{"name": "gpt2", "family": "gpt2", "tied_embedding": True, **SIZES},
                     {"name": "llama", "family": "llama", "tied_embedding": False, **SIZES, "kv_heads": 2}]}


def disturb(act):
    """A model that does something when it is given four sequences, and a stand-in for what old versions of PyTorch lack."""
    import torch
    import torch_model
    forward = torch_model.Model.forward

    def disturbed(self, inputs, targets):
        if len(inputs) == 4:
            exec(act)
        return forward(self, inputs, targets)

    def attention(q, k, v, is_causal, dropout_p=0.0):
        future = torch.ones(q.size(2), k.size(2), dtype=torch.bool).triu(1)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        return torch.matmul(torch.softmax(scores.masked_fill(future, -1e4), -1).to(v.dtype), v)

    torch_model.Model.forward = disturbed
    torch.nn.functional.scaled_dot_product_attention = attention


def begin(script, words, out, err, prepare):
    """In a process of its own."""
    for file, number in ((out, 1), (err, 2)):
        os.dup2(file.fileno(), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, os.path.dirname(script))
    sys.argv = [script, *words]
    status = 1
    try:
        prepare()
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def run(script, words, prepare=lambda: None):
    """As by the command line, in a copy of this process: PyTorch takes long to load, and computes nothing in this one."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            begin(script, words, out, err, prepare)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [(file.seek(0), file.read())[1] for file in (out, err)]
    return subprocess.CompletedProcess([script, *words], status, *texts)


def step(*words):
    return run(SCRIPT, words)


def step_with(disturbance, *words, script=SCRIPT):
    return run(script, words, lambda: disturb(disturbance))


class Plan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("models.json", json.dumps(MODELS))
        self.words = [*CPU, "--models", self.file("models.json"), "--plan", self.file("plan"),
                      "--output", self.file("steps.json"), "--kernels", self.file("kernels.csv")]

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def steps(self):
        with open(self.file("steps.json"), encoding="utf-8") as file:
            return json.load(file)

    def states(self):
        return [(one["batch"], one["status"]) for one in self.steps()]

    def test_each_line_is_a_measurement_that_is_made_once(self):
        self.write("plan", "# two models\n--model gpt2 --batch 1,2 --precision bf16 --optimizer single\n\n"
                           "--model llama --batch 2 --precision fp32 --attention sdpa --checkpoints\n"
                           "--model llama --precision fp32 --lora 4\n")
        done = step_with("", *self.words)
        self.assertEqual(done.returncode, 0, done.stderr)
        first = self.steps()
        self.assertEqual([(one["model"], one["batch"], one["lora"]) for one in first],
                         [("gpt2", 1, 0), ("gpt2", 2, 0), ("llama", 2, 0), ("llama", 1, 4)])
        h, kv, wide, v = 32, 16, 96, 50
        self.assertEqual(first[2]["parameters"], 2 * v * h + 2 * (2 * h * h + 2 * h * kv + 3 * h * wide + 2 * h) + h)
        with open(self.file("kernels.csv"), encoding="utf-8", newline="") as text:
            kernels = list(csv.DictReader(text))
        self.assertEqual({row["configuration"] for row in kernels}, {one["configuration"] for one in first})
        self.assertEqual(sum(int(row["count"]) for row in kernels), sum(one["kernels"]["count"] for one in first))

        self.write("plan", "--model gpt2 --batch 1,2,3 --precision bf16 --optimizer single\n")
        self.assertEqual(step_with("raise SystemExit(9)", *self.words).returncode, 0)
        self.assertEqual(self.steps()[:-1], first)
        self.assertEqual(self.steps()[-1]["batch"], 3)

    def test_what_fails_stops_no_other(self):
        self.write("plan", "--model gpt2 --precision fp16\n--model gpt2 --batch 4,2 --precision fp32\n")
        done = step_with("raise ValueError('no such thing')", *self.words)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.states(), [(1, "failed"), (4, "failed"), (2, "ok")])
        self.assertEqual(self.steps()[1]["reason"], "ValueError: no such thing")
        compared = subprocess.run([os.environ["SLMSIM_BINARY"], "validate", "--measured", self.file("steps.json"),
                                   "--gpu", "a30"], capture_output=True, text=True, check=False, cwd=ROOT)
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertIn("Step time: 1 cells", compared.stdout)

    def test_what_ends_the_program_or_hangs_is_not_tried_again(self):
        self.write("plan", "--model gpt2 --batch 4,2 --precision fp32\n")
        for disturbance, status in (("os._exit(9)", 9), ("time.sleep(600)", 1)):
            done = step_with(disturbance, *self.words, "--give-up", "2")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(self.states(), [(4, "failed")])
            self.assertEqual(step(*self.words).returncode, 3)
            self.assertEqual(self.states(), [(4, "failed"), (2, "ok")])
            os.remove(self.file("steps.json"))

    def test_what_was_interrupted_is_tried_again(self):
        self.write("plan", "--model gpt2 --batch 2,4 --precision fp32\n")
        self.assertNotEqual(step_with("raise KeyboardInterrupt", *self.words).returncode, 0)
        self.assertEqual(self.states(), [(2, "ok")])
        self.assertEqual(step(*self.words).returncode, 0)
        self.assertEqual(self.states(), [(2, "ok"), (4, "ok")])

    def test_no_configuration_begins_late(self):
        self.write("plan", "--model gpt2 --batch 1,2 --precision fp32\n")
        done = step(*self.words, "--budget", "1e-9")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the time is up", done.stderr)
        self.assertFalse(os.path.exists(self.file("steps.json")))

    def test_says_which_line_is_wrong(self):
        self.write("plan", "--model gpt3\n")
        done = step(*self.words)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no model 'gpt3'", done.stderr)

    def test_plans_beside_the_program_are_right(self):
        sys.path.insert(0, os.path.dirname(SCRIPT))
        self.addCleanup(sys.path.remove, os.path.dirname(SCRIPT))
        torch_step = importlib.import_module("torch_step")
        parser = torch_step.make_parser()
        for name in ("steps.plan", "smoke.plan", "extra.plan", "small-models.plan"):
            plan = os.path.join(ROOT, "calibrate/reference", name)
            models = os.path.join(ROOT, "calibrate/shapes/models.json")
            options = parser.parse_args(["--models", models, "--plan", plan])
            titles = [one.title for one in torch_step.configurations_of(parser, options)]
            self.assertEqual(len(titles), len(set(titles)))


class Attention(unittest.TestCase):
    def test_writes_times_of_each_size_once(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "flash.csv")
            script = os.path.join(ROOT, "calibrate/reference/torch_attention.py")
            words = ["--device", "cpu", "--widths", "8", "--heads", "2", "--precisions", "fp32", "--point", "0.001",
                     "--output", file]
            for lengths in ("128,256", "128,256,512"):
                done = step_with("", *words, "--lengths", lengths, "--backends", "flash,math", script=script)
                self.assertEqual(done.returncode, 0, done.stderr)
            with open(file, encoding="utf-8", newline="") as text:
                rows = list(csv.DictReader(text))
            sizes = [(row["kernel"], row["backend"], row["batch"], row["m"], row["n"], row["k"]) for row in rows]
            self.assertEqual(len(sizes), len(set(sizes)))
            self.assertEqual(len(sizes), 2 * 2 * 3)
            self.assertIn(("flash-backward", "flash", "8", "256", "256", "8"), sizes)
            self.assertTrue(all(0 < float(row["low"]) <= float(row["seconds"]) <= float(row["high"]) for row in rows))


class TorchStep(unittest.TestCase):
    def test_writes_what_slmsim_compares(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "steps.json")
            done = step(*TINY, *CPU, "--precision", "bf16", "--batch", "2,4", "--micro-batches", "2", "--output", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(file, encoding="utf-8") as text:
                steps = json.load(text)
            self.assertEqual([one["batch"] for one in steps], [2, 4])
            for one in steps:
                # 12 L h^2 + 13 L h + 2 h + (V + S) h, the head tied to the embedding.
                self.assertEqual(one["parameters"], 12 * 2 * 64**2 + 13 * 2 * 64 + 2 * 64 + (100 + 32) * 64)
                self.assertEqual(one["step_s"]["count"], 3)
                self.assertLessEqual(one["step_s"]["least"], one["step_s"]["median"])
                # Random tokens: the loss of a new model is about log V.
                self.assertAlmostEqual(one["loss"], 4.6, delta=0.5)
            compared = subprocess.run([os.environ["SLMSIM_BINARY"], "validate", "--measured", file, "--gpu", "a30"],
                                      capture_output=True, text=True, check=False, cwd=ROOT)
            self.assertEqual(compared.returncode, 0, compared.stderr)
            self.assertIn("Step time: 2 cells", compared.stdout)

    def test_trains(self):
        done = step(*TINY, *CPU, "--precision", "fp32", "--dropout", "0", "--steps", "120", "--optimizer", "foreach")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(json.loads(done.stdout)[0]["loss"], 4.4)  # the same batch again and again

    def test_refuses_what_makes_no_sense(self):
        models = ["--models", os.path.join(ROOT, "calibrate/shapes/models.json")]
        for words, text in ((CPU, "sizes are not known"), ([*models, "--model", "gpt5"], "no model 'gpt5'"),
                            ([*TINY, *CPU, "--batch", "x"], "numbers such as 1,2,4"),
                            ([*TINY, "--batch", "3", "--micro-batches", "2"], "multiple of --micro-batches"),
                            ([*TINY, *CPU, "--precision", "fp16"], "--device cpu has no fp16")):
            done = step(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)

    def test_says_that_there_is_no_gpu(self):
        # In a Python of its own, as users start it.
        done = subprocess.run([sys.executable, "-B", SCRIPT, *TINY], capture_output=True, text=True, check=False,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch sees no GPU", done.stderr)


class TransformersStep(unittest.TestCase):
    """Its models need transformers and a GPU; the plan is read first."""

    def measure(self, plan):
        with tempfile.TemporaryDirectory() as folder:
            files = [word for key in ("output", "kernels", "kept") for word in (f"--{key}", os.path.join(folder, key))]
            script = os.path.join(ROOT, "calibrate/reference/transformers_step.py")
            return subprocess.run([sys.executable, "-B", script, "--plan", plan, *files], capture_output=True, text=True,
                                  env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})

    def test_the_plan_beside_it_is_right(self):
        done = self.measure(os.path.join(ROOT, "calibrate/reference/families.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch sees no GPU", done.stderr)

    def test_says_what_is_wrong_with_a_plan(self):
        for text, message in (("[{]", "families.json: "), ('[{"name": "gpt2"}]', "a step has a name, a config"),
                              ('[{"name": "gpt2", "config": {}, "bach": 2}]', "a step has a name, a config")):
            with tempfile.TemporaryDirectory() as folder:
                plan = os.path.join(folder, "families.json")
                with open(plan, "w", encoding="utf-8") as file:
                    file.write(text)
                done = self.measure(plan)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("skipped: PyTorch is not installed")
        sys.exit(77)
    import torch  # noqa: F401
    sys.dont_write_bytecode = True
    unittest.main()
