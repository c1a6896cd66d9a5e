#!/usr/bin/python3
"""The JSON Schemas hold every shipped file and refuse wrong ones; the reference knows every key that shipped files use.

Skipped (exit status 77) without python3-jsonschema or python3-yaml.
"""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SLMSIM, SOURCE = os.environ["SLMSIM_BINARY"], os.environ["SLMSIM_SOURCE_DIR"]
KINDS = ["scenario", "model", "platform", "vm", "gpu", "drive", "stack", "sweep", "path", "profile"]
# Which files are of which kind; a part of a scenario need not be complete.
SHIPPED = [("model", "models/*.yaml"), ("platform", "platforms/*.yaml"), ("vm", "platforms/vms/*.yaml"),
           ("gpu", "platforms/gpus/*.yaml"), ("drive", "platforms/drives/*.yaml"),
           ("stack", "scenarios/stacks/*.yaml"),
           ("path", "tests/data/path/*.yaml"), ("model", "tests/data/hf/*/config.json"),
           ("scenario", "scenarios/*.yaml"), ("scenario", "scenarios/large/*.yaml"),
           ("sweep", "scenarios/sweeps/*.yaml"), ("scenario_part", "scenarios/base/*.yaml")]

SITES = "name: p\nsites: {lab: {}}\n"
VMS = "vms: {a: {site: lab, type: fabric-vm, gpus: [a30]}}\n"
JOB = "platform: gat-amst\nmodels: gpt2m\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 8}\n"
SIZES = "hidden: 8\nheads: 2\nlayers: 1\nsequence: 4\nvocabulary: 16\n"
GPU = ("name: g\narchitecture: Ampere\nmultiprocessors: 1\nmemory: 1 GiB\nmemory_bandwidth: 1 GB/s\npcie: 1 GB/s\n"
       "peak: {fp32: 1 TFLOP/s}\n")
STATED = "{value: 103 ms, provenance: measured, source: ping}"


def link(text):
    return SITES.replace("lab: {}", "lab: {}, far: {}") + VMS + "links: {wan: {between: [lab, far], " + text + "}}\n"


# Kind, file.
RIGHT = [
    ("scenario", JOB),
    ("scenario", JOB + "techniques: Data\ngroups: all\n"),
    ("scenario", JOB + "techniques: {Data: , Pipeshard: {stages: auto}}\ngroups: [all, [gat, amst/0]]\n"),
    ("scenario", JOB + "techniques: {Pipeshard: {stages: 4}, Shard: {mesh: 4}}\nplan: {dollars_per_hour: {a30: 0.45}}\n"),
    ("scenario", JOB + "nccl: {NCCL_BUFFSIZE: 1e1 MiB}\nsoftware: {memory_efficiency: 1e-1}\n"),
    ("scenario", "extends: base.yaml\ntraining: {batch: 8}\n"),
    ("scenario", "extends: base.yaml\nplatform: {links: {wan: {rtt: 1 ms}}}\n"),
    ("model", "name: m\nfamily: gpt2\nintermediate: ~\n" + SIZES),
    ("model", "name: m\nfamily: llama\nintermediate: 8\nkv_heads: 1\n" + SIZES),
    ("platform", SITES + VMS),
    ("platform", link(f"rtt: {STATED}, bandwidth: 1 Gbps")),
    ("platform", link("path: my-path")),
    ("gpu", GPU),
    ("gpu", GPU + "compute_capability: 8.6\nprofile: mine\n"),
    ("sweep", "scenario: a.yaml\naxes: [{key: a, from: 1, to: 8, step: 1}]\n"),
    ("sweep", "scenario: a.yaml\naxes: [{zip: [{key: a, values: [1]}, {key: b, from: 1, to: 2, points: 2}]}]\n"),
]
WRONG = [
    # unknown keys
    ("scenario", JOB + "trainign: {}\n"),
    ("scenario", JOB.replace("batch", "bacth: 8, batch")),
    ("scenario", JOB + "techniques: {Data: {bucket: 1 MiB}}\n"),
    ("scenario", JOB + "techniques: [Dtaa]\n"),
    ("scenario", "extends: base.yaml\ntraining: {bacth: 8}\n"),
    ("model", "name: m\nfamily: gpt2\nkv_heads: 1\n" + SIZES),
    ("platform", SITES + VMS + "link: {}\n"),
    ("platform", SITES.replace("{}", "{rtt: 1 ms, mut: 9000 B}") + VMS),
    ("gpu", GPU.replace("fp32", "fp8: 1 TFLOP/s, fp32")),
    ("sweep", "scenario: a.yaml\naxes: [{key: a, values: [1], from: 1}]\n"),
    # missing keys
    ("scenario", JOB.replace("models: gpt2m\n", "")),
    ("scenario", JOB.replace("epochs: 1, ", "")),
    ("model", "family: gpt2\n" + SIZES),
    ("model", "name: m\nfamily: llama\n" + SIZES),
    ("platform", SITES),
    ("platform", SITES + VMS.replace("type: fabric-vm, ", "")),
    ("gpu", GPU.replace("fp32", "fp16")),
    ("vm", "name: v\nnic: 1 Gbps\n"),
    ("sweep", "scenario: a.yaml\n"),
    # a number where a unit is due, and units of something else
    ("platform", link("rtt: 103, bandwidth: 1 Gbps")),
    ("platform", link("rtt: 103 GB, bandwidth: 1 Gbps")),
    ("platform", link("rtt: {value: 103, provenance: measured, source: ping}, bandwidth: 1 Gbps")),
    ("gpu", GPU.replace("memory: 1 GiB", "memory: 1")),
    # wrong types, words and ranges
    ("scenario", JOB.replace("batch: 8", "batch: many")),
    ("scenario", JOB.replace("batch: 8", "batch: 8.5")),
    ("scenario", JOB.replace("batch: 8", "batch: 0")),
    ("scenario", JOB.replace("batch: 8", "batch: [8]")),
    ("scenario", JOB + "training_: 1\n"),
    ("scenario", JOB + "nccl: {NCCL_ALGO: ring}\n"),
    ("scenario", JOB + "nccl: 4\n"),
    ("scenario", JOB + "groups: {all: 1}\n"),
    ("platform", link(f"rtt: {STATED}, bandwidth: 1 Gbps").replace("measured", "guessed")),
    ("platform", link(f"rtt: {STATED}, bandwidth: 1 Gbps").replace(", source: ping", "")),
    ("platform", link("rtt: 1 ms, bandwidth: 1 Gbps").replace("[lab, far]", "[lab]")),
    ("platform", SITES.replace("lab:", "a/b:") + VMS),
    ("vm", "name: v\nnic: 1 Gbps\ndevice_latency: 1 us\nnvlink: perhaps\n"),
]


