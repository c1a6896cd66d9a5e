#!/usr/bin/env python3
"""The reference training step on the CPU: what it counts, writes and refuses, and that slmsim reads it."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ["SLMSIM_SOURCE_DIR"]
SCRIPT = os.path.join(ROOT, "calibrate/reference/torch_step.py")
TINY = ["--hidden", "64", "--heads", "4", "--layers", "2", "--sequence", "32", "--vocabulary", "100"]
CPU = ["--device", "cpu", "--warm-up", "1", "--steps", "3"]


def step(*words):
    return subprocess.run([sys.executable, "-B", SCRIPT, *words], capture_output=True, text=True, check=False)


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
        done = subprocess.run([sys.executable, "-B", SCRIPT, *TINY], capture_output=True, text=True, check=False,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch sees no GPU", done.stderr)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("skipped: PyTorch is not installed")
        sys.exit(77)
    unittest.main()
