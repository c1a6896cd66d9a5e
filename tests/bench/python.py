#!/usr/bin/python3
"""Time of 1000 predictions from Python and from C++, each in one process: processor time, the least of several rounds that
take turns, and their ratio.

    tests/bench/python.py [--build build] [--rounds 5]

The predictions are gpt2m's on the four GPUs of GAT-AMST by four techniques, at 250 distances, each as the columns of
`slmsim run --format csv` (`predictions_1000` of build/bench does the same).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def predict():
    import slmsim
    start = time.process_time()
    scenario = slmsim.load(ROOT / "scenarios/gat-amst.yaml", {"models": "gpt2m", "groups": "all"})
    rows = 0
    for i in range(1, 251):
        rows += scenario.override({"platform.links.wan.rtt": f"{400 * i} us"}).run().to_csv().count("\n") - 1
    assert rows == 1000, rows
    print(time.process_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return predict()
    build = options.build.resolve()
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    inside, outside = [], []
    for _ in range(options.rounds):
        told = subprocess.run([build / "bench", "--benchmark_filter=^predictions_1000", "--benchmark_format=json"], check=True,
                              capture_output=True, text=True).stdout
        outside.append(json.loads(told)["benchmarks"][0]["cpu_time"] / 1000)
        inside.append(float(subprocess.run([sys.executable, "-B", __file__, "--here"], check=True, capture_output=True, text=True,
                                           env=environment).stdout))
    print(f"C++ {min(outside):.3f} s, Python {min(inside):.3f} s of processor time: {min(inside) / min(outside):.3f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