def printed(*words):
    return subprocess.run([SLMSIM, "schema", *words], check=True, capture_output=True, text=True).stdout


def load(text):
    return yaml.safe_load(text)


SCHEMAS = {kind: json.loads(printed(kind)) for kind in KINDS}


def validator(kind):
    if kind != "scenario_part":
        return jsonschema.Draft202012Validator(SCHEMAS[kind])
    return jsonschema.Draft202012Validator({**SCHEMAS["scenario"], "if": True})


def keys_of(node, names):
    """All keys of maps, without the names that are the user's own (those of maps in `names`)."""
    if isinstance(node, list):
        return {key for item in node for key in keys_of(item, names)}
    if not isinstance(node, dict) or set(node) - {"spread"} == {"value", "provenance", "source"}:
        return set()
    out = set()
    for key, value in node.items():
        if key in ("set", "settings"):  # of a scenario's keys, and a kernel's own words
            continue
        if key in names and isinstance(value, dict):
            out |= {key} | {inner for item in value.values() for inner in keys_of(item, names)}
        else:
            out |= {key} | keys_of(value, names)
    return out


def properties(schema):
    """Every property of a schema and of those inside it, with its name."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    for one in inner:
        yield from properties(one)
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()


class Schema(unittest.TestCase):
    def test_is_a_schema_of_its_draft(self):
        for kind, schema in SCHEMAS.items():
            with self.subTest(kind):
                jsonschema.Draft202012Validator.check_schema(schema)

    def test_holds_every_shipped_file(self):
        for kind, pattern in SHIPPED:
            files = sorted(glob.glob(os.path.join(SOURCE, pattern)))
            self.assertTrue(files, pattern)
            for file in files:
                with self.subTest(file), open(file, encoding="utf-8") as stream:
                    errors = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in
                              validator(kind).iter_errors(load(stream))]
                    self.assertEqual(errors, [])

    def test_holds_what_is_right(self):
        for kind, text in RIGHT:
            with self.subTest(kind + ": " + text):
                self.assertEqual([e.message[:300] for e in validator(kind).iter_errors(load(text))], [])

    def test_refuses_what_is_wrong(self):
        for kind, text in WRONG:
            with self.subTest(kind + ": " + text):
                self.assertFalse(validator(kind).is_valid(load(text)))

    def test_says_what_every_key_means(self):
        for schema in SCHEMAS.values():
            for key, value in properties(schema):
                if key not in ("value", "provenance", "source", "spread", "between", "one_of", "scale"):
                    self.assertRegex(value.get("description", ""), r"\w+ \w+", key)


class Reference(unittest.TestCase):
    def test_knows_every_key_that_shipped_files_use(self):
        reference = printed("--format", "markdown")
        rows = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", reference, re.MULTILINE)
        known = {key for row in rows for key in re.findall(r"`([^`]+)`", row)}
        # Maps whose keys are names; a link inside a node is named by its kind.
        names = {"sites", "vms", "links", "parts", "crossings", "drives", "volumes", "dollars_per_hour"}
        for _, pattern in SHIPPED:
            for file in glob.glob(os.path.join(SOURCE, pattern)):
                if file.endswith(".json"):
                    continue  # Hugging Face's other keys are ignored
                with self.subTest(file), open(file, encoding="utf-8") as stream:
                    self.assertEqual(keys_of(load(stream), names) - known, set())


if __name__ == "__main__":
    unittest.main()
