#!/usr/bin/python3
"""Predictions a second by Calculon (github.com/calculon-ai/calculon) and by slmsim of the same configurations: those of
build/bench's predictions_of_nanotron, one after the other in one process, in processor time.

    tests/bench/calculon.py CHECKOUT [--build build] [--rounds 5]
"""
import argparse
import json
import logging
import pathlib
import subprocess
import sys
import time
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LLAMA_1B = {"hidden": 2048, "feedforward": 8192, "seq_size": 2048, "attn_heads": 32, "attn_size": 64, "num_blocks": 16}
NODE, INSIDE, BETWEEN = 8, 0, 1  # GPUs, and the networks inside and between nodes in Calculon's file of the H100


def executions():
    """As build/bench: 8 to 64 GPUs in every division, 8 or 32 micro-batches of two sequences."""
    for gpus in (8, 16, 32, 64):
        for tensor in (1, 2, 4, 8):
            for pipeline in (1, 2, 4):
                data = gpus // tensor // pipeline
                for micro_batches in (8, 32) if data > 0 else ():
                    yield {"num_procs": gpus, "tensor_par": tensor, "pipeline_par": pipeline, "data_par": data,
                           "tensor_par_net": INSIDE, "pipeline_par_net": INSIDE if tensor * pipeline <= NODE else BETWEEN,
                           "data_par_net": INSIDE if gpus <= NODE else BETWEEN,
                           "batch_size": 2 * data * micro_batches, "microbatch_size": 2, "datatype": "float16",
                           "fused_activation": True, "attention_type": "multihead", "activation_recompute": "none",
                           "pipeline_interleaving": 1, "optimizer_sharding": data > 1, "tensor_par_comm_type": "ar",
                           "tensor_par_overlap": "none", "seq_par_ag_redo": False, "data_par_overlap": False,
                           "weight_offload": False, "activations_offload": False, "optimizer_offload": False,
                           "training": True}


def calculons_rate(checkout, rounds):
    sys.path.insert(0, str(checkout))
    for unused in ("numpy", "pandas", "psutil"):  # by its formulas
        sys.modules[unused] = types.ModuleType(unused)
    from calculon import System
    from calculon.llm import Llm
    application = Llm.Application(LLAMA_1B)
    h100 = json.loads((checkout / "systems/h100_80g_nvl8.json").read_text())
    h100["mem1"]["GiB"] = 10000  # all are timed, whether they fit or not
    system, log, all_of_them = System(h100), logging.getLogger(), list(executions())
    start = time.process_time()
    for _ in range(rounds):
        for execution in all_of_them:
            model = Llm(application, log)
            model.compile(system, Llm.Execution.from_json(execution))
            model.run(system)
            assert model.get_total_time() > 0
    return rounds * len(all_of_them) / (time.process_time() - start), len(all_of_them)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, help="folder of Calculon's repository")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not (options.checkout / "calculon").is_dir():
        sys.exit(f"{options.checkout} is no checkout of Calculon; run: git clone https://github.com/calculon-ai/calculon")
    theirs, count = calculons_rate(options.checkout, options.rounds)
    told = subprocess.run([options.build.resolve() / "bench", "--benchmark_filter=^predictions_of_nanotron/links:0$",
                           "--benchmark_format=json", f"--benchmark_repetitions={options.rounds}"], check=True,
                          capture_output=True, text=True).stdout
    ours = max(one["items_per_second"] for one in json.loads(told)["benchmarks"] if one["run_type"] == "iteration")
    print(f"{count} configurations: Calculon {theirs:.0f} a second, slmsim {ours:.0f}: ratio {ours / theirs:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
